"""Edge lists to CSR rows, and back to a check of symmetry."""

from __future__ import annotations

from vicinal._core.jit import jit


@jit
def adjacency(edges, values, indptr, indices, row_values, unsorted, unsorted_values):
    """Fill the CSR arrays; each edge is given once and stored from both ends. The last two are memory.

    The first pass distributes the edges to their rows in any order. Reading these rows in ascending
    order then fills every neighbour list sorted, because a symmetric matrix is its own transpose.
    """
    n, m = len(indptr) - 1, len(edges)
    # Loops instead of slices: numba spends seconds compiling the shape error of slice assignments.
    for i in range(n + 1):
        indptr[i] = 0
    for e in range(m):
        indptr[edges[e, 0] + 1] += 1
        indptr[edges[e, 1] + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    position = indptr[:-1].copy()
    for e in range(m):
        i, j = edges[e, 0], edges[e, 1]
        unsorted[position[i]], unsorted_values[position[i]] = j, values[e]
        unsorted[position[j]], unsorted_values[position[j]] = i, values[e]
        position[i] += 1
        position[j] += 1
    for i in range(n):
        position[i] = indptr[i]
    for i in range(n):
        for at in range(indptr[i], indptr[i + 1]):
            j = unsorted[at]
            indices[position[j]], row_values[position[j]] = i, unsorted_values[at]
            position[j] += 1


@jit
def is_symmetric(indptr, indices, values):
    """Whether each entry (i, j) of sorted CSR rows has an equal counterpart (j, i).

    Reading rows in ascending order visits the entries of column j in the order of row j.
    """
    position = indptr[:-1].copy()
    for i in range(len(indptr) - 1):
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            mirrored = position[j]
            if mirrored == indptr[j + 1] or indices[mirrored] != i:
                return False
            if values[mirrored] != values[at]:
                return False
            position[j] += 1
    return True
