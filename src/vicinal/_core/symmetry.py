"""Symmetry up to rounding: found and mended without a second matrix in memory."""

from __future__ import annotations

import numpy as np
from scipy import sparse

BLOCK = 256


def rounding_tolerance(dtype: np.dtype) -> float:
    """Difference, relative to the largest entry, that the rounding of a few operations may leave."""
    return max(1e-10, 8.0 * float(np.finfo(dtype).eps)) if dtype.kind == "f" else 1e-10


def first_asymmetric_row(array: np.ndarray, slack: float = 0.0) -> int | None:
    """First row in which a square array and its transpose differ by more than ``slack``, if any."""
    for start in range(0, len(array), BLOCK):
        strip = slice(start, start + BLOCK)
        if slack == 0:
            differs = (array[strip] != array[:, strip].T).any(axis=1)
        else:
            differs = (np.abs(array[strip] - array[:, strip].T) > slack).any(axis=1)
        if differs.any():
            return start + int(np.argmax(differs))
    return None


def symmetrize_in_place(array: np.ndarray) -> None:
    """Put the mean of each entry and its mirror image into both places of a square array."""
    for start in range(0, len(array), BLOCK):
        strip = slice(start, start + BLOCK)
        means = _mean(array[strip, start:], array[start:, strip].T)
        array[strip, start:], array[start:, strip] = means, means.T


def symmetrize_close_pairs(matrix: sparse.csr_array, slack: float) -> sparse.csr_array:
    """A sparse matrix in which entries that differ from their mirror image by up to ``slack`` do not.

    Entries without a mirror image stay as they are, and so do those that differ more. The matrix is
    canonical; if nothing changes it is returned itself.
    """
    mirrored = sparse.csr_array(matrix.T)
    if np.array_equal(matrix.indptr, mirrored.indptr) and np.array_equal(
        matrix.indices, mirrored.indices
    ):
        images = mirrored.data
    else:
        keys, mirrored_keys = _keys(matrix), _keys(mirrored)
        at = np.minimum(np.searchsorted(mirrored_keys, keys), max(len(keys) - 1, 0))
        images = np.where(mirrored_keys[at] == keys, mirrored.data[at], matrix.data)
    close = (images != matrix.data) & (np.abs(images - matrix.data) <= slack)
    if not close.any():
        return matrix
    values = matrix.data.copy()
    values[close] = _mean(values[close], images[close])
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same bits for (b, a), and a itself where both are equal; sums might overflow."""
    low = np.minimum(a, b)
    return low + (np.maximum(a, b) - low) / 2


def _keys(matrix: sparse.csr_array) -> np.ndarray:
    n = matrix.shape[0]
    return np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(matrix.indptr)) + matrix.indices
