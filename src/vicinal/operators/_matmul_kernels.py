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
def component_labels(indptr, indices, relevant):
    """Component of each node along relevant entries of a symmetric pattern, numbered by their first nodes."""
    n = len(indptr) - 1
    labels = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int64)
    n_components = 0
    for first in range(n):
        if labels[first] >= 0:
            continue
        labels[first] = n_components
        queue[0] = first
        at, filled = 0, 1
        while at < filled:
            i = queue[at]
            at += 1
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if relevant[e] and labels[j] < 0:
                    labels[j] = n_components
                    queue[filled] = j
                    filled += 1
        n_components += 1
    return labels
