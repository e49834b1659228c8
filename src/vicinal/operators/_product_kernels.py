"""Kernels of a sparse matrix times a vector or a block of vectors."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def rows_times_vector(indptr, indices, values, x, start, stop, out):
    """Rows ``start`` to ``stop`` of a CSR matrix times x."""
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e] * x[indices[e]]
        out[i] = total


@njit(cache=True, nogil=True)
def rows_times_block(indptr, indices, values, x, start, stop, out):
    """Rows ``start`` to ``stop`` of a CSR matrix times a block of vectors, a row of ``x`` a node."""
    width = x.shape[1]
    for i in range(start, stop):
        for c in range(width):
            out[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            value, j = values[e], indices[e]
            for c in range(width):
                out[i, c] += value * x[j, c]
