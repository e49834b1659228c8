"""Kernels that turn neighbour lists into rows of a graph.

Lists are first sorted by neighbour. A pair then shows up in a node's own list, in the lists of
others that name the node, or in both, and merging the two sorted sequences finds out which.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Ciura's gaps: plain insertion for short lists, far below quadratic for long ones.
GAPS = (1750, 701, 301, 132, 57, 23, 10, 4, 1)


@jit
def sort_lists(indices, distances, start, stop, neighbors, lengths, counts):
    """First neighbours of each row as a list sorted by index, without the node itself."""
    for i in range(start, stop):
        filled = 0
        for c in range(indices.shape[1]):
            if filled < neighbors.shape[1] and indices[i, c] >= 0 and indices[i, c] != i:
                neighbors[i, filled] = indices[i, c]
                lengths[i, filled] = distances[i, c]
                filled += 1
        _sort_by_index(neighbors[i, :filled], lengths[i, :filled])
        counts[i] = _drop_repeats(neighbors[i, :filled], lengths[i, :filled])


@jit
def _sort_by_index(ids, lengths):
    for gap in GAPS:
        for p in range(gap, len(ids)):
            node, length = ids[p], lengths[p]
            q = p
            while q >= gap and ids[q - gap] > node:
                ids[q], lengths[q] = ids[q - gap], lengths[q - gap]
                q -= gap
            ids[q], lengths[q] = node, length


@jit
def _drop_repeats(ids, lengths):
    kept = 0
    for p in range(len(ids)):
        if kept > 0 and ids[kept - 1] == ids[p]:
            lengths[kept - 1] = min(lengths[kept - 1], lengths[p])
        else:
            ids[kept], lengths[kept] = ids[p], lengths[p]
            kept += 1
    return kept


@jit
def reverse_lists(neighbors, counts, starts, positions):
    """For each node the positions ``i * k + c`` in the lists that name it, in rising order.

    ``starts`` (n + 2 zeros) becomes the row pointers in its first n + 1 places.
    """
    n, k = neighbors.shape
    for i in range(n):
        for c in range(counts[i]):
            starts[neighbors[i, c] + 2] += 1
    for i in range(n):
        starts[i + 2] += starts[i + 1]
    for i in range(n):
        for c in range(counts[i]):
            j = neighbors[i, c]
            positions[starts[j + 1]] = i * k + c
            starts[j + 1] += 1


@jit
def count_mutual(neighbors, counts, starts, positions, start, stop, mutual):
    """Number of neighbours of each node that name it too."""
    k = neighbors.shape[1]
    for i in range(start, stop):
        own, other = 0, starts[i]
        found = 0
        while own < counts[i] and other < starts[i + 1]:
            source = positions[other] // k
            if neighbors[i, own] == source:
                found += 1
            if neighbors[i, own] <= source:
                own += 1
            else:
                other += 1
        mutual[i] = found


@jit
def merge_lists(
    neighbors, lengths, counts, starts, positions, only_mutual, start, stop, indptr, indices, merged
):
    """Rows of the union, or of the mutual pairs, of all lists; the shorter length of a pair."""
    k = neighbors.shape[1]
    flat = lengths.ravel()
    nobody = np.int64(neighbors.shape[0])
    for i in range(start, stop):
        own, other = 0, starts[i]
        at = indptr[i]
        while own < counts[i] or other < starts[i + 1]:
            mine = np.int64(neighbors[i, own]) if own < counts[i] else nobody
            source = np.int64(positions[other] // k) if other < starts[i + 1] else nobody
            length = np.inf
            if mine <= source:
                length = lengths[i, own]
                own += 1
            if source <= mine:
                length = min(length, flat[positions[other]])
                other += 1
            if mine == source or not only_mutual:
                indices[at] = min(mine, source)
                merged[at] = length
                at += 1
