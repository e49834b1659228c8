"""Solvers behind `leading_eigenpairs`: dense for few nodes, Lanczos, and levels where Lanczos crawls.

What Lanczos found is probed for eigenvalues that it missed, for it sees one direction of an eigenspace
at a time. Where it missed some, or no method came to its end, a block iteration does the rest.
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
from vicinal.operators._eigen.block_davidson import block_eigenpairs
from vicinal.operators._eigen.multilevel import CoarseningStalled, multilevel_eigenpairs
from vicinal.operators._threaded_matmul import ThreadedSparseOperator

DENSE = 500
# Up to this many nodes a dense matrix settles what no other method could.
LAST_RESORT = 5000
RESTARTS = 200
# Lanczos takes steps in proportion to the hops across the graph; from about here levels are faster.
FAR = 25
# Accuracy of the multilevel method, in energy, for a residual of 1.
ACCURACY = 100.0
# Steps of Lanczos that look for a missed eigenvalue, and what it must exceed in residuals.
PROBE_STEPS, MISSED = 30, 10.0
# Vectors beside the wanted ones, and steps, of the block iteration.
WIDE_GUARD, BLOCK_STEPS = 8, 1000
# What the shift is beyond 1, and the most entries of a band that is factored, twice 12 bytes each.
SHIFT, LARGEST_BAND = 1e-10, 5e7


class Deflated(LinearOperator):
    """A with known eigenvectors moved by -3: from 1, or near it, below all others (which are >= -1).

    Parameters
    ----------
    operator : LinearOperator of shape (n, n)
    known : ndarray (n,) or (n, q)
        Orthonormal.
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
    n_jobs: int | None,
    operator: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs, after the known one of eigenvalue 1, of a connected normalised affinity.

    With an ``operator`` they are those of the operator, which the matrix is the larger part of.
    """
    deflated = Deflated(operator or ThreadedSparseOperator(matrix, n_jobs), known)
    n = matrix.shape[0]
    if n <= DENSE or n_pairs > n // 4:
        return largest(deflated, n_pairs, tolerance, seed)
    for far in (is_far(matrix), not is_far(matrix)):
        try:
            if not far:
                return largest(deflated, n_pairs, tolerance, seed)
            return by_levels(matrix, known, n_pairs, tolerance, seed, operator, n_jobs)
        except (CoarseningStalled, NotConverged):
            continue
    return stubborn_pairs(deflated, matrix, n_pairs, tolerance, seed, n_jobs)


def is_far(matrix: sparse.csr_array, first: int = 0) -> bool:
    """Whether so many hops lead across the graph from a node that levels are faster than Lanczos."""
    from vicinal.operators._matmul_kernels import hops_from

    return bool(hops_from(first, matrix.indptr, matrix.indices).max() > FAR)


def by_levels(
    matrix: sparse.csr_array,
    known: np.ndarray,
    n_pairs: int,
    tolerance: float,
    seed: int,
    operator: Any,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs after the known one by `multilevel_eigenpairs`."""
    values, vectors, residuals = multilevel_eigenpairs(
        matrix,
        known,
        n_pairs + 1,
        accuracy=min(1e-3, ACCURACY * tolerance),
        operator=operator,
        n_jobs=n_jobs,
    )
    if residuals.max() > ACCURACY * tolerance:
        raise NotConverged(n_pairs, tolerance)
    # Groups of nodes that hardly anything connects may be lost on the way through the levels.
    deflated = Deflated(operator or ThreadedSparseOperator(matrix, n_jobs), known)
    with one_blas_thread():
        return with_missed(deflated, values[1:], vectors[:, 1:], tolerance, seed)


def stubborn_pairs(
    operator: Any,
    matrix: sparse.csr_array,
    n_pairs: int,
    tolerance: float,
    seed: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenpairs of what no other method could solve: all of them, or a wide block.

    Long thin graphs, which need the most steps, have narrow bands: there the block is corrected by
    solving with the sparse matrix, which is all of the operator or most of it.
    """
    n = operator.shape[0]
    if n <= LAST_RESORT:
        with one_blas_thread():
            return dense_eigenpairs(operator, n_pairs)
    width = min(2 * n_pairs + WIDE_GUARD, n)
    start = np.random.default_rng(seed).standard_normal((n, width))
    solve = band_solver(matrix, SHIFT)
    with one_blas_thread():
        values, vectors, errors = block_eigenpairs(
            operator,
            start if solve is None else solve(start),
            n_pairs,
            tolerance,
            max_steps=BLOCK_STEPS,
            precondition=None if solve is None else lambda residuals, _: solve(residuals),
            n_jobs=n_jobs,
        )
    if errors.max() > ACCURACY * tolerance:
        raise NotConverged(n_pairs, tolerance)
    return values, vectors


def band_solver(
    matrix: sparse.csr_array, shift: float
) -> Callable[[np.ndarray], np.ndarray] | None:
    """Solver with (1 + shift) I - S, positive definite, if S can be ordered to a narrow band; else None."""
    n = matrix.shape[0]
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    places = np.argsort(order)
    width = np.abs(np.repeat(places, np.diff(matrix.indptr)) - places[matrix.indices]).max()
    if n * float(width) > LARGEST_BAND:
        return None
    shifted = (1.0 + shift) * sparse.eye_array(n) - matrix[order][:, order]
    # Positive definite: neither another order nor another pivot is needed, and the band stays.
    factor = splu(
        sparse.csc_array(shifted),
        permc_spec="NATURAL",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return lambda b: factor.solve(np.ascontiguousarray(b[order]))[places]


def largest(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric operator, descending, and their vectors."""
    n = operator.shape[0]
    # The vectors are too short for BLAS threads to pay, and on a busy machine they wait for each other.
    with one_blas_thread():
        if n <= DENSE or n_pairs > n // 4:
            return dense_eigenpairs(operator, n_pairs)
        return _lanczos(operator, n_pairs, tolerance, seed)


class NotConverged(NotConvergedError):
    """No method reached the tolerance."""

    def __init__(
        self, n_pairs: int, tolerance: float, remedy: str = "ask for fewer, or raise the tolerance."
    ) -> None:
        super().__init__(
            f"{n_pairs} eigenpairs did not converge to a residual of {tolerance:g}; {remedy}"
        )


def dense_eigenpairs(operator: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The same from the full matrix, which is formed."""
    n = operator.shape[0]
    require_memory(24.0 * n * n, f"{n_pairs} eigenpairs of {n:,} points", "Ask for fewer pairs.")
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
            # Enough vectors that one restart meets the whole wanted part of the spectrum.
            ncv=min(n - 1, max(2 * n_pairs + 10, 30)),
            tol=tolerance,
            maxiter=RESTARTS,
        )
    except ArpackNoConvergence as error:
        raise NotConverged(n_pairs, tolerance) from error
    order = np.argsort(-values, kind="stable")
    return with_missed(operator, values[order], vectors[:, order], tolerance, seed)


def with_missed(
    operator: Any, values: np.ndarray, vectors: np.ndarray, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs that were found, with those above the last of them that were not found.

    Lanczos from one vector stops at one direction for several eigenvalues closer than its tolerance.
    """
    n, n_pairs = vectors.shape
    tolerance *= float(np.abs(values).max())
    # All that is known moved down to the last value, so that only what was missed lies above it.
    rest = LinearOperator(
        operator.shape,
        matvec=lambda x: operator @ x - vectors @ ((values - values[-1]) * (x @ vectors)),
        dtype=np.float64,
    )
    rng = np.random.default_rng([seed, 1])
    value = _probe(rest, np.asarray(rng.standard_normal(n)))
    if value <= values[-1] + MISSED * tolerance:
        return values, vectors
    # From a random block: one that holds converged vectors would stop at the first that was missed.
    values, vectors, errors = block_eigenpairs(
        operator,
        rng.standard_normal((n, min(n_pairs + WIDE_GUARD, n))),
        n_pairs,
        tolerance,
        max_steps=BLOCK_STEPS,
    )
    if errors.max() > MISSED * tolerance:
        raise NotConverged(n_pairs, tolerance)
    return values, vectors


def _probe(operator: Any, start: np.ndarray) -> float:
    """The largest Ritz value after a few steps of Lanczos: a lower bound of the largest eigenvalue."""
    steps = min(PROBE_STEPS, len(start))
    basis = np.empty((steps, len(start)))
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    vector = start / np.linalg.norm(start)
    for step in range(steps):
        basis[step] = vector
        image = operator @ vector
        diagonal[step] = vector @ image
        for _ in range(2):
            image -= (basis[: step + 1] @ image) @ basis[: step + 1]
        beside[step] = np.linalg.norm(image)
        if beside[step] <= np.finfo(float).eps * max(abs(diagonal[step]), 1e-300):
            break
        vector = image / beside[step]
    values = eigh_tridiagonal(diagonal[: step + 1], beside[:step], eigvals_only=True)
    return float(values[-1])
