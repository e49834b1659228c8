"""Kernels of the multilevel solver: smoothing of many vectors, and aggregation of nodes."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# A neighbour is close if its weight is at least this fraction of the node's largest weight.
CLOSE_FRACTION = 0.25


@jit
def smooth_rows(
    indptr, indices, values, inverse, b, x, change, momentum, step, new_change, new_x, start, stop
):
    """One step of Chebyshev iteration for A x = b; ``change`` is that of the previous step.

    The new change is written if it has rows; memory limits the speed.
    """
    width = x.shape[1]
    residual = np.empty(width)
    for i in range(start, stop):
        residual[:] = b[i]
        for e in range(indptr[i], indptr[i + 1]):
            value, other = values[e], x[indices[e]]
            for c in range(width):
                residual[c] -= value * other[c]
        for c in range(width):
            residual[c] = momentum * change[i, c] + step * inverse[i] * residual[c]
            new_x[i, c] = x[i, c] + residual[c]
        if len(new_change) > 0:
            new_change[i] = residual


@jit
def residual_rows(indptr, indices, values, b, x, out, start, stop):
    """Rows of b - A x."""
    for i in range(start, stop):
        out[i] = b[i]
        for e in range(indptr[i], indptr[i + 1]):
            value, other = values[e], x[indices[e]]
            for c in range(x.shape[1]):
                out[i, c] -= value * other[c]


@jit
def aggregate(indptr, indices, weights):
    """Aggregate of each node, and the number of aggregates.

    An aggregate is a node with its close neighbours. The remaining nodes join the aggregate with the
    strongest edge, so that every aggregate is connected.
    """
    n = len(indptr) - 1
    largest = np.zeros(n)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            largest[i] = max(largest[i], weights[e])
    groups = np.full(n, -1)
    n_groups = 0
    for i in range(n):
        if groups[i] >= 0:
            continue
        free = True
        for e in range(indptr[i], indptr[i + 1]):
            if weights[e] >= CLOSE_FRACTION * largest[i] and groups[indices[e]] >= 0:
                free = False
                break
        if free:
            groups[i] = n_groups
            for e in range(indptr[i], indptr[i + 1]):
                if weights[e] >= CLOSE_FRACTION * largest[i]:
                    groups[indices[e]] = n_groups
            n_groups += 1
    joined = groups.copy()
    for i in range(n):
        if groups[i] >= 0:
            continue
        strongest = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if groups[indices[e]] >= 0 and weights[e] > strongest:
                strongest = weights[e]
                joined[i] = groups[indices[e]]
    for i in range(n):
        if joined[i] >= 0:
            continue
        joined[i] = n_groups
        for e in range(indptr[i], indptr[i + 1]):
            if joined[indices[e]] < 0:
                joined[indices[e]] = n_groups
        n_groups += 1
    return joined, n_groups
