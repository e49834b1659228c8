"""Kernel of density modes: merging modes from dense to sparse."""

from __future__ import annotations

from vicinal._core.jit import jit


@jit(allocates=False, forceinline=True)
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit(allocates=False)
def merge_modes(sources, targets, radii, is_peak, parent, densest, peaks, saddles):
    """Merge points along edges in the given order; where two modes meet, the sparser one ends.

    Modes with a point that ``is_peak`` do not merge with each other. ``parent`` and ``densest`` are the
    numbers of the points at first; the former becomes a forest with one tree per remaining mode. Stores the
    densest point of every mode that ends and the edge where it ends; returns their number.
    """
    count = 0
    for e in range(sources.shape[0]):
        a, b = _root(parent, sources[e]), _root(parent, targets[e])
        if a == b:
            continue
        if radii[densest[a]] > radii[densest[b]]:
            a, b = b, a
        top = densest[b]
        if is_peak[top]:
            if is_peak[densest[a]]:
                continue
            densest[a] = top
        parent[b] = a
        peaks[count], saddles[count] = top, e
        count += 1
    return count
