"""Kernels of shortest paths: Dijkstra's algorithm from one source, and from a patch of sources at once.

Nodes of the heap have four children, whose keys are adjacent in memory. The heap consists of three arrays:
the keys, their nodes, and the position of each node in the heap, -1 if it is not in it.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Size of an empty heap. Sizes and nodes are passed to the heap as 64 bits, because it would be compiled again
# for a constant 0 and for 32 bits.
EMPTY = np.int64(0)


@jit
def _empty_heap(n):
    position = np.empty(n, np.int32)
    for i in range(n):
        position[i] = -1
    return np.empty(n), np.empty(n, np.int32), position


@jit
def _push(heap_keys, heap_nodes, position, size, node, key):
    """Insert a node, or decrease its key; returns the new size."""
    p = position[node]
    if p < 0:
        p = size
        size += 1
    while p > 0:
        parent = (p - 1) >> 2
        if heap_keys[parent] <= key:
            break
        heap_keys[p] = heap_keys[parent]
        heap_nodes[p] = heap_nodes[parent]
        position[heap_nodes[p]] = p
        p = parent
    heap_keys[p] = key
    heap_nodes[p] = node
    position[node] = p
    return size


@jit
def _pop(heap_keys, heap_nodes, position, size):
    """Remove the node with the smallest key from a heap of ``size`` nodes."""
    top = heap_nodes[0]
    position[top] = -1
    size -= 1
    if size == 0:
        return top
    key, last = heap_keys[size], heap_nodes[size]
    p = 0
    while True:
        best = 4 * p + 1
        if best >= size:
            break
        smallest = heap_keys[best]
        for child in range(best + 1, min(best + 4, size)):
            if heap_keys[child] < smallest:
                best, smallest = child, heap_keys[child]
        if smallest >= key:
            break
        heap_keys[p] = smallest
        heap_nodes[p] = heap_nodes[best]
        position[heap_nodes[p]] = p
        p = best
    heap_keys[p] = key
    heap_nodes[p] = last
    position[last] = p
    return top


@jit
def _relax(indptr, indices, lengths, node, near, heap_keys, heap_nodes, position, size):
    """Update the path lengths of the neighbours of a node; returns the new size."""
    here = near[node]
    for e in range(indptr[node], indptr[node + 1]):
        other = indices[e]
        through = here + lengths[e]
        if through < near[other]:
            near[other] = through
            size = _push(heap_keys, heap_nodes, position, size, np.int64(other), through)
    return size


@jit
def from_each(indptr, indices, lengths, sources, original_nodes, start, stop, paths):
    """Compute rows ``start`` to ``stop`` of the path lengths, one source at a time."""
    n = len(indptr) - 1
    near = np.empty(n)
    heap_keys, heap_nodes, position = _empty_heap(n)
    for row in range(start, stop):
        near[:] = np.inf
        near[sources[row]] = 0.0
        size = _push(heap_keys, heap_nodes, position, EMPTY, np.int64(sources[row]), 0.0)
        while size > 0:
            node = _pop(heap_keys, heap_nodes, position, size)
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, position, size - 1
            )
        for node in range(n):
            paths[row, original_nodes[node]] = near[node]


@jit
def from_patch(indptr, indices, lengths, sources, original_nodes, rows, paths):
    """Compute paths from sources that are close together, as lanes of one search.

    The key of a node is the smallest length that it has not passed on to its neighbours yet. That length is
    final, as in Dijkstra's algorithm, so there are at most as many pops as in separate searches. If the
    sources are close, the lengths of all lanes become final almost at the same time, and there are few more
    pops than for one lane. The result is the same: rounding is monotone, so the smallest sum over all paths
    does not depend on the order in which they are tried.
    """
    n, n_lanes = len(indptr) - 1, len(sources)
    near, waiting = np.empty((n, n_lanes)), np.empty(n)
    for node in range(n):
        waiting[node] = np.inf
        for lane in range(n_lanes):
            near[node, lane] = np.inf
    heap_keys, heap_nodes, position = _empty_heap(n)
    size = EMPTY
    for lane in range(n_lanes):
        near[sources[lane], lane] = waiting[sources[lane]] = 0.0
        size = _push(heap_keys, heap_nodes, position, size, np.int64(sources[lane]), 0.0)
    while size > 0:
        node = _pop(heap_keys, heap_nodes, position, size)
        size -= 1
        waiting[node] = np.inf
        here = near[node]
        for e in range(indptr[node], indptr[node + 1]):
            other, length = indices[e], lengths[e]
            there = near[other]
            n_shorter = 0
            # The number of lanes must not be a constant: the compiler would unroll the loop and then fail
            # to vectorise it.
            for lane in range(len(here)):
                n_shorter += np.int64(here[lane] + length < there[lane])
            if n_shorter == 0:
                continue
            key = waiting[other]
            for lane in range(len(here)):
                through = here[lane] + length
                if through < there[lane]:
                    there[lane] = through
                    key = min(key, through)
            if key < waiting[other]:
                waiting[other] = key
                size = _push(heap_keys, heap_nodes, position, size, np.int64(other), key)
    for lane in range(n_lanes):
        for node in range(n):
            paths[rows[lane], original_nodes[node]] = near[node, lane]


@jit
def nearby_order(indptr, indices, lengths, patch):
    """Order nodes in patches: a node, then the nearest ones that are not in a patch yet.

    Each patch starts next to an earlier one, so that few nodes are left between patches. These form smaller
    patches, because the search is limited to a number of steps.
    """
    n = len(indptr) - 1
    order, taken, near = np.empty(n, np.int64), np.empty(n, np.bool_), np.empty(n)
    for node in range(n):
        taken[node], near[node] = False, np.inf
    heap_keys, heap_nodes, position = _empty_heap(n)
    filled = rim = first_free = np.int64(0)
    while filled < n:
        while taken[first_free]:
            first_free += 1
        seed, rim = _free_neighbor(indptr, indices, order, taken, rim, filled)
        if seed < 0:
            seed = first_free
        near[seed] = 0.0
        size = _push(heap_keys, heap_nodes, position, EMPTY, np.int64(seed), 0.0)
        visited = np.empty(16 * patch, np.int64)
        target, n_steps = min(filled + patch, n), 0
        while size > 0 and filled < target and n_steps < len(visited):
            node = _pop(heap_keys, heap_nodes, position, size)
            visited[n_steps] = node
            n_steps += 1
            if not taken[node]:
                taken[node] = True
                order[filled] = node
                filled += 1
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, position, size - 1
            )
        for p in range(n_steps):
            near[visited[p]] = np.inf
        for p in range(size):
            near[heap_nodes[p]] = np.inf
            position[heap_nodes[p]] = -1
    return order


@jit
def _free_neighbor(indptr, indices, order, taken, rim, filled):
    """A neighbour of a patch that is in no patch, or -1; ``rim`` is the first node that may have one."""
    while rim < filled:
        for e in range(indptr[order[rim]], indptr[order[rim] + 1]):
            if not taken[indices[e]]:
                return indices[e], rim
        rim += 1
    return -1, rim


@jit
def spread_landmarks(indptr, indices, lengths, landmarks):
    """Farthest-point sampling: each landmark is the node farthest from all previous ones.

    The search from a landmark only visits nodes to which it is the nearest one, so that all searches
    together cost about as much as a few full ones.
    """
    n = len(indptr) - 1
    near = np.empty(n)
    near[:] = np.inf
    heap_keys, heap_nodes, position = _empty_heap(n)
    landmark = 0
    for chosen in range(-1, len(landmarks)):
        if chosen >= 0:
            landmark = np.argmax(near)
            landmarks[chosen] = landmark
        if chosen == 0:
            # Node 0 only serves to find the first landmark.
            near[:] = np.inf
        near[landmark] = 0.0
        size = _push(heap_keys, heap_nodes, position, EMPTY, np.int64(landmark), 0.0)
        while size > 0:
            node = _pop(heap_keys, heap_nodes, position, size)
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, position, size - 1
            )
        # Not selected again, even if all other nodes are at distance 0.
        near[landmark] = -1.0


@jit
def symmetrize_paths(paths, start, stop, columns):
    """Replace d(i, j) and d(j, i), which may differ by rounding, by the smaller one."""
    for i in range(start, stop):
        for j in range(max(i + 1, columns[0]), columns[1]):
            if paths[i, j] < paths[j, i]:
                paths[j, i] = paths[i, j]
            else:
                paths[i, j] = paths[j, i]
