"""Smallest eigenpairs of a Laplacian by the preconditioned block iteration LOBPCG.

References
----------
Knyazev, "Toward the optimal preconditioned eigensolver", SIAM Journal on Scientific Computing 2001.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from vicinal._core.parallel import progress_bar
from vicinal.operators._eigen.tall_matrices import mixed, overlap, replace_columns

ROUNDING = 1e-15
Map = Callable[[np.ndarray], np.ndarray]


def lobpcg(
    apply: Map,
    precondition: Map,
    trivial: np.ndarray,
    start: np.ndarray,
    *,
    n_wanted: int,
    accuracy: float,
    max_iter: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of the smallest eigenvalues, without the trivial one.

    Parameters
    ----------
    apply, precondition : callable
        Products of the Laplacian, and of an approximation of its pseudo-inverse, with columns of vectors.
    trivial : ndarray of shape (n, 1)
        The eigenvector of eigenvalue 0, of length 1.
    start : ndarray of shape (n, width)
        Start vectors, more than wanted, because the last ones converge most slowly.
    n_wanted : int
        Number of vectors that must be accurate.
    accuracy : float
        Error of a vector in the energy norm, relative to its own energy.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    values : ndarray of shape (width,)
        Eigenvalues, ascending.
    vectors : ndarray of shape (n, width)
        Orthonormal columns.
    """
    n, width = start.shape
    # Columns of the block: the trivial vector, x, and then the search directions p and w.
    block, images = np.empty((n, 1 + 3 * width)), np.empty((n, 3 * width))
    known, x, ax = block[:, : 1 + width], block[:, 1 : 1 + width], images[:, :width]
    block[:, :1] = trivial
    x[:] = start - trivial @ overlap(trivial, start)
    ax[:] = apply(x)
    values, mix = _rayleigh_ritz(x, ax, width)
    replace_columns(x, mix)
    replace_columns(ax, mix)
    size = width
    with progress_bar(max_iter, "eigenvectors") as bar:
        for _ in range(max_iter):
            residual = ax - x * values
            w = precondition(residual)
            bar.update()
            # r' A^-1 r is the energy of the error; errors due to rounding cannot be reduced.
            error = np.einsum("ij,ij->j", residual, w)[:n_wanted]
            if np.all(error <= accuracy**2 * np.maximum(values[:n_wanted], ROUNDING)):
                break
            w -= mixed(known, overlap(known, w))
            block[:, 1 + size : 1 + size + width] = w
            images[:, size : size + width] = apply(w)
            size += width
            values, mix = _rayleigh_ritz(block[:, 1 : 1 + size], images[:, :size], width)
            # The next p is the part of the update outside the old vectors.
            outside = np.vstack([np.zeros((width, width)), mix[width:]])
            both = np.hstack([mix, outside])
            replace_columns(block[:, 1 : 1 + size], both)
            replace_columns(images[:, :size], both)
            size = 2 * width
    return values, x


def _rayleigh_ritz(
    block: np.ndarray, images: np.ndarray, n_wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues within the span of a block, and the combinations of its columns."""
    gram = overlap(block, block)
    scale = 1 / np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    lengths, axes = eigh(gram * scale[:, None] * scale)
    # Directions that the columns hardly span are noise.
    valid = lengths > 1e-12 * lengths[-1]
    basis = scale[:, None] * axes[:, valid] / np.sqrt(lengths[valid])
    energy = basis.T @ overlap(block, images) @ basis
    values, mix = eigh((energy + energy.T) / 2)
    return np.maximum(values[:n_wanted], 0.0), basis @ mix[:, :n_wanted]
