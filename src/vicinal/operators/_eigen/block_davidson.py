"""Largest eigenpairs by a block iteration: eigenvalues that are equal, or all but equal, come together.

Lanczos from one vector sees one direction of each eigenspace, and rounding has to bring in the others.
A block that is wider than a group of close eigenvalues converges at the rate of the gap behind the
group, however close its members are.

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

# The basis grows to this many times the width of the block before a restart, which keeps twice it.
GROWTH = 5
# Part of a new direction that must be outside of the basis, after two rounds of orthogonalisation.
NEW = 1e-7


def block_eigenpairs(
    operator: Any,
    start: np.ndarray,
    n_pairs: int,
    tolerance: float,
    *,
    max_steps: int,
    precondition: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    n_jobs: int | None = -1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest eigenvalues of a symmetric operator, descending, with orthonormal vectors and residuals.

    Parameters
    ----------
    operator : LinearOperator
        Symmetric.
    start : ndarray (n, width)
        Vectors to start from, at least ``n_pairs``; those beyond are guards.
    n_pairs : int
    tolerance : float
        Residual ||A v - value v|| that ends the iteration.
    max_steps : int
        Products with a block; after the last one the residuals tell how far it came.
    precondition : callable, optional
        From residuals and their eigenvalues to directions in which the vectors are to be corrected.
    n_jobs : int, optional
        Threads, all cores by default; the result does not depend on it.
    """
    n, width = start.shape
    limit = min(n, GROWTH * width)
    basis = _new_directions(np.empty((n, 0)), start, n_jobs)
    images = operator @ basis
    energy = overlap(basis, images, n_jobs)
    for step in range(max_steps + 1):
        values, mix = eigh((energy + energy.T) / 2)
        values, mix = values[::-1][:width], mix[:, ::-1]
        top = mix[:, :width]
        vectors = mixed(basis, top, n_jobs)
        residuals = mixed(images, top, n_jobs) - vectors * values
        errors = np.linalg.norm(residuals, axis=0)
        if step == max_steps or np.all(errors[:n_pairs] <= tolerance):
            break
        open_ones = errors > tolerance
        if basis.shape[1] + int(open_ones.sum()) > limit:
            kept = mix[:, : max(2 * width, 1)]
            basis, images = mixed(basis, kept, n_jobs), mixed(images, kept, n_jobs)
            energy = overlap(basis, images, n_jobs)
        directions = residuals[:, open_ones]
        if precondition is not None:
            directions = precondition(directions, values[open_ones])
        new = _new_directions(basis, directions, n_jobs)
        if new.shape[1] == 0:
            break
        moved = operator @ new
        across, within = overlap(basis, moved, n_jobs), overlap(new, moved, n_jobs)
        energy = np.block([[energy, across], [across.T, within]])
        basis, images = np.hstack([basis, new]), np.hstack([images, moved])
    return values[:n_pairs], vectors[:, :n_pairs], errors[:n_pairs]


def _new_directions(basis: np.ndarray, block: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Orthonormal directions that a block adds to an orthonormal basis."""
    lengths = np.linalg.norm(block, axis=0)
    block = block[:, lengths > 0] / lengths[lengths > 0]
    # Once is not enough in floating point, twice is.
    for _ in range(2):
        if block.shape[1] == 0:
            break
        block = block - mixed(basis, overlap(basis, block, n_jobs), n_jobs)
        squares, axes = eigh(overlap(block, block, n_jobs))
        new = squares > NEW**2
        block = mixed(block, axes[:, new] / np.sqrt(squares[new]), n_jobs)
    return block
