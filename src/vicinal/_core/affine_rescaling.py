"""Centering and rescaling of points, so that inner products neither overflow nor cancel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.rescale import max_magnitude, power_of_two

# Squared distances between coordinates up to this magnitude are finite.
MAX_COORDINATE = 1e150


class AffineRescaling(NamedTuple):
    """A shift to the mean of the data, and a unit near their largest deviation from it.

    The unit is a product of two powers of two, ``magnitude`` and ``spread``: division by them is exact, and
    the mean of huge values is computed after the first, so that it cannot overflow.
    """

    magnitude: float
    center: np.ndarray
    spread: float

    @property
    def unit(self) -> float:
        """Length that is rescaled to 1."""
        return self.magnitude * self.spread

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rescale points; coordinates are clipped to the range in which squared distances are finite."""
        with np.errstate(over="ignore"):
            rescaled = (X / self.magnitude - self.center) / self.spread
        return np.clip(rescaled, -MAX_COORDINATE, MAX_COORDINATE, out=rescaled)


def fit_rescaling(X: np.ndarray) -> AffineRescaling:
    """Find the rescaling of a table of points."""
    magnitude = power_of_two(max_magnitude(X))
    rescaled = X / magnitude
    center = rescaled.mean(axis=0)
    return AffineRescaling(magnitude, center, power_of_two(max_magnitude(rescaled - center)))
