"""Pixels of an image: compared values, neighbours, and affinities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.rescale import max_magnitude, power_of_two
from vicinal.exceptions import InvalidValueError

LINES_PER_TASK = 16
# Scale of "auto" relative to the typical difference, and the smallest affinity of neighbours. Without the
# latter, the cheapest cut would be around the thin line of mixed pixels along a strong edge. Both were chosen
# on photographs with human segmentations: among affinities from 1e-8 to 1e-2 and factors from 0.25 to 1,
# these agree best and leave no tiny segments.
AUTO_SCALE_FACTOR = 0.3
MIN_AFFINITY = 1e-4

RGB_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = RGB_TO_XYZ.sum(axis=1)


def check_image(image: Any) -> np.ndarray:
    """`image` as an array of finite real numbers with two or three axes and at least one pixel."""
    array = real_array(image, "image")
    if array.ndim not in (2, 3) or array.size == 0:
        raise InvalidValueError(
            f"image has shape {array.shape}, but (height, width) or (height, width, channels) is needed, "
            "with at least one pixel."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InvalidValueError(
            f"image contains NaN or infinity, the first at {first}; replace such values, e.g. with "
            "numpy.nan_to_num."
        )
    return array


def as_colors(image: np.ndarray) -> np.ndarray | None:
    """Red, green and blue from 0 to 1, blended with white; None if the image is not in colour."""
    if image.ndim != 3 or image.shape[2] not in (3, 4):
        return None
    if image.dtype == np.uint16:
        max_value = 65535
    else:
        max_value = 255 if image.dtype.kind in "ui" else 1
    if image.min() < 0 or image.max() > max_value:
        return None
    colors = image.astype(np.float64) / max_value
    if colors.shape[2] == 4:
        alpha = colors[..., 3:]
        colors = colors[..., :3] * alpha + (1 - alpha)
    return colors


def comparable(image: np.ndarray) -> tuple[np.ndarray, float]:
    """Values (height, width, channels) whose differences are compared, and their unit.

    The unit is 1 for colours, which are converted to L*a*b*. For other images it is a power of two, so that
    values keep their bits and squared differences stay in range.
    """
    colors = as_colors(image)
    if colors is not None:
        return _lab(colors), 1.0
    values = image.reshape(*image.shape[:2], -1).astype(np.float64)
    unit = power_of_two(max_magnitude(values))
    return values / unit, unit


def _lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of sRGB, where distances approximate perceived differences."""
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ (RGB_TO_XYZ / WHITE[:, None]).T
    dark = xyz * (841 / 108) + 4 / 29
    x, y, z = np.moveaxis(np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), dark), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def smoothed(values: np.ndarray, width: float) -> np.ndarray:
    """Channels blurred by a Gaussian, which removes pixel noise."""
    from scipy.ndimage import gaussian_filter

    if width == 0:
        return values
    return gaussian_filter(values, (width, width, 0), mode="nearest")


def typical_difference(values: np.ndarray) -> float:
    """Root mean squared difference of adjacent pixels; 1 if there is none."""
    squares = np.concatenate(
        [np.square(np.diff(values, axis=axis)).sum(axis=2).ravel() for axis in (0, 1)]
    )
    mean = float(squares.mean()) if len(squares) else 0.0
    return np.sqrt(mean) if mean > 0 else 1.0


def grid_offsets() -> tuple[np.ndarray, np.ndarray]:
    """Steps to the 8 pixels around a pixel, all with proximity 1."""
    offsets, _ = radius_offsets(1.5, 1.0)
    return offsets, np.ones(len(offsets))


def radius_offsets(radius: float, spatial_scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Steps to all pixels within a radius, in row order, and their proximities."""
    extent = int(radius)
    steps = np.arange(-extent, extent + 1)
    offsets = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 2)
    squares = np.square(offsets).sum(axis=1)
    inside = (squares > 0) & (squares <= radius**2)
    # Adjacent pixels have proximity 1: a cut does not depend on the unit of affinity, and the graph stays
    # connected for any scale.
    with np.errstate(over="ignore"):
        beyond = (squares[inside] - 1) / spatial_scale / spatial_scale
    return offsets[inside], np.exp(-0.5 * beyond)


def typical_step(offsets: np.ndarray, proximity: np.ndarray) -> float:
    """Root mean squared step along an axis, in a uniform image."""
    return float(np.sqrt((proximity @ np.square(offsets)).max() / (proximity.sum() + 1.0)))


def pixel_affinity(
    values: np.ndarray,
    offsets: np.ndarray,
    proximity: np.ndarray,
    scale: float,
) -> sparse.csr_array:
    """Affinity of each pixel with those at the offsets: exp(-(difference / scale)^2 / 2) * proximity.

    Parameters
    ----------
    values : ndarray of shape (height, width, channels)
        Compared values, Euclidean over the channels.
    offsets : ndarray of int of shape (m, 2)
        Steps (down, right) to the neighbours, sorted, each with its opposite.
    proximity : ndarray of shape (m,)
        Factor of each step; 1 for adjacent pixels.
    scale : float
        Width of the Gaussian.

    Returns
    -------
    csr_array of shape (height * width, height * width)
        Symmetric and connected.
    """
    from vicinal.segmentation._pixel_kernels import count_neighbors, fill_neighbors

    height, width = values.shape[:2]
    n = height * width
    require_memory(
        # The matrix, its normalised form, its Laplacian, and the products of the first coarsening level.
        n * len(offsets) * 60.0,
        f"The graph of {n:,} pixels with {len(offsets)} neighbours each",
        "Use a smaller radius, graph='grid', or a smaller image.",
    )
    index = np.int32 if n * len(offsets) <= np.iinfo(np.int32).max else np.int64
    counts = np.empty(n, dtype=index)
    lines = blocks(height, LINES_PER_TASK)
    map_threads(lambda span: count_neighbors(height, width, offsets, *span, counts), lines)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices, weights = np.empty(indptr[-1], dtype=index), np.empty(indptr[-1])
    map_threads(
        lambda span: fill_neighbors(
            values, scale, offsets, proximity, MIN_AFFINITY, indptr, *span, indices, weights
        ),
        lines,
    )
    return sparse.csr_array((weights, indices, indptr), shape=(n, n))
