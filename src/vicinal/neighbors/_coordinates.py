"""Coordinates of points that only their distances are known of."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks
from vicinal._core.rescale import max_magnitude

# Axes along which no point is farther from the others than this are rounding errors, in squared lengths
# relative to the largest squared distance: of exact distances, and of those in single precision or with six
# digits.
TOLERANCES = (1e-13, 1e-6)
# Largest relative error of a squared distance, and its largest error in tolerances.
MAX_ERROR, MAX_TOLERANCES = 0.02, 10.0
ROWS_PER_BLOCK = 512


def coordinates_of(distances: np.ndarray) -> np.ndarray | None:
    """Points with these Euclidean distances, centred; None if no points have them.

    The products of centred points follow from their squared distances, as in classical scaling. A Cholesky
    factor with pivots of this matrix has one column for each axis that the points span.
    """
    n = len(distances)
    require_memory(16.0 * n * n, f"Coordinates of {n:,} points from distances", "Use fewer points.")
    unit = max_magnitude(distances) or 1.0
    squares = np.square(distances.astype(np.float64) / unit)
    means = squares.mean(axis=1)
    products = 0.5 * (means[:, None] + means - squares - means.mean())
    for tolerance in TOLERANCES:
        factor, pivots, n_axes, _ = dpstrf(products.T, tol=tolerance, lower=1)
        points = np.empty((n, max(n_axes, 1)))
        points[pivots - 1] = np.tril(factor)[:, : points.shape[1]]
        if _have_distances(points, squares, MAX_TOLERANCES * tolerance):
            # Equal points have exactly equal coordinates.
            return points[(distances == 0).argmax(axis=1)] * unit
    return None


def _have_distances(points: np.ndarray, squares: np.ndarray, rounding: float) -> bool:
    lengths = np.square(points).sum(axis=1)
    for a, b in blocks(len(points), ROWS_PER_BLOCK):
        found = lengths[a:b, None] + lengths - 2.0 * (points[a:b] @ points.T)
        if (np.abs(found - squares[a:b]) > MAX_ERROR * squares[a:b] + rounding).any():
            return False
    return True
