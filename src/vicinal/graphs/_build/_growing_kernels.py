"""Kernels that add one point to neighbour lists or to a spanning tree, in time linear in the points."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.neighbors._brute_kernels import squared_distance


@jit(inline="always")
def point_cost(X, i, j, p):
    """Squared Euclidean (p = 2) or Manhattan (p = 1) distance, summed as in every exact search."""
    if p == 2:
        return squared_distance(X, i, X, j)
    total = 0.0
    for c in range(X.shape[1]):
        total += abs(np.float64(X[i, c]) - np.float64(X[j, c]))
    return total


@jit(inline="always")
def push(costs, ids, cost, point):
    """Insert a point into a sorted list, after equal costs; the last entry drops out."""
    position = len(costs) - 1
    while position > 0 and costs[position - 1] > cost:
        costs[position], ids[position] = costs[position - 1], ids[position - 1]
        position -= 1
    costs[position], ids[position] = cost, point


@jit(allocates=False)
def measure_entries(X, p, ids, costs):
    """Costs of the entries of neighbour lists."""
    for i in range(len(ids)):
        for j in range(ids.shape[1]):
            costs[i, j] = point_cost(X, i, ids[i, j], p)


@jit(allocates=False)
def add_to_lists(X, p, new, ids, costs):
    """Add the point ``new``, numbered after all others, to the lists of the points before it.

    Its own list is filled too. A point with a larger number never displaces one that is as near.
    """
    last = ids.shape[1] - 1
    costs[new, :] = np.inf
    for i in range(new):
        cost = point_cost(X, i, new, p)
        if cost < costs[i, last]:
            push(costs[i], ids[i], cost, new)
        if cost < costs[new, last]:
            push(costs[new], ids[new], cost, i)


@jit(allocates=False)
def fill_lists(X, p, rows, ids, costs):
    """Search the lists of some points again."""
    last = ids.shape[1] - 1
    for row in rows:
        costs[row, :] = np.inf
        for i in range(len(X)):
            if i != row:
                cost = point_cost(X, i, row, p)
                if cost < costs[row, last]:
                    push(costs[row], ids[row], cost, i)


@jit(allocates=False)
def add_to_tree(X, p, new, parent, costs, n_children, links, link_costs):
    """Add the point ``new``, numbered after all others, to the spanning tree of the points before it.

    ``parent`` is -1 for the root, and ``costs`` are those of the edges to the parents. All edges of the new
    point are candidates. Each point passes the most expensive edge of a cycle through the new point on
    to its parent, leaves first (Chin and Houck, "Algorithms for updating minimal spanning trees", 1978).

    ``n_children``, ``links`` and ``link_costs`` are scratch space. The link of a point connects the points
    below it, and itself, to the new one: the edge from point ``link`` to the new one, or if it is negative,
    the edge from point ``-1 - link`` to its parent.
    """
    n_children[:new] = 0
    for i in range(new):
        if parent[i] >= 0:
            n_children[parent[i]] += 1
        links[i], link_costs[i] = i, point_cost(X, i, new, p)
    # Once a point is done, its link is an edge of the new tree.
    for start in range(new):
        i = start
        # A point whose children are done is followed by its parent, if it is the last child.
        while n_children[i] == 0:
            n_children[i] = -1
            up = parent[i]
            if up < 0:
                break
            if _is_before(parent, new, costs[i], -1 - i, link_costs[i], links[i]):
                link, cost = links[i], link_costs[i]
                links[i] = -1 - i
            else:
                link, cost = -1 - i, costs[i]
            if _is_before(parent, new, cost, link, link_costs[up], links[up]):
                links[up], link_costs[up] = link, cost
            n_children[up] -= 1
            i = up
    # Now ``links`` holds the edges of the new tree. Edges to parents that are not among them are dropped.
    n_children[:new] = 0
    for i in range(new):
        if links[i] < 0:
            n_children[-1 - links[i]] = 1
    for i in range(new):
        if n_children[i] == 0:
            parent[i] = -1
    parent[new], costs[new] = -1, 0.0
    for i in range(new):
        if links[i] >= 0:
            _hang(parent, costs, links[i], new, point_cost(X, links[i], new, p))


@jit(inline="always")
def _is_before(parent, new, cost, link, other_cost, other_link):
    """Total order of edges, as in Borůvka's algorithm: by cost, then by smaller and larger row."""
    if cost != other_cost:
        return cost < other_cost
    low, high = _ends(parent, new, link)
    other_low, other_high = _ends(parent, new, other_link)
    return low < other_low if low != other_low else high < other_high


@jit(inline="always")
def _ends(parent, new, link):
    if link >= 0:
        return link, new
    child = -1 - link
    return min(child, parent[child]), max(child, parent[child])


@jit(inline="always")
def _hang(parent, costs, point, new_parent, cost):
    """Turn the edges from a point to the root of its tree, and hang it below another point."""
    below, below_cost = new_parent, cost
    while point >= 0:
        above, above_cost = parent[point], costs[point]
        parent[point], costs[point] = below, below_cost
        below, below_cost, point = point, above_cost, above
