"""Kernels of Boruvka's method: what is known of a spanning forest, and how its components join.

Every point keeps its nearest point outside its own component. Edges are compared by (cost, smaller
row, larger row): a total order, so that the spanning tree is unique and no schedule of threads can
change it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Forest(NamedTuple):
    """What is known of the spanning forest; points are numbered as the search numbers them.

    Attributes
    ----------
    component : ndarray (n,)
        Label of each point's component: one of its points.
    near : ndarray (n,)
        Nearest point outside the component, -1 when it is not known.
    floor : ndarray (n,)
        Cost of ``near``, or a lower bound of it when it is not known. Components only grow, so a bound
        stays one.
    cursor : ndarray (n,)
        How much of the neighbour list has been used up.
    best : ndarray (n,)
        For each label, the smallest cost known of an edge that leaves the component.
    pick : ndarray (n,)
        For each label, the point from which the cheapest edge leaves.
    size : ndarray (n,)
        For each label, the number of points.
    """

    component: np.ndarray
    near: np.ndarray
    floor: np.ndarray
    cursor: np.ndarray
    best: np.ndarray
    pick: np.ndarray
    size: np.ndarray


class Forbidden(NamedTuple):
    """Pairs that may not become edges, as CSR lists by point (empty when there are none)."""

    indptr: np.ndarray
    indices: np.ndarray


@njit(cache=True, nogil=True, inline="always")
def is_forbidden(forbidden, i, j):
    if len(forbidden.indptr):
        for e in range(forbidden.indptr[i], forbidden.indptr[i + 1]):
            if forbidden.indices[e] == j:
                return True
    return False


@njit(cache=True, nogil=True)
def advance(forest, lists, costs, forbidden, first, last):
    """Let the points first ... last - 1 find their nearest outside point in their lists."""
    k = lists.shape[1]
    for i in range(first, last):
        label = forest.component[i]
        j = forest.near[i]
        if j >= 0 and forest.component[j] != label:
            continue
        forest.near[i] = -1
        c = forest.cursor[i]
        while c < k:
            j = lists[i, c]
            if forest.component[j] != label and not is_forbidden(forbidden, i, j):
                forest.near[i] = j
                break
            c += 1
        if k and forest.cursor[i] < k:
            forest.floor[i] = costs[i, min(c, k - 1)]
        forest.cursor[i] = c


@njit(cache=True, nogil=True, inline="always")
def _earlier(order, i, j, u, v):
    """Whether edge (i, j) comes before edge (u, v) of the same cost."""
    a, b = min(order[i], order[j]), max(order[i], order[j])
    x, y = min(order[u], order[v]), max(order[u], order[v])
    return a < x or (a == x and b < y)


@njit(cache=True, nogil=True)
def choose(forest, order):
    """Best edge of every component among the points whose nearest outside point is known."""
    forest.best[:] = np.inf
    forest.pick[:] = -1
    for i in range(len(order)):
        j = forest.near[i]
        if j < 0:
            continue
        label = forest.component[i]
        cost = forest.floor[i]
        if cost < forest.best[label]:
            forest.best[label], forest.pick[label] = cost, i
        elif cost == forest.best[label]:
            u = forest.pick[label]
            if u < 0 or _earlier(order, i, j, u, forest.near[u]):
                forest.pick[label] = i


@njit(cache=True, nogil=True)
def join(forest, sources, targets, costs, n_edges):
    """Join every component whose best edge is certain along it; returns the number of edges so far."""
    n = len(forest.component)
    for i in range(n):
        if forest.near[i] < 0 and forest.floor[i] <= forest.best[forest.component[i]]:
            forest.pick[forest.component[i]] = -1
    parent = np.arange(n)
    for label in range(n):
        i = forest.pick[label]
        if i < 0:
            continue
        a, b = _root(parent, label), _root(parent, forest.component[forest.near[i]])
        if a != b:
            sources[n_edges], targets[n_edges], costs[n_edges] = i, forest.near[i], forest.floor[i]
            n_edges += 1
            parent[max(a, b)] = min(a, b)
    forest.size[:] = 0
    for i in range(n):
        forest.component[i] = _root(parent, forest.component[i])
        forest.size[forest.component[i]] += 1
    return n_edges


@njit(cache=True, nogil=True, inline="always")
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
