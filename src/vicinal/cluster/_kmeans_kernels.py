"""Kernels of kernel k-means: updates of the sums of rows over clusters."""

from __future__ import annotations

from vicinal._core.jit import jit


@jit
def move_rows(K, moved, old, new, sums):
    """Move the row of each item from the sum of its old cluster (unless -1) to that of its new cluster."""
    n = K.shape[1]
    for m in range(len(moved)):
        row, to, out = K[moved[m]], sums[new[m]], sums[old[m]]
        if old[m] >= 0:
            for j in range(n):
                to[j] += row[j]
                out[j] -= row[j]
        else:
            for j in range(n):
                to[j] += row[j]


@jit
def move_sparse_rows(indptr, indices, values, moved, old, new, sums):
    """The same for rows of a CSR matrix."""
    for m in range(len(moved)):
        to, out = new[m], old[m]
        for e in range(indptr[moved[m]], indptr[moved[m] + 1]):
            sums[to, indices[e]] += values[e]
            if out >= 0:
                sums[out, indices[e]] -= values[e]
