"""Plots. matplotlib is imported only when something is plotted.

- `graph`: a graph and its points, in two or three dimensions
- `embedding`: points, coloured by class or by a number
- `ranking`: results of a query among all points
- `similarity`: a similarity matrix, before and after smoothing
- `segments`: an image with the boundaries of its segments
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
