"""Edge lists to CSR rows, and back to a check of symmetry."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def adjacency(edges, values, indptr, indices, row_values):
    """Fill the CSR arrays; each edge is given once and stored from both ends.

    The first pass deals the edges out to their rows in any order. Reading these rows in ascending
    order deals every neighbour list out sorted, because a symmetric matrix is its own transpose.
    """
    n, m = len(indptr) - 1, len(edges)
    # Loops where slices would do: numba compiles the error of an assignment that does not fit for seconds.
    for i in range(n + 1):
        indptr[i] = 0
    for e in range(m):
        indptr[edges[e, 0] + 1] += 1
        indptr[edges[e, 1] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    place = indptr[:-1].copy()
    dealt, dealt_values = np.empty_like(indices), np.empty_like(row_values)
    for e in range(m):
        i, j = edges[e, 0], edges[e, 1]
        dealt[place[i]], dealt_values[place[i]] = j, values[e]
        dealt[place[j]], dealt_values[place[j]] = i, values[e]
        place[i] += 1
        place[j] += 1
    for i in range(n):
        place[i] = indptr[i]
    for i in range(n):
        for at in range(indptr[i], indptr[i + 1]):
            j = dealt[at]
            indices[place[j]], row_values[place[j]] = i, dealt_values[at]
            place[j] += 1


@jit
def is_symmetric(indptr, indices, values):
    """Whether each entry (i, j) of sorted CSR rows has an equal counterpart (j, i).

    Read by ascending rows, the entries of column j meet those of row j in the order of the row.
    """
    place = indptr[:-1].copy()
    for i in range(len(indptr) - 1):
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            mirrored = place[j]
            if mirrored == indptr[j + 1] or indices[mirrored] != i:
                return False
            if values[mirrored] != values[at]:
                return False
            place[j] += 1
    return True
