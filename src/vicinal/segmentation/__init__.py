"""Image segmentation.

- `segment`: normalised cut of the pixel graph of an image
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
