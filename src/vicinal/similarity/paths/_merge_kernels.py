"""Merge trees: joining edges in order, laying nodes out, and walks between leaves and root.

Nodes stand in preorder and leaves from left to right, so that the leaves below a node are a range and its
children need no table: of node v over the leaves ``first[v] <= p < stop[v]``, cut at ``split[v]``, the left
child is node v + 1 and the right one is node ``v + split[v] - first[v]``, unless they are single leaves.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def root_of(parent, node):
    """Root of a node, halving the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@jit
def join_in_order(edges, order, children, used):
    """Join the ends of edges in the given order (Kruskal); the number of joins.

    ``children[m]`` are the two clusters of join m (n + m is its number, below n are points), the one with
    the smaller point first, ``used[m]`` its edge. Edges within a cluster are passed over.
    """
    n = len(children) + 1
    parent, cluster, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    smallest = np.arange(n)
    done = 0
    for e in order:
        a, b = root_of(parent, edges[e, 0]), root_of(parent, edges[e, 1])
        if a == b:
            continue
        if smallest[a] > smallest[b]:
            a, b = b, a
        children[done, 0], children[done, 1] = cluster[a], cluster[b]
        used[done] = e
        least = smallest[a]
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        smallest[a] = least
        cluster[a] = n + done
        done += 1
    # Pieces that no edge joins, in the order of their first points.
    last = -1
    for i in range(n):
        if smallest[root_of(parent, i)] == i:
            here = cluster[root_of(parent, i)]
            if last >= 0:
                children[done, 0], children[done, 1] = last, here
                used[done] = -1
                last = n + done
                done += 1
            else:
                last = here
    return done


@jit
def lay_out(children, sizes, leaves, first, split, stop, origin):
    """Leaves from left to right and nodes in preorder; ``origin`` is the join that each node was."""
    n = len(leaves)
    for m in range(n - 1):
        sizes[m] = 0
        for side in range(2):
            c = children[m, side]
            sizes[m] += 1 if c < n else sizes[c - n]
    waiting = np.empty(n, np.int64)
    waiting[0], depth = 2 * n - 2, 1
    place, node = 0, 0
    while depth > 0:
        depth -= 1
        c = waiting[depth]
        if c < n:
            leaves[place] = c
            place += 1
            continue
        left, right = children[c - n, 0], children[c - n, 1]
        first[node], stop[node] = place, place + sizes[c - n]
        split[node] = place + (1 if left < n else sizes[left - n])
        origin[node] = c - n
        node += 1
        waiting[depth], waiting[depth + 1] = right, left
        depth += 2


@jit
def fill_parents(first, split, stop, node_parents, leaf_parents):
    """Parent of each node (that of the root is -1) and of each leaf."""
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
def largest_between(gaps, table, width, low, high, found):
    """Largest of ``gaps[low:high]`` for each pair; ``table[k, b]`` is that of 2^k blocks from b on."""
    for e in range(len(found)):
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
        found[e] = best


@jit
def fill_rows(gaps, leaves, places, items, rows, own):
    """Height at which each item meets every point: the running maximum of gaps on the way to it."""
    n = len(leaves)
    for r in range(len(items)):
        place = places[items[r]]
        rows[r, items[r]] = own
        height = -np.inf
        for p in range(place + 1, n):
            height = max(height, gaps[p - 1])
            rows[r, leaves[p]] = height
        height = -np.inf
        for p in range(place - 1, -1, -1):
            height = max(height, gaps[p])
            rows[r, leaves[p]] = height


@jit
def climb(heights, node_parents, leaf_parents, places, limits, found):
    """The highest node above each leaf whose height is at most a limit; -1 if there is none."""
    for e in range(len(places)):
        node, found[e] = leaf_parents[places[e]], -1
        while node >= 0 and heights[node] <= limits[e]:
            found[e] = node
            node = node_parents[node]
