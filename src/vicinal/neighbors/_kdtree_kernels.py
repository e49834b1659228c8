"""Arrays of the k-d tree, and the compiled loops that fill and traverse them.

Kernels are compiled for a ``kind``, a tuple of tuples: the length of the first is the dimension
(empty: any), that of the second the power of the metric, and the third is empty without offsets.
Lengths of tuples are constants to the compiler, so loops unroll and branches vanish.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal._core.jit import jit

# From this length on, the lists of a leaf start with its own points by rank, not one after the other.
MIN_RANKED = 4


class KDTree(NamedTuple):
    """Balanced k-d tree in arrays.

    Attributes
    ----------
    points : ndarray (n, D), float64
        The points in tree order.
    order : ndarray (n,), int64
        Row of the original array at each tree position.
    lower, upper : ndarray (n_nodes, D)
        Bounding box of each node's points.
    bounds : ndarray (n_nodes, 2), int64
        Half-open range of tree positions of each node.
    first : ndarray (n_nodes,), int64
        Smallest row number in each node, which breaks ties between equal distances.
    """

    points: np.ndarray
    order: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    bounds: np.ndarray
    first: np.ndarray

    @property
    def n_leaves(self) -> int:
        return (len(self.bounds) + 1) // 2


class Offsets(NamedTuple):
    """Weights of ``scale * d + b_i + b_j``, in tree order, and the smallest of each node."""

    scale: float
    points: np.ndarray
    nodes: np.ndarray


NO_OFFSETS: Offsets = Offsets(1.0, np.zeros(0), np.zeros(0))


class JoinScratch(NamedTuple):
    """Memory of `leaf_join`, which compiles faster if it allocates none.

    Lists of the points of one leaf, the stack of nodes with their lower bounds, and the costs of the points
    of a leaf with their ranks, and in ascending order.
    """

    best: np.ndarray
    ids: np.ndarray
    stack: np.ndarray
    bounds: np.ndarray
    costs: np.ndarray
    ranks: np.ndarray
    ascending: np.ndarray


@jit(allocates=False, forceinline=True)
def cost_between(kind, offsets, x, i, y, j):
    """Cost of the pair x[i], y[j]; offsets are looked up at i and j."""
    total = 0.0
    for c in range(len(kind[0]) or x.shape[1]):
        gap = x[i, c] - y[j, c]
        total += abs(gap) if len(kind[1]) == 1 else gap * gap
    if len(kind[2]):
        total = offsets.scale * total + (offsets.points[i] + offsets.points[j])
    return total


@jit(allocates=False, forceinline=True)
def box_gap(kind, low, high, u, low2, high2, v):
    """Smallest distance between box u and box v; a point is a box with equal corners."""
    total = 0.0
    for c in range(len(kind[0]) or low.shape[1]):
        gap, other = low[u, c] - high2[v, c], low2[v, c] - high[u, c]
        gap = gap if gap > other else other
        gap = gap if gap > 0.0 else 0.0
        total += gap if len(kind[1]) == 1 else gap * gap
    return total


@jit(allocates=False, forceinline=True)
def lower_bound(kind, offsets, gap, offset_sum):
    """Lower bound of the cost of a pair at least ``gap`` apart."""
    return offsets.scale * gap + offset_sum if len(kind[2]) else gap


@jit(allocates=False, forceinline=True)
def _push(order, costs, ids, row, cost, candidate):
    """Insert a candidate into the sorted list of a row if it is among the best."""
    at = costs.shape[1] - 1
    if cost > costs[row, at] or (cost == costs[row, at] and order[candidate] > order[ids[row, at]]):
        return
    while at > 0:
        before = costs[row, at - 1]
        if before < cost or (before == cost and order[ids[row, at - 1]] < order[candidate]):
            break
        costs[row, at] = before
        ids[row, at] = ids[row, at - 1]
        at -= 1
    costs[row, at] = cost
    ids[row, at] = candidate


@jit(allocates=False)
def leaf_join(tree, kind, offsets, first_leaf, last_leaf, scratch, original, indices, costs):
    """Find the cheapest neighbours of the points of leaves first_leaf ... last_leaf - 1."""
    points, order, first = tree.points, tree.order, tree.first
    best, ids, stack, bounds = scratch.best, scratch.ids, scratch.stack, scratch.bounds
    n_nodes, k = tree.bounds.shape[0], best.shape[1]
    for leaf in range(n_nodes // 2 + first_leaf, n_nodes // 2 + last_leaf):
        a, b = tree.bounds[leaf, 0], tree.bounds[leaf, 1]
        for i in range(b - a):
            for c in range(k):
                best[i, c] = np.inf
        node, stack[0], bounds[0], size = leaf, leaf, -np.inf, 1
        if k >= MIN_RANKED and b - a <= MAX_COUNTED:
            for i in range(a, b):
                _rank_leaf(points, order, kind, offsets, a, b, i, scratch)
            size = 0
        # The largest cost that may still enter a list, and the largest row number at that cost.
        reach, reach_row, is_outdated = np.inf, order.shape[0], True
        while True:
            if is_outdated:
                reach, reach_row, is_outdated = -np.inf, 0, False
                for i in range(b - a):
                    cost, row = best[i, k - 1], order.shape[0]
                    if cost < np.inf:
                        row = order[ids[i, k - 1]]
                    if cost > reach or (cost == reach and row > reach_row):
                        reach, reach_row = cost, row
            if size == 0:
                if node == 0:
                    break
                # Widen the search to the sibling, so that near points come before far ones.
                stack[0], size = node + 1 if node % 2 else node - 1, 1
                bounds[0] = _box_bound(tree, kind, offsets, leaf, stack[0])
                node = (node - 1) // 2
            size -= 1
            other, bound = stack[size], bounds[size]
            if bound > reach or (bound == reach and first[other] > reach_row):
                continue
            left = 2 * other + 1
            if left < n_nodes:
                near = _box_bound(tree, kind, offsets, leaf, left)
                far = _box_bound(tree, kind, offsets, leaf, left + 1)
                # Duplicates with the smallest numbers come first; visiting them early prunes the others.
                nearer_right = far < near or (far == near and first[left + 1] < first[left])
                stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
                if nearer_right:
                    near, far = far, near
                bounds[size], bounds[size + 1] = far, near
                size += 2
                continue
            is_outdated = True
            for i in range(a, b):
                gap = box_gap(kind, points, points, i, tree.lower, tree.upper, other)
                offset = offsets.points[i] + offsets.nodes[other] if len(kind[2]) else 0.0
                if lower_bound(kind, offsets, gap, offset) <= best[i - a, k - 1]:
                    for j in range(tree.bounds[other, 0], tree.bounds[other, 1]):
                        cost = cost_between(kind, offsets, points, i, points, j)
                        if cost <= best[i - a, k - 1] and i != j:
                            _push(order, best, ids, i - a, cost, j)
        for i in range(a, b):
            row = order[i] if original else i
            for c in range(k):
                costs[row, c] = best[i - a, c]
                indices[row, c] = order[ids[i - a, c]] if original else ids[i - a, c]


@jit(allocates=False, forceinline=True)
def _box_bound(tree, kind, offsets, u, v):
    gap = box_gap(kind, tree.lower, tree.upper, u, tree.lower, tree.upper, v)
    return lower_bound(
        kind, offsets, gap, offsets.nodes[u] + offsets.nodes[v] if len(kind[2]) else 0.0
    )


@jit(inline="always")
def _rank_leaf(points, order, kind, offsets, a, b, i, scratch):
    """Fill the list of point i with the other points of its leaf, at a ... b - 1."""
    best, ids, costs, ranks = scratch.best, scratch.ids, scratch.costs, scratch.ranks
    ascending, row, n_points = scratch.ascending, i - a, b - a
    for j in range(n_points):
        costs[j] = cost_between(kind, offsets, points, i, points, a + j)
    costs[row] = np.inf
    rank_by_counting(costs, n_points, ranks)
    for j in range(n_points):
        ascending[ranks[j]] = costs[j]
    n_listed = n_points - 1 if n_points <= best.shape[1] else best.shape[1]
    has_ties = False
    for c in range(n_listed):
        has_ties |= ascending[c] == ascending[c + 1]
    for j in range(n_points):
        if has_ties:  # which ranks do not break by row number
            if j != row:
                _push(order, best, ids, row, costs[j], a + j)
        elif ranks[j] < n_listed:
            best[row, ranks[j]], ids[row, ranks[j]] = costs[j], a + j


@jit
def point_search(tree, kind, queries, first, last, indices, costs):
    """Find the nearest points of the tree for queries first ... last - 1."""
    n_nodes = len(tree.bounds)
    k = indices.shape[1]
    best, ids = np.empty((1, k)), np.empty((1, k), np.int64)
    stack = np.empty(64, np.int64)
    for q in range(first, last):
        for c in range(k):
            best[0, c], ids[0, c] = np.inf, 0
        stack[0], size = 0, 1
        while size:
            size -= 1
            node = stack[size]
            gap = box_gap(kind, queries, queries, q, tree.lower, tree.upper, node)
            worst = best[0, k - 1]
            if gap > worst or (
                gap == worst < np.inf and tree.first[node] > tree.order[ids[0, k - 1]]
            ):
                continue
            left = 2 * node + 1
            if left < n_nodes:
                near = box_gap(kind, queries, queries, q, tree.lower, tree.upper, left)
                far = box_gap(kind, queries, queries, q, tree.lower, tree.upper, left + 1)
                nearer_right = far < near
                stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
                size += 2
            else:
                for j in range(tree.bounds[node, 0], tree.bounds[node, 1]):
                    cost = cost_between(kind, NO_OFFSETS, queries, q, tree.points, j)
                    if cost <= best[0, k - 1]:
                        _push(tree.order, best, ids, 0, cost, j)
        for c in range(k):
            costs[q, c] = best[0, c]
            indices[q, c] = tree.order[ids[0, c]]
