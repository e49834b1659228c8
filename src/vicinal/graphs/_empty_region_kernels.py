"""Compiled search for the edges of empty-region graphs among points.

A pair (i, j) is an edge when no third point w lies in its open region. With p = w - i and q = w - j
every region of the family is a condition on p.q, |p|^2 and |q|^2 (`inside`). The search goes from
each point i down the k-d tree. A box is skipped if one witness w lies in the regions of i and every
position in the box; the remaining points are tested against the neighbours of both ends and finally
against the whole tree. The first two steps only save work; the last one decides.

Only differences of coordinates are used, so rounding errors are relative to the distances and not to
the position of the data. Bounds of boxes include a margin for rounding.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Witnesses that a point may collect during its search, beyond its nearest neighbours.
MAX_EXTRA_WITNESSES = 16
# Witnesses that are tested on all points of a leaf at once.
MAX_LEAF_WITNESSES = 12


@jit(allocates=False, no_cpython_wrapper=True)
def inside(a, b, d2, dot, beta):
    """Whether w is in the open region: a = |p|^2, b = |q|^2, d2 = |i - j|^2, dot = p.q."""
    if beta == 2.0:
        return a < d2 and b < d2
    if beta == 1.0:
        return dot < 0.0
    if beta > 1.0:
        return beta * dot < (beta - 1.0) * min(a, b)
    # The angle at w exceeds pi - arcsin(beta); the product of roots cannot overflow.
    return dot < -np.sqrt((1.0 - beta) * (1.0 + beta)) * (np.sqrt(a) * np.sqrt(b))


@jit(allocates=False, no_cpython_wrapper=True)
def blocks_edge(points, dims, i, j, w, d2, beta):
    """Whether point w lies in the region of points i and j."""
    a = b = dot = 0.0
    for c in range(len(dims) or points.shape[1]):
        p = points[w, c] - points[i, c]
        q = points[w, c] - points[j, c]
        a += p * p
        b += q * q
        dot += p * q
    return inside(a, b, d2, dot, beta)


@jit(allocates=False, no_cpython_wrapper=True)
def square_gap(points, dims, i, j):
    """Squared distance of points i and j."""
    total = 0.0
    for c in range(len(dims) or points.shape[1]):
        gap = points[i, c] - points[j, c]
        total += gap * gap
    return total


@jit(allocates=False, no_cpython_wrapper=True)
def box_distances(tree, dims, i, node):
    """Squared distances from point i to the nearest and to the farthest position in a box."""
    near = far = 0.0
    for c in range(len(dims) or tree.points.shape[1]):
        x = tree.points[i, c]
        below, above = tree.lower[node, c] - x, tree.upper[node, c] - x
        gap = max(max(below, -above), 0.0)
        reach = max(-below, above)
        near += gap * gap
        far += reach * reach
    return near, far


@jit(allocates=False, no_cpython_wrapper=True)
def box_is_blocked(tree, dims, i, node, near, far, w, a, beta, rounding):
    """Whether w lies in the regions of i and every position in the box (False is always safe).

    Let u be a position in the box and m the minimum of w.u, all relative to i. For 1 <= beta <= 2 the two
    balls of the lune require beta m > a and (beta - 1) |u|^2 + (2 - beta) m > a. Regions grow with beta,
    so 2 covers all larger values. Below 1 the blocked positions form a cone behind w.
    """
    points, lower, upper = tree.points, tree.lower, tree.upper
    slack = rounding * (a + far)
    min_product = 0.0
    away = 0.0
    for c in range(len(dims) or points.shape[1]):
        x = points[i, c]
        side = points[w, c] - x
        below, above = lower[node, c] - x, upper[node, c] - x
        min_product += min(side * below, side * above)
        if beta < 1.0:
            reach = max(side - below, above - side)
            away += reach * reach
    if beta < 1.0:
        tilt = np.sqrt((1.0 - beta) * (1.0 + beta))
        return min_product - a > tilt * np.sqrt(a) * np.sqrt(away) + slack
    capped = min(beta, 2.0)
    return (
        capped * min_product - a > slack
        and (capped - 1.0) * near + (2.0 - capped) * min_product - a > slack
    )


@jit(allocates=False, no_cpython_wrapper=True)
def box_depth(tree, dims, i, j, node, beta):
    """How deep a box reaches into the region of (i, j): negative if it may contain a blocker.

    In the region, |p|^2 < beta p.v holds from both ends (v points to the other end). The minimum of
    |p|^2 - beta p.v over a box is a sum of one term per coordinate.
    """
    points, lower, upper = tree.points, tree.lower, tree.upper
    stretch = max(beta, 1.0)
    from_i = from_j = 0.0
    for c in range(len(dims) or points.shape[1]):
        x, y = points[i, c], points[j, c]
        v = stretch * (y - x)
        low, high = lower[node, c], upper[node, c]
        p = min(max(0.5 * v, low - x), high - x)
        from_i += p * (p - v)
        if stretch > 1.0:
            q = min(max(-0.5 * v, low - y), high - y)
            from_j += q * (q + v)
    return max(from_i, from_j) if stretch > 1.0 else from_i


@jit(allocates=False, no_cpython_wrapper=True)
def find_blocker(tree, columns, dims, i, j, d2, beta, rounding, stack, scratch):
    """A point in the region of (i, j), or -1; boxes deepest in the region are visited first."""
    n_nodes = len(tree.bounds)
    limit = rounding * d2 * max(beta, 1.0) ** 2
    stack[0], size = 0, 1
    while size:
        size -= 1
        node = stack[size]
        left = 2 * node + 1
        if left < n_nodes:
            left_depth = box_depth(tree, dims, i, j, left, beta)
            right_depth = box_depth(tree, dims, i, j, left + 1, beta)
            first, second = (left, left + 1) if left_depth <= right_depth else (left + 1, left)
            if max(left_depth, right_depth) <= limit:
                stack[size] = second
                size += 1
            if min(left_depth, right_depth) <= limit:
                stack[size] = first
                size += 1
        else:
            first, last = tree.bounds[node]
            w = leaf_blocker(tree.points, columns, dims, i, j, first, last, d2, beta, scratch)
            if w >= 0:
                return w
    return -1


@jit(allocates=False, no_cpython_wrapper=True)
def leaf_blocker(points, columns, dims, i, j, first, last, d2, beta, scratch):
    """The first of the points first ... last - 1 in the region of (i, j), or -1.

    Written coordinate by coordinate like `filter_leaf`.
    """
    m = last - first
    a, b, dot = scratch[0, :m], scratch[1, :m], scratch[2, :m]
    a[:] = 0.0
    b[:] = 0.0
    dot[:] = 0.0
    for c in range(len(dims) or points.shape[1]):
        x, y, column = points[i, c], points[j, c], columns[c, first:last]
        if beta != 1.0:
            for w in range(m):
                p, q = column[w] - x, column[w] - y
                a[w] += p * p
                b[w] += q * q
        if beta != 2.0:
            for w in range(m):
                dot[w] += (column[w] - x) * (column[w] - y)
    for w in range(m):
        if inside(a[w], b[w], d2, dot[w], beta):
            return first + w
    return -1


@jit(allocates=False, no_cpython_wrapper=True)
def blocked_by_one(tree, dims, i, node, witness, square, n_witnesses, beta, rounding):
    """Whether a single witness blocks the box; that witness is then moved to the front."""
    closest, farthest = box_distances(tree, dims, i, node)
    for c in range(n_witnesses):
        # A blocker is nearer to i than what it blocks.
        if square[c] < closest and box_is_blocked(
            tree, dims, i, node, closest, farthest, witness[c], square[c], beta, rounding
        ):
            # Points that one witness blocks are close together: test the same one first next time.
            witness[0], witness[c] = witness[c], witness[0]
            square[0], square[c] = square[c], square[0]
            return True
    return False


@jit(allocates=False, no_cpython_wrapper=True)
def filter_leaf(points, columns, dims, i, first, m, witness, square, beta, scratch, is_candidate):
    """Mark in ``is_candidate`` the points first ... first + m - 1 that no witness blocks; whether any remain.

    One witness is tested on all points at once, coordinate by coordinate, which the compiler
    vectorises; the sums of each point are still in the order of the coordinates.
    Squared distances from i are stored in ``scratch[0]``.
    """
    d2, away, dot = scratch[0], scratch[1], scratch[2]
    d2[:m] = 0.0
    for c in range(len(dims) or points.shape[1]):
        x, column = points[i, c], columns[c, first : first + m]
        for j in range(m):
            gap = x - column[j]
            d2[j] += gap * gap
    is_candidate[:m] = 1
    for v in range(len(witness)):
        w, a = witness[v], square[v]
        away[:m] = 0.0
        dot[:m] = 0.0
        for c in range(len(dims) or points.shape[1]):
            x, column = points[w, c], columns[c, first : first + m]
            p = x - points[i, c]
            if beta != 1.0:
                for j in range(m):
                    q = x - column[j]
                    away[j] += q * q
            if beta != 2.0:
                for j in range(m):
                    dot[j] += p * (x - column[j])
        n_candidates = 0
        for j in range(m):
            is_candidate[j] &= not inside(a, away[j], d2[j], dot[j], beta)
            n_candidates += is_candidate[j]
        if n_candidates == 0:
            return False
    return True


@jit(allocates=False, no_cpython_wrapper=True)
def any_blocks(points, dims, i, j, candidates, d2, beta):
    for c in range(len(candidates)):  # noqa: SIM110 (numba has no any() of a generator)
        if blocks_edge(points, dims, i, j, candidates[c], d2, beta):
            return True
    return False


@jit
def edges_from(tree, columns, dims, near, start, stop, beta):
    """Edges (i, j), i < j, of tree positions start ... stop - 1, and their squared lengths.

    ``near`` holds the positions of some neighbours of every point, nearest first; ``columns`` is the
    transpose of the tree's points.
    """
    points, bounds = tree.points, tree.bounds
    n_nodes, k = len(bounds), near.shape[1]
    rounding = 1e-15 * (points.shape[1] + 16)
    stack, other_stack = np.empty(128, np.int64), np.empty(128, np.int64)
    witness, square = np.empty(k + MAX_EXTRA_WITNESSES, np.int64), np.empty(k + MAX_EXTRA_WITNESSES)
    width = (
        bounds[0, 1]
        if n_nodes == 1
        else np.max(bounds[n_nodes // 2 :, 1] - bounds[n_nodes // 2 :, 0])
    )
    scratch, other_scratch = np.empty((3, width)), np.empty((3, width))
    is_candidate = np.empty(width, np.int64)
    pairs, squares, n_edges = np.empty((1024, 2), np.int64), np.empty(1024), 0
    for i in range(start, stop):
        n_witnesses = k
        for c in range(k):
            witness[c] = near[i, c]
            square[c] = square_gap(points, dims, i, near[i, c])
        stack[0], size = 0, 1
        while size:
            size -= 1
            node = stack[size]
            if bounds[node, 1] <= i + 1 or blocked_by_one(
                tree, dims, i, node, witness, square, n_witnesses, beta, rounding
            ):
                continue
            left = 2 * node + 1
            if left < n_nodes:
                left_gap = box_distances(tree, dims, i, left)[0]
                right_gap = box_distances(tree, dims, i, left + 1)[0]
                stack[size], stack[size + 1] = (
                    (left + 1, left) if left_gap <= right_gap else (left, left + 1)
                )
                size += 2
                continue
            first = max(bounds[node, 0], i + 1)
            m = bounds[node, 1] - first
            n_tested = min(n_witnesses, MAX_LEAF_WITNESSES)
            if not filter_leaf(
                points,
                columns,
                dims,
                i,
                first,
                m,
                witness[:n_tested],
                square,
                beta,
                scratch,
                is_candidate,
            ):
                continue
            for at in range(m):
                if not is_candidate[at]:
                    continue
                j, d2 = first + at, scratch[0, at]
                if any_blocks(
                    points, dims, i, j, witness[n_tested:n_witnesses], d2, beta
                ) or any_blocks(points, dims, i, j, near[j], d2, beta):
                    continue
                w = find_blocker(
                    tree, columns, dims, i, j, d2, beta, rounding, other_stack, other_scratch
                )
                n_witnesses = min(n_witnesses + 1, len(witness))
                witness[n_witnesses - 1] = j if w < 0 else w
                square[n_witnesses - 1] = square_gap(points, dims, i, witness[n_witnesses - 1])
                if w < 0:
                    if n_edges == len(squares):
                        pairs = np.concatenate((pairs, np.empty_like(pairs)))
                        squares = np.concatenate((squares, np.empty_like(squares)))
                    pairs[n_edges, 0], pairs[n_edges, 1] = i, j
                    squares[n_edges] = d2
                    n_edges += 1
    return pairs[:n_edges].copy(), squares[:n_edges].copy()
