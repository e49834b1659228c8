"""Products, solutions and eigenvalue counts for an ultrametric matrix, by passes up and down a tree.

The matrix is a sum over the nodes of the tree: ``drops[v]`` times a block of ones for the leaves below node
v, and ``leaf_drops[p]`` on the diagonal. Nodes are in preorder (`vicinal.similarity.paths._merge_kernels`).
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Replaces pivots near 0; large enough that the product of two inverses does not overflow.
MIN_PIVOT = 1e-60


@jit
def sum_nodes(first, split, stop, X, sums):
    """Sum of the rows of X below each node."""
    n, q = X.shape
    for v in range(n - 2, -1, -1):
        left, right = split[v] - first[v], stop[v] - split[v]
        for c in range(q):
            total = X[first[v], c] if left == 1 else sums[v + 1, c]
            total += X[split[v], c] if right == 1 else sums[v + left, c]
            sums[v, c] = total


@jit
def add_down(first, split, stop, drops, sums, added):
    """Contribution of each node and its ancestors to the product at its leaves; may be ``sums`` itself."""
    n, q = len(first) + 1, sums.shape[1]
    for c in range(q):
        added[0, c] = sums[0, c] * drops[0]
    for v in range(n - 1):
        left, right = split[v] - first[v], stop[v] - split[v]
        if left > 1:
            for c in range(q):
                added[v + 1, c] = added[v, c] + drops[v + 1] * sums[v + 1, c]
        if right > 1:
            for c in range(q):
                added[v + left, c] = added[v, c] + drops[v + left] * sums[v + left, c]


@jit(allocates=False)
def multiply(first, split, stop, drops, leaf_drops, X, sums, out):
    """Product of the matrix with the columns of X, in leaf order; ``sums`` is scratch, a row per node."""
    n, q = X.shape
    for v in range(n - 2, -1, -1):
        a, m, b = first[v], split[v], stop[v]
        for c in range(q):
            total = X[a, c] if m - a == 1 else sums[v + 1, c]
            sums[v, c] = total + (X[m, c] if b - m == 1 else sums[v + m - a, c])
    for c in range(q):
        sums[0, c] *= drops[0]
    for v in range(n - 1):
        for side in range(2):
            if side == 0:
                p, w, size = first[v], v + 1, split[v] - first[v]
            else:
                p, w, size = split[v], v + split[v] - first[v], stop[v] - split[v]
            if size == 1:
                for c in range(q):
                    out[p, c] = sums[v, c] + leaf_drops[p] * X[p, c]
            else:
                for c in range(q):
                    sums[w, c] = sums[v, c] + drops[w] * sums[w, c]


@jit(allocates=False, error_model="numpy")
def factor(first, split, stop, drops, leaf_drops, diagonal, shift, pivots, grown):
    """Factorise shift * diagonal - matrix; returns the number of its negative eigenvalues.

    Without the contributions of ancestors, the matrix below a node is block diagonal, plus a rank-one update
    by the node. ``grown[v]`` is the sum of all entries of the inverse after the update, and ``pivots[v]`` the
    factor of the determinant, whose sign counts negative eigenvalues (Sylvester's law of inertia).
    """
    n = diagonal.shape[0]
    n_negative = 0
    for v in range(n - 2, -1, -1):
        left, right = split[v] - first[v], stop[v] - split[v]
        total = 0.0
        for side in range(2):
            if (left if side == 0 else right) > 1:
                total += grown[v + 1 if side == 0 else v + left]
                continue
            p = first[v] if side == 0 else split[v]
            entry = shift * diagonal[p] - leaf_drops[p]
            if -MIN_PIVOT < entry < MIN_PIVOT:
                entry = MIN_PIVOT
            n_negative += entry < 0
            total += 1.0 / entry
        pivot = 1.0 - drops[v] * total
        if -MIN_PIVOT < pivot < MIN_PIVOT:
            pivot = MIN_PIVOT
        n_negative += pivot < 0
        pivots[v] = pivot
        grown[v] = total / pivot
    return n_negative


@jit(error_model="numpy")
def solve(first, split, stop, drops, leaf_drops, diagonal, shift, pivots, grown, B, out):
    """Solve (shift * diagonal - matrix) x = b for the columns of B, given the factorisation."""
    n, q = B.shape
    sums = np.empty(n - 1)
    for c in range(q):
        for v in range(n - 2, -1, -1):
            total = 0.0
            for side in range(2):
                if side == 0:
                    p, w, size = first[v], v + 1, split[v] - first[v]
                else:
                    p, w, size = split[v], v + split[v] - first[v], stop[v] - split[v]
                if size > 1:
                    total += sums[w]
                    continue
                entry = shift * diagonal[p] - leaf_drops[p]
                if -MIN_PIVOT < entry < MIN_PIVOT:
                    entry = MIN_PIVOT
                total += B[p, c] / entry
            sums[v] = total / pivots[v]
        # From here on, the sums are added to the right-hand sides of the leaves below.
        sums[0] *= drops[0]
        for v in range(n - 1):
            added = sums[v]
            for side in range(2):
                if side == 0:
                    p, w, size = first[v], v + 1, split[v] - first[v]
                else:
                    p, w, size = split[v], v + split[v] - first[v], stop[v] - split[v]
                if size > 1:
                    sums[w] = added + drops[w] * (sums[w] + added * grown[w])
                    continue
                entry = shift * diagonal[p] - leaf_drops[p]
                if -MIN_PIVOT < entry < MIN_PIVOT:
                    entry = MIN_PIVOT
                out[p, c] = (B[p, c] + added) / entry


@jit(allocates=False)
def attach(
    heights, lowest, node_parents, leaf_parents, positions, limits, columns, sums, added, out
):
    """Products of the columns with the rows of new leaves, each attached at a height above a leaf.

    The highest node up to that height is below the common ancestor of the new leaf and its point. Heights of
    new leaves (``limits``) are relative to the ``lowest`` one; columns are in leaf order.
    """
    for e in range(len(positions)):
        node, parent = -1, leaf_parents[positions[e]]
        while parent >= 0 and heights[parent] <= limits[e] + lowest:
            node, parent = parent, node_parents[parent]
        similarity = np.exp(-limits[e])
        above = np.exp(lowest - heights[parent]) if parent >= 0 else 0.0
        for c in range(columns.shape[1]):
            below = sums[node, c] if node >= 0 else columns[positions[e], c]
            outside = added[parent, c] if parent >= 0 else 0.0
            out[e, c] = outside + (similarity - above) * below
