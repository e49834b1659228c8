"""Kernels of valleys: the walk between two groups of nodes, and the valley of its coordinate."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit(allocates=False)
def nodes_near_border(
    indptr, indices, group, a, b, members, sizes, power, limits, index, nodes, counts
):
    """Store the nodes of groups a and b near their border in ``nodes``; returns their number and the steps.

    ``members`` are the nodes of the smaller group. The walk takes as many steps as the border is long:
    L^(d-1) nodes have a border of length L, and L^2 steps reach as far. Nodes within the root of twice the
    steps are collected, and farther ones until each side has enough. ``index`` is -1 everywhere, and is again
    after `walk_across`.
    """
    n = 0
    counts[0] = counts[1] = 0
    for i in members:
        other = b if group[i] == a else a
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if group[j] != other:
                continue
            if index[i] < 0:
                index[i] = n
                nodes[n] = i
                n += 1
                counts[0 if group[i] == a else 1] += 1
            if index[j] < 0:
                index[j] = n
                nodes[n] = j
                n += 1
                counts[0 if other == a else 1] += 1
    min_steps, max_steps, min_side = limits
    length = float(min(counts[0], counts[1])) ** power
    steps = max(min_steps, int(min(length, max_steps)))
    hops = int(np.sqrt(2.0 * steps))
    head, hop, end = 0, 0, n
    while head < n:
        if head == end:
            hop, end = hop + 1, n
        i = nodes[head]
        head += 1
        side = 0 if group[i] == a else 1
        if hop >= hops and counts[side] >= min_side:
            continue
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if index[j] < 0 and group[j] == group[i]:
                index[j] = n
                nodes[n] = j
                n += 1
                counts[side] += 1
    return n, steps


@jit(allocates=False, error_model="numpy")
def walk_across(indptr, indices, weights, group, a, b, n, sizes, steps, rounds, arrays):
    """Where a walk inside groups a (-1) and b (+1) ends on average, from each of the n collected nodes.

    Nodes that were not collected keep their side. After each round the sides are those of the walk, which
    smooths the border. The walk stops when its mean distance from the middle is less than a half. The result
    is in the first of the arrays; ``index`` is reset to -1.
    """
    u, v, constant, starts, targets, shares, index, nodes = arrays
    k = 0
    starts[0] = 0
    for x in range(n):
        i = nodes[x]
        total, first = 0.0, k
        u[x] = -1.0 if group[i] == a else 1.0
        constant[x] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if group[j] != a and group[j] != b:
                continue
            total += weights[e]
            if index[j] >= 0:
                targets[k] = index[j]
                shares[k] = weights[e]
                k += 1
            else:
                constant[x] += -weights[e] if group[j] == a else weights[e]
        starts[x + 1] = k
        if total > 0.0:
            constant[x] /= total
            for e in range(first, k):
                shares[e] /= total
    for x in range(n):
        index[nodes[x]] = -1
    size = sizes[0] + sizes[1]
    for round_ in range(rounds):
        if round_ > 0:
            for x in range(n):
                u[x] = 1.0 if u[x] > 0 else -1.0
        for _ in range(steps):
            total = float(size - n)
            for x in range(n):
                mean = constant[x]
                for e in range(starts[x], starts[x + 1]):
                    mean += shares[e] * u[targets[e]]
                v[x] = mean
                total += abs(mean)
            for x in range(n):
                u[x] = v[x]
            if total < 0.5 * size:
                break


@jit(allocates=False, error_model="numpy")
def deepest_valley(values, min_window, depth, densities, right):
    """Depth of the deepest valley of sorted values, in standard errors, beyond ``depth`` and beyond chance.

    Among windows of m of n values, the log density of m / width has a standard error of the root of 1 / m,
    that of a difference the root of 2 / m, and the largest of n / m independent ones is near the root of
    2 log(n / m). ``densities`` and ``right`` are scratch.
    """
    n = values.shape[0]
    best, m = -np.inf, min_window
    while 3 * m <= n:
        q = n - m
        for i in range(q):
            densities[i] = -np.log(values[i + m] - values[i] + 1e-300)
        highest = -np.inf
        for i in range(q - 1, -1, -1):
            highest = max(highest, densities[i])
            right[i] = highest
        highest = -np.inf
        chance = 2.0 * np.sqrt(np.log(2.718281828459045 * n / m))
        for i in range(m, q - m):
            highest = max(highest, densities[i - m])
            fall = min(highest, right[i + m]) - densities[i] - depth
            best = max(best, np.sqrt(0.5 * m) * fall - chance)
        m = max(m + 1, int(m * 1.4142135623730951))
    return best
