"""Kernels that turn neighbour lists into rows of a graph.

Lists are first sorted by neighbour. A pair then appears in a node's own list, in the lists of
others that contain the node, or in both; merging the two sorted sequences shows which.
"""

from __future__ import annotations

import numpy as np

from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal._core.jit import jit

# Ciura's Shell sort gaps: plain insertion sort for short lists, far below quadratic for long ones.
GAPS = (1750, 701, 301, 132, 57, 23, 10, 4, 1)


@jit
def sort_lists(indices, distances, start, stop, neighbors, lengths, counts):
    """First neighbours of each row, sorted by index, without the node itself."""
    ranks, ids = np.empty(MAX_COUNTED, np.int64), np.empty(MAX_COUNTED, np.int64)
    values = np.empty(MAX_COUNTED)
    for i in range(start, stop):
        filled = 0
        for c in range(indices.shape[1]):
            if filled < neighbors.shape[1] and indices[i, c] >= 0 and indices[i, c] != i:
                neighbors[i, filled] = indices[i, c]
                lengths[i, filled] = distances[i, c]
                filled += 1
        if filled <= MAX_COUNTED:
            for c in range(filled):
                ids[c], values[c] = neighbors[i, c], lengths[i, c]
            rank_by_counting(ids[:filled], ranks)
            for c in range(filled):
                neighbors[i, ranks[c]], lengths[i, ranks[c]] = ids[c], values[c]
        else:
            _sort_by_index(neighbors[i, :filled], lengths[i, :filled])
        counts[i] = _drop_repeats(neighbors[i, :filled], lengths[i, :filled])


@jit(allocates=False)
def _sort_by_index(ids, lengths):
    for gap in GAPS:
        for p in range(gap, len(ids)):
            node, length = ids[p], lengths[p]
            q = p
            while q >= gap and ids[q - gap] > node:
                ids[q], lengths[q] = ids[q - gap], lengths[q - gap]
                q -= gap
            ids[q], lengths[q] = node, length


@jit(allocates=False)
def _drop_repeats(ids, lengths):
    n_kept = 0
    for p in range(len(ids)):
        if n_kept > 0 and ids[n_kept - 1] == ids[p]:
            lengths[n_kept - 1] = min(lengths[n_kept - 1], lengths[p])
        else:
            ids[n_kept], lengths[n_kept] = ids[p], lengths[p]
            n_kept += 1
    return n_kept


@jit(allocates=False)
def count_reverse(neighbors, counts, starts):
    """Row pointers of the reverse lists, from n + 1 zeros."""
    for i in range(len(neighbors)):
        for c in range(counts[i]):
            starts[neighbors[i, c] + 1] += 1
    for i in range(len(neighbors)):
        starts[i + 1] += starts[i]


@jit(allocates=False)
def reverse_lists(neighbors, lengths, counts, first, ends, sources, reverse_lengths):
    """For some nodes from ``first`` on, the ascending nodes whose lists contain them, and the lengths.

    All lists are read in order, so that they may be in a file. ``ends`` holds the start of each reverse list
    before and its end afterwards.
    """
    for i in range(len(neighbors)):
        for c in range(counts[i]):
            j = neighbors[i, c] - first
            if 0 <= j < len(ends):
                sources[ends[j]], reverse_lengths[ends[j]] = i, lengths[i, c]
                ends[j] += 1


@jit(allocates=False)
def count_mutual(neighbors, counts, first, ends, sources, mutual):
    """Number of neighbours of each node whose lists contain the node."""
    q = 0
    for row in range(len(ends)):
        i, p, n_mutual = first + row, 0, 0
        while p < counts[i] and q < ends[row]:
            source = sources[q]
            if neighbors[i, p] == source:
                n_mutual += 1
            if neighbors[i, p] <= source:
                p += 1
            else:
                q += 1
        q = ends[row]
        mutual[i] = n_mutual


@jit(allocates=False)
def merge_lists(
    neighbors,
    lengths,
    counts,
    first,
    ends,
    sources,
    reverse_lengths,
    only_mutual,
    indptr,
    indices,
    merged,
):
    """Rows of the union or of the mutual pairs of all lists; a pair gets its shorter length."""
    sentinel = np.int64(neighbors.shape[0])
    q = 0
    for row in range(len(ends)):
        i, p = first + row, 0
        at = indptr[i]
        while p < counts[i] or q < ends[row]:
            neighbor = np.int64(neighbors[i, p]) if p < counts[i] else sentinel
            source = np.int64(sources[q]) if q < ends[row] else sentinel
            length = np.inf
            if neighbor <= source:
                length = lengths[i, p]
                p += 1
            if source <= neighbor:
                length = min(length, reverse_lengths[q])
                q += 1
            if neighbor == source or not only_mutual:
                indices[at] = min(neighbor, source)
                merged[at] = length
                at += 1
