"""Solvers behind `leading_eigenpairs`: dense, Lanczos, and inverse iteration where gaps are tiny."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from vicinal._parallel import one_blas_thread
from vicinal._validation import require_memory

DENSE = 500
RESTARTS = 100
SHIFT = 1e-6


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


def largest(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric operator, descending, and their vectors."""
    # The vectors are too short for BLAS threads to pay, and on a busy machine they wait for each other.
    with one_blas_thread():
        return _largest(operator, n_pairs, tolerance, seed)


def _largest(
    operator: Any, n_pairs: int, tolerance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    n = operator.shape[0]
    if n <= DENSE or n_pairs > n // 4 or (isinstance(operator, np.ndarray) and n <= 2 * DENSE):
        return _dense(operator, n_pairs)
    # Enough Lanczos vectors that one restart meets the whole wanted part of the spectrum.
    length = min(n - 1, max(2 * n_pairs + 10, 30))
    start = np.random.default_rng(seed).standard_normal(n)
    try:
        values, vectors = eigsh(
            operator,
            n_pairs,
            which="LA",
            v0=start,
            ncv=length,
            tol=tolerance,
            maxiter=RESTARTS if isinstance(operator, Deflated) else None,
        )
    except ArpackNoConvergence as error:
        if not isinstance(operator, Deflated):
            raise RuntimeError(
                f"only {len(error.eigenvalues)} of {n_pairs} eigenpairs converged to a residual of "
                f"{tolerance:g}; ask for fewer pairs or raise the tolerance."
            ) from error
        values, vectors = _inverse_lanczos(operator, n_pairs, tolerance, start)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _dense(operator: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    n = operator.shape[0]
    require_memory(16.0 * n * n, f"{n_pairs} eigenpairs of {n:,} points", "Ask for fewer pairs.")
    matrix = operator if isinstance(operator, np.ndarray) else operator @ np.eye(n)
    values, vectors = eigh(matrix, subset_by_index=(n - n_pairs, n - 1))
    return values[::-1], vectors[:, ::-1]


def _inverse_lanczos(
    deflated: Deflated, n_pairs: int, tolerance: float, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lanczos on the inverse of (1 + shift) I - A, whose largest eigenvalues stand far apart.

    Lanczos on A itself fails where the graph is long and thin, as a curve or a sheet is; such graphs
    have small separators, so their factors stay sparse.
    """
    matrix = deflated.operator.matrix
    n = matrix.shape[0]
    shifted = sparse.csc_array(sparse.identity(n) * (1.0 + SHIFT) - matrix)
    factor = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    known = deflated.known

    def solve(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        x = factor.solve(x - known * (known @ x))
        return x - known * (known @ x)

    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    found, vectors = eigsh(inverse, n_pairs, which="LA", v0=start, tol=tolerance)
    return 1.0 + SHIFT - 1.0 / found, vectors
