"""The number of steps of a walk, chosen from its return probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.parallel import one_blas_thread
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._auto_t import GRID, choose_t, choose_t_for_clusters
from vicinal.similarity.smoothing._dense import (
    walk_power,
)
from vicinal.similarity.smoothing._spectral import (
    chebyshev_moments,
)
from vicinal.similarity.smoothing._walks import DenseWalk, SparseWalk, power_coefficients

# Number of points sampled to choose t; up to this many distinct points, all are used.
N_SAMPLED, ALL_MAX_POINTS = 128, 2_500
# Tolerance of return probabilities, of which only the order matters.
RANKING_TOLERANCE = 1e-8
# From t to P^(t+1)[i, i].
Returns = Callable[[float], np.ndarray]


def walk_steps(
    walk: DenseWalk | SparseWalk, seed: int, n_clusters: int | None = None
) -> tuple[int, np.ndarray]:
    """The number of steps that is chosen for a walk, for retrieval or for clusters, and its curve."""
    n = len(walk.sums)
    if not walk.symmetric:
        if isinstance(walk, SparseWalk):
            raise InvalidValueError(
                "t='auto', but the similarity is sparse and asymmetric; pass a number of steps, or use "
                "method='dense'."
            )
        returns: Returns = SquaredReturns(walk.weights)
        sums, grid = walk.sums, SquaredReturns.GRID
    elif isinstance(walk, DenseWalk) and walk.n_distinct <= ALL_MAX_POINTS:
        returns, sums, grid = walk.returns, walk.sums, GRID
    else:
        items = np.sort(np.random.default_rng(seed).choice(n, min(N_SAMPLED, n), replace=False))
        returns, sums, grid = SampledReturns(walk.operator, items), walk.sums[items], GRID
    if n_clusters is not None:
        return choose_t_for_clusters(returns, n, n_clusters, grid)
    total = walk.sums.sum()
    limits = sums / total if walk.symmetric and total > 0 else None
    return choose_t(returns, sums, grid, limits)


class SampledReturns:
    """Return probabilities P^(t+1)[i, i] of some points for any t, from moments computed once."""

    def __init__(self, operator: Any, items: np.ndarray) -> None:
        self.operator, self.items = operator, items
        self._moments = np.empty((0, len(items)))

    def __call__(self, t: float) -> np.ndarray:
        coefficients = power_coefficients(int(t) + 1, RANKING_TOLERANCE)
        if len(coefficients) > len(self._moments):
            units = np.zeros((self.operator.shape[0], len(self.items)))
            units[self.items, np.arange(len(self.items))] = 1.0
            # Twice as many moments as needed now, since the next t needs more.
            self._moments = chebyshev_moments(self.operator, units, len(coefficients))
        with one_blas_thread():
            return coefficients @ self._moments[: len(coefficients)]


class SquaredReturns:
    """Return probabilities along an asymmetric similarity, for ascending t + 1 that are powers of 2."""

    GRID = 2.0 ** np.arange(0, 16) - 1

    def __init__(self, weights: np.ndarray) -> None:
        self._power, self._exponent = walk_power(weights, 1), 1

    def __call__(self, t: float) -> np.ndarray:
        while self._exponent < t + 1:
            self._power, self._exponent = self._power @ self._power, 2 * self._exponent
        return np.diagonal(self._power)
