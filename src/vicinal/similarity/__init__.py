"""Similarities of points, computed or improved along the neighbourhood structure of the data.

- `smoothing_kernel`: similarities from distances, with a kernel width that adapts to each neighbourhood
- `path_similarity`: quality of the best path between two points, for all pairs at once
- `self_smooth`, `SelfSmoothing`: similarities improved by diffusion along themselves
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
