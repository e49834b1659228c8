"""Solvers of `leading_eigenpairs`: dense for few nodes, Cholesky factors of narrow bands, Lanczos, and
multilevel where Lanczos is slow.

Lanczos finds one direction of an eigenspace at a time, so its result is checked for missed eigenvalues. If
some were missed, or no method converged, a block iteration is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, eigh_tridiagonal
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from vicinal._core.memory import require_memory
from vicinal._core.parallel import one_blas_thread
from vicinal.exceptions import NotConvergedError
from vicinal.operators._eigen.banded import banded_pairs
from vicinal.operators._eigen.block_davidson import block_eigenpairs
from vicinal.operators._eigen.multilevel import CoarseningStalled, multilevel_eigenpairs
from vicinal.operators._threaded_matmul import ThreadedSparseOperator

# Up to this number of nodes, a dense matrix is solved directly.
DENSE_MAX_NODES = 500
# Up to this number of nodes, a dense matrix is solved if all other methods have failed.
FALLBACK_MAX_NODES = 5000
MAX_RESTARTS = 200
# Lanczos steps are proportional to the number of hops across the graph; beyond this, multilevel is faster.
LANCZOS_MAX_HOPS = 25
# Accuracy of the multilevel method, in energy, relative to the tolerance of residuals.
ACCURACY_PER_TOLERANCE = 100.0
# Lanczos steps that search for a missed eigenvalue, and the margin that it must exceed, in tolerances.
PROBE_STEPS, MISSED_MARGIN = 30, 10.0
# Additional vectors, and the maximum number of iterations, of the block iteration.
N_GUARD_VECTORS, BLOCK_MAX_ITER = 8, 1000
# Shift beyond the eigenvalue 1, and the largest number of entries of a band that is factorised.
SHIFT, MAX_BAND_ENTRIES = 1e-10, 5e7


class Deflated(LinearOperator):
    """An operator whose known eigenvalues, near 1, are shifted by -3: below all others, which are >= -1.

    Parameters
    ----------
    operator : LinearOperator of shape (n, n)
        Symmetric operator.
    known : ndarray (n,) or (n, q)
        Known eigenvectors, orthonormal.
    """

    def __init__(self, operator: Any, known: np.ndarray) -> None:
        super().__init__(np.float64, operator.shape)
        self.operator, self.known = operator, known.reshape(len(known), -1)

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        return self.operator @ x - self.known @ (3.0 * (x @ self.known))

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        return self.operator @ X - self.known @ (3.0 * (self.known.T @ X))


def connected_pairs(
    matrix: sparse.csr_array,
    known: np.ndarray,
    n_pairs: int,
    tolerance: float,
    seed: int,
    operator: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs of a connected normalised affinity, without the known one of eigenvalue 1.

    With ``operator``, they are those of the operator, which the matrix approximates.
    """
    deflated = Deflated(operator or ThreadedSparseOperator(matrix), known)
    n = matrix.shape[0]
    if n <= DENSE_MAX_NODES or n_pairs > n // 4:
        return largest(deflated, n_pairs, tolerance, seed)
    if operator is None:
        with one_blas_thread():
            pairs = banded_pairs(matrix, known, n_pairs, tolerance, seed)
        if pairs is not None:
            return pairs
    wide = has_large_diameter(matrix)
    for use_multilevel in (wide, not wide):
        try:
            if not use_multilevel:
                return largest(deflated, n_pairs, tolerance, seed)
            return multilevel_pairs(matrix, known, n_pairs, tolerance, seed, operator)
        except (CoarseningStalled, EigenpairsNotConverged):
            continue
    return fallback_pairs(deflated, matrix, n_pairs, tolerance, seed)


def has_large_diameter(matrix: sparse.csr_array, first: int = 0) -> bool:
    """Whether the diameter of the graph is so large that the multilevel method is faster than Lanczos."""
    from vicinal.operators._matmul_kernels import hops_from

    hops = np.empty(matrix.shape[0], np.int64)
    return bool(hops[hops_from(first, matrix.indptr, matrix.indices, hops)] > LANCZOS_MAX_HOPS)


def multilevel_pairs(
    matrix: sparse.csr_array,
    known: np.ndarray,
    n_pairs: int,
    tolerance: float,
    seed: int,
    operator: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs, without the known one, by `multilevel_eigenpairs`."""
    values, vectors, residuals = multilevel_eigenpairs(
        matrix,
        known,
        n_pairs + 1,
        accuracy=min(1e-3, ACCURACY_PER_TOLERANCE * tolerance),
        operator=operator,
    )
    if residuals.max() > ACCURACY_PER_TOLERANCE * tolerance:
        raise EigenpairsNotConverged(n_pairs, tolerance)
    # Coarsening may lose weakly connected groups of nodes.
    deflated = Deflated(operator or ThreadedSparseOperator(matrix), known)
    with one_blas_thread():
        return with_missed_pairs(deflated, values[1:], vectors[:, 1:], tolerance, seed)


def fallback_pairs(
    operator: Any,
    matrix: sparse.csr_array,
    n_pairs: int,
    tolerance: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs where all other methods failed: by a dense matrix, or a wide block iteration.

    Long thin graphs, which need the most iterations, have a narrow band. For these, the block iteration is
    preconditioned by a solver for the sparse matrix, which equals or approximates the operator.
    """
    n = operator.shape[0]
    if n <= FALLBACK_MAX_NODES:
        with one_blas_thread():
            return dense_eigenpairs(operator, n_pairs)
    width = min(2 * n_pairs + N_GUARD_VECTORS, n)
    start = np.random.default_rng(seed).standard_normal((n, width))
    solve = band_solver(matrix, SHIFT)
    with one_blas_thread():
        values, vectors, errors = block_eigenpairs(
            operator,
            start if solve is None else solve(start),
            n_pairs,
            tolerance,
            max_iter=BLOCK_MAX_ITER,
            precondition=None if solve is None else lambda residuals, _: solve(residuals),
        )
    if errors.max() > ACCURACY_PER_TOLERANCE * tolerance:
        raise EigenpairsNotConverged(n_pairs, tolerance)
    return values, vectors


def band_solver(
    matrix: sparse.csr_array, shift: float
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Solver for (1 + shift) I - S, or None if S cannot be reordered to a narrow band."""
    n = matrix.shape[0]
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    positions = np.argsort(order)
    width = np.abs(np.repeat(positions, np.diff(matrix.indptr)) - positions[matrix.indices]).max()
    if n * float(width) > MAX_BAND_ENTRIES:
        return None
    shifted = (1.0 + shift) * sparse.eye_array(n) - matrix[order][:, order]
    # The matrix is positive definite: no pivoting is needed, which preserves the band.
    factor = splu(
        sparse.csc_array(shifted),
        permc_spec="NATURAL",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return lambda b: factor.solve(np.ascontiguousarray(b[order]))[positions]


def largest(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenvalues of a symmetric operator, descending, and their eigenvectors."""
    n = operator.shape[0]
    # The vectors are too short for BLAS threads to pay off.
    with one_blas_thread():
        if n <= DENSE_MAX_NODES or n_pairs > n // 4:
            return dense_eigenpairs(operator, n_pairs)
        return _lanczos(operator, n_pairs, tolerance, seed)


class EigenpairsNotConverged(NotConvergedError):
    """No eigensolver reached the tolerance."""

    def __init__(
        self,
        n_pairs: int,
        tolerance: float,
        remedy: str = "use fewer pairs, or a larger tolerance.",
    ) -> None:
        super().__init__(
            f"{n_pairs} eigenpairs did not converge to a residual of {tolerance:g}; {remedy}"
        )


def dense_eigenpairs(operator: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Like `largest`, from the dense matrix."""
    n = operator.shape[0]
    require_memory(24.0 * n * n, f"{n_pairs} eigenpairs of {n:,} points", "Use fewer pairs.")
    matrix = operator if isinstance(operator, np.ndarray) else operator @ np.eye(n)
    values, vectors = eigh(matrix, subset_by_index=(n - n_pairs, n - 1))
    return values[::-1], vectors[:, ::-1]


def _lanczos(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    n = operator.shape[0]
    start = np.random.default_rng(seed).standard_normal(n)
    try:
        values, vectors = eigsh(
            operator,
            n_pairs,
            which="LA",
            v0=start,
            # Enough vectors for one restart to cover the wanted part of the spectrum.
            ncv=min(n - 1, max(2 * n_pairs + 10, 30)),
            tol=tolerance,
            maxiter=MAX_RESTARTS,
        )
    except ArpackNoConvergence as error:
        raise EigenpairsNotConverged(n_pairs, tolerance) from error
    order = np.argsort(-values, kind="stable")
    return with_missed_pairs(operator, values[order], vectors[:, order], tolerance, seed)


def with_missed_pairs(
    operator: Any, values: np.ndarray, vectors: np.ndarray, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Add eigenpairs that Lanczos has missed, if there are any.

    Lanczos from one vector finds only one direction for eigenvalues that are closer than its tolerance.
    """
    n, n_pairs = vectors.shape
    tolerance *= float(np.abs(values).max())
    # Shift the known eigenvalues to the last one, so that only missed eigenvalues are above it.
    rest = LinearOperator(
        operator.shape,
        matvec=lambda x: operator @ x - vectors @ ((values - values[-1]) * (x @ vectors)),
        dtype=np.float64,
    )
    rng = np.random.default_rng([seed, 1])
    value = _probe(rest, np.asarray(rng.standard_normal(n)))
    if value <= values[-1] + MISSED_MARGIN * tolerance:
        return values, vectors
    # Start from a random block: with converged vectors, it would stop at the first missed one.
    values, vectors, errors = block_eigenpairs(
        operator,
        rng.standard_normal((n, min(n_pairs + N_GUARD_VECTORS, n))),
        n_pairs,
        tolerance,
        max_iter=BLOCK_MAX_ITER,
    )
    if errors.max() > MISSED_MARGIN * tolerance:
        raise EigenpairsNotConverged(n_pairs, tolerance)
    return values, vectors


def _probe(operator: Any, start: np.ndarray) -> float:
    """Largest Ritz value after a few Lanczos steps: a lower bound of the largest eigenvalue."""
    steps = min(PROBE_STEPS, len(start))
    basis = np.empty((steps, len(start)))
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps)
    vector = start / np.linalg.norm(start)
    for step in range(steps):
        basis[step] = vector
        image = operator @ vector
        diagonal[step] = vector @ image
        for _ in range(2):
            image -= (basis[: step + 1] @ image) @ basis[: step + 1]
        off_diagonal[step] = np.linalg.norm(image)
        if off_diagonal[step] <= np.finfo(float).eps * max(abs(diagonal[step]), 1e-300):
            break
        vector = image / off_diagonal[step]
    values = eigh_tridiagonal(diagonal[: step + 1], off_diagonal[:step], eigvals_only=True)
    return float(values[-1])
