"""Compiled search of a cell for the nearest points of other components."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._build._boruvka_kernels import is_excluded
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, box_gap, cost_between, lower_bound
from vicinal.scale._cell_kernels import box_cost, plane_cost


@jit(allocates=False)
def next_foreign_cell(at, around, index, queries, least, scale, p, out):
    """The first cell, from position ``at`` of the order on, that queries may find a foreign point in.

    The other queries note in ``skipped`` the least cost that a cell can have for them. ``least`` is the
    smallest offset in each cell; empty if there are no offsets. Returns the position of the cell and the
    number of queries, which is 0 if there is no such cell.
    """
    n = len(queries.points)
    reach = -np.inf
    for q in range(n):
        reach = max(reach, _limit(queries, q))
    while at < len(around.order) and around.bounds[at] <= reach:
        count = _find_asking(around, index, around.order[at], queries, least, scale, p, out)
        if count:
            return at, count
        at += 1
    if at < len(around.order):
        for q in range(n):
            queries.skipped[q] = min(queries.skipped[q], around.bounds[at])
    return at, 0


@jit(inline="always")
def _limit(queries, q):
    """Largest cost of an edge that a query may still contribute."""
    return min(queries.best[queries.groups[q]], queries.costs[q])


@jit(inline="always")
def _find_asking(around, index, cell, queries, least, scale, p, out):
    count = 0
    for q in range(len(queries.points)):
        limit = _limit(queries, q)
        bound = box_cost(queries.points, q, index.low, index.high, cell, p)
        for s in range(around.n_shared[cell]):
            if len(least) == 0 and bound > limit:
                break
            low, high = index.intervals[cell, s, 0], index.intervals[cell, s, 1]
            bound = max(bound, plane_cost(around.coords[q, s], low, high, around.slack, p))
        if len(least):
            bound = scale * bound + (queries.offsets[q] + least[cell])
        if bound > limit:
            queries.skipped[q] = min(queries.skipped[q], bound)
        else:
            out[count] = q
            count += 1
    return count


@jit
def search_foreign(tree, kind, offsets, labels, uniform, rows, first, asking, queries, excluded):
    """Improve the nearest foreign points of the asking queries by the points of a cell.

    Parameters
    ----------
    tree : KDTree
        Points of the cell.
    kind : tuple
        Kind of the kernels of the tree.
    offsets : Offsets
        Offsets of the points of the tree, in its order.
    labels : ndarray (n,)
        Component of each point of the tree, in its order.
    uniform : ndarray (n_nodes,)
        Component of all points of each node, -1 if they differ.
    rows : ndarray (n,)
        Row of each point of the cell, in the order of the cell.
    first : int
        Position of the first point of the cell among those of all cells.
    asking : ndarray of int
        Queries that search.
    queries : Queries
        Points and their best edges so far.
    excluded : ExcludedEdges
        Positions that each query may not be joined to.
    """
    d = queries.points.shape[1]
    low, high, stack = np.empty((1, d)), np.empty((1, d)), np.empty(64, np.int64)
    start = 0
    while start < len(asking):
        stop = start + 1
        while stop < len(asking) and queries.leaves[asking[stop]] == queries.leaves[asking[start]]:
            stop += 1
        _search_together(
            tree, kind, offsets, labels, uniform, rows, first, asking, start, stop, queries, excluded,
            low, high, stack,
        )  # fmt: skip
        start = stop


@jit(allocates=False)
def _search_together(
    tree,
    kind,
    offsets,
    labels,
    uniform,
    rows,
    first,
    asking,
    start,
    stop,
    queries,
    excluded,
    low,
    high,
    stack,
):
    """Search for queries near each other: boxes that are too far from all of them are ruled out once."""
    n_nodes, points = len(tree.bounds), queries.points
    # The common component of all queries, or -1: boxes inside it hold no foreign point.
    common, limit, least = queries.labels[asking[start]], -np.inf, np.inf
    for c in range(points.shape[1]):
        low[0, c], high[0, c] = np.inf, -np.inf
    for i in range(start, stop):
        q = asking[i]
        common = common if queries.labels[q] == common else -1
        limit = max(limit, _limit(queries, q))
        if len(kind[2]):
            least = min(least, queries.offsets[q])
        for c in range(points.shape[1]):
            low[0, c], high[0, c] = min(low[0, c], points[q, c]), max(high[0, c], points[q, c])
    stack[0], size, pruned = 0, 1, np.inf
    while size:
        size -= 1
        node = stack[size]
        if common >= 0 and uniform[node] == common:
            continue
        gap = box_gap(kind, low, high, 0, tree.lower, tree.upper, node)
        if len(kind[2]):
            gap = lower_bound(kind, offsets, gap, least + offsets.nodes[node])
        if gap > limit:
            pruned = min(pruned, gap)
            continue
        left = 2 * node + 1
        if left < n_nodes:
            near = box_gap(kind, low, high, 0, tree.lower, tree.upper, left)
            far = box_gap(kind, low, high, 0, tree.lower, tree.upper, left + 1)
            nearer_right = far < near
            stack[size], stack[size + 1] = left + 1 - nearer_right, left + nearer_right
            size += 2
            continue
        limit = -np.inf
        for i in range(start, stop):
            q = asking[i]
            if uniform[node] != queries.labels[q]:
                _search_leaf(tree, kind, offsets, labels, rows, first, node, q, queries, excluded)
            limit = max(limit, _limit(queries, q))
    for i in range(start, stop):
        queries.skipped[asking[i]] = min(queries.skipped[asking[i]], pruned)


@jit(inline="always")
def _search_leaf(tree, kind, offsets, labels, rows, first, node, q, queries, excluded):
    points, label, group = queries.points, queries.labels[q], queries.groups[q]
    limit = _limit(queries, q)
    gap = box_gap(kind, points, points, q, tree.lower, tree.upper, node)
    if len(kind[2]):
        gap = lower_bound(kind, offsets, gap, queries.offsets[q] + offsets.nodes[node])
    if gap > limit:
        queries.skipped[q] = min(queries.skipped[q], gap)
        return
    for j in range(tree.bounds[node, 0], tree.bounds[node, 1]):
        if labels[j] == label:
            continue
        cost = cost_between((kind[0], kind[1], ()), NO_OFFSETS, points, q, tree.points, j)
        if len(kind[2]):
            cost = offsets.scale * cost + (queries.offsets[q] + offsets.points[j])
        if cost > limit:
            queries.skipped[q] = min(queries.skipped[q], cost)
            continue
        local = tree.order[j]
        if cost == queries.costs[q] and queries.rows[q] < rows[local]:
            continue
        if not is_excluded(excluded, q, first + local):
            queries.positions[q], queries.rows[q] = first + local, rows[local]
            queries.costs[q] = limit = cost
            queries.best[group] = min(queries.best[group], cost)


@jit
def finish_searches(queries):
    """Keep a result if nothing nearer can have been skipped; otherwise only a lower bound of the cost."""
    for q in range(len(queries.costs)):
        best = queries.best[queries.groups[q]]
        if queries.positions[q] < 0 or queries.costs[q] > best:
            # No foreign point costs ``best`` or less, and everything skipped costs more.
            least = min(queries.skipped[q], queries.costs[q])
            queries.costs[q] = max(np.nextafter(best, np.inf), least)
            queries.positions[q] = -1
