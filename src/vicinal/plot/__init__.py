"""Pictures. matplotlib is imported here and nowhere else, when something is drawn.

- `graph`: a graph over its points, in two or three dimensions
"""

from vicinal._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"network": ["graph"]})
