"""Multilevel eigensolver for graphs of large diameter: grids, images, long thin clusters.

The leading eigenvalues are very close to 1, and Lanczos would need thousands of steps. Here, nodes are
aggregated with their close neighbours, recursively, until few are left (smoothed aggregation). The coarsest
level provides start vectors, and a V-cycle through the levels preconditions a block iteration (LOBPCG). The
number of iterations hardly depends on the number of nodes.

References
----------
Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order
elliptic problems", Computing 1996.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from vicinal._core.parallel import one_blas_thread
from vicinal.operators._eigen.lobpcg import ROUNDING, lobpcg
from vicinal.operators._eigen.tall_matrices import by_rows
from vicinal.operators._threaded_matmul import ThreadedSparseOperator

# The coarsest level, which is solved densely, has at most this number of nodes.
COARSEST_MAX_NODES = 500
# Additional vectors, because the last ones of a block converge most slowly; at least this number, rounded up
# to a multiple of the vector registers of a processor.
MIN_GUARD_VECTORS, WIDTH_FACTOR = 3, 4
SMOOTHING_STEPS = 2
# Smoothing reduces errors for eigenvalues above this fraction of the largest; coarser levels do the rest.
SMOOTHED_FRACTION = 1 / 6
# Vectors of coarse levels only start the iteration of the next finer one.
START_ACCURACY, MAX_START_ITER = 1e-2, 6
# Coarsening stops if the number of entries grows by this factor, since coarse levels would be dense.
MAX_FILL_IN = 2.0


class CoarseningStalled(ArithmeticError):
    """Aggregation does not make the graph small; its diameter is small, and Lanczos is fast."""


class Level(NamedTuple):
    """A Laplacian, its inverse diagonal and largest eigenvalue, and restriction and prolongation.

    The kernel is the vector of length 1 that spans the null space of the Laplacian.
    """

    kernel: np.ndarray
    laplacian: ThreadedSparseOperator
    inverse: np.ndarray
    largest: float
    restriction: ThreadedSparseOperator
    prolongation: ThreadedSparseOperator


class Hierarchy(NamedTuple):
    """Levels from fine to coarse, and all eigenpairs of the coarsest Laplacian."""

    levels: list[Level]
    values: np.ndarray
    vectors: np.ndarray


def multilevel_eigenpairs(
    normalized: sparse.csr_array,
    roots: np.ndarray,
    n_pairs: int,
    *,
    accuracy: float = 1e-3,
    max_iter: int = 60,
    operator: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the largest eigenpairs of S = D^-1/2 W D^-1/2 of a connected graph.

    Parameters
    ----------
    normalized : csr_array of shape (n, n)
        The matrix S, symmetric.
    roots : ndarray of shape (n,)
        The trivial eigenvector: square roots of the degrees, all positive.
    n_pairs : int
        Number of eigenpairs, including the trivial one.
    accuracy : float, default=1e-3
        Error of a vector in the energy x' (I - S) x, relative to its own energy. Unlike a bound on the
        residual, it does not depend on the eigengaps. The relative error of eigenvalues of I - S is its
        square.
    max_iter : int, default=60
        Maximum number of iterations; about ten suffice for graphs of large diameter.
    operator : LinearOperator, optional
        Operator near S, such as S plus a matrix of low rank, whose eigenpairs are computed instead; S is then
        only used as a preconditioner.

    Returns
    -------
    values : ndarray of shape (n_pairs,)
        Eigenvalues, descending from 1.
    vectors : ndarray of shape (n, n_pairs)
        Orthonormal columns.
    residuals : ndarray of shape (n_pairs,)
        Norms of S v - value v.

    Raises
    ------
    CoarseningStalled
        If aggregation does not make the graph small; use Lanczos then.
    """
    n = normalized.shape[0]
    trivial = (roots / np.linalg.norm(roots))[:, None]
    laplacian = sparse.csr_array(sparse.eye_array(n, format="csr") - normalized)
    # Rows are distributed to threads, each of which uses BLAS.
    with one_blas_thread():
        hierarchy = coarsen(laplacian, trivial[:, 0])
        if hierarchy.levels:
            width = -(-(n_pairs - 1 + MIN_GUARD_VECTORS) // WIDTH_FACTOR) * WIDTH_FACTOR
            width = min(width, n - 1)
            start = _start_vectors(hierarchy, width, n_pairs - 1, accuracy)
            values, vectors = lobpcg(
                hierarchy.levels[0].laplacian.__matmul__
                if operator is None
                else lambda vectors: vectors - operator @ vectors,
                partial(v_cycle, hierarchy),
                trivial,
                start,
                n_wanted=n_pairs - 1,
                accuracy=accuracy,
                max_iter=max_iter,
            )
            values, vectors = values[: n_pairs - 1], vectors[:, : n_pairs - 1]
        else:
            values, vectors = hierarchy.values[1:n_pairs], hierarchy.vectors[:, 1:n_pairs]
    vectors = np.hstack([trivial, vectors])
    values = np.concatenate([[1.0], 1.0 - values])
    operator = ThreadedSparseOperator(normalized) if operator is None else operator
    residuals = operator @ vectors - vectors * values
    return values, vectors, np.linalg.norm(residuals, axis=0)


def coarsen(laplacian: sparse.csr_array, kernel: np.ndarray) -> Hierarchy:
    """Build the levels of a Laplacian whose null space is spanned by a positive vector."""
    levels: list[Level] = []
    while laplacian.shape[0] > COARSEST_MAX_NODES:
        # For a weakly connected aggregate, rounding may make the diagonal entry 0 or negative.
        inverse = 1.0 / np.maximum(laplacian.diagonal(), ROUNDING)
        groups, n_groups = _aggregate(laplacian, inverse)
        if n_groups > 0.7 * len(groups):
            break
        lengths = np.sqrt(np.bincount(groups, kernel * kernel, n_groups))
        aggregation = sparse.csr_array(
            (kernel / lengths[groups], groups, np.arange(len(groups) + 1)),
            shape=(len(groups), n_groups),
        )
        largest = _largest_eigenvalue(laplacian, inverse)
        # One smoothing step removes the jumps between aggregates.
        weights = sparse.diags_array(4.0 / (3.0 * largest) * inverse)
        prolongation = sparse.csr_array(aggregation - weights @ (laplacian @ aggregation))
        restriction = sparse.csr_array(prolongation.T)
        transfers = (ThreadedSparseOperator(matrix) for matrix in (restriction, prolongation))
        product = laplacian @ prolongation
        if product.nnz > MAX_FILL_IN * laplacian.nnz:
            break
        levels.append(
            Level(kernel, ThreadedSparseOperator(laplacian), inverse, largest, *transfers)
        )
        laplacian = sparse.csr_array(restriction @ product)
        kernel = lengths
    if laplacian.shape[0] > 4 * COARSEST_MAX_NODES:
        raise CoarseningStalled(
            f"{laplacian.shape[0]:,} aggregates were left when coarsening stalled."
        )
    values, vectors = eigh(laplacian.toarray())
    # For weakly connected aggregates, rounding may make an eigenvalue negative.
    return Hierarchy(levels, np.maximum(values, ROUNDING), vectors)


def v_cycle(hierarchy: Hierarchy, b: np.ndarray) -> np.ndarray:
    """One V-cycle: a symmetric approximation of the pseudo-inverse times ``b``."""
    visited = []
    for level in hierarchy.levels:
        x = _smooth(level, b, None)
        visited.append((b, x))
        b = level.restriction @ _residual(level, b, x)
    vectors = hierarchy.vectors[:, 1:]
    x = vectors @ ((vectors.T @ b) / hierarchy.values[1:, None])
    for level, (b, before) in zip(reversed(hierarchy.levels), reversed(visited), strict=True):
        x = level.prolongation @ x
        x += before
        x = _smooth(level, b, x)
    return x


def _aggregate(laplacian: sparse.csr_array, inverse: np.ndarray) -> tuple[np.ndarray, int]:
    from vicinal.operators._eigen._multilevel_kernels import aggregate

    roots = np.sqrt(inverse)
    weights = -laplacian.data * np.repeat(roots, np.diff(laplacian.indptr))
    weights *= roots[laplacian.indices]
    return aggregate(laplacian.indptr, laplacian.indices, weights)


def _largest_eigenvalue(laplacian: sparse.csr_array, inverse: np.ndarray) -> float:
    """Approximate upper bound of the eigenvalues of the Laplacian, scaled to diagonal 1."""
    roots = np.sqrt(inverse)
    vector = np.random.default_rng(0).standard_normal(len(inverse))
    for _ in range(10):
        vector /= np.linalg.norm(vector)
        vector = roots * (laplacian @ (roots * vector))
    return 1.1 * float(np.linalg.norm(vector))


def _smooth(level: Level, b: np.ndarray, x: Any) -> np.ndarray:
    """Chebyshev steps that reduce the high-frequency error of ``x``."""
    from vicinal.operators._eigen._multilevel_kernels import smooth_rows

    matrix, inverse = level.laplacian.matrix, level.inverse
    center = level.largest * (1 + SMOOTHED_FRACTION) / 2
    half = level.largest * (1 - SMOOTHED_FRACTION) / 2
    ratio, momentum, step = half / center, 0.0, 1 / center
    change = x
    for i in range(SMOOTHING_STEPS):
        if x is None:
            change = x = (step * inverse)[:, None] * b
        else:
            is_last = i == SMOOTHING_STEPS - 1
            new_change, new_x = np.empty_like(b[:0] if is_last else b), np.empty_like(b)
            arrays = (matrix.indptr, matrix.indices, matrix.data, inverse, b, x, change)
            smooth = partial(smooth_rows, *arrays, momentum, step, new_change, new_x)
            by_rows(smooth, len(b))
            change, x = new_change, new_x
        after = 1 / (2 * center / half - ratio)
        momentum, step, ratio = after * ratio, 2 * after / half, after
    return x


def _residual(level: Level, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    from vicinal.operators._eigen._multilevel_kernels import residual_rows

    matrix, out = level.laplacian.matrix, np.empty_like(b)
    arrays = (matrix.indptr, matrix.indices, matrix.data, b, x, out)
    by_rows(partial(residual_rows, *arrays), len(b))
    return out


def _start_vectors(hierarchy: Hierarchy, width: int, n_wanted: int, accuracy: float) -> np.ndarray:
    """Eigenvectors of the second finest level, each level starting from the next coarser one."""
    levels = hierarchy.levels
    vectors = hierarchy.vectors[:, 1 : width + 1]
    for i in range(len(levels) - 1, 0, -1):
        _, vectors = lobpcg(
            levels[i].laplacian.__matmul__,
            partial(v_cycle, hierarchy._replace(levels=levels[i:])),
            levels[i].kernel[:, None],
            _with_random_columns(levels[i].prolongation @ vectors, width),
            n_wanted=n_wanted,
            accuracy=max(accuracy, START_ACCURACY),
            max_iter=MAX_START_ITER,
        )
    return _with_random_columns(levels[0].prolongation @ vectors, width)


def _with_random_columns(vectors: np.ndarray, width: int) -> np.ndarray:
    """Vectors from a coarser level, and random ones if it was too small for this many."""
    n, n_columns = vectors.shape
    # Independent vectors, including the trivial one, are at most as many as nodes.
    missing = min(width, n - 1) - n_columns
    if missing <= 0:
        return vectors
    return np.hstack([vectors, np.random.default_rng(0).standard_normal((n, missing))])
