"""Preconditioner of stationary distributions: incomplete LU factors of a chain and of its aggregates.

An incomplete factor spreads corrections over few steps of the walk, but between regions that the walk rarely
leaves, probability moves in thousands of steps. Nodes are therefore aggregated, recursively: within an
aggregate, probabilities are kept in proportion to an estimate of the distribution, so that each level is a
chain again, and the last one is small enough for its inverse.

Rows are divided into blocks, each with its own factor, so that threads can work side by side. The blocks
depend on the number of nodes only, so the result does not depend on the number of threads.

References
----------
Simon and Ando, "Aggregation of variables in dynamic systems", Econometrica 1961. Horton and Leutenegger, "A
multi-level solution algorithm for steady-state Markov chains", SIGMETRICS 1994.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.operators._coarse_levels import kernel_arrays

# A level of at most this many aggregates is solved by its inverse.
COARSEST_MAX_NODES = 500
# Aggregation at least halves a level, otherwise the levels below cost too much.
MAX_AGGREGATE_FRACTION = 0.5
# Nodes are aggregated along steps of at least this fraction of the largest one; larger aggregates take less
# time but more iterations.
MIN_STEP_FRACTION = 0.8
# Smallest and largest number of blocks, and the number of rows from which they are doubled.
MIN_ROWS_PER_BLOCK, MAX_BLOCKS = 1 << 15, 8


class ChainLevel:
    """Approximate solver of A y = r for the matrix A = I - beta P' of a chain, and those of its aggregates.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        The matrix A with sorted rows.
    estimate : ndarray of shape (n,) or None
        Estimate of the distribution; None for no aggregates.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, matrix: sparse.csr_array, estimate: np.ndarray | None) -> None:
        n = matrix.shape[0]
        self.arrays = kernel_arrays(matrix)
        self.spans = _row_blocks(n) if estimate is not None else [(0, n)]
        self._factors = map_threads(
            lambda span: _factor(matrix[slice(*span), slice(*span)]), self.spans
        )
        self._buffers = np.zeros(n), np.empty(n)
        self._groups: np.ndarray | None = None
        self._coarse: ChainLevel | CoarsestLevel | None = None
        if estimate is not None and n > COARSEST_MAX_NODES:
            groups, n_groups = _aggregates(matrix)
            if n_groups <= MAX_AGGREGATE_FRACTION * n:
                self._groups, self._sums = groups, np.empty(n_groups)
                self.update(estimate)

    @property
    def has_aggregates(self) -> bool:
        """Whether corrections on aggregates are possible."""
        return self._coarse is not None

    def update(self, estimate: np.ndarray) -> None:
        """Replace the aggregated chains by those of a better estimate of the distribution."""
        if self._groups is None or not (estimate > 0).all():
            return
        sums = np.bincount(self._groups, estimate, len(self._sums))
        self._fractions = estimate / sums[self._groups]
        coarse = _aggregated(self.arrays, self._groups, self._fractions, len(sums))
        if len(sums) <= COARSEST_MAX_NODES:
            self._coarse = CoarsestLevel(coarse)
        else:
            self._coarse = ChainLevel(coarse, sums)

    def solve(self, r: np.ndarray, out: np.ndarray) -> None:
        """Correct on the aggregates, then along steps of the chain."""
        from vicinal.operators._stationary_kernels import prolong, restrict, smooth

        y, remaining = self._buffers
        if self._coarse is not None:
            restrict(self._groups, r, self._sums)
            correction = self._coarse.correction(self._sums)
            map_threads(
                lambda span: prolong(self._groups, self._fractions, correction, y, *span),
                self.spans,
            )
        map_threads(
            lambda task: smooth(self.arrays, task[0], r, y, remaining, out, *task[1]),
            list(zip(self._factors, self.spans, strict=True)),
        )

    def correction(self, r: np.ndarray) -> np.ndarray:
        """`solve` in a new array."""
        out = np.empty(len(r))
        self.solve(r, out)
        return out


class CoarsestLevel:
    """The inverse of a small chain."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        try:
            self._inverse = np.linalg.inv(matrix.toarray())
        except np.linalg.LinAlgError:  # nearly singular
            self._inverse = np.linalg.pinv(matrix.toarray())

    def correction(self, r: np.ndarray) -> np.ndarray:
        """The exact solution."""
        return self._inverse @ r


def _row_blocks(n: int) -> list[tuple[int, int]]:
    n_blocks = 1
    while n_blocks < MAX_BLOCKS and n >= 2 * n_blocks * MIN_ROWS_PER_BLOCK:
        n_blocks *= 2
    return blocks(n, -(-n // n_blocks))


def _factor(matrix: sparse.csr_array) -> tuple[Any, ...]:
    from vicinal.operators._stationary_kernels import factorize

    indptr, indices, values = kernel_arrays(matrix)
    factor = indptr, indices, values.copy(), np.empty(matrix.shape[0], np.int64)
    factorize(*factor)
    return factor


def _aggregates(matrix: sparse.csr_array) -> tuple[np.ndarray, int]:
    from vicinal.operators._eigen._multilevel_kernels import aggregate

    # Steps in both directions; the diagonal has the other sign.
    steps = sparse.csr_array(-(matrix + matrix.T))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(steps.indptr))
    largest = np.zeros(matrix.shape[0])
    np.maximum.at(largest, rows, steps.data)
    steps.data[steps.data < MIN_STEP_FRACTION * largest[rows]] = 0.0
    return aggregate(steps.indptr, steps.indices, steps.data)


def _aggregated(
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray],
    groups: np.ndarray,
    fractions: np.ndarray,
    n_groups: int,
) -> sparse.csr_array:
    """The matrix of the chain of aggregates."""
    indptr, indices, values = arrays
    entries = values * fractions[indices], (np.repeat(groups, np.diff(indptr)), groups[indices])
    coarse = sparse.csr_array(sparse.coo_array(entries, shape=(n_groups, n_groups)).tocsr())
    coarse.sort_indices()
    return coarse
