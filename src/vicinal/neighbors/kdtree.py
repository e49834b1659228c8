"""A k-d tree whose queries are whole leaves, so that neighbours share the walk down the tree.

The tree is balanced and lies in plain arrays: children of node v are 2v + 1 and 2v + 2, the last
level holds the leaves, and the points are stored in leaf order. Comparisons of boxes and points use
the same sums in the same order as the distances themselves; rounding is monotone, so a pruned box can
never hold a point that belongs into the answer.

Costs are squared Euclidean distances (p = 2) or Manhattan distances (p = 1), optionally with a weight
a point, ``scale * cost + b_i + b_j``, which is what spanning trees with vertex offsets need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from vicinal._parallel import blocks, map_threads, n_threads

# Dimensions for which the inner loops are compiled with a fixed length.
UNROLLED = 4


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
        Smallest row number in each node: what decides between points at the same distance.
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


NO_OFFSETS = Offsets(1.0, np.zeros(0), np.zeros(0))


def build_kdtree(X: np.ndarray, leaf_size: int = 24, n_jobs: int | None = None) -> KDTree:
    """Build the tree; every leaf holds between ``leaf_size / 2`` and ``leaf_size`` points."""
    n, d = X.shape
    n_leaves = 1
    while n > n_leaves * leaf_size:
        n_leaves *= 2
    tree = KDTree(
        np.array(X, dtype=np.float64, order="C"),
        np.arange(n, dtype=np.int64),
        np.empty((2 * n_leaves - 1, d)),
        np.empty((2 * n_leaves - 1, d)),
        np.empty((2 * n_leaves - 1, 2), dtype=np.int64),
        np.empty(2 * n_leaves - 1, dtype=np.int64),
    )
    tree.bounds[0] = 0, n
    dims = _fixed(d)
    top = [0]
    while len(top) < min(n_threads(n_jobs), n_leaves):
        for node in top:
            _split(tree, dims, node, node + 1)
        top = [child for node in top for child in (2 * node + 1, 2 * node + 2)]
    map_threads(lambda node: _split(tree, dims, node, len(tree.bounds)), top, n_jobs)
    return tree


def nearest_others(
    tree: KDTree, k: int, *, p: int = 2, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other points of every point, sorted by (distance, index).

    Returns
    -------
    indices : ndarray (n, k), int64
    distances : ndarray (n, k), float64
    """
    n = len(tree.points)
    indices, costs = np.empty((n, k), np.int64), np.empty((n, k))
    nearest_in_tree_order(tree, indices, costs, p=p, n_jobs=n_jobs, original=True)
    return indices, costs if p == 1 else np.sqrt(costs, out=costs)


def nearest_in_tree_order(
    tree: KDTree,
    indices: np.ndarray,
    costs: np.ndarray,
    *,
    p: int = 2,
    offsets: Offsets = NO_OFFSETS,
    n_jobs: int | None = None,
    original: bool = False,
) -> None:
    """Fill ``indices`` and ``costs`` with the lists of the cheapest others of every point.

    Rows and entries are tree positions, or those of the original array with ``original``.
    """
    kind = kernel_kind(tree, p, offsets)

    def search(block: tuple[int, int]) -> None:
        _leaf_join(tree, kind, offsets, *block, indices, costs, original)

    map_threads(search, blocks(tree.n_leaves, _leaves_a_task(tree)), n_jobs)


def nearest_to(
    tree: KDTree, queries: np.ndarray, k: int, *, p: int = 2, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k points of the tree nearest to each query, sorted by (distance, index)."""
    kind = kernel_kind(tree, p)
    indices, costs = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
    map_threads(
        lambda block: _point_search(tree, kind, queries, *block, indices, costs),
        blocks(len(queries), 2048),
        n_jobs,
    )
    return indices, costs if p == 1 else np.sqrt(costs, out=costs)


def tree_offsets(tree: KDTree, scale: float, offsets: np.ndarray) -> Offsets:
    """Offsets of the original rows, laid out for the tree."""
    points = np.ascontiguousarray(offsets[tree.order], dtype=np.float64)
    nodes = np.empty(len(tree.bounds))
    first = tree.n_leaves - 1
    nodes[first:] = np.minimum.reduceat(points, tree.bounds[first:, 0])
    while first:
        level = slice(first, 2 * first + 1)
        nodes[first // 2 : first] = nodes[level].reshape(-1, 2).min(axis=1)
        first //= 2
    return Offsets(float(scale), points, nodes)


def kernel_kind(tree: KDTree, p: int = 2, offsets: Offsets = NO_OFFSETS) -> tuple[Any, ...]:
    """What a kernel is compiled for: lengths of tuples are constants to the compiler.

    The dimension (empty above `UNROLLED`), the power of the metric, and whether there are offsets.
    """
    return _fixed(tree.points.shape[1]), (0,) * p, (0,) * min(len(offsets.points), 1)


def _fixed(d: int) -> tuple[int, ...]:
    return (0,) * d if d <= UNROLLED else ()


def _leaves_a_task(tree: KDTree) -> int:
    return max(1, min(256, tree.n_leaves // 16))


@njit(cache=True, nogil=True)
def _split(tree, dims, root, stop):
    """Split ``root`` and its descendants that are numbered below ``stop``."""
    n_nodes = len(tree.bounds)
    d = len(dims) or tree.points.shape[1]
    stack = np.empty(64, np.int64)
    stack[0], size = root, 1
    while size:
        size -= 1
        node = stack[size]
        a, b = tree.bounds[node]
        low, high = tree.lower[node], tree.upper[node]
        low[:] = tree.points[a]
        high[:] = tree.points[a]
        tree.first[node] = tree.order[a]
        for i in range(a + 1, b):
            tree.first[node] = min(tree.first[node], tree.order[i])
            for c in range(d):
                x = tree.points[i, c]
                low[c] = min(low[c], x)
                high[c] = max(high[c], x)
        left = 2 * node + 1
        if left >= n_nodes:
            continue
        widest = 0
        for c in range(1, d):
            if high[c] - low[c] > high[widest] - low[widest]:
                widest = c
        middle = (a + b) // 2
        if high[widest] > low[widest]:
            _select(tree.points, tree.order, d, a, b - 1, middle, widest)
        tree.bounds[left, 0], tree.bounds[left, 1] = a, middle
        tree.bounds[left + 1, 0], tree.bounds[left + 1, 1] = middle, b
        if left < stop:
            stack[size], stack[size + 1] = left + 1, left
            size += 2


@njit(cache=True, nogil=True)
def _select(points, order, d, left, right, middle, axis):
    """Move rows so that ``middle`` holds what sorting along ``axis`` would put there."""
    while left < right:
        x, y, z = points[left, axis], points[(left + right) // 2, axis], points[right, axis]
        pivot = max(min(x, y), min(max(x, y), z))
        i, j = left, right
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                for c in range(d):
                    points[i, c], points[j, c] = points[j, c], points[i, c]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True, nogil=True, inline="always")
def cost_between(kind, offsets, x, i, y, j):
    """Cost of the pair x[i], y[j]; offsets are looked up at i and j."""
    total = 0.0
    for c in range(len(kind[0]) or x.shape[1]):
        gap = x[i, c] - y[j, c]
        total += abs(gap) if len(kind[1]) == 1 else gap * gap
    if len(kind[2]):
        total = offsets.scale * total + (offsets.points[i] + offsets.points[j])
    return total


@njit(cache=True, nogil=True, inline="always")
def box_gap(kind, low, high, u, low2, high2, v):
    """Smallest distance between box u and box v; a point is a box with equal corners."""
    total = 0.0
    for c in range(len(kind[0]) or low.shape[1]):
        gap = max(low[u, c] - high2[v, c], low2[v, c] - high[u, c])
        gap = max(gap, 0.0)
        total += gap if len(kind[1]) == 1 else gap * gap
    return total


@njit(cache=True, nogil=True, inline="always")
def lower_bound(kind, offsets, gap, offset_sum):
    """Smallest cost of a pair that is ``gap`` or more apart."""
    return offsets.scale * gap + offset_sum if len(kind[2]) else gap


@njit(cache=True, nogil=True, inline="always")
def _offer(order, costs, ids, row, cost, candidate):
    """Put a candidate into the sorted list of a row if it belongs there."""
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


@njit(cache=True, nogil=True)
def _leaf_join(tree, kind, offsets, first, last, indices, costs, original):
    """Lists of the cheapest others for the points of leaves first ... last - 1."""
    n_nodes = len(tree.bounds)
    k = indices.shape[1]
    leaf_zero = n_nodes // 2
    width = 0
    for leaf in range(leaf_zero + first, leaf_zero + last):
        width = max(width, tree.bounds[leaf, 1] - tree.bounds[leaf, 0])
    best, ids = np.empty((width, k)), np.zeros((width, k), np.int64)
    stack = np.empty(64, np.int64)
    for leaf in range(leaf_zero + first, leaf_zero + last):
        a, b = tree.bounds[leaf]
        best[:] = np.inf
        node, stack[0], size = leaf, leaf, 1
        reach, reach_row = np.inf, len(tree.order)
        while True:
            while size:
                size -= 1
                other = stack[size]
                bound = _box_bound(tree, kind, offsets, leaf, other)
                if bound > reach or (bound == reach and tree.first[other] > reach_row):
                    continue
                left = 2 * other + 1
                if left < n_nodes:
                    near = _box_bound(tree, kind, offsets, leaf, left)
                    far = _box_bound(tree, kind, offsets, leaf, left + 1)
                    nearer_right = far < near
                    stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
                    size += 2
                else:
                    reach, reach_row = _join(tree, kind, offsets, a, b, other, best, ids)
            if node == 0:
                break
            # Widen the search to the sibling's half: near points come before far ones.
            stack[0], size = node + 1 if node % 2 else node - 1, 1
            node = (node - 1) // 2
        for i in range(a, b):
            row = tree.order[i] if original else i
            for c in range(k):
                costs[row, c] = best[i - a, c]
                indices[row, c] = tree.order[ids[i - a, c]] if original else ids[i - a, c]


@njit(cache=True, nogil=True, inline="always")
def _box_bound(tree, kind, offsets, u, v):
    gap = box_gap(kind, tree.lower, tree.upper, u, tree.lower, tree.upper, v)
    return lower_bound(
        kind, offsets, gap, offsets.nodes[u] + offsets.nodes[v] if len(kind[2]) else 0.0
    )


@njit(cache=True, nogil=True)
def _join(tree, kind, offsets, a, b, other, best, ids):
    """Offer the points of leaf ``other`` to those at a ... b - 1.

    Returns the largest cost that is still wanted and the largest row number wanted at that cost.
    """
    points, order = tree.points, tree.order
    last = best.shape[1] - 1
    reach, reach_row = -np.inf, 0
    for i in range(a, b):
        gap = box_gap(kind, points, points, i, tree.lower, tree.upper, other)
        offset = offsets.points[i] + offsets.nodes[other] if len(kind[2]) else 0.0
        if lower_bound(kind, offsets, gap, offset) <= best[i - a, last]:
            for j in range(tree.bounds[other, 0], tree.bounds[other, 1]):
                cost = cost_between(kind, offsets, points, i, points, j)
                if cost <= best[i - a, last] and i != j:
                    _offer(order, best, ids, i - a, cost, j)
        row = order[ids[i - a, last]] if best[i - a, last] < np.inf else len(order)
        if best[i - a, last] > reach:
            reach, reach_row = best[i - a, last], row
        elif best[i - a, last] == reach:
            reach_row = max(reach_row, row)
    return reach, reach_row


@njit(cache=True, nogil=True)
def _point_search(tree, kind, queries, first, last, indices, costs):
    """Lists of the nearest points of the tree for queries first ... last - 1."""
    n_nodes = len(tree.bounds)
    k = indices.shape[1]
    best, ids = np.empty((1, k)), np.zeros((1, k), np.int64)
    stack = np.empty(64, np.int64)
    for q in range(first, last):
        best[:] = np.inf
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
                        _offer(tree.order, best, ids, 0, cost, j)
        for c in range(k):
            costs[q, c] = best[0, c]
            indices[q, c] = tree.order[ids[0, c]]
