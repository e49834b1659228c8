"""Kernels for products with a sparse matrix, and for hop counts and components of its graph."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def rows_times_vector(indptr, indices, values, x, start, stop, out):
    """Rows ``start`` to ``stop`` of a CSR matrix times x."""
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e] * x[indices[e]]
        out[i] = total


@jit
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
def hops_from(first, indptr, indices):
    """Number of edges on the shortest path from one node to each other node; -1 if there is none."""
    n = len(indptr) - 1
    distance = np.full(n, -1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    distance[first] = 0
    queue[0] = first
    filled = 1
    for at in range(n):
        if at == filled:
            break
        i = queue[at]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if distance[j] < 0:
                distance[j] = distance[i] + 1
                queue[filled] = j
                filled += 1
    return distance


@jit
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


@jit
def component_labels(indptr, indices, relevant):
    """Component of each node along relevant entries of a symmetric pattern, numbered by their first nodes.

    Entries are read in order, so that they may be in a file.
    """
    n = len(indptr) - 1
    labels = np.arange(n, dtype=indices.dtype)
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
    return labels
