"""Pictures. matplotlib is imported here and nowhere else, when something is drawn.

- `graph`: a graph over its points, in two or three dimensions
- `segments`: an image with the boundaries of its segments
"""

from vicinal._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"network": ["graph"], "boundaries": ["segments"]})
