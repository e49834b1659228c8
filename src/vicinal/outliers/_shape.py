"""The shape of a cloud of points: a robust centre and covariance, and distances in their units.

The covariance is that of a multivariate t-distribution: each row counts by ``2 / (1 + q / median of q)``,
where q is its squared distance in units of the covariance itself, so that outliers hardly shape what they
are compared with. As many rows as columns do not determine a covariance, so it is shrunk towards a
multiple of the identity, by the amount that Ledoit and Wolf derive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.outliers._shape_kernels import distances_along_axes

# The weights settle in 4 to 10 steps.
STEPS = 10
SETTLED = 1e-3
# In wider tables, the leading directions are used.
MAX_DIRECTIONS = 500
# Eigenvalues below this fraction of the largest are rounding errors.
ROUNDING = 1e-9
# Rows beyond count as being here: in units of the typical deviation from the middle, it is far enough.
FARTHEST = 1e50
BLOCK = 1024


class Shape(NamedTuple):
    """A robust centre and the axes of the cloud, each divided by its spread.

    Attributes
    ----------
    center : ndarray (n_columns,)
        Weighted mean.
    axes : ndarray (n_columns, n_directions)
        A row x is at ``(x - center) @ axes``, in which the cloud is round.
    spectrum : ndarray (n_directions,)
        Variances along the axes, before shrinkage.
    shrunk : ndarray (n_directions,)
        Variances that the axes were divided by.
    typical : float
        Median squared distance of the rows.
    mass : float
        Sum of the weights of the rows, relative to the part of the covariance that is not shrunk.
    """

    center: np.ndarray
    axes: np.ndarray
    spectrum: np.ndarray
    shrunk: np.ndarray
    typical: float
    mass: float

    def distances(
        self, points: np.ndarray, is_reference: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Distances to the centre; for rows of the reference, as if the shape had not seen them.

        Without a row y of weight w, the covariance C is ``C - y y' w / mass``, and its distance follows
        from the formula of Sherman and Morrison.
        """
        points = np.ascontiguousarray(np.clip(points, -FARTHEST, FARTHEST))
        lengths = np.empty(len(points))
        map_threads(
            lambda part: distances_along_axes(points, self.center, self.axes, *part, lengths),
            blocks(len(points), BLOCK),
            n_jobs,
        )
        own = lengths[is_reference]
        leverage = own * own * _weights(own * own, self.typical) / self.mass
        lengths[is_reference] = own / np.sqrt(np.maximum(1.0 - leverage, ROUNDING))
        return lengths

    def shares(self, points: np.ndarray) -> np.ndarray:
        """Part of each column in the squared distance of each row."""
        offsets = np.clip(points, -FARTHEST, FARTHEST) - self.center
        along = offsets * ((offsets @ self.axes) @ self.axes.T)
        total = along.sum(axis=1, keepdims=True)
        return np.divide(along, total, out=np.zeros_like(along), where=total > 0)


def n_directions(variances: np.ndarray) -> float:
    """Effective number of independent directions among those with these variances: (sum)^2 / sum of
    squares."""
    scaled = variances / variances.max()
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def fit_shape(points: np.ndarray) -> Shape | None:
    """The shape of rescaled points; None if all are equal."""
    points = np.clip(points, -FARTHEST, FARTHEST)
    basis = _leading_directions(points)
    if basis.shape[1] == 0:
        return None
    placed = points @ basis
    n, d = placed.shape
    squares = _first_squares(placed)
    weights = np.zeros(n)
    for _ in range(STEPS):
        typical = _typical(squares)
        last, weights = weights, _weights(squares, typical)
        if np.abs(weights - last).max() < SETTLED * weights.max():
            break
        center = weights @ placed / weights.sum()
        counted = (placed - center) * np.sqrt(weights / weights.mean())[:, None]
        covariance = counted.T @ counted / n
        level = np.trace(covariance) / d
        if level == 0:
            return None
        shrinkage = _shrinkage(counted, covariance, level)
        spectrum, vectors = np.linalg.eigh(covariance)
        spectrum = np.maximum(spectrum, 0.0)
        shrunk = (1.0 - shrinkage) * spectrum + shrinkage * level
        shrunk = np.maximum(shrunk, ROUNDING * shrunk.max())
        axes = vectors / np.sqrt(shrunk)
        squares = np.square((placed - center) @ axes).sum(axis=1)
    return Shape(
        center=basis @ center,
        axes=np.ascontiguousarray(basis @ axes),
        spectrum=spectrum,
        shrunk=shrunk,
        typical=typical,
        mass=float(weights.sum() / max(1.0 - shrinkage, ROUNDING)),
    )


def _leading_directions(points: np.ndarray) -> np.ndarray:
    """Columns that vary, as unit vectors; the leading principal directions if there are very many."""
    varied = np.flatnonzero(np.ptp(points, axis=0) > 0)
    basis = np.zeros((points.shape[1], len(varied)))
    basis[varied, np.arange(len(varied))] = 1.0
    if min(len(varied), len(points)) <= MAX_DIRECTIONS:
        return basis
    middle = np.median(points[:, varied], axis=0)
    centered = points[:, varied] - middle
    if len(points) < len(varied):
        _, vectors = np.linalg.eigh(centered @ centered.T)
        directions = np.linalg.qr(centered.T @ vectors[:, -MAX_DIRECTIONS:])[0]
    else:
        directions = np.linalg.eigh(centered.T @ centered)[1][:, -MAX_DIRECTIONS:]
    return basis @ directions


def _first_squares(points: np.ndarray) -> np.ndarray:
    """Squared distances to the median, each column in units of its median deviation."""
    deviations = np.abs(points - np.median(points, axis=0))
    units = np.median(deviations, axis=0)
    units = np.where(units > 0, units, points.std(axis=0))
    return np.square(deviations / np.where(units > 0, units, 1.0)).sum(axis=1)


def _typical(squares: np.ndarray) -> float:
    """The median; the mean if more than half of the rows are at the centre."""
    middle, mean = float(np.median(squares)), float(squares.mean())
    return middle if middle > 1e-6 * mean else mean or 1.0


def _weights(squares: np.ndarray, typical: float) -> np.ndarray:
    return 2.0 / (1.0 + squares / typical)


def _shrinkage(centered: np.ndarray, covariance: np.ndarray, level: float) -> float:
    """Ledoit and Wolf's weight of the identity, with the smallest expected squared error."""
    n, d = centered.shape
    squared = float(np.square(covariance).sum())
    spread = squared / d - level * level
    error = (float(np.square(np.square(centered).sum(axis=1)).sum()) / n - squared) / (n * d)
    return min(error, spread) / spread if spread > 0 else 1.0
