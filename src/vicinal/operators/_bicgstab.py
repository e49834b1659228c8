"""The biconjugate gradient method, stabilised, on blocks of rows.

Sums are added up block by block, so that the result does not depend on the number of threads.

References
----------
van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
linear systems", SIAM Journal on Scientific and Statistical Computing 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.parallel import map_threads

if TYPE_CHECKING:
    from vicinal.operators._chain_levels import ChainLevel


def bicgstab(
    level: ChainLevel, b: np.ndarray, tolerance: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """Solve A x = b from x = 0 until |b - A x|_1 is small; returns x and the number of steps.

    Stops early on a breakdown; the caller restarts from the residual.

    Parameters
    ----------
    level : ChainLevel
        The matrix A and its preconditioner.
    b : ndarray of shape (n,)
        Right-hand side.
    tolerance : float
        Largest absolute sum of the residual.
    max_iter : int
        Maximum number of steps.
    """
    from vicinal.operators._stationary_kernels import advance, multiply, search_direction

    n, matrix = len(b), level.arrays

    def in_blocks(kernel: Callable[..., tuple[float, float]], *arrays: object) -> tuple[float, ...]:
        sums = map_threads(lambda span: kernel(*arrays, *span), level.spans, level.n_jobs)
        return tuple(sum(parts) for parts in zip(*sums, strict=True)) if sums[0] else ()

    x, p, v = np.zeros(n), np.zeros(n), np.zeros(n)
    y, t, r, shadow = np.empty(n), np.empty(n), b.copy(), b.copy()
    alpha = omega = previous = 1.0
    size, rho = in_blocks(advance, x, x, r, v, shadow, 0.0)
    for step in range(max_iter):
        if size <= tolerance or rho == 0.0 or omega == 0.0:
            return x, step
        in_blocks(search_direction, r, v, p, rho / previous * alpha / omega, omega)
        level.solve(p, y)
        slope, _ = in_blocks(multiply, matrix, y, shadow, v)
        if slope == 0.0:
            return x, step
        previous, alpha = rho, rho / slope
        in_blocks(advance, x, y, r, v, shadow, alpha)
        level.solve(r, y)
        product, square = in_blocks(multiply, matrix, y, r, t)
        if square == 0.0:
            return x, step + 1
        omega = product / square
        size, rho = in_blocks(advance, x, y, r, t, shadow, omega)
    return x, max_iter
