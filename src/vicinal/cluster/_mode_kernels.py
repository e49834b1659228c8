"""Kernels of density modes: merging modes from dense to sparse, and breadth-first search."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit
def merge_modes(sources, targets, levels, radii, peaks, saddles):
    """Merge points along edges in ascending order of level; where two modes meet, the sparser one ends.

    Stores the densest point and the final level of every mode that ends; returns their number.
    """
    n = len(radii)
    parent = np.arange(n)
    densest = np.arange(n)
    count = 0
    for e in range(len(sources)):
        a, b = _root(parent, sources[e]), _root(parent, targets[e])
        if a == b:
            continue
        if radii[densest[a]] > radii[densest[b]]:
            a, b = b, a
        parent[b] = a
        peaks[count], saddles[count] = densest[b], levels[e]
        count += 1
    return count


@jit
def assign_modes(sources, targets, radii, is_peak, labels):
    """Label points by the peak they reach without crossing the basin of another peak."""
    n = len(radii)
    parent = np.arange(n)
    densest = np.arange(n)
    for e in range(len(sources)):
        a, b = _root(parent, sources[e]), _root(parent, targets[e])
        if a == b:
            continue
        if radii[densest[a]] > radii[densest[b]]:
            a, b = b, a
        if is_peak[densest[a]] and is_peak[densest[b]]:
            continue
        parent[b] = a
        if is_peak[densest[b]]:
            densest[a] = densest[b]
    for i in range(n):
        labels[i] = _root(parent, i)


@jit
def farthest_steps(indptr, indices, start, steps):
    """Number of steps from a node to all others; returns the node reached last."""
    n = len(indptr) - 1
    queue = np.empty(n, np.int64)
    for i in range(n):
        steps[i] = -1
    steps[start] = 0
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if steps[j] < 0:
                steps[j] = steps[i] + 1
                queue[tail] = j
                tail += 1
    return queue[tail - 1]
