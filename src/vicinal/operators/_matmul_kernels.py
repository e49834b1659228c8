"""Kernels for products with a sparse matrix, and for hop counts and components of its graph."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit(allocates=False)
def rows_times_vector(indptr, indices, values, x, start, stop, out):
    """Rows ``start`` to ``stop`` of a CSR matrix times x."""
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e] * x[indices[e]]
        out[i] = total


@jit(allocates=False)
def rows_times_block(indptr, indices, values, x, start, stop, out):
    """Rows ``start`` to ``stop`` of a CSR matrix times a block of vectors with one row per node."""
    width = x.shape[1]
    for i in range(start, stop):
        for c in range(width):
            out[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            value, j = values[e], indices[e]
            for c in range(width):
                out[i, c] += value * x[j, c]


@jit
def hops_from(first, indptr, indices, hops):
    """Number of edges on the shortest path from one node to each other node; -1 if there is none.

    Returns a node with the largest number.
    """
    n = len(indptr) - 1
    queue = np.empty(n, np.int64)
    for i in range(n):
        hops[i] = -1
    hops[first] = 0
    queue[0] = first
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if hops[j] < 0:
                hops[j] = hops[i] + 1
                queue[tail] = j
                tail += 1
    return queue[tail - 1]


@jit(allocates=False)
def mark_relevant(indptr, indices, values, roots, negligible, start, stop, relevant):
    """Mark entries that matter relative to the degrees of both ends; count the other positive ones."""
    n_cut = 0
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            relevant[e] = values[e] > negligible * (roots[i] * roots[indices[e]])
            n_cut += values[e] > 0 and not relevant[e]
    return n_cut


@jit(inline="always")
def _first_node(first, i):
    """First node of the tree of a node, whose path is halved."""
    while first[i] != i:
        first[i] = first[first[i]]
        i = first[i]
    return i


@jit(allocates=False)
def component_labels(indptr, indices, relevant, labels):
    """Component of each node along relevant entries of a symmetric pattern, numbered by their first nodes.

    Entries are read in order, so that they may be in a file.
    """
    n = len(indptr) - 1
    for i in range(n):
        labels[i] = i
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] < i and relevant[e]:
                a, b = _first_node(labels, i), _first_node(labels, indices[e])
                labels[max(a, b)] = min(a, b)
    n_components = 0
    for i in range(n):
        # Trees point to smaller nodes, whose labels are known already.
        if labels[i] == i:
            labels[i] = n_components
            n_components += 1
        else:
            labels[i] = labels[labels[i]]
