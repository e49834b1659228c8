"""Eigenvectors of graphs along which everything changes slowly: grids, images, long thin clusters.

The eigenvalues that matter crowd together next to 1, and Lanczos would need thousands of steps. Here
nodes are grouped with their close neighbours, groups are grouped again, until few are left (smoothed
aggregation). The few give vectors that are nearly right to start from, and a cycle through the levels
solves well enough to precondition the block iteration that finishes them (LOBPCG). The number of
steps hardly depends on the number of nodes.

References
----------
Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order
elliptic problems", Computing 1996. Knyazev, "Toward the optimal preconditioned eigensolver", SIAM
Journal on Scientific Computing 2001.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from vicinal._core.parallel import one_blas_thread, progress_bar
from vicinal.operators._eigen.tall_matrices import by_rows, mixed, overlap
from vicinal.operators._threaded_matmul import ThreadedSparseOperator

# Solved as one dense matrix.
FEW_NODES = 500
# Vectors beside the wanted ones: the last of a block converge slowest.
GUARD = 4
SMOOTHING_STEPS = 2
# A smoothing step works on the eigenvalues above this share of the largest; groups do the rest.
ROUGH_SHARE = 1 / 6
ROUNDING = 1e-15
# Where groups have so many neighbours that products grow by this factor, coarse levels would be dense.
FILL = 2.0


class CoarseningStalled(ArithmeticError):
    """A graph without slow directions: neighbourhoods soon cover it, so that Lanczos is fast."""


class Level(NamedTuple):
    """A Laplacian, what smoothing it needs, and the way to the groups of its nodes and back."""

    laplacian: ThreadedSparseOperator
    inverse: np.ndarray
    largest: float
    gather: ThreadedSparseOperator
    spread: ThreadedSparseOperator


class Hierarchy(NamedTuple):
    """Levels from fine to coarse, and all eigenpairs of the last, coarsest Laplacian."""

    levels: list[Level]
    values: np.ndarray
    vectors: np.ndarray


def multilevel_eigenpairs(
    normalized: sparse.csr_array,
    roots: np.ndarray,
    n_pairs: int,
    *,
    accuracy: float = 1e-3,
    max_steps: int = 60,
    operator: Any = None,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest eigenpairs of S = D^-1/2 W D^-1/2 of a connected graph.

    Parameters
    ----------
    normalized : csr_array of shape (n, n)
        The matrix S, symmetric.
    roots : ndarray of shape (n,)
        The known first eigenvector: square roots of the degrees, all above 0.
    n_pairs : int
        Pairs wanted, the known one among them.
    accuracy : float, default=1e-3
        Error of a vector, measured in the energy x' (I - S) x, as a share of its own energy. Unlike
        a bound on the residual it means the same however small the gaps are; eigenvalues of I - S
        are right to its square.
    max_steps : int, default=60
        Steps of the block iteration; about ten suffice on graphs that this method is made for.
    operator : LinearOperator, optional
        Operator whose eigenpairs are wanted if it is not S itself but near it, such as S plus a few
        directions; S then only guides the search.
    n_jobs : int, optional
        Threads, all cores by default; the result does not depend on it.
    progress : str, optional
        Title of a progress bar.

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
    NotCoarse
        Where grouping does not make the graph small; take Lanczos there.
    """
    n = normalized.shape[0]
    known = (roots / np.linalg.norm(roots))[:, None]
    laplacian = sparse.csr_array(sparse.eye_array(n, format="csr") - normalized)
    # Threads share out rows, so each of them needs BLAS for itself.
    with one_blas_thread():
        hierarchy = coarsen(laplacian, known[:, 0], n_jobs)
        if hierarchy.levels:
            start = _start(hierarchy, min(n_pairs - 1 + GUARD, n - 1))
            values, vectors = _iterate(
                hierarchy,
                known,
                start,
                n_pairs - 1,
                accuracy,
                max_steps,
                operator,
                n_jobs,
                progress,
            )
        else:
            values, vectors = hierarchy.values[1:n_pairs], hierarchy.vectors[:, 1:n_pairs]
    vectors = np.hstack([known, vectors])
    values = np.concatenate([[1.0], 1.0 - values])
    operator = ThreadedSparseOperator(normalized, n_jobs) if operator is None else operator
    residuals = operator @ vectors - vectors * values
    return values, vectors, np.linalg.norm(residuals, axis=0)


def coarsen(laplacian: sparse.csr_array, kernel: np.ndarray, n_jobs: int | None) -> Hierarchy:
    """Levels of a Laplacian whose kernel is spanned by a positive vector."""
    levels: list[Level] = []
    while laplacian.shape[0] > FEW_NODES:
        # A group that hardly anything leaves: rounding may take its entry to 0 or below.
        inverse = 1.0 / np.maximum(laplacian.diagonal(), ROUNDING)
        groups, n_groups = _group(laplacian, inverse)
        if n_groups > 0.7 * len(groups):
            break
        lengths = np.sqrt(np.bincount(groups, kernel * kernel, n_groups))
        by_group = sparse.csr_array(
            (kernel / lengths[groups], groups, np.arange(len(groups) + 1)),
            shape=(len(groups), n_groups),
        )
        largest = _largest_eigenvalue(laplacian, inverse)
        # One step of smoothing takes the jumps between groups out of what is handed down.
        weights = sparse.diags_array(4.0 / (3.0 * largest) * inverse)
        spread = sparse.csr_array(by_group - weights @ (laplacian @ by_group))
        gather = sparse.csr_array(spread.T)
        between = (ThreadedSparseOperator(matrix, n_jobs) for matrix in (gather, spread))
        below = laplacian @ spread
        if below.nnz > FILL * laplacian.nnz:
            break
        levels.append(Level(ThreadedSparseOperator(laplacian, n_jobs), inverse, largest, *between))
        laplacian = sparse.csr_array(gather @ below)
        kernel = lengths
    if laplacian.shape[0] > 4 * FEW_NODES:
        raise CoarseningStalled(
            f"{laplacian.shape[0]:,} groups of nodes were left when grouping came to its end."
        )
    values, vectors = eigh(laplacian.toarray())
    # Groups that hardly anything connects: rounding may take an eigenvalue below 0.
    return Hierarchy(levels, np.maximum(values, ROUNDING), vectors)


def solve_roughly(hierarchy: Hierarchy, b: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """One cycle down and up the levels: a symmetric approximation of the inverse times ``b``."""
    reached = []
    for level in hierarchy.levels:
        x = _smooth(level, b, None, n_jobs)
        reached.append((b, x))
        b = level.gather @ (b - level.laplacian @ x)
    vectors = hierarchy.vectors[:, 1:]
    x = vectors @ ((vectors.T @ b) / hierarchy.values[1:, None])
    for level, (b, before) in zip(reversed(hierarchy.levels), reversed(reached), strict=True):
        x = _smooth(level, b, before + level.spread @ x, n_jobs)
    return x


def _group(laplacian: sparse.csr_array, inverse: np.ndarray) -> tuple[np.ndarray, int]:
    from vicinal.operators._eigen._multilevel_kernels import group

    roots = np.sqrt(inverse)
    ties = -laplacian.data * np.repeat(roots, np.diff(laplacian.indptr))
    ties *= roots[laplacian.indices]
    return group(laplacian.indptr, laplacian.indices, ties)


def _largest_eigenvalue(laplacian: sparse.csr_array, inverse: np.ndarray) -> float:
    """A little more than the largest eigenvalue of the Laplacian scaled to diagonal 1."""
    roots = np.sqrt(inverse)
    vector = np.random.default_rng(0).standard_normal(len(inverse))
    for _ in range(10):
        vector /= np.linalg.norm(vector)
        vector = roots * (laplacian @ (roots * vector))
    return 1.1 * float(np.linalg.norm(vector))


def _smooth(level: Level, b: np.ndarray, x: Any, n_jobs: int | None) -> np.ndarray:
    """Chebyshev steps that take what changes from node to node out of the error of ``x``."""
    from vicinal.operators._eigen._multilevel_kernels import smooth_rows

    matrix, inverse = level.laplacian.matrix, level.inverse
    center = level.largest * (1 + ROUGH_SHARE) / 2
    half = level.largest * (1 - ROUGH_SHARE) / 2
    ratio, momentum, step = half / center, 0.0, 1 / center
    change = np.zeros_like(b)
    for _ in range(SMOOTHING_STEPS):
        if x is None:
            change = (step * inverse)[:, None] * b
            x = change.copy()
        else:
            arrays = (matrix.indptr, matrix.indices, matrix.data, inverse, b, x)
            by_rows(partial(smooth_rows, *arrays, momentum, step, change), len(b), n_jobs)
            x = x + change
        after = 1 / (2 * center / half - ratio)
        momentum, step, ratio = after * ratio, 2 * after / half, after
    return x


def _start(hierarchy: Hierarchy, width: int) -> np.ndarray:
    vectors = hierarchy.vectors[:, 1 : width + 1]
    missing = width - vectors.shape[1]
    if missing > 0:
        noise = np.random.default_rng(0).standard_normal((len(vectors), missing))
        vectors = np.hstack([vectors, noise])
    for level in reversed(hierarchy.levels):
        vectors = level.spread @ vectors
    return vectors


def _iterate(
    hierarchy: Hierarchy,
    known: np.ndarray,
    start: np.ndarray,
    n_wanted: int,
    accuracy: float,
    max_steps: int,
    operator: Any,
    n_jobs: int | None,
    progress: str | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest eigenpairs of the finest Laplacian beside the known one, by LOBPCG."""

    def imaged(vectors: np.ndarray) -> np.ndarray:
        if operator is None:
            return hierarchy.levels[0].laplacian @ vectors
        return vectors - operator @ vectors

    width = start.shape[1]
    block = start - known @ overlap(known, start, n_jobs)
    images = imaged(block)
    values, mix = _rayleigh_ritz(block, images, width, n_jobs)
    x, ax = mixed(block, mix, n_jobs), mixed(images, mix, n_jobs)
    p = ap = np.empty((len(x), 0))
    with progress_bar(max_steps, progress) as bar:
        for _ in range(max_steps):
            residual = ax - x * values
            w = solve_roughly(hierarchy, residual, n_jobs)
            bar.update()
            # r' A^-1 r is the energy of the error; what rounding leaves is no error to be mended.
            error = np.einsum("ij,ij->j", residual, w)[:n_wanted]
            if np.all(error <= accuracy**2 * np.maximum(values[:n_wanted], ROUNDING)):
                break
            found = np.hstack([known, x])
            w -= mixed(found, overlap(found, w, n_jobs), n_jobs)
            w /= _lengths(w)
            block = np.hstack([x, w, p])
            images = np.hstack([ax, imaged(w), ap])
            values, mix = _rayleigh_ritz(block, images, width, n_jobs)
            x, ax = mixed(block, mix, n_jobs), mixed(images, mix, n_jobs)
            # The part of the step that is new: where the vectors are heading.
            p = mixed(block[:, width:], mix[width:], n_jobs)
            ap = mixed(images[:, width:], mix[width:], n_jobs)
            lengths = _lengths(p)
            p, ap = p / lengths, ap / lengths
    return values[:n_wanted], x[:, :n_wanted]


def _rayleigh_ritz(
    block: np.ndarray, images: np.ndarray, n_wanted: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Best eigenpairs within the span of a block: values, and how to mix its columns."""
    gram = overlap(block, block, n_jobs)
    scale = 1 / np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    lengths, axes = eigh(gram * scale[:, None] * scale)
    # Directions that the columns hardly span would be noise.
    real = lengths > 1e-12 * lengths[-1]
    basis = scale[:, None] * axes[:, real] / np.sqrt(lengths[real])
    energy = basis.T @ overlap(block, images, n_jobs) @ basis
    values, mix = eigh((energy + energy.T) / 2)
    return np.maximum(values[:n_wanted], 0.0), basis @ mix[:, :n_wanted]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->j", vectors, vectors)) + np.finfo(float).tiny
