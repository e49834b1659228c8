"""Pictures. matplotlib is imported here and nowhere else, when something is drawn.

- `graph`: a graph over its points, in two or three dimensions
- `embedding`: points, coloured by class or by a number
- `ranking`: what a query finds among points
- `similarity`: a similarity matrix, before and after smoothing
- `dynamics`: how a score changes with the number of steps
- `retrieval`: queries and what they find, before and after smoothing
- `segments`: an image with the boundaries of its segments
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "network": ["graph"],
        "scatter": ["embedding"],
        "found_points": ["ranking"],
        "matrices": ["similarity"],
        "curves": ["dynamics"],
        "galleries": ["retrieval"],
        "boundaries": ["segments"],
    },
)
