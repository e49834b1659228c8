"""Images cut into segments.

- `segment`: normalised cut of the graph of an image's pixels
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"normalized_cut": ["segment"]})
