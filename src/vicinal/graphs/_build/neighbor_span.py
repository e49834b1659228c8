"""Random displacements of points within the span of the offsets to their neighbours."""

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
) -> np.ndarray:
    """Points moved within the span of the offsets to their neighbours, by isotropic noise.

    In many columns, noise in all directions is almost orthogonal to every offset and changes all distances
    alike. A span of dimension q has a standard deviation of ``spread`` times `axis_fraction` of q along
    each axis.

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
    """
    m, k = neighbors.shape
    steps = np.empty((m, k))
    perturb_rows(np.zeros((m, k)), np.ones(m), seed, rows, steps)
    moved = np.empty(X.shape)
    size = max(1, BYTES_PER_BLOCK // (8 * k * X.shape[1]))
    for start in range(0, m, size):
        block = slice(start, start + size)
        offsets = points[neighbors[block]] - X[block, None]
        basis, dimension = _orthonormal_coefficients(offsets)
        sizes = spread[block] * axis_fraction(dimension, 2)
        weights = np.einsum("ijc,ic->ij", basis, steps[block]) * sizes[:, None]
        moved[block] = X[block] + np.einsum("ij,ijd->id", weights, offsets)
    return moved


def _orthonormal_coefficients(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients that combine offsets to orthonormal bases of their spans, and the dimensions of the spans.

    Columns beyond the dimension are zero. Bases follow from the eigenvectors of the Gram matrices.
    """
    # Relative to the largest entry, so that squares neither overflow nor vanish.
    unit = np.abs(offsets).max(axis=(1, 2))
    unit = np.where(unit > 0, unit, 1.0)
    scaled = offsets / unit[:, None, None]
    gram = np.einsum("ijd,ikd->ijk", scaled, scaled)
    trace = np.trace(gram, axis1=1, axis2=2)
    trace = np.where(trace > 0, trace, 1.0)
    values, vectors = np.linalg.eigh(gram / trace[:, None, None])
    spans = values > ZERO_EIGENVALUE
    norms = np.sqrt(np.where(spans, values, 1.0) * trace[:, None]) * unit[:, None]
    return vectors * (spans / norms)[:, None], spans.sum(axis=1)
