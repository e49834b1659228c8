"""Image segmentation.

- `segment`: normalised cut of the pixel graph of an image
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"normalized_cut": ["segment"]})
