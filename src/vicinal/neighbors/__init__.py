"""Neighbour search.

- `NeighborSearch`: the nearest points, or all points within a radius, of its points or of queries
- `KNNTransformer`: neighbours as a sparse matrix, for pipelines
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
