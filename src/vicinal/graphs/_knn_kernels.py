"""Kernels that turn neighbour lists into rows of a graph.

Lists are first sorted by neighbour. A pair then shows up in a node's own list, in the lists of
others that name the node, or in both, and merging the two sorted sequences finds out which.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sort_lists(indices, distances, start, stop, neighbors, lengths, counts):
    """First neighbours of each row as a list sorted by index, without the node itself."""
    capacity = neighbors.shape[1]
    for i in range(start, stop):
        filled = 0
        for c in range(indices.shape[1]):
            j = indices[i, c]
            if j < 0 or j == i:
                continue
            if filled == capacity:
                break
            p = filled
            while p > 0 and neighbors[i, p - 1] > j:
                p -= 1
            if p > 0 and neighbors[i, p - 1] == j:
                lengths[i, p - 1] = min(lengths[i, p - 1], distances[i, c])
                continue
            for q in range(filled, p, -1):
                neighbors[i, q] = neighbors[i, q - 1]
                lengths[i, q] = lengths[i, q - 1]
            neighbors[i, p] = j
            lengths[i, p] = distances[i, c]
            filled += 1
        counts[i] = filled


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def euclidean_rows(points, columns, first, out):
    """Distances to all points; ``columns`` is the transposed set, so that points are adjacent."""
    for row in range(len(out)):
        out[row] = 0.0
        for c in range(len(columns)):
            x = points[first + row, c]
            for j in range(columns.shape[1]):
                out[row, j] += (x - columns[c, j]) * (x - columns[c, j])
        for j in range(columns.shape[1]):
            out[row, j] = np.sqrt(out[row, j])
