"""Similarities of points, computed or improved along the neighbourhood structure of the data.

- `smoothing_kernel`: similarities from distances, with a kernel width that adapts to each neighbourhood
- `path_similarity`: quality of the best path between two points, for all pairs at once
- `self_smooth`, `SelfSmoothing`: similarities improved by diffusion along themselves
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
