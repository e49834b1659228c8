"""Embedding: points of few dimensions that keep what a graph says about its nodes.

- `Isomap`: distances along the graph, by classical scaling or from landmarks
- `LaplacianEigenmaps`: the slowest directions of a random walk
- `DiffusionMaps`: the same directions, faded by the steps of a diffusion
- `diffusion_distance`: how differently walks from two nodes go on
- `PerceptualEmbedding`: clusters on lines through the origin, noise near it
- `ClusterPreservingEmbedding`: clusters of any shape apart, by the best paths between points
- `classical_scaling`, `landmark_mds_transform`: the scaling itself, for any distances
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "diffusion": ["DiffusionMaps", "diffusion_distance"],
        "cluster_preserving": ["ClusterPreservingEmbedding"],
        "eigenmaps": ["LaplacianEigenmaps"],
        "isomap": ["Isomap"],
        "perceptual": ["PerceptualEmbedding"],
        "scaling": ["classical_scaling", "landmark_mds_transform"],
    },
)
