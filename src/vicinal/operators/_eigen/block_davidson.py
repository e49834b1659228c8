"""Largest eigenpairs by a block iteration, also for multiple or very close eigenvalues.

Lanczos from one vector finds one direction of each eigenspace, and others only through rounding errors. A
block that is wider than a cluster of close eigenvalues converges at the rate of the gap after the cluster.

References
----------
Davidson, "The iterative calculation of a few of the lowest eigenvalues and corresponding eigenvectors
of large real-symmetric matrices", Journal of Computational Physics 1975. Stathopoulos and Saad,
"Restarting techniques for the (Jacobi-)Davidson symmetric eigenvalue methods", ETNA 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh

from vicinal.operators._eigen.tall_matrices import mixed, overlap

# Size of the basis before a restart, relative to the width of the block; a restart keeps twice the width.
MAX_BASIS_FACTOR = 5
# Smallest norm of a new direction after projection to the complement of the basis.
MIN_NEW_NORM = 1e-7


def block_eigenpairs(
    operator: Any,
    start: np.ndarray,
    n_pairs: int,
    tolerance: float,
    *,
    max_iter: int,
    precondition: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the largest eigenvalues of a symmetric operator, with eigenvectors and residuals.

    Parameters
    ----------
    operator : LinearOperator
        Symmetric operator.
    start : ndarray (n, width)
        Start vectors, at least ``n_pairs``; additional vectors speed up convergence.
    n_pairs : int
        Number of eigenpairs.
    tolerance : float
        Residual ||A v - value v|| at which the iteration stops.
    max_iter : int
        Maximum number of iterations; the residuals show whether it converged.
    precondition : callable, optional
        Function of residuals and eigenvalues that returns correction directions.
    """
    n, width = start.shape
    limit = min(n, MAX_BASIS_FACTOR * width)
    basis = _new_directions(np.empty((n, 0)), start)
    images = operator @ basis
    energy = overlap(basis, images)
    for step in range(max_iter + 1):
        values, mix = eigh((energy + energy.T) / 2)
        values, mix = values[::-1][:width], mix[:, ::-1]
        top = mix[:, :width]
        vectors = mixed(basis, top)
        residuals = mixed(images, top) - vectors * values
        errors = np.linalg.norm(residuals, axis=0)
        if step == max_iter or np.all(errors[:n_pairs] <= tolerance):
            break
        unconverged = errors > tolerance
        if basis.shape[1] + int(unconverged.sum()) > limit:
            restart = mix[:, : max(2 * width, 1)]
            basis, images = mixed(basis, restart), mixed(images, restart)
            energy = overlap(basis, images)
        directions = residuals[:, unconverged]
        if precondition is not None:
            directions = precondition(directions, values[unconverged])
        new = _new_directions(basis, directions)
        if new.shape[1] == 0:
            break
        new_images = operator @ new
        across = overlap(basis, new_images)
        within = overlap(new, new_images)
        energy = np.block([[energy, across], [across.T, within]])
        basis, images = np.hstack([basis, new]), np.hstack([images, new_images])
    return values[:n_pairs], vectors[:, :n_pairs], errors[:n_pairs]


def _new_directions(basis: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Orthonormal directions that a block adds to an orthonormal basis."""
    lengths = np.linalg.norm(block, axis=0)
    block = block[:, lengths > 0] / lengths[lengths > 0]
    # In floating point, orthogonalisation must be repeated once.
    for _ in range(2):
        if block.shape[1] == 0:
            break
        block = block - mixed(basis, overlap(basis, block))
        squares, axes = eigh(overlap(block, block))
        new = squares > MIN_NEW_NORM**2
        block = mixed(block, axes[:, new] / np.sqrt(squares[new]))
    return block
