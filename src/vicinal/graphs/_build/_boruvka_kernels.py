"""Kernels of Boruvka's method: what is known of a spanning forest, and how its components join.

Every point keeps its nearest point outside its own component. Edges are compared by (cost, smaller
row, larger row): a total order, so that the spanning tree is unique and no schedule of threads can
change it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.jit import jit


class Forest(NamedTuple):
    """What is known of the spanning forest; points are numbered as the search numbers them.

    Attributes
    ----------
    component : ndarray (n,)
        Label of each point's component: one of its points.
    near : ndarray (n,)
        Nearest point outside the component, -1 when it is not known.
    floor : ndarray (n,)
        Cost of ``near``, or a lower bound of it when it is not known. Components only grow, so a
        bound stays one.
    cursor : ndarray (n,)
        How much of the neighbour list has been used up.
    asked : ndarray (n,)
        Whether the point has searched in this round.
    best : ndarray (n,)
        For each label, the smallest cost known of an edge that leaves the component.
    pick : ndarray (n,)
        For each label, the point from which the cheapest edge leaves, -1 when none is known.
    waits : ndarray (n,)
        For each label, whether the component sits this round out.
    size : ndarray (n,)
        For each label, the number of points.
    parent : ndarray (n,)
        For each label, the one that has taken it over in the last round (often itself).
    """

    component: np.ndarray
    near: np.ndarray
    floor: np.ndarray
    cursor: np.ndarray
    asked: np.ndarray
    best: np.ndarray
    pick: np.ndarray
    waits: np.ndarray
    size: np.ndarray
    parent: np.ndarray


class ExcludedEdges(NamedTuple):
    """Pairs that may not become edges, as CSR lists by point (empty when there are none)."""

    indptr: np.ndarray
    indices: np.ndarray


@jit(inline="always")
def is_forbidden(forbidden, i, j):
    if len(forbidden.indptr):
        for e in range(forbidden.indptr[i], forbidden.indptr[i + 1]):
            if forbidden.indices[e] == j:
                return True
    return False


@jit(allocates=False)
def advance(forest, lists, costs, forbidden, first, last):
    """Relabel the points first ... last - 1 and let them look for outside points in their lists.

    Other points may carry their old label or the new one; ``parent`` leads from both to the new.
    """
    component, parent, k = forest.component, forest.parent, lists.shape[1]
    for i in range(first, last):
        label = parent[component[i]]
        component[i] = label
        j = forest.near[i]
        if j >= 0 and parent[component[j]] != label:
            continue
        forest.near[i] = -1
        c = start = forest.cursor[i]
        if start == k:
            continue
        while c < k:
            j = lists[i, c]
            if parent[component[j]] != label and not is_forbidden(forbidden, i, j):
                forest.near[i] = j
                break
            c += 1
        forest.floor[i] = costs[i, min(c, k - 1)]
        forest.cursor[i] = c


@jit(inline="always")
def _earlier(order, i, j, u, v):
    """Whether edge (i, j) comes before edge (u, v) of the same cost."""
    a, b = min(order[i], order[j]), max(order[i], order[j])
    x, y = min(order[u], order[v]), max(order[u], order[v])
    return a < x or (a == x and b < y)


@jit(allocates=False)
def choose(forest, order, only_asked):
    """Best edge of every component among the points whose nearest outside point is known."""
    for i in range(len(order)):
        if (only_asked and not forest.asked[i]) or forest.near[i] < 0:
            continue
        label, cost = forest.component[i], forest.floor[i]
        u = forest.pick[label]
        if (
            u < 0
            or cost < forest.floor[u]
            or (cost == forest.floor[u] and _earlier(order, i, forest.near[i], u, forest.near[u]))
        ):
            forest.pick[label], forest.best[label] = i, cost


@jit
def join(forest, labels, sources, targets, costs, n_edges):
    """Join the components, except those that wait, along their best edges.

    Returns the labels that are left and the number of edges so far.
    """
    parent = forest.parent
    for label in labels:
        i = forest.pick[label]
        if i < 0 or forest.waits[label]:
            continue
        a, b = _root(parent, label), _root(parent, forest.component[forest.near[i]])
        if a != b:
            sources[n_edges], targets[n_edges], costs[n_edges] = i, forest.near[i], forest.floor[i]
            n_edges += 1
            kept, gone = min(a, b), max(a, b)
            parent[gone] = kept
            forest.size[kept] += forest.size[gone]
    left = 0
    for label in labels:
        parent[label] = _root(parent, label)
        forest.best[label], forest.pick[label], forest.waits[label] = np.inf, -1, False
        if parent[label] == label:
            labels[left] = label
            left += 1
    return labels[:left], n_edges


@jit(inline="always")
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
