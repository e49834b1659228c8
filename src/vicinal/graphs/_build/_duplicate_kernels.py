"""Compiled loops that give every row the edges of the distinct point that it is at."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def row_sizes(indptr, indices, counts, sizes):
    """Number of entries of each row of a set: all rows of neighbouring sets, and its duplicates."""
    for g in range(len(sizes)):
        sizes[g] = counts[g] - 1
        for at in range(indptr[g], indptr[g + 1]):
            sizes[g] += counts[indices[at]]


@jit
def fill_rows(
    indptr, indices, lengths, members, start, counts, first, last, row_start, columns, values
):
    """Fill the rows of the sets from ``first`` to ``last``; all rows of a set have the same list."""
    for g in range(first, last):
        size = counts[g]
        for at in range(indptr[g], indptr[g + 1]):
            size += counts[indices[at]]
        everyone, far = np.empty(size, np.int64), np.empty(size)
        used = 0
        for m in range(start[g], start[g] + counts[g]):
            everyone[used], far[used] = members[m], 0.0
            used += 1
        for at in range(indptr[g], indptr[g + 1]):
            h = indices[at]
            for m in range(start[h], start[h] + counts[h]):
                everyone[used], far[used] = members[m], lengths[at]
                used += 1
        order = np.argsort(everyone)
        for m in range(start[g], start[g] + counts[g]):
            to = row_start[members[m]]
            for at in order:
                if everyone[at] != members[m]:
                    columns[to], values[to] = everyone[at], far[at]
                    to += 1
