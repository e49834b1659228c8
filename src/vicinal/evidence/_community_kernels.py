"""Kernel of Louvain communities: moving nodes between communities."""

from __future__ import annotations

from vicinal._core.jit import jit


@jit(allocates=False, error_model="numpy")
def move_nodes(indptr, indices, weights, degrees, community, queue, scratch, max_passes):
    """Move nodes to the neighbouring community with the largest gain in modularity until no move gains.

    Nodes are visited in the order of the ``queue``, which is overwritten. Only nodes whose neighbourhood
    changed are visited again. ``scratch`` are two vectors of floats, one of integers and one of bools:
    a kernel that allocates takes longer to compile. Returns the number of moves.
    """
    n = len(degrees)
    sums, to, seen, waiting = scratch
    for i in range(n):
        sums[i] = to[i] = 0.0
        waiting[i] = True
    total = 0.0
    for i in range(n):
        sums[community[i]] += degrees[i]
        total += degrees[i]
    head, size, moves = 0, n, 0
    budget = max_passes * n
    while size > 0 and budget > 0:
        budget -= 1
        i = queue[head]
        head = (head + 1) % n
        size -= 1
        waiting[i] = False
        current = community[i]
        n_seen = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j == i:
                continue
            c = community[j]
            if to[c] == 0.0:
                seen[n_seen] = c
                n_seen += 1
            to[c] += weights[e]
        sums[current] -= degrees[i]
        best, best_gain = current, to[current] - degrees[i] * sums[current] / total
        for s in range(n_seen):
            c = seen[s]
            gain = to[c] - degrees[i] * sums[c] / total
            if gain > best_gain * (1 + 1e-12) + 1e-12:
                best, best_gain = c, gain
        for s in range(n_seen):
            to[seen[s]] = 0.0
        sums[best] += degrees[i]
        if best == current:
            continue
        community[i] = best
        moves += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if not waiting[j] and community[j] != best:
                waiting[j] = True
                queue[(head + size) % n] = j
                size += 1
    return moves
