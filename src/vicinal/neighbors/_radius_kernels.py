"""Compiled loops of the radius search and of the choice between tree and products."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.neighbors._brute_kernels import CHUNK, max_key, squared_distance
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, box_gap, cost_between


@jit
def points_to_visit(tree, kind, queries, costs):
    """Number of points in the leaves within each query's cost, summed over the queries."""
    n_nodes = len(tree.bounds)
    stack = np.empty(64, np.int64)
    visited = 0
    for q in range(len(queries)):
        stack[0], size = 0, 1
        while size:
            size -= 1
            node = stack[size]
            if box_gap(kind, queries, queries, q, tree.lower, tree.upper, node) > costs[q]:
                continue
            if 2 * node + 1 < n_nodes:
                stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
                size += 2
            else:
                visited += tree.bounds[node, 1] - tree.bounds[node, 0]
    return visited


@jit
def walk_within(tree, kind, queries, rows, exclude_self, radius, indptr, indices, distances):
    """Points within ``radius`` of the queries ``rows``; only counts them if the output is empty.

    Counts go to ``indptr[row + 1]``; the filling pass starts each row at ``indptr[row]``.
    """
    n_nodes = len(tree.bounds)
    stack = np.empty(64, np.int64)
    fill = len(indices) > 0
    for q in rows:
        at = indptr[q] if fill else 0
        stack[0], size = 0, 1
        while size:
            size -= 1
            node = stack[size]
            gap = box_gap(kind, queries, queries, q, tree.lower, tree.upper, node)
            if (gap if len(kind[1]) == 1 else np.sqrt(gap)) > radius:
                continue
            if 2 * node + 1 < n_nodes:
                stack[size], stack[size + 1] = 2 * node + 1, 2 * node + 2
                size += 2
                continue
            for j in range(tree.bounds[node, 0], tree.bounds[node, 1]):
                cost = cost_between(kind, NO_OFFSETS, queries, q, tree.points, j)
                distance = cost if len(kind[1]) == 1 else np.sqrt(cost)
                if distance <= radius and not (exclude_self and tree.order[j] == q):
                    if fill:
                        indices[at] = tree.order[j]
                        distances[at] = distance
                    at += 1
        if not fill:
            indptr[q + 1] = at


@jit
def key_limits(squared, halves, n_features, unit, exact):
    """Largest key that a pair within ``squared`` can have, in each row."""
    max_keys = np.empty(len(halves))
    for i in range(len(halves)):
        max_keys[i] = max_key(squared, halves[i], n_features, unit, exact)
    return max_keys


@jit
def count_below(products, halves, max_keys):
    """Number of entries of a block of products whose key is at most ``max_keys`` of their row."""
    total = 0
    for r in range(len(products)):
        limit = max_keys[r]
        for start in range(0, products.shape[1], CHUNK):
            stop = min(start + CHUNK, products.shape[1])
            chunk, half = products[r, start:stop], halves[start:stop]
            hits = np.int32(0)
            for c in range(stop - start):
                hits += np.int32(half[c] - chunk[c] <= limit)
            total += hits
    return total


@jit
def measure_below(
    products, halves, max_keys, Q, X, radius, first_row, first, exclude_self, rows, ids, distances
):
    """Measure the entries that `count_below` counted; keep those within the radius."""
    n_within = 0
    for r in range(len(products)):
        i = first_row + r
        for c in range(products.shape[1]):
            j = first + c
            if halves[c] - products[r, c] <= max_keys[r] and not (exclude_self and i == j):
                distance = np.sqrt(squared_distance(Q, i, X, j))
                if distance <= radius:
                    rows[n_within], ids[n_within], distances[n_within] = r, j, distance
                    n_within += 1
    return n_within
