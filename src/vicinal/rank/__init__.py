"""Ranking: order all points by how well the structure of the data connects them with a query.

- `PerceptualRanking`: along the contextual digraph, robust to heavy noise
- `ManifoldRanking`: along an undirected graph, by all paths or by label propagation
- `Reranker`: search results re-ranked by the structure of the gallery, from points or neighbour lists
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
