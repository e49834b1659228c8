"""Kernels that turn neighbour lists into rows of a graph.

Lists are first sorted by neighbour. A pair then appears in a node's own list, in the lists of
others that contain the node, or in both; merging the two sorted sequences shows which.
"""

from __future__ import annotations

from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal._core.jit import jit

# Ciura's Shell sort gaps: plain insertion sort for short lists, far below quadratic for long ones.
GAPS = (1750, 701, 301, 132, 57, 23, 10, 4, 1)


@jit(allocates=False)
def sort_lists(indices, distances, start, stop, neighbors, lengths, counts, ids, values, ranks):
    """First neighbours of each row, sorted by index, without the node itself and without repeats.

    The last three arrays are memory.
    """
    for i in range(start, stop):
        n = 0
        for c in range(indices.shape[1]):
            if n < neighbors.shape[1] and indices[i, c] >= 0 and indices[i, c] != i:
                neighbors[i, n] = indices[i, c]
                lengths[i, n] = distances[i, c]
                n += 1
        if n <= MAX_COUNTED:
            for c in range(n):
                ids[c] = neighbors[i, c]
                values[c] = lengths[i, c]
            rank_by_counting(ids, n, ranks)
            for c in range(n):
                neighbors[i, ranks[c]] = ids[c]
                lengths[i, ranks[c]] = values[c]
        else:
            for gap in GAPS:
                for p in range(gap, n):
                    node, length = neighbors[i, p], lengths[i, p]
                    q = p
                    while q >= gap and neighbors[i, q - gap] > node:
                        neighbors[i, q] = neighbors[i, q - gap]
                        lengths[i, q] = lengths[i, q - gap]
                        q -= gap
                    neighbors[i, q] = node
                    lengths[i, q] = length
        last = -1
        for c in range(n):
            node, length = neighbors[i, c], lengths[i, c]
            if last >= 0 and neighbors[i, last] == node:
                if length < lengths[i, last]:
                    lengths[i, last] = length
            else:
                last += 1
                neighbors[i, last] = node
                lengths[i, last] = length
        counts[i] = last + 1


@jit(allocates=False)
def count_reverse(neighbors, counts, sizes):
    """Add how often each node is in the lists to the sizes of the reverse lists."""
    for i in range(len(neighbors)):
        for c in range(counts[i]):
            sizes[neighbors[i, c]] += 1


@jit(allocates=False)
def reverse_lists(neighbors, lengths, counts, start, stop, first, ends, sources, reverse_lengths):
    """For some nodes from ``first`` on, the ascending nodes whose lists contain them, and the lengths.

    The lists from ``start`` to ``stop`` are read; calls for all lists, in order, follow each other. ``ends``
    holds the start of each reverse list before them and its end afterwards.
    """
    for i in range(start, stop):
        for c in range(counts[i]):
            j = neighbors[i, c] - first
            if 0 <= j < len(ends):
                sources[ends[j]], reverse_lengths[ends[j]] = i, lengths[i, c]
                ends[j] += 1


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
    sizes,
    indptr,
    indices,
    merged,
):
    """Rows of the union or of the mutual pairs of all lists; a pair gets its shorter length.

    Without pointers, only the sizes of the rows are set.
    """
    filling = indptr.shape[0] > 0
    at, q = 0, 0
    for row in range(ends.shape[0]):
        i, p = first + row, 0
        if filling:
            at = indptr[i]
        start = at
        while p < counts[i] or q < ends[row]:
            listed = q == ends[row] or (p < counts[i] and neighbors[i, p] <= sources[q])
            reverse = p == counts[i] or (q < ends[row] and sources[q] <= neighbors[i, p])
            if (listed and reverse) or not only_mutual:
                if filling:
                    indices[at] = neighbors[i, p] if listed else sources[q]
                    merged[at] = lengths[i, p] if listed else reverse_lengths[q]
                    if listed and reverse and reverse_lengths[q] < lengths[i, p]:
                        merged[at] = reverse_lengths[q]
                at += 1
            p += listed
            q += reverse
        sizes[i] = at - start
