"""Centering and rescaling of points, so that inner products neither overflow nor cancel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.rescale import max_magnitude, power_of_two

# Squared distances between coordinates up to this magnitude are finite.
MAX_COORDINATE = 1e150
# Rows from which the centre and the unit are taken.
N_ROWS = 1000


class AffineRescaling(NamedTuple):
    """A shift to the middle of the data, and a unit near their typical deviation from it.

    Both are medians, because one absurd row must not take the precision from all others. The unit is a power
    of two, so that division by it is exact.
    """

    center: np.ndarray
    unit: float

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rescale points; coordinates are clipped to the range in which squared distances are finite."""
        with np.errstate(over="ignore"):
            rescaled = (X - self.center) / self.unit
        return np.clip(rescaled, -MAX_COORDINATE, MAX_COORDINATE, out=rescaled)


def fit_rescaling(X: np.ndarray) -> AffineRescaling:
    """Find the rescaling of a table of points."""
    return rescaling_of(X[typical_rows(len(X))], np.stack([X.min(axis=0), X.max(axis=0)]))


def typical_rows(n: int) -> np.ndarray:
    """The rows that determine the rescaling."""
    return np.arange(0, n, max(1, n // N_ROWS))


def rescaling_of(rows: np.ndarray, extent: np.ndarray) -> AffineRescaling:
    """The rescaling from the `typical_rows`, and the smallest and largest values of all columns."""
    center = np.median(rows, axis=0)
    deviations = np.abs(rows - center)
    positive = deviations[deviations > 0]
    typical = np.median(positive) if positive.size else max_magnitude(extent - center)
    return AffineRescaling(center, power_of_two(float(typical)))
