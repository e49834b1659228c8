"""Kernels that find the nearest point outside a component: in a k-d tree, or in rows of costs."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._build._boruvka_kernels import is_forbidden
from vicinal.neighbors._brute_kernels import CHUNK, cut, squared_distance
from vicinal.neighbors._kdtree_kernels import box_gap, cost_between, lower_bound


@jit(inline="always")
def _asks(forest, i, limit):
    """Whether point i has to search, for it may know a better edge of its component than the best.

    A component of more than ``limit`` points does not search, but waits.
    """
    label = forest.component[i]
    is_open = forest.near[i] < 0 and forest.floor[i] <= forest.best[label]
    if is_open and forest.size[label] > limit:
        forest.waits[label] = True
        is_open = False
    forest.asked[i] = is_open
    return is_open


@jit
def search_leaves(tree, kind, offsets, pure, forest, forbidden, limit, first, last):
    """Find the nearest outside point for the open points of leaves first ... last - 1.

    Components of more than ``limit`` points wait. Other threads may lower ``best`` meanwhile; it always
    is the cost of a real edge, so a search that ends at it loses nothing.
    """
    leaf_zero, width = len(tree.bounds) // 2, 0
    for leaf in range(leaf_zero + first, leaf_zero + last):
        width = max(width, tree.bounds[leaf, 1] - tree.bounds[leaf, 0])
    asking, stack = np.empty(width, np.int64), np.empty(64, np.int64)
    bound, beyond = np.empty(width), np.empty(width)
    low, high = np.empty((1, tree.points.shape[1])), np.empty((1, tree.points.shape[1]))
    room = (asking, bound, beyond, low, high, stack)
    for leaf in range(leaf_zero + first, leaf_zero + last):
        _search_leaf(tree, kind, offsets, pure, forest, forbidden, limit, leaf, room)


@jit(allocates=False)
def _search_leaf(tree, kind, offsets, pure, forest, forbidden, limit, leaf, room):
    asking, bound, beyond, low, high, stack = room
    n_nodes = len(tree.bounds)
    count, reach, least = np.int64(0), -np.inf, np.inf
    for c in range(len(kind[0]) or low.shape[1]):
        low[0, c], high[0, c] = np.inf, -np.inf
    for i in range(tree.bounds[leaf, 0], tree.bounds[leaf, 1]):
        if _asks(forest, i, limit):
            asking[count] = i
            bound[count] = forest.best[forest.component[i]]
            beyond[count] = np.inf
            for c in range(len(kind[0]) or low.shape[1]):
                low[0, c] = min(low[0, c], tree.points[i, c])
                high[0, c] = max(high[0, c], tree.points[i, c])
            reach = max(reach, bound[count])
            if len(kind[2]):
                least = min(least, offsets.points[i])
            count += 1
    if count == 0:
        return
    # The component that all of them are in: boxes inside it hold nothing for them.
    label = np.int64(forest.component[asking[0]])
    for q in range(1, count):
        if forest.component[asking[q]] != label:
            label = np.int64(-1)
    node, stack[0], size, pruned = leaf, leaf, 1, np.inf
    while True:
        while size:
            size -= 1
            other = stack[size]
            if label >= 0 and pure[other] == label:
                continue
            gap = box_gap(kind, low, high, 0, tree.lower, tree.upper, other)
            offset = least + offsets.nodes[other] if len(kind[2]) else 0.0
            least_cost = lower_bound(kind, offsets, gap, offset)
            if least_cost > reach:
                pruned = min(pruned, least_cost)
                continue
            left = 2 * other + 1
            if left < n_nodes:
                near = box_gap(kind, low, high, 0, tree.lower, tree.upper, left)
                far = box_gap(kind, low, high, 0, tree.lower, tree.upper, left + 1)
                nearer_right = far < near
                stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
                size += 2
            else:
                reach = _ask(
                    tree, kind, offsets, pure, forest, forbidden,
                    asking, bound, beyond, count, other,
                )  # fmt: skip
        if node == 0:
            break
        stack[0], size = node + 1 if node % 2 else node - 1, 1
        node = (node - 1) // 2
    _settle(forest, asking, bound, beyond, count, pruned)


@jit(allocates=False)
def _ask(tree, kind, offsets, pure, forest, forbidden, asking, bound, beyond, count, other):
    """Look through a leaf for the asking points; returns the largest cost still of interest."""
    points, order = tree.points, tree.order
    a, b = tree.bounds[other]
    reach = -np.inf
    for q in range(count):
        i = asking[q]
        label = forest.component[i]
        bound[q] = min(bound[q], forest.best[label])
        if pure[other] != label:
            gap = box_gap(kind, points, points, i, tree.lower, tree.upper, other)
            offset = offsets.points[i] + offsets.nodes[other] if len(kind[2]) else 0.0
            low = lower_bound(kind, offsets, gap, offset)
            if low > bound[q]:
                beyond[q] = min(beyond[q], low)
            else:
                for j in range(a, b):
                    if forest.component[j] == label:
                        continue
                    cost = cost_between(kind, offsets, points, i, points, j)
                    if cost > bound[q]:
                        beyond[q] = min(beyond[q], cost)
                        continue
                    at = forest.near[i]
                    tied = cost == bound[q] and at >= 0 and forest.floor[i] == cost
                    if (tied and order[at] < order[j]) or is_forbidden(forbidden, i, j):
                        continue
                    forest.near[i], forest.floor[i], bound[q] = j, cost, cost
                    if cost < forest.best[label]:
                        forest.best[label] = cost
        reach = max(reach, bound[q])
    return reach


@jit(allocates=False)
def _settle(forest, asking, bound, beyond, count, pruned):
    """Keep what was found if nothing nearer can have been pruned; else only the lower bound."""
    for q in range(count):
        i = asking[q]
        if forest.near[i] >= 0:
            if forest.floor[i] <= bound[q]:
                continue
            beyond[q] = min(beyond[q], forest.floor[i])
            forest.near[i] = -1
        # No outside point costs ``bound`` or less, and whatever was passed over costs more.
        forest.floor[i] = max(np.nextafter(bound[q], np.inf), min(beyond[q], pruned))


@jit(allocates=False)
def mark_pure(tree, component, pure):
    """Note for each node of the tree the component of all its points, -1 when they differ."""
    n_nodes = len(tree.bounds)
    for node in range(n_nodes - 1, -1, -1):
        left = 2 * node + 1
        if left < n_nodes:
            same = pure[left] == pure[left + 1]
            pure[node] = pure[left] if same else -1
            continue
        a, b = tree.bounds[node]
        label = component[a]
        for i in range(a + 1, b):
            if component[i] != label:
                label = -1
                break
        pure[node] = label


@jit
def open_points(forest, limit):
    """The points that may know a better edge of their component than the best so far."""
    rows = np.empty_like(forest.near)
    count = 0
    for i in range(len(rows)):
        if _asks(forest, i, limit):
            rows[count] = i
            count += 1
    return rows[:count]


@jit
def search_rows(costs, rows, forest, forbidden):
    """Nearest outside point of ``rows``, from their costs to all points."""
    for r in range(len(rows)):
        i = rows[r]
        label = forest.component[i]
        forest.floor[i] = np.inf
        for j in range(costs.shape[1]):
            if costs[r, j] >= forest.floor[i] or forest.component[j] == label:
                continue
            if not is_forbidden(forbidden, i, j):
                forest.near[i], forest.floor[i] = j, costs[r, j]


@jit
def search_products(
    products, first, X, rows, exact_half, halves, frame_scale, offsets, forest, forbidden
):
    """Nearest outside point of ``rows`` among the points first ..., which ``products`` multiply.

    The products are in single precision; whatever they cannot rule out is measured.
    """
    n_cols, unit = products.shape[1], 2.0**-24
    has_offsets = len(offsets.points) > 0
    square_scale = frame_scale * frame_scale
    for r in range(len(rows)):
        i = rows[r]
        label = forest.component[i]
        bound = _square_within(offsets, i, forest.floor[i], has_offsets)
        wanted = cut(bound * square_scale, exact_half[i], X.shape[1], unit, False)
        for start in range(0, n_cols, CHUNK):
            stop = min(start + CHUNK, n_cols)
            chunk, half = products[r, start:stop], halves[start:stop]
            found = np.int32(0)
            for c in range(stop - start):
                found |= np.int32(half[c] - chunk[c] <= wanted)
            if found == 0:
                continue
            for c in range(stop - start):
                j = first + start + c
                if half[c] - chunk[c] > wanted or forest.component[j] == label:
                    continue
                cost = squared_distance(X, i, X, j)
                if has_offsets:
                    cost = offsets.scale * cost + (offsets.points[i] + offsets.points[j])
                if cost < forest.floor[i] and not is_forbidden(forbidden, i, j):
                    forest.near[i], forest.floor[i] = j, cost
                    bound = _square_within(offsets, i, cost, has_offsets)
                    wanted = cut(bound * square_scale, exact_half[i], X.shape[1], unit, False)


@jit(inline="always")
def _square_within(offsets, i, cost, has_offsets):
    """Largest squared distance at which a pair of point i can still cost as little as ``cost``."""
    if not has_offsets:
        return cost
    rest = cost - (offsets.points[i] + offsets.nodes[0])
    # Rounded up: the sums of the cost itself are rounded.
    slack = 1e-14 * (abs(cost) + abs(offsets.points[i]) + abs(offsets.nodes[0]))
    return max(rest + slack, 0.0) / offsets.scale * (1 + 1e-14)
