"""Preconditioned conjugate gradients for sparse positive definite systems with many right-hand sides.

The preconditioner is an incomplete Cholesky factor, optionally with corrections on coarser levels. Nodes are
first reordered by the reverse Cuthill-McKee method: neighbours are then close in memory, which makes products
with a neighbour graph two to three times faster, and leaves come before their parents, so that a tree is
solved exactly in one step. Each thread solves several columns at a time; the result for a column does not
depend on the others.
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
from vicinal.operators._coarse_levels import coarse_levels, fine_level, kernel_arrays

# The recursive residual drifts from the true one, which is recomputed at most this often.
MAX_RESTARTS = 10
# Residuals below this multiple of the rounding error of the solution are not those of the rounded solution.
ROUNDING = 4.0


class Solution(NamedTuple):
    """Solution of A X = B.

    Attributes
    ----------
    values : ndarray of the shape of the right-hand sides
        The solution X.
    residuals : ndarray of shape (n_columns,)
        Largest ``|b - A x|_i / a_ii`` of each column, divided by its largest ``|x_i|``.
    n_iter : int
        Number of iterations of the slowest columns.
    """

    values: np.ndarray
    residuals: np.ndarray
    n_iter: int


def solve_positive_definite(
    matrix: Any,
    right_sides: Any,
    *,
    tolerance: float = 1e-10,
    max_iter: int | None = None,
) -> Solution:
    """Solve A X = B for a sparse, symmetric, positive definite A.

    Parameters
    ----------
    matrix : sparse or dense matrix of shape (n, n)
        The matrix A. Its symmetry is not checked.
    right_sides : array of shape (n,) or (n, n_columns)
        The right-hand sides B.
    tolerance : float, default=1e-10
        Largest residual, see `Solution`. For a Laplacian, it is the largest difference of a node from the
        weighted mean of its neighbours.
    max_iter : int, optional
        Maximum number of iterations, by default 1000 + 10 sqrt(n).

    Returns
    -------
    Solution
        Solution, residuals and number of iterations.

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
    return PositiveDefiniteSolver(matrix).solve(right_sides, tolerance=tolerance, max_iter=max_iter)


class PositiveDefiniteSolver:
    """`solve_positive_definite` for many calls with the same matrix, whose preconditioner is built once.

    Parameters
    ----------
    matrix : sparse or dense matrix of shape (n, n)
        The matrix A. Its symmetry is not checked.
    coarse : bool, default=False
        Also correct on coarser levels, which takes a few times as long as one right-hand side, and saves
        most iterations if the matrix is nearly singular.
    single : bool, default=False
        Iterate in single precision, which takes half the time, and correct the solution by its residual in
        double precision until it has the same accuracy. It converges if the condition number is well below
        1e7.
    """

    def __init__(self, matrix: Any, *, coarse: bool = False, single: bool = False) -> None:
        A = _check_matrix(matrix)
        self._order = reverse_cuthill_mckee(A, symmetric_mode=True)
        A = A[self._order][:, self._order]
        A.sort_indices()
        self._inverse_diagonal = 1.0 / A.diagonal()
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self._arrays = kernel_arrays(A)
        self._rounded_arrays = *self._arrays[:2], self._arrays[2].astype(self._dtype, copy=False)
        self._levels = (coarse_levels(A) if coarse else fine_level(A)).astype(self._dtype)

    def solve(
        self,
        right_sides: Any,
        *,
        tolerance: float = 1e-10,
        max_iter: int | None = None,
    ) -> Solution:
        """Solve A X = B; parameters are those of `solve_positive_definite`."""
        order, n = self._order, len(self._order)
        B = _check_right_sides(right_sides, n)
        tolerance = check_real(tolerance, "tolerance", low=1e-15, high=1.0)
        limit = 1000 + 10 * int(np.sqrt(n))
        limit = limit if max_iter is None else check_count(max_iter, "max_iter")

        from vicinal._core._lane_kernels import count_lanes

        n_lanes = count_lanes(self._dtype)
        columns = B.reshape(n, -1)
        values = np.empty_like(columns)
        residuals = np.empty(columns.shape[1])

        def solve_block(span: tuple[int, int]) -> int:
            width = span[1] - span[0]
            right = np.zeros((n, n_lanes))
            # Squares of tiny or huge values would underflow or overflow.
            right[:, :width], exponents = normalize_magnitude(columns[order, slice(*span)], axis=0)
            solution, errors, n_iter = self._descend(right, tolerance, limit)
            values[order, slice(*span)] = np.ldexp(solution[:, :width], exponents)
            residuals[slice(*span)] = errors[:width]
            return n_iter

        n_iters = map_threads(solve_block, blocks(columns.shape[1], n_lanes), title="equations")
        # The negation also catches NaN.
        if not (residuals <= tolerance).all():
            raise np.linalg.LinAlgError(
                f"conjugate gradients reached a residual of {np.max(residuals):.1e} in {max(n_iters)} "
                f"iterations, but tolerance={tolerance:g}; the matrix is not positive definite, or nearly "
                "singular (increase its diagonal)."
            )
        return Solution(values.reshape(B.shape), residuals, max(n_iters, default=0))

    def _descend(
        self, right: np.ndarray, tolerance: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Solution, residuals and number of iterations for as many right-hand sides as there are lanes."""
        from vicinal.operators._cg_kernels import descend, restart

        n, width = right.shape
        inverse_diagonal = self._inverse_diagonal.astype(self._dtype)
        solution = np.zeros(n * width)
        remaining = np.zeros(width * self._levels.starts[-1], self._dtype)
        lanes = *np.empty((3, width)), *np.empty((4, width), self._dtype)
        starts, _, transfer, inverse = self._levels
        coarser = (starts, transfer, inverse) if len(starts) > 2 else None
        reachable = max(tolerance, ROUNDING * float(np.finfo(self._dtype.name).eps))
        scales, largest, errors, residuals, row = np.ones((5, width))
        n_iter = 0
        for _ in range(MAX_RESTARTS):
            restart(
                self._arrays,
                self._inverse_diagonal,
                right.ravel(),
                solution,
                scales,
                remaining,
                row,
                largest,
                errors,
            )
            active = errors > tolerance
            if n_iter == limit or not active.any():
                break
            step = np.zeros((n, width), self._dtype)
            n_iter += descend(
                self._rounded_arrays,
                self._levels.factor,
                coarser,
                inverse_diagonal,
                (
                    remaining,
                    step.ravel(),
                    *np.zeros((2, n * width), self._dtype),
                    np.empty_like(remaining),
                ),
                lanes,
                tolerance * largest / scales,
                reachable,
                active,
                limit - n_iter,
                residuals,
            )
            solution.reshape(n, width)[:] += scales * step
            # Residuals stay near 1, where single precision neither underflows nor overflows.
            scales *= np.where(residuals > 0, residuals, 1.0)
        return solution.reshape(n, width), errors, n_iter


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
    # The negation also catches NaN.
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
            f"right_sides has shape {B.shape}, but {n} rows are needed, as many as in the matrix."
        )
    if not np.isfinite(B).all():
        raise InvalidValueError(
            "right_sides contains values that are NaN or infinite; drop or replace them."
        )
    return B
