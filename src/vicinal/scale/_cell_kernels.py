"""Compiled loops over the points of a chunk or cell."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._build._noise_kernels import mix
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, box_gap, cost_between

# Relative error of costs in up to 10^5 dimensions; below the smallest cost, squares may underflow.
MARGIN, MIN_COST = 1e-10, 1e-290


@jit
def digest_rows(bits, first):
    """Sum of the hashes of rows of bits, which depends on their numbers but not on how they are divided."""
    total = np.uint64(0)
    for i in range(len(bits)):
        code = mix(np.uint64(first + i))
        for c in range(bits.shape[1]):
            code = mix(code ^ np.uint64(bits[i, c]))
        total += code
    return total


@jit(allocates=False)
def choose_rows(first, stride, chosen):
    """Choose about one row in ``stride`` by a hash of its number, so that chunks do not matter."""
    for i in range(len(chosen)):
        chosen[i] = mix(np.uint64(first + i)) % np.uint64(stride) == np.uint64(0)


@jit(inline="always")
def projection(X, i, center, directions, node):
    """Coordinate of a point along the direction of a node; the same bits in every chunk."""
    total = 0.0
    for c in range(X.shape[1]):
        total += (np.float64(X[i, c]) - center[c]) * directions[node, c]
    return total


@jit(allocates=False)
def find_cells(X, first_row, center, directions, thresholds, tied_rows, children, out):
    """Cell of each point. Child -1 - c of a node is cell c."""
    for i in range(len(X)):
        node = 0
        while node >= 0:
            value = projection(X, i, center, directions, node)
            left = value < thresholds[node] or (
                value == thresholds[node] and first_row + i <= tied_rows[node]
            )
            node = children[node, 0] if left else children[node, 1]
        out[i] = -1 - node


@jit(allocates=False)
def project(X, center, directions, path, out):
    """Coordinates of points along the directions of the nodes of a path."""
    for i in range(len(X)):
        for s in range(len(path)):
            out[i, s] = projection(X, i, center, directions, path[s])


@jit(inline="always")
def plane_cost(value, low, high, slack, p):
    """Lower bound of the cost between a point with this coordinate and all points of an interval."""
    gap = max(low - value, value - high) - slack
    if gap <= 0.0:
        return 0.0
    gap *= 1.0 - MARGIN
    cost = gap if p == 1 else gap * gap
    return cost if cost > MIN_COST else 0.0


@jit(inline="always")
def box_cost(X, i, low, high, cell, p):
    """Lower bound of the cost between a point and all points in the box of a cell.

    Summed in the order of costs to points; rounding is monotone, so that no neighbour is lost.
    """
    cost = 0.0
    for c in range(X.shape[1]):
        x = np.float64(X[i, c])
        gap = max(low[cell, c] - x, x - high[cell, c])
        if gap > 0.0:
            cost += gap if p == 1 else gap * gap
    return cost


@jit(allocates=False)
def find_range(X, low, high):
    """Lower ``low`` and raise ``high`` to the smallest and largest value of each column."""
    for i in range(len(X)):
        for c in range(X.shape[1]):
            low[c], high[c] = min(low[c], X[i, c]), max(high[c], X[i, c])


@jit(allocates=False)
def find_open(around, beyond, costs, shrink, p, is_open):
    """Whether points may have a neighbour in any other cell.

    Every other cell is beyond one of the planes above the cell of the points; ``beyond`` are the smallest
    and largest coordinate of all points there.
    """
    last = costs.shape[1] - 1
    for i in range(len(costs)):
        limit, is_open[i] = shrink * costs[i, last], False
        for s in range(len(beyond)):
            value = around.coords[i, s]
            if plane_cost(value, beyond[s, 0], beyond[s, 1], around.slack, p) <= limit:
                is_open[i] = True
                break


@jit(allocates=False)
def find_queries(X, around, index, cell, rows, costs, shrink, p, out):
    """Points that may have a neighbour in another cell; returns their number.

    ``rows`` and ``costs`` are the lists of the points; a neighbour costs at most ``shrink`` times the last
    entry. A cell whose points are as far matters only if it has a smaller row.
    """
    count, last = 0, rows.shape[1] - 1
    for i in range(len(X)):
        limit = shrink * costs[i, last]
        ties = index.first_rows[cell] < rows[i, last]
        cost = box_cost(X, i, index.low, index.high, cell, p)
        if cost > limit or (cost == limit and not ties):
            continue
        is_far = False
        for s in range(around.n_shared[cell]):
            low, high = index.intervals[cell, s, 0], index.intervals[cell, s, 1]
            if plane_cost(around.coords[i, s], low, high, around.slack, p) > limit:
                is_far = True
                break
        if not is_far:
            out[count] = i
            count += 1
    return count


@jit(allocates=False)
def next_cell(at, X, around, index, rows, costs, shrink, p, out):
    """The first cell, from position ``at`` of the order on, for which `find_queries` finds points.

    Returns its position and their number, which is 0 if there is no such cell.
    """
    reach, last = 0.0, rows.shape[1] - 1
    for i in range(len(X)):
        reach = max(reach, shrink * costs[i, last])
    while at < len(around.order) and around.bounds[at] <= reach:
        cell = around.order[at]
        count = find_queries(X, around, index, cell, rows, costs, shrink, p, out)
        if count:
            return at, count
        at += 1
    return at, 0


@jit
def merge_lists(queries, new_rows, new_costs, rows, costs):
    """Merge sorted lists of the queries into the sorted lists of all points, by (cost, row)."""
    k = rows.shape[1]
    kept_rows, kept_costs = np.empty(k, rows.dtype), np.empty(k)
    for q in range(len(queries)):
        i = queries[q]
        old, new = 0, 0
        for c in range(k):
            take_new = new < new_rows.shape[1] and (
                new_costs[q, new] < costs[i, old]
                or (
                    new_costs[q, new] == costs[i, old]
                    and (rows[i, old] < 0 or new_rows[q, new] < rows[i, old])
                )
            )
            if take_new:
                kept_rows[c], kept_costs[c] = new_rows[q, new], new_costs[q, new]
                new += 1
            else:
                kept_rows[c], kept_costs[c] = rows[i, old], costs[i, old]
                old += 1
        rows[i], costs[i] = kept_rows, kept_costs


@jit
def search_tree(tree, kind, X, queries, tree_rows, rows, costs):
    """Insert the points of a tree into the sorted lists of the queries, points of X, where they belong.

    Lists that are full already bound the search, which makes it many times as fast as one for all neighbours
    in the tree. ``tree_rows`` are the rows of its points, ascending in their original order.
    """
    stack, bounds = np.empty(64, np.int64), np.empty(64)
    point = np.empty((1, X.shape[1]))
    for i in queries:
        for c in range(X.shape[1]):
            point[0, c] = X[i, c]
        _search_point(tree, kind, point, i, tree_rows, rows, costs, stack, bounds)


@jit(allocates=False)
def _search_point(tree, kind, point, i, tree_rows, rows, costs, stack, bounds):
    n_nodes, last = len(tree.bounds), rows.shape[1] - 1
    stack[0], size = 0, 1
    bounds[0] = box_gap(kind, point, point, 0, tree.lower, tree.upper, 0)
    while size:
        size -= 1
        node, gap, limit = stack[size], bounds[size], costs[i, last]
        if gap > limit or (gap == limit and tree_rows[tree.first[node]] > rows[i, last]):
            continue
        left = 2 * node + 1
        if left < n_nodes:
            near = box_gap(kind, point, point, 0, tree.lower, tree.upper, left)
            far = box_gap(kind, point, point, 0, tree.lower, tree.upper, left + 1)
            nearer_right = far < near
            stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
            bounds[size], bounds[size + 1] = max(near, far), min(near, far)
            size += 2
            continue
        for j in range(tree.bounds[node, 0], tree.bounds[node, 1]):
            cost = cost_between(kind, NO_OFFSETS, point, 0, tree.points, j)
            if cost <= costs[i, last]:
                _insert(rows, costs, i, tree_rows[tree.order[j]], cost)


@jit(inline="always")
def _insert(rows, costs, i, row, cost):
    """Insert a point into a sorted list if it is among the first by (cost, row)."""
    at = rows.shape[1] - 1
    if cost == costs[i, at] and row > rows[i, at]:
        return
    while at > 0 and (
        cost < costs[i, at - 1] or (cost == costs[i, at - 1] and row < rows[i, at - 1])
    ):
        rows[i, at], costs[i, at] = rows[i, at - 1], costs[i, at - 1]
        at -= 1
    rows[i, at], costs[i, at] = row, cost
