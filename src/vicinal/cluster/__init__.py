"""Clustering on any graph.

- `SpectralClustering`: normalised cuts of a graph, with a given or estimated number of clusters
- `spectral_labels`: the same for an affinity matrix, as a function
- `KernelKMeans`: k-means on a kernel, such as a smoothed similarity
- `SparseSubspaceClustering`: clusters in different subspaces through the origin
- `estimate_clusters`: the number of clusters, nested layers and noise, with the evidence
- `PerceptualClustering`: clusters in heavy noise, which gets the label -1
- `k_subspaces`: rows grouped by the nearest of several linear subspaces
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
