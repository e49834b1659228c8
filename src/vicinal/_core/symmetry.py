"""Tests for symmetry up to rounding, and symmetrisation, without a second matrix in memory."""

from __future__ import annotations

import numpy as np
from scipy import sparse

ROWS_PER_BLOCK = 256


def rounding_tolerance(dtype: np.dtype) -> float:
    """Difference, relative to the largest entry, that may be due to rounding."""
    return max(1e-10, 8.0 * float(np.finfo(dtype).eps)) if dtype.kind == "f" else 1e-10


def first_asymmetric_row(array: np.ndarray, tolerance: float = 0.0) -> int | None:
    """First row in which a square array and its transpose differ by more than ``tolerance``, if any."""
    for start in range(0, len(array), ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        if tolerance == 0:
            differs = (array[rows] != array[:, rows].T).any(axis=1)
        else:
            differs = (np.abs(array[rows] - array[:, rows].T) > tolerance).any(axis=1)
        if differs.any():
            return start + int(np.argmax(differs))
    return None


def symmetrize_in_place(array: np.ndarray) -> None:
    """Replace each entry of a square array and its mirror image by their mean."""
    for start in range(0, len(array), ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        means = _mean(array[rows, start:], array[start:, rows].T)
        array[rows, start:], array[start:, rows] = means, means.T


def symmetrize_close_pairs(matrix: sparse.csr_array, tolerance: float) -> sparse.csr_array:
    """Average entries that differ from their mirror image by at most ``tolerance``.

    Entries that differ more, or whose mirror image is not stored, are left unchanged. The matrix must be
    canonical; it is returned itself if nothing changes.
    """
    mirrored = sparse.csr_array(matrix.T)
    if np.array_equal(matrix.indptr, mirrored.indptr) and np.array_equal(
        matrix.indices, mirrored.indices
    ):
        mirror_images = mirrored.data
    else:
        keys, mirrored_keys = _keys(matrix), _keys(mirrored)
        at = np.minimum(np.searchsorted(mirrored_keys, keys), max(len(keys) - 1, 0))
        mirror_images = np.where(mirrored_keys[at] == keys, mirrored.data[at], matrix.data)
    close = (mirror_images != matrix.data) & (np.abs(mirror_images - matrix.data) <= tolerance)
    if not close.any():
        return matrix
    values = matrix.data.copy()
    values[close] = _mean(values[close], mirror_images[close])
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Mean without overflow; bit-identical for (b, a), and equal to a where a == b."""
    low = np.minimum(a, b)
    return low + (np.maximum(a, b) - low) / 2


def _keys(matrix: sparse.csr_array) -> np.ndarray:
    n = matrix.shape[0]
    return np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(matrix.indptr)) + matrix.indices
