"""Random walks along a dense or sparse similarity, as used by `SelfSmoothing`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from vicinal.graphs._build.duplicates import many_duplicates
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import degrees, normalized_affinity, transition
from vicinal.similarity.smoothing._dense import (
    SQUARING_MAX_ITEMS,
    TOLERANCE,
    in_range,
    normalized,
    smooth_asymmetric,
    smooth_symmetric,
)
from vicinal.similarity.smoothing._spectral import (
    SmoothingSpectrum,
    all_pairs,
    leading_pairs,
)

# Cost of a full decomposition, in products with n vectors.
DECOMPOSITION_COST = 15
EXACT = 1e-14


class DenseWalk:
    """Random walk along a dense similarity."""

    def __init__(self, weights: np.ndarray, symmetric: bool) -> None:
        # In units of 2^exponent.
        self.weights, self.exponent = in_range(weights)
        self.symmetric = symmetric
        self.sums = self.weights.sum(axis=1)
        self._spectrum: SmoothingSpectrum | None = None
        # Decomposition for a sweep, set by `prepare`.
        self.sweep_spectrum: SmoothingSpectrum | None = None

    def smoothed(self, t: float) -> np.ndarray:
        """W_t."""
        if not self.symmetric:
            return smooth_asymmetric(self.weights, t)
        # Products keep the relative precision of small entries, by which distant items are ranked;
        # eigenvectors give them only up to rounding errors of the largest. Only a sweep accepts this loss.
        if t == int(t):
            spectrum = self.sweep_spectrum
            if t > 0 and spectrum is not None and spectrum.truncation_error(t) <= TOLERANCE:
                return spectrum.matrix(t)
        elif self._spectrum is not None and self._spectrum.cutoff == 0:
            return self._spectrum.matrix(t)
        return smooth_symmetric(self.weights, t)

    def prepare(self, ts: Sequence[float], full: bool = True) -> bool:
        """Prepare for many t with one decomposition, ``sweep_spectrum``; returns whether this is done.

        Without ``full``, it is done only if leading eigenpairs suffice, or products are as fast.
        """
        smallest = min((t for t in ts if t > 0), default=0.0)
        integers = all(t == int(t) for t in ts)
        is_small = integers and len(self.weights) <= SQUARING_MAX_ITEMS
        if not self.symmetric or smallest == 0 or is_small:
            return True
        if not integers:
            self.complete()
        elif self._spectrum is None or self._spectrum.truncation_error(smallest) > TOLERANCE:
            pairs = leading_pairs(
                self.operator,
                np.sqrt(self.sums),
                TOLERANCE ** (1 / (smallest + 1)),
                budget=DECOMPOSITION_COST * len(self.sums),
            )
            if pairs is None and not full:
                return False
            self._spectrum = pairs or self.complete()
        self.sweep_spectrum = self._spectrum
        return True

    def spread(self, rows: np.ndarray, t: float) -> np.ndarray:
        """``rows`` times P^t, for a symmetric similarity."""
        if t == 0:
            return rows
        # S^t = S^((t - 1) + 1): leading pairs that suffice for t - 1 steps suffice here.
        spectrum = self._spectrum
        if spectrum is None or spectrum.truncation_error(t - 1) > TOLERANCE:
            spectrum = self.complete()
        return spectrum.spread(rows, t)

    def complete(self) -> SmoothingSpectrum:
        """All eigenpairs of a symmetric similarity."""
        if self._spectrum is None or self._spectrum.cutoff > 0:
            self._spectrum = all_pairs(self.operator, np.sqrt(self.sums))
        return self._spectrum

    def returns(self, t: float) -> np.ndarray:
        """P^(t+1)[i, i] of all points, for a symmetric similarity."""
        return self.complete().diagonal(t) / np.where(self.sums > 0, self.sums, 1.0)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows, which determines the cost of a decomposition."""
        duplicates = many_duplicates(self.weights)
        return len(self.weights) if duplicates is None else len(duplicates.representative)

    @property
    def operator(self) -> np.ndarray:
        """The normalised affinity."""
        return normalized(self.weights, np.sqrt(self.sums))


class SparseWalk:
    """Random walk along a sparse similarity; rows are computed on demand, by sparse products.

    If it is symmetric, S^m is expanded in Chebyshev polynomials, of which about sqrt(m) matter.
    """

    def __init__(self, weights: sparse.csr_array, symmetric: bool, n_jobs: int | None) -> None:
        # In units of 2^exponent.
        self.weights, self.exponent = in_range(weights)
        self.symmetric, self.n_jobs = symmetric, n_jobs
        self.sums = degrees(self.weights)
        if symmetric:
            self.roots = np.sqrt(self.sums)
            self.operator = ThreadedSparseOperator(normalized_affinity(self.weights, self.sums))
        else:
            self.operator = ThreadedSparseOperator(sparse.csr_array(transition(self.weights).T))

    def spread(self, rows: Any, t: float) -> np.ndarray:
        """``rows`` times P^t for an integer t."""
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


def power_coefficients(exponent: int, tolerance: float) -> np.ndarray:
    """Coefficients of x^exponent in Chebyshev polynomials; omitted ones sum to at most the tolerance."""
    k = np.arange(exponent % 2, exponent + 1, 2)
    half = (exponent - k) / 2
    logs = gammaln(exponent + 1) - gammaln(half + 1) - gammaln(exponent - half + 1)
    values = 2 * np.exp(logs - exponent * np.log(2))
    if exponent % 2 == 0:
        values[0] /= 2
    # The exact sum is 1^exponent = 1; dividing by it removes the rounding errors of the logarithms.
    values /= values.sum()
    tails = np.cumsum(values[::-1])[::-1]
    n_terms = max(1, int((tails > tolerance).sum()))
    coefficients = np.zeros(k[n_terms - 1] + 1)
    coefficients[k[:n_terms]] = values[:n_terms]
    return coefficients


def times_power(
    operator: Any, block: np.ndarray, exponent: int, tolerance: float = EXACT
) -> np.ndarray:
    """operator^exponent @ block for a symmetric operator with spectrum in [-1, 1].

    The error of a column is at most the tolerance times its norm.
    """
    coefficients = power_coefficients(exponent, tolerance)
    result = coefficients[0] * block
    if len(coefficients) == 1:
        return result
    previous, current = block, operator @ block
    result += coefficients[1] * current
    for coefficient in coefficients[2:]:
        upcoming = operator @ current
        upcoming *= 2.0
        upcoming -= previous
        previous, current = current, upcoming
        if coefficient:
            result += coefficient * current
    return result
