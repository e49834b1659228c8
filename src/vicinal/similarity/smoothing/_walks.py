"""The walk along a similarity, as `SelfSmoothing` asks it: full or sparse, the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicates import many_duplicates
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import degrees, normalized_affinity, transition
from vicinal.similarity.smoothing._auto_t import choose_t
from vicinal.similarity.smoothing._dense import (
    SMALL,
    TOLERANCE,
    in_range,
    normalized,
    smooth_asymmetric,
    smooth_symmetric,
    walk_power,
)
from vicinal.similarity.smoothing._spectral import (
    SmoothingSpectrum,
    all_pairs,
    chebyshev_moments,
    leading_pairs,
)

# A full decomposition costs about as much as so many products with n vectors.
DECOMPOSITION = 15
SAMPLE = 128
# Up to so many points, all of them decide how long to smooth.
ALL = 2_500
EXACT = 1e-14
# Of the return probabilities, when only their order counts.
ROUGH = 1e-8


class DenseWalk:
    """Walk along a full similarity matrix."""

    def __init__(self, weights: np.ndarray, symmetric: bool) -> None:
        # In units of 2^exponent.
        self.weights, self.exponent = in_range(weights)
        self.symmetric = symmetric
        self.sums = self.weights.sum(axis=1)
        self._spectrum: SmoothingSpectrum | None = None
        # The decomposition that serves a sweep, after `prepare`.
        self.swept: SmoothingSpectrum | None = None

    def smoothed(self, t: float) -> np.ndarray:
        """W_t."""
        if not self.symmetric:
            return smooth_asymmetric(self.weights, t)
        # Only a sweep is worth the loss: products keep the relative precision of small entries, by which
        # items far from each other are ranked; eigenvectors know them up to rounding of the largest.
        if t == int(t):
            spectrum = self.swept
            if t > 0 and spectrum is not None and spectrum.left_out(t) <= TOLERANCE:
                return spectrum.matrix(t)
        elif self._spectrum is not None and self._spectrum.cutoff == 0:
            return self._spectrum.matrix(t)
        return smooth_symmetric(self.weights, t)

    def prepare(self, ts: Sequence[float], full: bool = True) -> bool:
        """Get ready for many t by one decomposition, ``swept``, and tell whether that is done.

        Without ``full`` it is done only if leading eigenpairs suffice, or products are as fast.
        """
        least = min((t for t in ts if t > 0), default=0.0)
        whole = all(t == int(t) for t in ts)
        if not self.symmetric or least == 0 or (whole and len(self.weights) <= SMALL):
            return True
        if not whole:
            self.complete()
        elif self._spectrum is None or self._spectrum.left_out(least) > TOLERANCE:
            pairs = leading_pairs(
                self.operator,
                np.sqrt(self.sums),
                TOLERANCE ** (1 / (least + 1)),
                budget=DECOMPOSITION * len(self.sums),
            )
            if pairs is None and not full:
                return False
            self._spectrum = pairs or self.complete()
        self.swept = self._spectrum
        return True

    def spread(self, rows: np.ndarray, t: float) -> np.ndarray:
        """``rows`` times P^t, of a symmetric similarity."""
        if t == 0:
            return rows
        # S^t = S^((t - 1) + 1): leading pairs that serve t - 1 steps serve here.
        spectrum = self._spectrum
        if spectrum is None or spectrum.left_out(t - 1) > TOLERANCE:
            spectrum = self.complete()
        return spectrum.spread(rows, t)

    def complete(self) -> SmoothingSpectrum:
        """All eigenpairs of a symmetric similarity."""
        if self._spectrum is None or self._spectrum.cutoff > 0:
            self._spectrum = all_pairs(self.operator, np.sqrt(self.sums))
        return self._spectrum

    def returns(self, t: float) -> np.ndarray:
        """P^(t+1)[i, i] of all points, of a symmetric similarity."""
        return self.complete().diagonal(t) / np.where(self.sums > 0, self.sums, 1.0)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows, which is what a decomposition costs by."""
        rows = many_duplicates(self.weights)
        return len(self.weights) if rows is None else len(rows.representative)

    @property
    def operator(self) -> np.ndarray:
        """The normalised affinity."""
        return normalized(self.weights, np.sqrt(self.sums))


class SparseWalk:
    """Walk along a sparse similarity; rows are computed when they are asked for, by its products.

    For a symmetric one S^m is expanded in Chebyshev polynomials, of which about sqrt(m) matter.
    """

    def __init__(self, weights: sparse.csr_array, symmetric: bool, n_jobs: int | None) -> None:
        # In units of 2^exponent.
        self.weights, self.exponent = in_range(weights)
        self.symmetric, self.n_jobs = symmetric, n_jobs
        self.sums = degrees(self.weights)
        if symmetric:
            self.roots = np.sqrt(self.sums)
            self.operator = ThreadedSparseOperator(
                normalized_affinity(self.weights, self.sums), n_jobs
            )
        else:
            self.operator = ThreadedSparseOperator(
                sparse.csr_array(transition(self.weights).T), n_jobs
            )

    def spread(self, rows: Any, t: float) -> np.ndarray:
        """``rows`` times P^t, t a whole number."""
        rows = rows.toarray() if sparse.issparse(rows) else rows
        if not self.symmetric:
            block = rows.T
            for _ in range(int(t)):
                block = self.operator @ block
            return block.T
        inverse = np.divide(1.0, self.roots, out=np.zeros_like(self.roots), where=self.roots > 0)
        block = times_power(self.operator, (rows * inverse).T, int(t))
        return np.maximum(block.T * self.roots, 0.0)

    def rows(self, t: float, items: np.ndarray) -> np.ndarray:
        """Rows of W_t."""
        return self.spread(self.weights[items], t)


def walk_steps(walk: DenseWalk | SparseWalk, seed: int) -> tuple[int, np.ndarray]:
    """The number of steps that `choose_t` takes for a walk, and its curve."""
    n = len(walk.sums)
    if not walk.symmetric:
        if isinstance(walk, SparseWalk):
            raise InvalidValueError(
                "t='auto', but the similarity is sparse and not symmetric; give a number of steps, or "
                "method='dense'."
            )
        return choose_t(SquaredReturns(walk.weights), walk.sums, SquaredReturns.GRID)
    if isinstance(walk, DenseWalk) and walk.n_distinct <= ALL:
        return choose_t(walk.returns, walk.sums)
    items = np.sort(np.random.default_rng(seed).choice(n, min(SAMPLE, n), replace=False))
    return choose_t(SampledReturns(walk.operator, items), walk.sums[items])


class SampledReturns:
    """Return probabilities P^(t+1)[i, i] of some points for any t, from moments that are computed once."""

    def __init__(self, operator: Any, items: np.ndarray) -> None:
        self.operator, self.items = operator, items
        self._moments = np.empty((0, len(items)))

    def __call__(self, t: float) -> np.ndarray:
        coefficients = power_coefficients(int(t) + 1, ROUGH)
        if len(coefficients) > len(self._moments):
            units = np.zeros((self.operator.shape[0], len(self.items)))
            units[self.items, np.arange(len(self.items))] = 1.0
            # Twice as many as asked for: the next t will ask for more.
            self._moments = chebyshev_moments(self.operator, units, len(coefficients))
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


def power_coefficients(exponent: int, tolerance: float) -> np.ndarray:
    """Coefficients of x^exponent in Chebyshev polynomials; those left out sum to the tolerance at most."""
    k = np.arange(exponent % 2, exponent + 1, 2)
    half = (exponent - k) / 2
    logs = gammaln(exponent + 1) - gammaln(half + 1) - gammaln(exponent - half + 1)
    values = 2 * np.exp(logs - exponent * np.log(2))
    if exponent % 2 == 0:
        values[0] /= 2
    # The sum is 1, the power of 1, which takes away what the logarithms have lost.
    values /= values.sum()
    tails = np.cumsum(values[::-1])[::-1]
    kept = max(1, int((tails > tolerance).sum()))
    coefficients = np.zeros(k[kept - 1] + 1)
    coefficients[k[:kept]] = values[:kept]
    return coefficients


def times_power(
    operator: Any, block: np.ndarray, exponent: int, tolerance: float = EXACT
) -> np.ndarray:
    """operator^exponent @ block for a symmetric operator with its spectrum in [-1, 1].

    The error of a column is the tolerance times its length at most.
    """
    coefficients = power_coefficients(exponent, tolerance)
    result = coefficients[0] * block
    if len(coefficients) == 1:
        return result
    before, now = block, operator @ block
    result += coefficients[1] * now
    for coefficient in coefficients[2:]:
        after = operator @ now
        after *= 2.0
        after -= before
        before, now = now, after
        if coefficient:
            result += coefficient * now
    return result


def best_of_rows(
    rows_of: Any, n: int, n_neighbors: int, n_jobs: int | None, progress: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """The largest entries of each row off the diagonal, in order, equal ones by index.

    Parameters
    ----------
    rows_of : callable
        From a range (start, stop) to these rows, which may be overwritten.
    """
    values, indices = np.empty((n, n_neighbors)), np.empty((n, n_neighbors), np.int64)

    def task(span: tuple[int, int]) -> None:
        rows = rows_of(*span)
        rows[np.arange(len(rows)), np.arange(*span)] = -np.inf
        indices[span[0] : span[1]] = largest_in_rows(rows, n_neighbors)
        values[span[0] : span[1]] = np.take_along_axis(rows, indices[span[0] : span[1]], axis=1)

    with one_blas_thread():
        map_threads(task, blocks(n, max(1, (1 << 22) // n)), n_jobs, progress=progress)
    return values, indices


def largest_in_rows(rows: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest entries of each row, in order, equal ones by index."""
    n = rows.shape[1]
    if k > n // 4:
        return np.argsort(-rows, axis=1, kind="stable")[:, :k]
    from vicinal.similarity.smoothing._selection_kernels import largest_places

    places = np.empty((len(rows), k), np.int64)
    largest_places(np.ascontiguousarray(rows, dtype=np.float64), places)
    order = np.argsort(-np.take_along_axis(rows, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)
