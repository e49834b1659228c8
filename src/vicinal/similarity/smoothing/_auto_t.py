"""Automatic number of smoothing steps t, without labels.

At t = 0, points with fewer neighbours have larger return probabilities P^(t+1)[i, i]: their rank correlation
with the degree d_i is -1. In the limit the return probability is proportional to d_i, and the correlation is
+1: every row then prefers the same hubs, whatever the query. Where the correlation crosses 0, the walk has
forgotten the density at its start but does not yet depend on the hubs. This t is chosen for retrieval.
Where degrees hardly differ, as among embeddings in many dimensions, the crossing comes too late: all items
are then equally similar. So t is at most the number of steps at which half of the return probability, on
average, is that of the limit.

For clusters it is far too small: the kernel W P^t still has hundreds of directions, in which k-means finds
nothing. With l the eigenvalues of P, the number of directions that matter is the effective rank

    (sum l^(t+1))^2 / sum l^(2(t+1)) = (trace P^(t+1))^2 / trace P^(2(t+1)),

which falls from about n to 1. For k clusters, t is where it is k.

One clock or none. A walk leaves an item with a rate that its similarities to the others set. Among near-
duplicates it moves at once, and from items far from all others hardly ever. If these rates differ very
much, a number of steps that suits the slow has long mixed the fast. No number of steps then improves on
the distances, nor does the kernel, whose local scales make sparse items as similar to each other as dense
ones are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from vicinal._core.parallel import one_blas_thread
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._dense import walk_power
from vicinal.similarity.smoothing._spectral import chebyshev_moments
from vicinal.similarity.smoothing._walks import DenseWalk, SparseWalk, power_coefficients

# Half octaves suffice: the crossing is interpolated, and scores change slowly around it.
GRID = np.unique(np.round(2.0 ** np.arange(0, 15.5, 0.5)))
# The effective rank only approaches its limit, which for separate clusters is their number.
RANK_TOLERANCE = 0.01
# Largest mean fraction of the return probability that may be that of the limit.
MAX_LIMIT_FRACTION = 0.5
# Typical factor between the rate of an item and the average; beyond, items have no common clock.
MAX_FACTOR = 8.0
# Number of points sampled to choose t; up to this many distinct points, all are used.
N_SAMPLED, ALL_MAX_POINTS = 128, 2_500
# Tolerance of return probabilities, of which only the order matters.
RANKING_TOLERANCE = 1e-8
# From t to P^(t+1)[i, i].
Returns = Callable[[float], np.ndarray]


def choose_t(
    returns: Callable[[float], np.ndarray],
    sums: np.ndarray,
    grid: np.ndarray = GRID,
    limits: np.ndarray | None = None,
) -> tuple[int, np.ndarray]:
    """Number of steps at which return probabilities are uncorrelated with degrees.

    Parameters
    ----------
    returns : callable
        Function from t to P^(t+1)[i, i] of the points, or of a sample of them.
    sums : ndarray
        Degrees of the same points.
    grid : ndarray
        Numbers of steps to try, ascending.
    limits : ndarray, optional
        Limits of the return probabilities, if the number of steps is limited by them.

    Returns
    -------
    t : int
        Where the rank correlation first crosses 0; if it never does, where it is largest; but not after half
        of the return probability is that of the limit. If all degrees are equal, where the mean return
        probability is the geometric mean of its first value and its limit.
    curve : ndarray (m, 2)
        Numbers of steps tried, and the rank correlation at each.
    """
    if np.ptp(sums) <= 1e-12 * np.abs(sums).max():
        return _geometric_mean_crossing(returns, len(sums), grid)
    curve: list[tuple[float, float]] = []
    of_limit: list[float] = []
    for t in grid:
        probabilities = returns(t)
        curve.append((t, rank_correlation(sums, probabilities)))
        of_limit.append(_mean_ratio(limits, probabilities))
        if curve[-1][1] >= 0 or of_limit[-1] >= MAX_LIMIT_FRACTION:
            break
    steps, values = np.array(curve).T
    t = _crossing(steps, values) if values[-1] >= 0 else steps[np.argmax(values)]
    if of_limit[-1] >= MAX_LIMIT_FRACTION:
        latest = _crossing(steps, np.array(of_limit) - MAX_LIMIT_FRACTION)
        t = min(t, latest) if values[-1] >= 0 else latest
    return max(1, round(t)), np.column_stack([steps, values])


def _mean_ratio(limits: np.ndarray | None, probabilities: np.ndarray) -> float:
    """Mean fraction of the return probabilities that is that of the limit; 0 if it is not known."""
    if limits is None:
        return 0.0
    known = probabilities > 0
    return (
        float(np.minimum(limits[known] / probabilities[known], 1.0).mean()) if known.any() else 0.0
    )


def _crossing(steps: np.ndarray, values: np.ndarray) -> float:
    """Where the last two values cross 0, linearly in log(t + 1), the number of factors P."""
    if len(values) == 1:
        return float(steps[-1])
    fraction = -values[-2] / (values[-1] - values[-2])
    return float((steps[-2] + 1) * ((steps[-1] + 1) / (steps[-2] + 1)) ** fraction - 1)


def choose_t_for_clusters(
    returns: Callable[[float], np.ndarray], n: int, n_clusters: int, grid: np.ndarray = GRID
) -> tuple[int, np.ndarray]:
    """Number of steps at which the effective rank of a similarity equals the number of clusters.

    Parameters
    ----------
    returns : callable
        Function from t to P^(t+1)[i, i] of the points, or of a sample of them.
    n : int
        Number of points.
    n_clusters : int
        Number of clusters.
    grid : ndarray
        Numbers of steps to try, ascending.

    Returns
    -------
    t : int
        Where the effective rank reaches the number of clusters; the end of the grid if it does not.
    curve : ndarray (m, 2)
        Numbers of steps tried, and the effective rank at each.
    """
    target = n_clusters * (1.0 + RANK_TOLERANCE)
    curve: list[tuple[float, float]] = []
    for t in grid:
        once, twice = float(returns(t).mean()), float(returns(2 * t + 1).mean())
        curve.append((t, n * once * once / twice if twice > 0 else float(n)))
        if curve[-1][1] <= target:
            break
    steps, ranks = np.array(curve).T
    t = steps[-1]
    if ranks[-1] <= target and len(ranks) > 1:
        fraction = np.log(ranks[-2] / target) / np.log(ranks[-2] / ranks[-1])
        t = (steps[-2] + 1) * ((steps[-1] + 1) / (steps[-2] + 1)) ** fraction - 1
    return max(1, round(t)), np.column_stack([steps, ranks])


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman correlation; 0 if all values of either are equal."""
    # Later digits are rounding errors, which must not break ties.
    a = rankdata(np.round(x / np.abs(x).max(), 12))
    b = rankdata(np.round(y / np.abs(y).max(), 12))
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 0 else 0.0


def _geometric_mean_crossing(
    returns: Callable[[float], np.ndarray], n: int, grid: np.ndarray
) -> tuple[int, np.ndarray]:
    target = np.sqrt(returns(0).mean() / n)
    reached = [t for t in grid if returns(t).mean() <= target]
    return int(reached[0] if reached else grid[-1]), np.column_stack([grid, np.zeros(len(grid))])


def rate_factor(weights: Any) -> float:
    """Typical factor by which walks leave an item faster or slower than the average: exp of the standard
    deviation of the logarithms of rates.

    Items that no number of steps would leave all count alike.
    """
    diagonal = weights.diagonal()
    rates = np.asarray(weights.sum(axis=1)).ravel() - diagonal
    own = np.where(diagonal > 0, diagonal, 1.0)
    return float(np.exp(np.log(np.maximum(rates / own, 1.0 / GRID[-1])).std()))


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
