"""Similarities from distances, at the width of each point's own neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.validation import check_choice, check_count, check_distances, check_real

WIDTHS = ("pair", "global")


def smoothing_kernel(
    distances: Any, bandwidth: float = 0.1, *, n_neighbors: int = 30, width: str = "pair"
) -> np.ndarray | sparse.csr_array:
    """Similarities exp(-d^2 / (k s^2)), the usual input of `self_smooth`.

    Parameters
    ----------
    distances : array or sparse matrix of shape (n, n)
        Symmetric, 0 on the diagonal. In a sparse one the pairs that are left out have similarity 0; a pair
        may be stored on one side only, and of two different distances the smaller one counts.
    bandwidth : float, default=0.1
        Width in units of s^2. It is meant to be small: smoothing starts from a matrix near the identity
        and lets similarity flow in small steps.
    n_neighbors : int, default=30
        A point's own scale is the mean distance to so many nearest others, to all if there are fewer.
    width : {"pair", "global"}, default="pair"
        s is the mean of the two points' scales, or one number, the mean over all points. The text of the
        reference allows both readings; on shapes the first is better by far.

    Returns
    -------
    ndarray, or csr_array for a sparse matrix, of shape (n, n)
        Symmetric, in [0, 1], with ones on the diagonal.

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
    scales = point_scales(matrix, n_neighbors, width)
    if not sparse.issparse(matrix):
        # Halves are summed, not scales: the sum of two huge numbers may overflow.
        return gaussian(matrix, scales[:, None] / 2 + scales / 2, bandwidth)
    rows, columns, lengths = _pairs(matrix)
    values = gaussian(lengths, scales[rows] / 2 + scales[columns] / 2, bandwidth)
    every = np.arange(len(scales))
    kernel = sparse.csr_array(
        (
            np.concatenate([values, np.ones(len(every))]),
            (np.concatenate([rows, every]), np.concatenate([columns, every])),
        ),
        shape=matrix.shape,
    )
    kernel.eliminate_zeros()
    return kernel


def point_scales(matrix: Any, n_neighbors: int, width: str) -> np.ndarray:
    """Mean distance of each point to its nearest others; for ``width="global"`` the mean of these."""
    n = matrix.shape[0]
    if sparse.issparse(matrix):
        scales = _sparse_scales(matrix, n_neighbors)
    else:
        scales = np.zeros(n)
        k = min(n_neighbors, n - 1)
        for i, row in enumerate(matrix if k else ()):
            # The point itself, at distance 0, is among the k + 1 smallest.
            scales[i] = (np.partition(row, k)[: k + 1] / k).sum()
    return np.full(n, (scales / n).sum()) if width == "global" else scales


def gaussian(lengths: np.ndarray, scales: np.ndarray, bandwidth: float) -> np.ndarray:
    """exp(-(length / scale)^2 / k); a scale of 0, that of many duplicates, compares by equality."""
    # Ratios before squares, which may overflow to where the kernel is 0.
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        ratios = np.where(lengths == 0, 0.0, lengths / scales)
        return np.exp(-(ratios * ratios) / bandwidth)


def _sparse_scales(matrix: sparse.csr_array, n_neighbors: int) -> np.ndarray:
    n = matrix.shape[0]
    rows, _, lengths = _pairs(matrix)
    counts = np.bincount(rows, minlength=n)
    order = np.lexsort((lengths, rows))
    place = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
    near = order[place < n_neighbors]
    used = np.maximum(np.minimum(counts, n_neighbors), 1)
    return np.bincount(rows[near], lengths[near] / used[rows[near]], minlength=n)


def _pairs(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and values of the stored pairs of different points, each from both sides."""
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
        # The shortest comes first, and what follows in the same place is dropped.
        order = np.lexsort((lengths, columns, rows))
        rows, columns, lengths = rows[order], columns[order], lengths[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        rows, columns, lengths = rows[first], columns[first], lengths[first]
    apart = rows != columns
    return rows[apart], columns[apart], lengths[apart]


def _entries(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices, matrix.data
