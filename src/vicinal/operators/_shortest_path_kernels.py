"""Kernels of shortest paths: Dijkstra's algorithm from one source, and from a patch of sources at once.

The heap has four children a node, whose keys lie side by side in memory. It consists of three arrays:
the keys, the nodes they belong to, and by node its place in the heap, -1 if it is not there.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def _empty_heap(n):
    return np.empty(n), np.empty(n, np.int32), np.full(n, -1, np.int32)


@jit
def _push(heap_keys, heap_nodes, place, size, node, key):
    """Put a node in, or move it up to its decreased key; returns the new size."""
    p = place[node]
    if p < 0:
        p = size
        size += 1
    while p > 0:
        parent = (p - 1) >> 2
        if heap_keys[parent] <= key:
            break
        heap_keys[p] = heap_keys[parent]
        heap_nodes[p] = heap_nodes[parent]
        place[heap_nodes[p]] = p
        p = parent
    heap_keys[p] = key
    heap_nodes[p] = node
    place[node] = p
    return size


@jit
def _pop(heap_keys, heap_nodes, place, size):
    """Take the node of smallest key out of a heap of ``size`` nodes."""
    top = heap_nodes[0]
    place[top] = -1
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
        place[heap_nodes[p]] = p
        p = best
    heap_keys[p] = key
    heap_nodes[p] = last
    place[last] = p
    return top


@jit
def _relax(indptr, indices, lengths, node, near, heap_keys, heap_nodes, place, size):
    """Pass the length of the way to a node on to its neighbours; returns the new size."""
    here = near[node]
    for e in range(indptr[node], indptr[node + 1]):
        other = indices[e]
        through = here + lengths[e]
        if through < near[other]:
            near[other] = through
            size = _push(heap_keys, heap_nodes, place, size, other, through)
    return size


@jit
def from_each(indptr, indices, lengths, sources, names, start, stop, paths):
    """Rows ``start`` to ``stop`` of the paths, one source after the other."""
    n = len(indptr) - 1
    near = np.empty(n)
    heap_keys, heap_nodes, place = _empty_heap(n)
    for row in range(start, stop):
        near[:] = np.inf
        near[sources[row]] = 0.0
        size = _push(heap_keys, heap_nodes, place, 0, sources[row], 0.0)
        while size > 0:
            node = _pop(heap_keys, heap_nodes, place, size)
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, place, size - 1
            )
        for node in range(n):
            paths[row, names[node]] = near[node]


@jit
def from_patch(indptr, indices, lengths, sources, names, rows, paths):
    """Paths from sources that lie close together, as lanes of one search.

    A node is popped by the smallest length that it has not passed on yet. That length is final, as in
    Dijkstra's algorithm, so no more pops are needed than by the lanes one by one; and where the sources
    are close, the lengths of all lanes are final at almost the same time, and hardly more pops are
    needed than by one lane. The result is the same: rounding keeps order, so the smallest sum over all
    paths does not depend on the order in which they are tried.
    """
    n, n_lanes = len(indptr) - 1, len(sources)
    near = np.full((n, n_lanes), np.inf)
    waiting = np.full(n, np.inf)
    heap_keys, heap_nodes, place = _empty_heap(n)
    size = 0
    for lane in range(n_lanes):
        near[sources[lane], lane] = waiting[sources[lane]] = 0.0
        size = _push(heap_keys, heap_nodes, place, size, sources[lane], 0.0)
    while size > 0:
        node = _pop(heap_keys, heap_nodes, place, size)
        size -= 1
        waiting[node] = np.inf
        here = near[node]
        for e in range(indptr[node], indptr[node + 1]):
            other, length = indices[e], lengths[e]
            there = near[other]
            n_shorter = 0
            # The number of lanes is no constant here: the compiler would unroll the loop and then
            # fail to use vector instructions.
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
                size = _push(heap_keys, heap_nodes, place, size, other, key)
    for lane in range(n_lanes):
        for node in range(n):
            paths[rows[lane], names[node]] = near[node, lane]


@jit
def nearby_order(indptr, indices, lengths, patch):
    """Nodes in patches: a node, then the nearest ones that are in no patch yet.

    Patches grow side by side, so that few nodes are left over between them; those become smaller
    patches, as the search for company ends after some steps.
    """
    n = len(indptr) - 1
    order, taken = np.empty(n, np.int64), np.zeros(n, np.bool_)
    near = np.full(n, np.inf)
    heap_keys, heap_nodes, place = _empty_heap(n)
    filled = rim = first_free = 0
    while filled < n:
        while taken[first_free]:
            first_free += 1
        seed, rim = _free_neighbor(indptr, indices, order, taken, rim, filled)
        if seed < 0:
            seed = first_free
        near[seed] = 0.0
        size = _push(heap_keys, heap_nodes, place, 0, seed, 0.0)
        passed = np.empty(16 * patch, np.int64)
        enough, n_steps = min(filled + patch, n), 0
        while size > 0 and filled < enough and n_steps < len(passed):
            node = _pop(heap_keys, heap_nodes, place, size)
            passed[n_steps] = node
            n_steps += 1
            if not taken[node]:
                taken[node] = True
                order[filled] = node
                filled += 1
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, place, size - 1
            )
        for p in range(n_steps):
            near[passed[p]] = np.inf
        for p in range(size):
            near[heap_nodes[p]] = np.inf
            place[heap_nodes[p]] = -1
    return order


@jit
def _free_neighbor(indptr, indices, order, taken, rim, filled):
    """A node in no patch beside one that is, or -1; ``rim`` is the first that may have one."""
    while rim < filled:
        for e in range(indptr[order[rim]], indptr[order[rim] + 1]):
            if not taken[indices[e]]:
                return indices[e], rim
        rim += 1
    return -1, rim


@jit
def spread_landmarks(indptr, indices, lengths, landmarks):
    """Fill ``landmarks`` with nodes, each the farthest from those before it, by shortest paths.

    A search from a new landmark goes only as far as it is the nearest one, so all of them together
    cost about as much as a few full searches.
    """
    n = len(indptr) - 1
    near = np.full(n, np.inf)
    heap_keys, heap_nodes, place = _empty_heap(n)
    landmark = 0
    for chosen in range(-1, len(landmarks)):
        if chosen >= 0:
            landmark = np.argmax(near)
            landmarks[chosen] = landmark
        if chosen == 0:
            # Node 0 has only shown where the rim is.
            near[:] = np.inf
        near[landmark] = 0.0
        size = _push(heap_keys, heap_nodes, place, 0, landmark, 0.0)
        while size > 0:
            node = _pop(heap_keys, heap_nodes, place, size)
            size = _relax(
                indptr, indices, lengths, node, near, heap_keys, heap_nodes, place, size - 1
            )
        # A landmark is not chosen again, even if the others are its duplicates, at distance 0 too.
        near[landmark] = -1.0


@jit
def shorter_way(paths, start, stop, columns):
    """Both triangles hold the smaller of two sums that differ by the order of rounding."""
    for i in range(start, stop):
        for j in range(max(i + 1, columns[0]), columns[1]):
            if paths[i, j] < paths[j, i]:
                paths[j, i] = paths[i, j]
            else:
                paths[i, j] = paths[j, i]
