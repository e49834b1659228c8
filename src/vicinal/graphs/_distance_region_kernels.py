"""Compiled search for the edges of empty-region graphs in a distance matrix.

The law of cosines gives p.q of `inside` from the three distances. Rows of the matrix are read
contiguously, so that the compiler can vectorise the loops.
"""

# Kernels are typed by numba at their first call.

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._empty_region_kernels import inside

CHUNK = 512


@jit
def blocks_sides(side_i, side_j, side, beta):
    """Whether the corner opposite the last side of a triangle lies in the region of that side."""
    a, b, d2 = side_i * side_i, side_j * side_j, side * side
    # In this order, rounding cannot make a point farther than d from an end block (beta <= 2).
    dot = 0.5 * ((max(a, b) - d2) + min(a, b))
    return inside(a, b, d2, dot, beta)


@jit
def row_blocks(row_i, row_j, side, unit, beta):
    """Whether any point, given by its distances to i and j, lies in their region."""
    n = len(row_i)
    for first in range(0, n, CHUNK):
        chunk_i, chunk_j = row_i[first : first + CHUNK], row_j[first : first + CHUNK]
        n_blockers = 0
        for w in range(len(chunk_i)):
            n_blockers += blocks_sides(chunk_i[w] * unit, chunk_j[w] * unit, side, beta)
        if n_blockers:
            return True
    return False


@jit
def edges_of_rows(distances, unit, near, start, stop, beta):
    """Edges (i, j), i < j, of rows start ... stop - 1 and their lengths.

    ``near`` holds some neighbours of every row, which rule out most pairs; ``unit`` is a factor
    that keeps squared distances in range.
    """
    n = len(distances)
    is_candidate = np.empty(n, np.int64)
    pairs, lengths, n_edges = np.empty((1024, 2), np.int64), np.empty(1024), 0
    for i in range(start, stop):
        row = distances[i]
        is_candidate[:] = 1
        for c in range(near.shape[1]):
            w = near[i, c]
            side_i, other = row[w] * unit, distances[w]
            for j in range(n):
                is_candidate[j] &= not blocks_sides(side_i, other[j] * unit, row[j] * unit, beta)
        for j in range(i + 1, n):
            if not is_candidate[j] or row_blocks(row, distances[j], row[j] * unit, unit, beta):
                continue
            if n_edges == len(lengths):
                pairs = np.concatenate((pairs, np.empty_like(pairs)))
                lengths = np.concatenate((lengths, np.empty_like(lengths)))
            pairs[n_edges, 0], pairs[n_edges, 1] = i, j
            lengths[n_edges] = row[j]
            n_edges += 1
    return pairs[:n_edges].copy(), lengths[:n_edges].copy()
