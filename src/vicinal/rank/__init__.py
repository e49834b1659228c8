"""Ranking: all points by how well the structure of the data connects them with a query.

- `PerceptualRanking`: along the contextual digraph, which keeps to a structure in heavy noise
- `ManifoldRanking`: along an undirected graph
- `LabelPropagationRanking`: by how soon a walk meets the query
- `pagerank`: all nodes of a digraph, for everyone or from one point of view
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "label_propagation": ["LabelPropagationRanking"],
        "manifold": ["ManifoldRanking"],
        "_pagerank": ["pagerank"],
        "perceptual": ["PerceptualRanking"],
    },
)
