"""Kernels that find the nearest point outside a component: in a k-d tree, or in rows of costs."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._build._boruvka_kernels import is_excluded
from vicinal.neighbors._brute_kernels import CHUNK, max_key, squared_distance
from vicinal.neighbors._kdtree_kernels import box_gap, cost_between, lower_bound


@jit(inline="always")
def _needs_search(forest, i, limit):
    """Whether point i must search because it may have a better edge than the best of its component.

    Components of more than ``limit`` points do not search; they are deferred.
    """
    label = forest.component[i]
    is_open = forest.nearest[i] < 0 and forest.lower_bound[i] <= forest.best[label]
    if is_open and forest.size[label] > limit:
        forest.deferred[label] = True
        is_open = False
    forest.searched[i] = is_open
    return is_open


@jit
def search_leaves(tree, kind, offsets, uniform_component, forest, excluded, limit, first, last):
    """Find the nearest foreign point for the open points of leaves first ... last - 1.

    Components of more than ``limit`` points are deferred. Other threads may lower ``best`` meanwhile; it is
    always the cost of a real edge, so a search that stops there loses nothing.
    """
    leaf_zero, width = len(tree.bounds) // 2, 0
    for leaf in range(leaf_zero + first, leaf_zero + last):
        width = max(width, tree.bounds[leaf, 1] - tree.bounds[leaf, 0])
    queries, stack = np.empty(width, np.int64), np.empty(64, np.int64)
    bound, min_skipped = np.empty(width), np.empty(width)
    low, high = np.empty((1, tree.points.shape[1])), np.empty((1, tree.points.shape[1]))
    buffers = (queries, bound, min_skipped, low, high, stack)
    for leaf in range(leaf_zero + first, leaf_zero + last):
        _search_leaf(tree, kind, offsets, uniform_component, forest, excluded, limit, leaf, buffers)


@jit(allocates=False)
def _search_leaf(tree, kind, offsets, uniform_component, forest, excluded, limit, leaf, buffers):
    queries, bound, min_skipped, low, high, stack = buffers
    n_nodes = len(tree.bounds)
    count, max_bound, min_offset = np.int64(0), -np.inf, np.inf
    for c in range(len(kind[0]) or low.shape[1]):
        low[0, c], high[0, c] = np.inf, -np.inf
    for i in range(tree.bounds[leaf, 0], tree.bounds[leaf, 1]):
        if _needs_search(forest, i, limit):
            queries[count] = i
            bound[count] = forest.best[forest.component[i]]
            min_skipped[count] = np.inf
            for c in range(len(kind[0]) or low.shape[1]):
                low[0, c] = min(low[0, c], tree.points[i, c])
                high[0, c] = max(high[0, c], tree.points[i, c])
            max_bound = max(max_bound, bound[count])
            if len(kind[2]):
                min_offset = min(min_offset, offsets.points[i])
            count += 1
    if count == 0:
        return
    # The common component of all queries, or -1: boxes inside it hold no foreign point.
    label = np.int64(forest.component[queries[0]])
    for q in range(1, count):
        if forest.component[queries[q]] != label:
            label = np.int64(-1)
    node, stack[0], size, min_pruned = leaf, leaf, 1, np.inf
    while True:
        while size:
            size -= 1
            other = stack[size]
            if label >= 0 and uniform_component[other] == label:
                continue
            gap = box_gap(kind, low, high, 0, tree.lower, tree.upper, other)
            offset = min_offset + offsets.nodes[other] if len(kind[2]) else 0.0
            min_cost = lower_bound(kind, offsets, gap, offset)
            if min_cost > max_bound:
                min_pruned = min(min_pruned, min_cost)
                continue
            left = 2 * other + 1
            if left < n_nodes:
                near = box_gap(kind, low, high, 0, tree.lower, tree.upper, left)
                far = box_gap(kind, low, high, 0, tree.lower, tree.upper, left + 1)
                nearer_right = far < near
                stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
                size += 2
            else:
                max_bound = _search_other_leaf(
                    tree, kind, offsets, uniform_component, forest, excluded,
                    queries, bound, min_skipped, count, other,
                )  # fmt: skip
        if node == 0:
            break
        stack[0], size = node + 1 if node % 2 else node - 1, 1
        node = (node - 1) // 2
    _finish_searches(forest, queries, bound, min_skipped, count, min_pruned)


@jit(inline="always")
def _search_other_leaf(
    tree,
    kind,
    offsets,
    uniform_component,
    forest,
    excluded,
    queries,
    bound,
    min_skipped,
    count,
    other,
):
    """Search a leaf for all queries; returns the largest cost that is still of interest."""
    points, order = tree.points, tree.order
    a, b = tree.bounds[other]
    max_bound = -np.inf
    for q in range(count):
        i = queries[q]
        label = forest.component[i]
        bound[q] = min(bound[q], forest.best[label])
        if uniform_component[other] != label:
            gap = box_gap(kind, points, points, i, tree.lower, tree.upper, other)
            offset = offsets.points[i] + offsets.nodes[other] if len(kind[2]) else 0.0
            low = lower_bound(kind, offsets, gap, offset)
            if low > bound[q]:
                min_skipped[q] = min(min_skipped[q], low)
            else:
                for j in range(a, b):
                    if forest.component[j] == label:
                        continue
                    cost = cost_between(kind, offsets, points, i, points, j)
                    if cost > bound[q]:
                        min_skipped[q] = min(min_skipped[q], cost)
                        continue
                    current = forest.nearest[i]
                    tied = cost == bound[q] and current >= 0 and forest.lower_bound[i] == cost
                    if (tied and order[current] < order[j]) or is_excluded(excluded, i, j):
                        continue
                    forest.nearest[i], forest.lower_bound[i], bound[q] = j, cost, cost
                    if cost < forest.best[label]:
                        forest.best[label] = cost
        max_bound = max(max_bound, bound[q])
    return max_bound


@jit(inline="always")
def _finish_searches(forest, queries, bound, min_skipped, count, min_pruned):
    """Keep a result if nothing nearer can have been pruned; otherwise keep only the lower bound."""
    for q in range(count):
        i = queries[q]
        if forest.nearest[i] >= 0:
            if forest.lower_bound[i] <= bound[q]:
                continue
            min_skipped[q] = min(min_skipped[q], forest.lower_bound[i])
            forest.nearest[i] = -1
        # No foreign point costs ``bound`` or less, and everything pruned costs more.
        forest.lower_bound[i] = max(np.nextafter(bound[q], np.inf), min(min_skipped[q], min_pruned))


@jit(allocates=False)
def mark_uniform_nodes(tree, component, uniform_component):
    """Store for each tree node the component of all its points, -1 if they differ."""
    n_nodes = len(tree.bounds)
    for node in range(n_nodes - 1, -1, -1):
        left = 2 * node + 1
        if left < n_nodes:
            same = uniform_component[left] == uniform_component[left + 1]
            uniform_component[node] = uniform_component[left] if same else -1
            continue
        a, b = tree.bounds[node]
        label = component[a]
        for i in range(a + 1, b):
            if component[i] != label:
                label = -1
                break
        uniform_component[node] = label


@jit
def points_to_search(forest, limit):
    """Points that may have a better edge than the best of their component so far."""
    rows = np.empty(len(forest.nearest), forest.nearest.dtype)
    count = 0
    for i in range(len(rows)):
        if _needs_search(forest, i, limit):
            rows[count] = i
            count += 1
    return rows[:count]


@jit
def search_rows(costs, rows, forest, excluded):
    """Nearest foreign point of ``rows``, from their costs to all points."""
    for r in range(len(rows)):
        i = rows[r]
        label = forest.component[i]
        forest.lower_bound[i] = np.inf
        for j in range(costs.shape[1]):
            if costs[r, j] >= forest.lower_bound[i] or forest.component[j] == label:
                continue
            if not is_excluded(excluded, i, j):
                forest.nearest[i], forest.lower_bound[i] = j, costs[r, j]


@jit
def search_products(
    products, first, X, rows, exact_half, halves, frame_scale, offsets, forest, excluded
):
    """Nearest foreign point of ``rows`` among the points from ``first`` on, the columns of ``products``.

    The products are in single precision; entries they cannot rule out are recomputed.
    """
    n_cols, unit = products.shape[1], 2.0**-24
    has_offsets = len(offsets.points) > 0
    square_scale = frame_scale * frame_scale
    for r in range(len(rows)):
        i = rows[r]
        label = forest.component[i]
        bound = _square_within(offsets, i, forest.lower_bound[i], has_offsets)
        threshold = max_key(bound * square_scale, exact_half[i], X.shape[1], unit, False)
        for start in range(0, n_cols, CHUNK):
            stop = min(start + CHUNK, n_cols)
            chunk, half = products[r, start:stop], halves[start:stop]
            any_candidate = np.int32(0)
            for c in range(stop - start):
                any_candidate |= np.int32(half[c] - chunk[c] <= threshold)
            if any_candidate == 0:
                continue
            for c in range(stop - start):
                j = first + start + c
                if half[c] - chunk[c] > threshold or forest.component[j] == label:
                    continue
                cost = squared_distance(X, i, X, j)
                if has_offsets:
                    cost = offsets.scale * cost + (offsets.points[i] + offsets.points[j])
                if cost < forest.lower_bound[i] and not is_excluded(excluded, i, j):
                    forest.nearest[i], forest.lower_bound[i] = j, cost
                    bound = _square_within(offsets, i, cost, has_offsets)
                    threshold = max_key(
                        bound * square_scale, exact_half[i], X.shape[1], unit, False
                    )


@jit(inline="always")
def _square_within(offsets, i, cost, has_offsets):
    """Largest squared distance at which a pair of point i can still cost as little as ``cost``."""
    if not has_offsets:
        return cost
    rest = cost - (offsets.points[i] + offsets.nodes[0])
    # Rounded up, because the cost itself is a rounded sum.
    slack = 1e-14 * (abs(cost) + abs(offsets.points[i]) + abs(offsets.nodes[0]))
    return max(rest + slack, 0.0) / offsets.scale * (1 + 1e-14)
