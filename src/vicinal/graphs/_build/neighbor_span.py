"""Random displacements of points along the offsets to their neighbours."""

from __future__ import annotations

import numpy as np

from vicinal.graphs._build._noise_kernels import perturb_rows

# Eigenvalues of Gram matrices of unit trace below this are zero up to rounding.
ZERO_EIGENVALUE = 1e-10
BYTES_PER_BLOCK = 2**25


def axis_fraction(dimension: np.ndarray | int, power: int) -> np.ndarray:
    """Standard deviation along each axis, in units of ``noise * d_i``: min(1, (2 / D)^(1/p)).

    With the same noise along each of D axes, a displacement is D^(1/p) times as long as along one axis in
    the metric of power p, and soon exceeds the distance to the neighbours. So its length is kept as in the
    plane: a root mean square of sqrt(2) noise d_i for Euclidean distances.
    """
    return np.minimum(1.0, (2.0 / np.maximum(dimension, 1)) ** (1.0 / power))


def perturb_in_span(
    X: np.ndarray,
    points: np.ndarray,
    neighbors: np.ndarray,
    spread: np.ndarray,
    seed: np.uint64,
    rows: np.ndarray,
    *,
    is_aligned: bool = False,
) -> np.ndarray:
    """Points moved within the span of the offsets to their neighbours, by isotropic or aligned noise.

    In many columns, noise in all directions is almost orthogonal to every offset and changes all distances
    alike. With isotropic noise, a span of dimension q has a standard deviation of ``spread`` times
    `axis_fraction` of q along each axis. Aligned noise combines the offsets with random weights, so that its
    covariance is proportional to theirs: it is long along a surface through the neighbours and short across
    it. Its length is the same; q is the participation ratio of the eigenvalues of the covariance.

    Parameters
    ----------
    X : ndarray (m, D)
        Points to move.
    points : ndarray (n, D)
        Points that contain the neighbours.
    neighbors : ndarray of int (m, k)
        Rows of the neighbours in ``points``.
    spread : ndarray (m,)
        Size of the noise.
    seed : uint64
        Seed; the noise of a row depends on it and on the number of the row only.
    rows : ndarray of int (m,)
        Numbers of the rows.
    is_aligned : bool
        Whether the noise has the covariance of the offsets.
    """
    m, k = neighbors.shape
    steps = np.empty((m, k))
    perturb_rows(np.zeros((m, k)), np.ones(m), seed, rows, steps)
    moved = np.empty(X.shape)
    size = max(1, BYTES_PER_BLOCK // (8 * k * X.shape[1]))
    for start in range(0, m, size):
        block = slice(start, start + size)
        offsets = points[neighbors[block]] - X[block, None]
        if is_aligned:
            weights = _aligned_weights(offsets, steps[block]) * spread[block, None]
        else:
            basis, dimension = _orthonormal_coefficients(offsets)
            sizes = spread[block] * axis_fraction(dimension, 2)
            weights = np.einsum("ijc,ic->ij", basis, steps[block]) * sizes[:, None]
        moved[block] = X[block] + np.einsum("ij,ijd->id", weights, offsets)
    return moved


def _aligned_weights(offsets: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Weights of the offsets whose combination has a root mean square length of sqrt(min(2, q))."""
    gram, length = _gram_matrices(offsets)
    # With eigenvalues of unit sum, the participation ratio is 1 over their sum of squares.
    squares = np.square(gram).sum(axis=(1, 2))
    ratio = 1.0 / np.where(squares > 0, squares, 1.0)
    return steps * (np.sqrt(np.minimum(2.0, ratio)) / length)[:, None]


def _orthonormal_coefficients(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients that combine offsets to orthonormal bases of their spans, and the dimensions of the spans.

    Columns beyond the dimension are zero. Bases follow from the eigenvectors of the Gram matrices.
    """
    gram, length = _gram_matrices(offsets)
    values, vectors = np.linalg.eigh(gram)
    spans = values > ZERO_EIGENVALUE
    norms = np.sqrt(np.where(spans, values, 1.0)) * length[:, None]
    return vectors * (spans / norms)[:, None], spans.sum(axis=1)


def _gram_matrices(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gram matrices of the offsets of each point, of unit trace, and the roots of their former traces.

    If all offsets are 0, the matrix is 0 and the root is 1.
    """
    # Relative to the largest entry, so that squares neither overflow nor vanish.
    unit = np.abs(offsets).max(axis=(1, 2))
    unit = np.where(unit > 0, unit, 1.0)
    scaled = offsets / unit[:, None, None]
    gram = np.einsum("ijd,ikd->ijk", scaled, scaled)
    trace = np.trace(gram, axis1=1, axis2=2)
    trace = np.where(trace > 0, trace, 1.0)
    return gram / trace[:, None, None], np.sqrt(trace) * unit
