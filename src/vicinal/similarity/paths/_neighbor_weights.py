"""Weights of points, from the distances to their neighbours."""

from __future__ import annotations

import numpy as np


def log_neighbor_weights(squares: np.ndarray, sigma: float) -> np.ndarray:
    """Logarithm of formula (3), the sum of exp(-d^2 / (2 sigma^2)) over neighbours, without underflow."""
    nearest = squares.min(axis=1, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        sums = np.exp(-(squares - nearest) / sigma / sigma / 2).sum(axis=1)
        return np.log(sums) - nearest[:, 0] / sigma / sigma / 2
