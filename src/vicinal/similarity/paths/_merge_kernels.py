"""Kernels of merge trees: merging along sorted edges, tree layout, and paths between leaves and root.

Nodes are in preorder and leaves from left to right, so the leaves below a node are a range and children
need no table. Node v covers the leaves ``first[v] <= p < stop[v]``; its right child starts at leaf
``split[v]``. The left child is node v + 1, the right child node ``v + split[v] - first[v]``, unless they are
single leaves.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def root_of(parent, node):
    """Root of a node; halves the path to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@jit
def join_in_order(edges, order, children, used):
    """Merge clusters along edges in the given order (Kruskal); returns the number of merges.

    ``children[m]`` are the two clusters of merge m, the one with the smallest point first, and ``used[m]`` is
    its edge. Merge m creates cluster n + m; clusters below n are points. Edges within a cluster are skipped.
    """
    n = len(children) + 1
    parent, cluster = np.empty(n, np.int64), np.empty(n, np.int64)
    smallest, size = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        parent[i] = cluster[i] = smallest[i] = i
        size[i] = 1
    n_merges = 0
    for e in order:
        a, b = root_of(parent, edges[e, 0]), root_of(parent, edges[e, 1])
        if a == b:
            continue
        if smallest[a] > smallest[b]:
            a, b = b, a
        children[n_merges, 0], children[n_merges, 1] = cluster[a], cluster[b]
        used[n_merges] = e
        smallest_point = smallest[a]
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        smallest[a] = smallest_point
        cluster[a] = n + n_merges
        n_merges += 1
    # Components that no edge connects are merged in the order of their first points.
    last = -1
    for i in range(n):
        if smallest[root_of(parent, i)] == i:
            component = cluster[root_of(parent, i)]
            if last >= 0:
                children[n_merges, 0], children[n_merges, 1] = last, component
                used[n_merges] = -1
                last = n + n_merges
                n_merges += 1
            else:
                last = component
    return n_merges


@jit
def lay_out(children, sizes, leaves, first, split, stop, origin):
    """Order leaves from left to right and nodes in preorder; ``origin`` is the merge of each node."""
    n = len(leaves)
    for m in range(n - 1):
        sizes[m] = 0
        for side in range(2):
            c = children[m, side]
            sizes[m] += 1 if c < n else sizes[c - n]
    stack = np.empty(n, np.int64)
    stack[0], depth = 2 * n - 2, 1
    position, node = 0, 0
    while depth > 0:
        depth -= 1
        c = stack[depth]
        if c < n:
            leaves[position] = c
            position += 1
            continue
        left, right = children[c - n, 0], children[c - n, 1]
        first[node], stop[node] = position, position + sizes[c - n]
        split[node] = position + (1 if left < n else sizes[left - n])
        origin[node] = c - n
        node += 1
        stack[depth], stack[depth + 1] = right, left
        depth += 2


@jit
def fill_parents(first, split, stop, node_parents, leaf_parents):
    """Parent of each node (-1 for the root) and of each leaf."""
    node_parents[0] = -1
    for v in range(len(first)):
        left, right = split[v] - first[v], stop[v] - split[v]
        if left > 1:
            node_parents[v + 1] = v
        else:
            leaf_parents[first[v]] = v
        if right > 1:
            node_parents[v + left] = v
        else:
            leaf_parents[split[v]] = v


@jit
def largest_between(gaps, table, width, low, high, result):
    """Maximum of ``gaps[low:high]`` for each pair; ``table[k, b]`` is the maximum of 2^k blocks from b on."""
    for e in range(len(result)):
        a, b = low[e], high[e]
        best = -np.inf
        head, tail = -(-a // width), b // width
        if head < tail:
            k = 0
            while 2 << k <= tail - head:
                k += 1
            best = max(table[k, head], table[k, tail - (1 << k)])
            for p in range(a, head * width):
                best = max(best, gaps[p])
            for p in range(tail * width, b):
                best = max(best, gaps[p])
        else:
            for p in range(a, b):
                best = max(best, gaps[p])
        result[e] = best


@jit
def fill_rows(gaps, leaves, positions, items, rows, diagonal):
    """Height at which each item meets every point: the running maximum of the gaps between them."""
    n = len(leaves)
    for r in range(len(items)):
        position = positions[items[r]]
        rows[r, items[r]] = diagonal
        height = -np.inf
        for p in range(position + 1, n):
            height = max(height, gaps[p - 1])
            rows[r, leaves[p]] = height
        height = -np.inf
        for p in range(position - 1, -1, -1):
            height = max(height, gaps[p])
            rows[r, leaves[p]] = height


@jit
def mark_class_borders(edges, codes, borders):
    """Mark the edges of a forest, lowest first, that would merge clusters with different classes.

    Unknown classes are -1. Marked edges merge nothing, so that each cluster has one known class at most.
    """
    parent, size, known = np.arange(len(codes)), np.ones(len(codes), np.int64), codes.copy()
    for e in range(len(edges)):
        a, b = root_of(parent, edges[e, 0]), root_of(parent, edges[e, 1])
        if known[a] >= 0 and known[b] >= 0 and known[a] != known[b]:
            borders[e] = True
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        known[a] = max(known[a], known[b])
