"""Kernels of density modes: merging modes from dense to sparse."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit(allocates=False, forceinline=True)
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
    parent, densest = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        parent[i] = densest[i] = i
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
    parent, densest = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        parent[i] = densest[i] = i
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
