"""Ranking: order all points by how well the structure of the data connects them with a query.

- `PerceptualRanking`: along the contextual digraph, robust to heavy noise
- `ManifoldRanking`: along an undirected graph
- `LabelPropagationRanking`: by the probability that a short random walk reaches the query
- `Reranker`: search results re-ranked by the structure of the gallery, from points or neighbour lists
- `pagerank`: importance of all nodes of a digraph, overall or relative to some of them
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "label_propagation": ["LabelPropagationRanking"],
        "manifold": ["ManifoldRanking"],
        "_pagerank": ["pagerank"],
        "perceptual": ["PerceptualRanking"],
        "reranker": ["Reranker"],
    },
)
