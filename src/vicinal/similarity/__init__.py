"""Similarity: how strongly connected nodes belong together.

- `affinity`: strength times a kernel of the length, for each edge of a graph
- `edge_scale`: the scale at which lengths are compared
- `smoothing_kernel`: similarities from distances, at the width of each point's neighbourhood
- `path_similarity`: how good the best path between two points is, for all pairs at once
- `self_smooth`, `SelfSmoothing`: similarities improved by a diffusion along themselves
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "smoothing.kernel": ["smoothing_kernel"],
        "paths.similarity": ["path_similarity"],
        "smoothing.operator": ["self_smooth"],
        "smoothing.estimator": ["SelfSmoothing"],
    },
)
