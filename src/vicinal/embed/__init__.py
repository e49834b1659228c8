"""Embedding: low-dimensional coordinates that preserve the structure of a graph.

- `Isomap`: preserves distances along the graph, from all points or from landmarks
- `LaplacianEigenmaps`: leading eigenvectors of the random walk
- `DiffusionMaps`: the same eigenvectors, weighted by the steps of a diffusion
- `diffusion_distance`: difference between the distributions of walks from two nodes
- `PerceptualEmbedding`: clusters on lines through the origin, noise near it
- `ClusterPreservingEmbedding`: separates clusters of any shape, by the best paths between points
- `NeighborMap`: a map that keeps the neighbours in a graph together, for looking at
- `classical_scaling`, `landmark_mds_transform`: multidimensional scaling of any distances
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
