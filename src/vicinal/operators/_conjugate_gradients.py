"""Sparse positive definite systems with many right-hand sides, by preconditioned conjugate gradients.

The preconditioner is an incomplete Cholesky factor. Nodes are numbered by the reverse Cuthill-McKee
order first: neighbours come near each other in memory, which makes a product two to three times
faster on a neighbour graph, and leaves come before what they hang on, so a tree is solved exactly in
one step. The columns are dealt out to threads in fours; a column's bits depend on nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from vicinal._core.array_checks import not_real, real_array
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.rescale import normalize_magnitude
from vicinal._core.scalar_checks import check_count, check_real
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidValueError

# The residual of the recursion drifts from the true one; it is computed anew this often at most.
MAX_RESTARTS = 10


class Solution(NamedTuple):
    """Solution of A X = B.

    Attributes
    ----------
    values : ndarray of the shape of the right-hand sides
        X.
    residuals : ndarray of shape (n_columns,)
        Largest ``|b - A x|_i / a_ii`` of each column, as a share of its largest ``|x_i|``.
    n_steps : int
        Steps that the slowest columns took.
    """

    values: np.ndarray
    residuals: np.ndarray
    n_steps: int


def solve_positive_definite(
    matrix: Any,
    right_sides: Any,
    *,
    tolerance: float = 1e-10,
    max_steps: int | None = None,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> Solution:
    """Solve A X = B for a sparse, symmetric, positive definite A.

    Parameters
    ----------
    matrix : sparse or dense matrix of shape (n, n)
        A. Symmetry is taken for granted.
    right_sides : array of shape (n,) or (n, n_columns)
        B.
    tolerance : float, default=1e-10
        Largest residual allowed, see `Solution`: for a Laplacian it says how far a node may be from
        the weighted mean of its neighbours.
    max_steps : int, optional
        Steps after which a column is given up, by default 1000 + 10 sqrt(n).
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    progress : str, optional
        Title of a progress bar; no bar without one.

    Returns
    -------
    Solution

    Raises
    ------
    numpy.linalg.LinAlgError
        If a column has not converged.

    Examples
    --------
    >>> from vicinal.operators._conjugate_gradients import solve_positive_definite
    >>> solve_positive_definite([[2.0, -1.0], [-1.0, 2.0]], [3.0, 0.0]).values
    array([2., 1.])
    """
    A = _check_matrix(matrix)
    n = A.shape[0]
    B = _check_right_sides(right_sides, n)
    tolerance = check_real(tolerance, "tolerance", low=1e-15, high=1.0)
    limit = 1000 + 10 * int(np.sqrt(n))
    limit = limit if max_steps is None else check_count(max_steps, "max_steps")

    from vicinal.operators import _cg_kernels as kernels

    order = reverse_cuthill_mckee(A, symmetric_mode=True)
    A = A[order][:, order]
    A.sort_indices()
    lower = sparse.csr_array(sparse.tril(A))
    lower.sort_indices()
    factor = (*_arrays(lower), np.empty(n))
    kernels.factorize(*factor)
    inverse_diagonal = 1.0 / A.diagonal()
    arrays = _arrays(A)
    columns = B.reshape(n, -1)
    # Squares of tiny or huge values would vanish or overflow; a power of 2 changes no digit.
    columns, exponents = normalize_magnitude(columns, axis=0)
    values = np.empty_like(columns)
    residuals = np.empty(columns.shape[1])

    def solve_four(span: tuple[int, int]) -> int:
        width = span[1] - span[0]
        four = np.zeros((n, 4))
        four[:, :width] = columns[order, slice(*span)]
        found, errors, steps = np.zeros(4 * n), np.zeros(4), 0
        for _ in range(MAX_RESTARTS):
            taken = kernels.descend(
                arrays,
                factor,
                inverse_diagonal,
                four.ravel(),
                found,
                tolerance,
                limit - steps,
                errors,
            )
            steps += taken
            if taken == 0 or steps == limit:
                break
        values[order, slice(*span)] = found.reshape(n, 4)[:, :width]
        residuals[slice(*span)] = errors[:width]
        return steps

    steps = map_threads(solve_four, blocks(columns.shape[1], 4), n_jobs, progress=progress)
    # Written so that NaN fails too.
    if not (residuals <= tolerance).all():
        raise np.linalg.LinAlgError(
            f"conjugate gradients reached a residual of {np.max(residuals):.1e} in {max(steps)} "
            f"steps, but {tolerance:g} was asked for; the matrix is not positive definite, or so "
            "nearly singular that its diagonal should be raised."
        )
    return Solution(np.ldexp(values, exponents).reshape(B.shape), residuals, max(steps, default=0))


def _arrays(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of the types that the kernels are compiled for."""
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32)
    return indptr, indices, np.ascontiguousarray(matrix.data)


def _check_matrix(matrix: Any) -> sparse.csr_array:
    if not sparse.issparse(matrix):
        A = sparse.csr_array(real_array(matrix, "matrix"), dtype=np.float64)
    elif matrix.dtype.kind not in "buif":
        raise not_real("matrix", matrix.dtype)
    else:
        A = checked_csr(matrix, "matrix", np.float64)
    if A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise InvalidValueError(f"matrix has shape {A.shape}, but a square one is needed.")
    diagonal = A.diagonal()
    # Written so that NaN fails too.
    if not (np.isfinite(A.data).all() and (diagonal > 0).all()):
        raise InvalidValueError(
            "matrix is not positive definite: "
            + (
                f"its diagonal entry {int(np.argmin(diagonal))} is {diagonal.min():g}."
                if np.isfinite(A.data).all()
                else "it contains values that are NaN or infinite."
            )
        )
    return A


def _check_right_sides(right_sides: Any, n: int) -> np.ndarray:
    B = np.asarray(real_array(right_sides, "right_sides"), dtype=np.float64)
    if B.ndim not in (1, 2) or len(B) != n:
        raise InvalidValueError(
            f"right_sides has shape {B.shape}, but {n} rows are needed, one for each of the matrix."
        )
    if not np.isfinite(B).all():
        raise InvalidValueError(
            "right_sides contains values that are NaN or infinite; drop or replace them."
        )
    return B
