"""Ranking: all points by how well the structure of the data connects them with a query.

- `PerceptualRanking`: along the contextual digraph, which keeps to a structure in heavy noise
- `ManifoldRanking`: along an undirected graph
"""

from vicinal._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "manifold": ["ManifoldRanking"],
        "perceptual": ["PerceptualRanking"],
    },
)
