"""Similarities from distances, with a kernel width that adapts to each neighbourhood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.matrix_checks import check_distances
from vicinal._core.scalar_checks import check_choice, check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike

WIDTHS = ("pair", "global")
# A kernel that keeps the order of all distances is so wide that the farthest pair is not 0.
LARGEST_EXPONENT = 600.0


class Pairs(NamedTuple):
    """Stored pairs of different points, each from both sides."""

    rows: np.ndarray
    columns: np.ndarray
    lengths: np.ndarray


def smoothing_kernel(
    distances: MatrixLike,
    bandwidth: float = 0.1,
    *,
    n_neighbors: int = 30,
    width: Literal["pair", "global"] = "pair",
) -> np.ndarray | sparse.csr_array:
    """Convert distances to similarities exp(-d^2 / (bandwidth s^2)), the usual input of `self_smooth`.

    Parameters
    ----------
    distances : array or sparse matrix of shape (n, n)
        Symmetric, with zeros on the diagonal. In a sparse matrix, pairs that are not stored have
        similarity 0; if a pair is stored with two different distances, the smaller one is used.
    bandwidth : float, default=0.1
        Kernel width in units of s^2. It should be small, so that smoothing starts near the identity.
    n_neighbors : int, default=30
        The scale of a point is the mean distance to this many nearest neighbours.
    width : {"pair", "global"}, default="pair"
        Whether s is the mean scale of the two points, or the mean over all points. The reference can be
        read either way; "pair" works much better on shapes.

    Returns
    -------
    ndarray or csr_array of shape (n, n)
        Symmetric, in [0, 1], with ones on the diagonal; sparse for sparse distances.

    References
    ----------
    [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011, formula 1.

    Examples
    --------
    >>> from vicinal.similarity import smoothing_kernel
    >>> smoothing_kernel([[0, 1, 2], [1, 0, 1], [2, 1, 0]], bandwidth=1.0, n_neighbors=1).round(3)
    array([[1.   , 0.368, 0.018],
           [0.368, 1.   , 0.368],
           [0.018, 0.368, 1.   ]])
    """
    bandwidth = check_real(bandwidth, "bandwidth", low=0.0, open_low=True)
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    check_choice(width, "width", WIDTHS)
    matrix = check_distances(distances, name="distances")
    return kernel_and_scales(matrix, bandwidth, n_neighbors, width)[0]


def kernel_and_scales(
    matrix: np.ndarray | sparse.csr_array, bandwidth: float, n_neighbors: int, width: str
) -> tuple[np.ndarray | sparse.csr_array, np.ndarray]:
    """The `smoothing_kernel` of checked distances, and the scales of the points."""
    if not sparse.issparse(matrix):
        scales = _by_width(_dense_scales(matrix, n_neighbors), width)
        return kernel_of(matrix, scales, bandwidth), scales
    pairs = _pairs(matrix)
    scales = _by_width(_sparse_scales(pairs, matrix.shape[0], n_neighbors), width)
    return _sparse_kernel(pairs, scales, bandwidth), scales


def kernel_of(
    matrix: np.ndarray | sparse.csr_array, scales: np.ndarray, bandwidth: float
) -> np.ndarray | sparse.csr_array:
    """The kernel of checked distances, given the scales of the points."""
    if sparse.issparse(matrix):
        return _sparse_kernel(_pairs(matrix), scales, bandwidth)
    # Halves are summed because the sum of two huge scales may overflow.
    return gaussian(matrix, scales[:, None] / 2 + scales / 2, bandwidth)


def _sparse_kernel(pairs: Pairs, scales: np.ndarray, bandwidth: float) -> sparse.csr_array:
    rows, columns, lengths = pairs
    values = gaussian(lengths, scales[rows] / 2 + scales[columns] / 2, bandwidth)
    every = np.arange(len(scales))
    kernel = sparse.csr_array(
        (
            np.concatenate([values, np.ones(len(every))]),
            (np.concatenate([rows, every]), np.concatenate([columns, every])),
        ),
        shape=(len(scales), len(scales)),
    )
    kernel.eliminate_zeros()
    return kernel


def _by_width(scales: np.ndarray, width: str) -> np.ndarray:
    n = len(scales)
    return np.full(n, (scales / n).sum()) if width == "global" else scales


def _dense_scales(matrix: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Mean distance of each point to its nearest neighbours."""
    n = len(matrix)
    scales = np.zeros(n)
    k = min(n_neighbors, n - 1)
    for i, row in enumerate(matrix if k else ()):
        # The point itself, at distance 0, is among the k + 1 smallest.
        scales[i] = (np.partition(row, k)[: k + 1] / k).sum()
    return scales


def gaussian(lengths: np.ndarray, scales: np.ndarray, bandwidth: float) -> np.ndarray:
    """exp(-(length / scale)^2 / bandwidth); with a scale of 0 (many duplicates), 1 for equal points only."""
    # Squares of ratios may overflow, where the kernel is 0.
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        ratios = np.where(lengths == 0, 0.0, lengths / scales)
        return np.exp(-(ratios * ratios) / bandwidth)


def _sparse_scales(pairs: Pairs, n: int, n_neighbors: int) -> np.ndarray:
    """Mean distance of each point to its nearest neighbours among the stored pairs."""
    rows, _, lengths = pairs
    counts = np.bincount(rows, minlength=n)
    order = np.lexsort((lengths, rows))
    rank = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
    near = order[rank < n_neighbors]
    used = np.maximum(np.minimum(counts, n_neighbors), 1)
    return np.bincount(rows[near], lengths[near] / used[rows[near]], minlength=n)


def _pairs(matrix: sparse.csr_array) -> Pairs:
    mirrored = sparse.csr_array(matrix.T)
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    rows, columns, lengths = _entries(matrix)
    if not all(
        np.array_equal(a, b)
        for a, b in zip((rows, columns, lengths), _entries(mirrored), strict=True)
    ):
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        lengths = np.concatenate([lengths, lengths])
        # Of equal pairs, keep the first, which is the shortest.
        order = np.lexsort((lengths, columns, rows))
        rows, columns, lengths = rows[order], columns[order], lengths[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        rows, columns, lengths = rows[first], columns[first], lengths[first]
    different = rows != columns
    return Pairs(rows[different], columns[different], lengths[different])


def _entries(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices, matrix.data


def plain_width(
    distances: np.ndarray | sparse.csr_array, scales: np.ndarray, bandwidth: float
) -> tuple[float, float]:
    """One scale for all items, and a bandwidth at which each keeps the order of its distances."""
    scale, farthest = float((scales / len(scales)).sum()), float(distances.max())
    needed = (farthest / scale) ** 2 / LARGEST_EXPONENT if scale > 0 else 0.0
    return scale, max(bandwidth, needed)
