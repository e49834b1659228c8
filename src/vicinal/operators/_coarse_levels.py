"""Preconditioners of conjugate gradients: incomplete Cholesky factors, also on coarser levels.

An incomplete factor reduces errors that vary from node to node. Errors that are smooth over many nodes remain
if the matrix is nearly singular, and take hundreds of iterations. They are reduced on coarser levels, whose
nodes are aggregates of the nodes below, down to a level small enough for its inverse. The corrections of all
levels are added, so that the preconditioner is symmetric.

References
----------
Bramble, Pasciak and Xu, "Parallel multilevel preconditioners", Mathematics of Computation 1990. Vanek, Mandel
and Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems",
Computing 1996.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from vicinal._core.parallel import one_blas_thread

# A level of at most this many nodes is solved by its inverse.
COARSEST_MAX_NODES = 1000
# Steps that smooth the vector of ones towards the smoothest vector of a matrix, and the step length.
N_VECTOR_STEPS, VECTOR_STEP = 20, 0.5
# Step length that smooths a prolongation; 2/3 is optimal for the Laplacian of a grid.
PROLONGATION_STEP = 2 / 3
# Entries of a prolongation below this fraction of the largest in their row are left out: they cost more time
# than the iterations they save.
MIN_ENTRY_FRACTION = 0.05
# Aggregation at least halves a level, otherwise the levels below cost too much.
MAX_AGGREGATE_FRACTION = 0.5


class Levels(NamedTuple):
    """Levels of a preconditioner; the arrays of all levels are concatenated.

    Attributes
    ----------
    starts : ndarray of int of shape (n_levels + 1,)
        Position of the first node of each level.
    factor : tuple of ndarray
        Incomplete Cholesky factors: row pointers, columns within the level, values, inverse pivots.
    transfer : tuple of ndarray
        Prolongations from each next level: row pointers, columns within the next level, values.
    inverse : ndarray of shape (m, m)
        Inverse of the matrix of the last level; empty if that level has a factor too.
    """

    starts: np.ndarray
    factor: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    transfer: tuple[np.ndarray, np.ndarray, np.ndarray]
    inverse: np.ndarray

    def astype(self, dtype: np.dtype) -> Levels:
        """The same levels with values in another precision."""
        indptr, indices, values, inverse_pivots = self.factor
        moves, targets, weights = self.transfer
        values, inverse_pivots, weights, inverse = (
            array.astype(dtype, copy=False)
            for array in (values, inverse_pivots, weights, self.inverse)
        )
        return Levels(
            self.starts,
            (indptr, indices, values, inverse_pivots),
            (moves, targets, weights),
            inverse,
        )


def fine_level(matrix: sparse.csr_array) -> Levels:
    """The incomplete Cholesky factor of a matrix, without coarser levels."""
    return _joined([_factor(matrix)], [], np.empty((0, 0)))


def coarse_levels(matrix: sparse.csr_array) -> Levels:
    """Factors of a matrix and of coarser levels, as far as they can be formed."""
    factors, transfers, inverse = [_factor(matrix)], [], np.empty((0, 0))
    vector = np.ones(matrix.shape[0])
    step = VECTOR_STEP / matrix.diagonal()
    for _ in range(N_VECTOR_STEPS):
        vector -= step * (matrix @ vector)
    while matrix.shape[0] > COARSEST_MAX_NODES:
        found = _prolongation(matrix, vector)
        if found is None:
            break
        prolongation, vector = found
        matrix = sparse.csr_array(prolongation.T @ (matrix @ prolongation))
        matrix.sort_indices()
        if not (matrix.diagonal() > 0).all():
            break
        transfers.append(prolongation)
        if matrix.shape[0] <= COARSEST_MAX_NODES:
            inverse = _inverse(matrix.toarray())
        if len(inverse) == 0:
            factors.append(_factor(matrix))
    return _joined(factors, transfers, inverse)


def _prolongation(
    matrix: sparse.csr_array, vector: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray] | None:
    """Smoothed pieces of the vector on aggregates, and its norms there; None if there are too many."""
    from vicinal.operators._eigen._multilevel_kernels import aggregate

    inverse = 1.0 / matrix.diagonal()
    roots = np.sqrt(inverse)
    rows = np.repeat(roots, np.diff(matrix.indptr))
    groups, n_groups = aggregate(
        matrix.indptr, matrix.indices, -matrix.data * rows * roots[matrix.indices]
    )
    if n_groups > MAX_AGGREGATE_FRACTION * len(groups):
        return None
    norms = np.sqrt(np.bincount(groups, vector * vector, n_groups))
    if not (norms > 0).all():
        return None
    pieces = sparse.csr_array(
        (vector / norms[groups], groups, np.arange(len(groups) + 1)),
        shape=(len(groups), n_groups),
    )
    smoothing = sparse.diags_array(PROLONGATION_STEP * inverse) @ (matrix @ pieces)
    return _without_small(sparse.csr_array(pieces - smoothing)), norms


def _without_small(prolongation: sparse.csr_array) -> sparse.csr_array:
    largest = abs(prolongation).max(axis=1).toarray().ravel()
    limits = np.repeat(MIN_ENTRY_FRACTION * largest, np.diff(prolongation.indptr))
    prolongation.data[np.abs(prolongation.data) < limits] = 0.0
    prolongation.eliminate_zeros()
    return prolongation


def _factor(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from vicinal.operators._cg_kernels import factorize

    lower = sparse.csr_array(sparse.tril(matrix))
    lower.sort_indices()
    factor = (*kernel_arrays(lower), np.empty(matrix.shape[0]))
    factorize(*factor)
    return factor


def kernel_arrays(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of the dtypes for which the kernels are compiled."""
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32)
    return indptr, indices, np.ascontiguousarray(matrix.data)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """Inverse of a positive definite matrix; empty if it is not, numerically."""
    # Threads of the BLAS library would wait for each other longer than the inverse takes.
    with one_blas_thread():
        factor, failed = lapack.dpotrf(matrix, lower=1)
        if failed:
            return np.empty((0, 0))
        lower = lapack.dpotri(factor, lower=1)[0]
    return np.tril(lower) + np.tril(lower, -1).T


def _joined(
    factors: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
    transfers: list[sparse.csr_array],
    inverse: np.ndarray,
) -> Levels:
    sizes = [len(factor[3]) for factor in factors] + ([len(inverse)] if len(inverse) else [])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    moves = [kernel_arrays(transfer) for transfer in transfers]
    pointers, *others = zip(*factors, strict=True)
    columns, values, pivots = map(np.concatenate, others)
    empty = np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0)
    parts = list(zip(*(moves or [empty]), strict=True))
    return Levels(
        starts,
        (_joined_pointers(pointers), columns, values, pivots),
        (_joined_pointers(parts[0]), np.concatenate(parts[1]), np.concatenate(parts[2])),
        np.ascontiguousarray(inverse),
    )


def _joined_pointers(pointers: Sequence[np.ndarray]) -> np.ndarray:
    """Row pointers into the concatenated entries."""
    joined = [pointers[0]]
    for part in pointers[1:]:
        joined.append(part[1:] + joined[-1][-1])
    return np.concatenate(joined)
