"""Kernels of Borůvka's algorithm: the state of a spanning forest and how its components merge.

Every point keeps its nearest point outside its own component. Edges are compared by (cost, smaller
row, larger row): a total order, so that the spanning tree is unique and no schedule of threads can
change it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.jit import jit


class Forest(NamedTuple):
    """State of the spanning forest; points are numbered as in the search.

    Attributes
    ----------
    component : ndarray (n,)
        Label of each point's component: one of its points.
    nearest : ndarray (n,)
        Nearest point outside the component, -1 if unknown.
    lower_bound : ndarray (n,)
        Cost of ``nearest``, or a lower bound if it is unknown. Components only grow, so bounds stay
        valid.
    cursor : ndarray (n,)
        Number of entries of the neighbour list already used.
    searched : ndarray (n,)
        Whether the point has searched in this round.
    best : ndarray (n,)
        For each label, the smallest known cost of an edge that leaves the component.
    best_point : ndarray (n,)
        For each label, the point from which the cheapest edge leaves, -1 if none is known.
    deferred : ndarray (n,)
        For each label, whether the component skips this round.
    size : ndarray (n,)
        For each label, the number of points.
    parent : ndarray (n,)
        For each label, the label it was merged into in the last round (often itself).
    """

    component: np.ndarray
    nearest: np.ndarray
    lower_bound: np.ndarray
    cursor: np.ndarray
    searched: np.ndarray
    best: np.ndarray
    best_point: np.ndarray
    deferred: np.ndarray
    size: np.ndarray
    parent: np.ndarray


class ExcludedEdges(NamedTuple):
    """Pairs that may not become edges, in CSR form (empty arrays if there are none)."""

    indptr: np.ndarray
    indices: np.ndarray


@jit(inline="always")
def is_excluded(excluded, i, j):
    if len(excluded.indptr):
        for e in range(excluded.indptr[i], excluded.indptr[i + 1]):
            if excluded.indices[e] == j:
                return True
    return False


@jit(allocates=False)
def advance(forest, lists, costs, excluded, first, last):
    """Relabel the points first ... last - 1 and look up foreign points in their neighbour lists.

    Other points may carry their old or new label; ``parent`` maps both to the new one.
    """
    component, parent, k = forest.component, forest.parent, lists.shape[1]
    for i in range(first, last):
        label = parent[component[i]]
        component[i] = label
        j = forest.nearest[i]
        if j >= 0 and parent[component[j]] != label:
            continue
        forest.nearest[i] = -1
        c = start = forest.cursor[i]
        if start == k:
            continue
        while c < k:
            j = lists[i, c]
            if parent[component[j]] != label and not is_excluded(excluded, i, j):
                forest.nearest[i] = j
                break
            c += 1
        forest.lower_bound[i] = costs[i, min(c, k - 1)]
        forest.cursor[i] = c


@jit(inline="always")
def _earlier(order, i, j, u, v):
    """Whether edge (i, j) comes before edge (u, v) of the same cost."""
    a, b = min(order[i], order[j]), max(order[i], order[j])
    x, y = min(order[u], order[v]), max(order[u], order[v])
    return a < x or (a == x and b < y)


@jit(allocates=False)
def choose(forest, order, only_searched):
    """Best edge of every component among the points whose nearest foreign point is known."""
    for i in range(len(order)):
        if (only_searched and not forest.searched[i]) or forest.nearest[i] < 0:
            continue
        label, cost = forest.component[i], forest.lower_bound[i]
        u = forest.best_point[label]
        if (
            u < 0
            or cost < forest.lower_bound[u]
            or (
                cost == forest.lower_bound[u]
                and _earlier(order, i, forest.nearest[i], u, forest.nearest[u])
            )
        ):
            forest.best_point[label], forest.best[label] = i, cost


@jit(allocates=False)
def join(forest, labels, sources, targets, costs, n_edges):
    """Merge the components, except deferred ones, along their best edges.

    The remaining labels move to the front; returns their number and the number of edges so far.
    """
    parent = forest.parent
    for label in labels:
        i = forest.best_point[label]
        if i < 0 or forest.deferred[label]:
            continue
        a, b = _root(parent, label), _root(parent, forest.component[forest.nearest[i]])
        if a != b:
            sources[n_edges], targets[n_edges], costs[n_edges] = (
                i,
                forest.nearest[i],
                forest.lower_bound[i],
            )
            n_edges += 1
            root, merged = min(a, b), max(a, b)
            parent[merged] = root
            forest.size[root] += forest.size[merged]
    n_left = 0
    for label in labels:
        parent[label] = _root(parent, label)
        forest.best[label], forest.best_point[label], forest.deferred[label] = np.inf, -1, False
        if parent[label] == label:
            labels[n_left] = label
            n_left += 1
    return n_left, n_edges


@jit(allocates=False, forceinline=True)
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
