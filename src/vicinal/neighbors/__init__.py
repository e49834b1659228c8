"""Neighbour search: who is near.

- `NeighborSearch`: fit once, then `nearest` and `within` for the set itself or for new points
- `KNNTransformer`: neighbours as a sparse matrix, for pipelines
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {"search": ["NeighborSearch"], "transformer": ["KNNTransformer"]}
)
