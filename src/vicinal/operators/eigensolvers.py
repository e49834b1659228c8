"""Solvers behind `leading_eigenpairs`: dense for few nodes, Lanczos, and levels where Lanczos crawls."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from vicinal._parallel import one_blas_thread
from vicinal._validation import require_memory
from vicinal.operators.multilevel import NotCoarse, multilevel_eigenpairs
from vicinal.operators.products import SparseProduct

DENSE = 500
# Up to this many nodes a dense matrix settles what no other method could.
LAST_RESORT = 5000
RESTARTS = 200
# Lanczos takes steps in proportion to the hops across the graph; from about here levels are faster.
FAR = 25
# Accuracy of the multilevel method, in energy, for a residual of 1.
ACCURACY = 100.0


class Deflated(LinearOperator):
    """A with one known eigenvector, of eigenvalue 1, moved to -2, below all others (which are >= -1)."""

    def __init__(self, operator: Any, known: np.ndarray) -> None:
        super().__init__(np.float64, operator.shape)
        self.operator, self.known = operator, known

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        return self.operator @ x - 3.0 * self.known * (self.known @ x)

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        return self.operator @ X - 3.0 * self.known[:, None] * (self.known @ X)


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
    from vicinal.operators._product_kernels import hops_from_first

    deflated = Deflated(operator or SparseProduct(matrix, n_jobs), known)
    n = matrix.shape[0]
    if n <= DENSE or n_pairs > n // 4:
        return largest(deflated, n_pairs, tolerance, seed)
    by_levels = hops_from_first(matrix.indptr, matrix.indices).max() > FAR
    for attempt in (by_levels, not by_levels):
        try:
            if not attempt:
                return largest(deflated, n_pairs, tolerance, seed)
            values, vectors, residuals = multilevel_eigenpairs(
                matrix,
                known,
                n_pairs + 1,
                accuracy=min(1e-3, ACCURACY * tolerance),
                operator=operator,
                n_jobs=n_jobs,
            )
            if residuals.max() <= ACCURACY * tolerance:
                return values[1:], vectors[:, 1:]
        except (NotCoarse, NotConverged):
            continue
    if n <= LAST_RESORT:
        with one_blas_thread():
            return full_pairs(deflated, n_pairs)
    raise NotConverged(n_pairs, tolerance)


def largest(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric operator, descending, and their vectors."""
    n = operator.shape[0]
    # The vectors are too short for BLAS threads to pay, and on a busy machine they wait for each other.
    with one_blas_thread():
        if n <= DENSE or n_pairs > n // 4:
            return full_pairs(operator, n_pairs)
        return _lanczos(operator, n_pairs, tolerance, seed)


class NotConverged(RuntimeError):
    """No method reached the tolerance."""

    def __init__(
        self, n_pairs: int, tolerance: float, remedy: str = "ask for fewer, or raise the tolerance."
    ) -> None:
        super().__init__(
            f"{n_pairs} eigenpairs did not converge to a residual of {tolerance:g}; {remedy}"
        )


def full_pairs(operator: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
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
    return values[order], vectors[:, order]
