"""Clustering on any graph.

- `SpectralClustering`: normalised cuts of a graph, with the number of clusters given or found
- `spectral_labels`: the same for a ready affinity, as a function
- `KernelKMeans`: k-means on a kernel, such as a smoothed similarity
- `SparseSubspaceClustering`: clusters that are subspaces through the origin
- `estimate_clusters`: the number of clusters, nested layers and noise, with the evidence
- `PerceptualClustering`: clusters in heavy noise, which is told apart
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "_evidence": ["estimate_clusters"],
        "_spectral_labels": ["spectral_labels"],
        "spectral": ["SpectralClustering"],
        "kernel_kmeans": ["KernelKMeans"],
        "perceptual": ["PerceptualClustering"],
        "sparse_subspace": ["SparseSubspaceClustering"],
        "subspaces": ["k_subspaces"],
    },
)
