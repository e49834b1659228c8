"""Images as grey levels and as data addresses."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np

from vicinal.exceptions import MissingDependencyError

MAX_THUMBNAIL_SIDE = 32


def thumbnails(images: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Grey levels of some images, from 0 to 255, with at most 32 pixels per side."""
    step = max(1, -(-max(images.shape[1:]) // MAX_THUMBNAIL_SIDE))
    levels = images[rows, ::step, ::step].astype(np.float64)
    levels = np.where(np.isfinite(levels), levels, 0.0)
    low, span = (levels.min(), np.ptp(levels)) if levels.size else (0.0, 0.0)
    return np.round((levels - low) * (255.0 / (span if span > 0 else 1.0))).astype(np.uint8)


def png_address(pixels: np.ndarray) -> str:
    """A data address of grey levels (height, width)."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "images in a report require Pillow: pip install 'vicinal[cli]'."
        ) from error
    stream = BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
