"""A frame of reference that follows the data: inner products in it neither overflow nor cancel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.rescale import max_magnitude, power_of_two

# Squared distances of coordinates within it are finite.
FARTHEST = 1e150


class Frame(NamedTuple):
    """A shift to the mean of the data, and a unit near their largest deviation from it."""

    # The units are powers of 2, which round nothing; two, as a mean of huge values could overflow.
    size: float
    centre: np.ndarray
    spread: float

    @property
    def unit(self) -> float:
        """Length of 1 in this frame."""
        return self.size * self.spread

    def place(self, X: np.ndarray) -> np.ndarray:
        """Points as this frame sees them, those that are too far for any arithmetic at its edge."""
        with np.errstate(over="ignore"):
            placed = (X / self.size - self.centre) / self.spread
        return np.clip(placed, -FARTHEST, FARTHEST, out=placed)


def frame_of(X: np.ndarray) -> Frame:
    """The frame of a table of points."""
    size = power_of_two(max_magnitude(X))
    resized = X / size
    centre = resized.mean(axis=0)
    return Frame(size, centre, power_of_two(max_magnitude(resized - centre)))
