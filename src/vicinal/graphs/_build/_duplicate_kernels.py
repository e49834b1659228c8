"""Compiled loops that copy the edges of each distinct point to all its rows."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def row_sizes(indptr, indices, counts, sizes):
    """Number of entries in each row of a group: all rows of neighbouring groups, and its duplicates."""
    for g in range(len(sizes)):
        sizes[g] = counts[g] - 1
        for e in range(indptr[g], indptr[g + 1]):
            sizes[g] += counts[indices[e]]


@jit
def fill_rows(
    indptr, indices, lengths, members, start, counts, first, last, row_start, columns, values
):
    """Fill the rows of groups first ... last - 1; all rows of a group have the same neighbours."""
    for g in range(first, last):
        size = counts[g]
        for e in range(indptr[g], indptr[g + 1]):
            size += counts[indices[e]]
        neighbors, distances = np.empty(size, np.int64), np.empty(size)
        n_filled = 0
        for m in range(start[g], start[g] + counts[g]):
            neighbors[n_filled], distances[n_filled] = members[m], 0.0
            n_filled += 1
        for e in range(indptr[g], indptr[g + 1]):
            h = indices[e]
            for m in range(start[h], start[h] + counts[h]):
                neighbors[n_filled], distances[n_filled] = members[m], lengths[e]
                n_filled += 1
        order = np.argsort(neighbors)
        for m in range(start[g], start[g] + counts[g]):
            end = row_start[members[m]]
            for e in order:
                if neighbors[e] != members[m]:
                    columns[end], values[end] = neighbors[e], distances[e]
                    end += 1
