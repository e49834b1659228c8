"""Preconditioner of stationary distributions: incomplete LU factors of a chain and of its aggregates.

An incomplete factor spreads corrections over few steps of the walk, but between regions that the walk rarely
leaves, probability moves in thousands of steps. Nodes are therefore aggregated, recursively: within an
aggregate, probabilities are kept in proportion to an estimate of the distribution, so that each level is a
chain again, and the last one is small enough for its inverse.

References
----------
Simon and Ando, "Aggregation of variables in dynamic systems", Econometrica 1961. Horton and Leutenegger, "A
multi-level solution algorithm for steady-state Markov chains", SIGMETRICS 1994.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy import sparse

# A level of at most this many aggregates is solved by its inverse.
COARSEST_MAX_NODES = 500
# Aggregation at least halves a level, otherwise the levels below cost too much.
MAX_AGGREGATE_FRACTION = 0.5
# Steps of the walk, and the probability to move in each, for the estimate of the distribution.
N_STEPS, MOVE = 30, 0.5


class ChainLevels(NamedTuple):
    """Levels of the preconditioner; the arrays of all levels are concatenated.

    Attributes
    ----------
    starts : ndarray of int of shape (n_levels + 1,)
        Position of the first node of each level.
    indptr, indices, factor, diagonal : ndarray
        Incomplete LU factors: row pointers, columns within the level, values, and positions of the diagonal.
    groups, fractions : ndarray
        Aggregate of each node, and its fraction of the aggregate's probability.
    inverse : ndarray of shape (m, m)
        Inverse of the matrix of the last level; empty if that level has a factor too.
    """

    starts: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    factor: np.ndarray
    diagonal: np.ndarray
    groups: np.ndarray
    fractions: np.ndarray
    inverse: np.ndarray


def chain_levels(matrix: sparse.csr_array, *, coarse: bool) -> ChainLevels:
    """Factors of I - beta P' for a chain P and, with ``coarse``, of its aggregates."""
    matrices, groups, fractions, inverse = [matrix], [], [], np.empty((0, 0))
    estimate = np.full(matrix.shape[0], 1.0 / matrix.shape[0])
    for _ in range(N_STEPS if coarse else 0):
        estimate -= MOVE * (matrix @ estimate)
    while coarse and matrices[-1].shape[0] > COARSEST_MAX_NODES:
        labels, n_groups = _aggregates(matrices[-1])
        if n_groups > MAX_AGGREGATE_FRACTION * len(labels) or not (estimate > 0).all():
            break
        sums = np.bincount(labels, estimate, n_groups)
        groups.append(labels)
        fractions.append(estimate / sums[labels])
        matrices.append(_aggregated(matrices[-1], labels, fractions[-1], n_groups))
        estimate = sums
    if len(groups) and matrices[-1].shape[0] <= COARSEST_MAX_NODES:
        with suppress(np.linalg.LinAlgError):  # nearly singular; it gets an incomplete factor
            inverse = np.linalg.inv(matrices[-1].toarray())
    return _joined(matrices, groups, fractions, inverse)


def _aggregates(matrix: sparse.csr_array) -> tuple[np.ndarray, int]:
    from vicinal.operators._eigen._multilevel_kernels import aggregate

    # Steps in both directions; the diagonal has the other sign.
    steps = sparse.csr_array(-(matrix + matrix.T))
    return aggregate(steps.indptr, steps.indices, steps.data)


def _aggregated(
    matrix: sparse.csr_array, labels: np.ndarray, fractions: np.ndarray, n_groups: int
) -> sparse.csr_array:
    """The matrix of the chain of aggregates."""
    rows = np.repeat(labels, np.diff(matrix.indptr))
    columns, values = labels[matrix.indices], matrix.data * fractions[matrix.indices]
    coarse = sparse.coo_array((values, (rows, columns)), shape=(n_groups, n_groups)).tocsr()
    coarse.sort_indices()
    return sparse.csr_array(coarse)


def _joined(
    matrices: list[sparse.csr_array],
    groups: list[np.ndarray],
    fractions: list[np.ndarray],
    inverse: np.ndarray,
) -> ChainLevels:
    from vicinal.operators._stationary_kernels import factorize

    starts = np.concatenate([[0], np.cumsum([matrix.shape[0] for matrix in matrices])])
    pointers, columns, values, diagonals = [np.zeros(1, np.int64)], [], [], []
    for matrix in matrices[: len(matrices) - (len(inverse) > 0)]:
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        factor, diagonal = matrix.data.copy(), np.empty(matrix.shape[0], np.int64)
        factorize(indptr, indices, factor, diagonal)
        diagonals.append(diagonal + pointers[-1][-1])
        pointers.append(indptr[1:] + pointers[-1][-1])
        columns.append(indices)
        values.append(factor)
    return ChainLevels(
        starts.astype(np.int64),
        np.concatenate(pointers),
        np.concatenate(columns),
        np.concatenate(values),
        np.concatenate(diagonals),
        np.concatenate([np.empty(0, np.int64), *groups]),
        np.concatenate([np.empty(0), *fractions]),
        np.ascontiguousarray(inverse),
    )
