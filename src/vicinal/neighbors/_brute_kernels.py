"""Compiled loops of the exact search by matrix products.

Lists of candidates are max-heaps in the order of (key, id): the root is the worst entry.
A block of products is compared in chunks, which the compiler vectorises; entries are only visited one by one
in chunks with a hit.
"""

from __future__ import annotations

import numpy as np

from vicinal._core._lane_kernels import count_lanes, first_bit, load_from, which_below
from vicinal._core.jit import jit

CHUNK = 64
WIDTH = count_lanes(np.float32)


@jit
def _sift_down(keys, ids, row, at, size):
    """Restore the heap of a row below ``at``."""
    key, point = keys[row, at], ids[row, at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            keys[row, right] > keys[row, child]
            or (keys[row, right] == keys[row, child] and ids[row, right] > ids[row, child])
        ):
            child = right
        if keys[row, child] < key or (keys[row, child] == key and ids[row, child] < point):
            break
        keys[row, at], ids[row, at] = keys[row, child], ids[row, child]
        at = child
    keys[row, at], ids[row, at] = key, point


@jit
def _replace_worst(keys, ids, row, key, point):
    keys[row, 0], ids[row, 0] = key, point
    _sift_down(keys, ids, row, 0, keys.shape[1])


@jit
def _sort_heap(keys, ids, row, size):
    """Turn the heap in the first ``size`` entries of a row into an ascending list."""
    for last in range(size - 1, 0, -1):
        key, point = keys[row, last], ids[row, last]
        keys[row, last], ids[row, last] = keys[row, 0], ids[row, 0]
        keys[row, 0], ids[row, 0] = key, point
        _sift_down(keys, ids, row, 0, last)


@jit(inline="always")
def squared_distance(A, i, B, j):
    """Squared distance, summed in feature order as in every exact search."""
    total = 0.0
    for c in range(A.shape[1]):
        gap = np.float64(A[i, c]) - np.float64(B[j, c])
        total += gap * gap
    return total


@jit(allocates=False)
def push_candidates(products, positions, halves, point_ids, self_ids, reach, keys, ids):
    """Push the points of a block of products into the sorted lists of its rows.

    The keys are those of `scan`. Row i of the products belongs to list ``positions[i]``, which excludes the
    point ``self_ids[positions[i]]``; ``reach`` contains the last key of each list.
    """
    n_rows, n_cols = products.shape
    last = keys.shape[1] - 1
    for i in range(n_rows):
        row = positions[i]
        bound = reach[row]
        for start in range(0, n_cols, WIDTH):
            if start + WIDTH <= n_cols:
                differences = load_from(halves, start) - load_from(products, i * n_cols + start)
                hits = which_below(differences, bound)
            else:
                hits = 0
                for j in range(start, n_cols):
                    hits |= np.int64(halves[j] - products[i, j] < bound) << (j - start)
            while hits:
                j = start + first_bit(hits)
                hits &= hits - 1
                key = halves[j] - products[i, j]
                if key >= bound or point_ids[j] == self_ids[row]:
                    continue
                at = last
                while at > 0 and keys[row, at - 1] > key:
                    keys[row, at], ids[row, at] = keys[row, at - 1], ids[row, at - 1]
                    at -= 1
                keys[row, at], ids[row, at] = key, point_ids[j]
                bound = keys[row, last]
        reach[row] = bound


@jit(inline="always")
def max_key(squared, half, n_features, unit, exact):
    """Upper bound of the keys of all points within ``squared`` of a point with this half squared norm.

    ``unit`` is the unit roundoff of the products. The bound includes the rounding errors of the exact sum,
    of the rescaled points (relative to their norms) and of the product.
    """
    if exact:
        return squared / 2 - half
    norm = np.sqrt(2 * half)
    distance = np.sqrt(squared) * (1 + (n_features + 4) * 2.0**-52)
    other = norm + distance
    rounded = 1.01 * unit * (norm + other)
    summed = 2.02 * (n_features + 8) * unit * (norm + other) * other
    return ((distance + rounded) ** 2 + summed + n_features * 1e-36) / 2 - half


@jit(allocates=False)
def measure_best(Q, X, rows, candidates, ids, squares):
    """Keep the nearest candidates of points ``rows`` of Q, sorted by (squared distance, index).

    Row r of the candidates fills row ``rows[r]`` of ``ids`` and ``squares``; -1 means none.
    """
    k = ids.shape[1]
    for r in range(len(rows)):
        row = rows[r]
        for c in range(k):
            ids[row, c], squares[row, c] = -1, np.inf
        for c in range(candidates.shape[1]):
            point = candidates[r, c]
            if point < 0:
                break
            square = squared_distance(Q, row, X, point)
            at = k
            while at > 0 and (
                squares[row, at - 1] > square
                or (squares[row, at - 1] == square and ids[row, at - 1] > point)
            ):
                at -= 1
                if at + 1 < k:
                    ids[row, at + 1], squares[row, at + 1] = ids[row, at], squares[row, at]
            if at < k:
                ids[row, at], squares[row, at] = point, square


@jit
def measure_lists(Q, X, first, ids, squares):
    """Squared distances of the listed points from the points of Q, starting at ``first``; inf if missing."""
    for row in range(len(ids)):
        for c in range(ids.shape[1]):
            squares[row, c] = np.inf
            if ids[row, c] >= 0:
                squares[row, c] = squared_distance(Q, first + row, X, ids[row, c])


@jit
def recheck(products, Q, X, rows, row_half, halves, first, self_ids, scale, unit, exact, keys, ids):
    """Push the columns of the products, from ``first`` on, into the lists of exact squares of ``rows``.

    Columns come in ascending order, so the earlier of tied points wins, and the comparison may be strict if
    the products are exact; otherwise every pair that `max_key` cannot rule out is measured.
    """
    n_cols, n_features = products.shape[1], Q.shape[1]
    for r in range(len(rows)):
        i = rows[r]
        limit = max_key(keys[r, 0] * scale * scale, row_half[r], n_features, unit, exact)
        for start in range(0, n_cols, CHUNK):
            if keys[r, 0] == 0.0:
                break
            stop = min(start + CHUNK, n_cols)
            chunk, half = products[r, start:stop], halves[start:stop]
            hits = np.int32(0)
            for c in range(stop - start):
                hits |= np.int32(half[c] - chunk[c] <= limit)
            if hits == 0:
                continue
            for c in range(stop - start):
                j = first + start + c
                key = half[c] - chunk[c]
                if key > limit or (exact and key == limit and ids[r, 0] < j) or j == self_ids[r]:
                    continue
                square = squared_distance(Q, i, X, j)
                if square < keys[r, 0] or (square == keys[r, 0] and j < ids[r, 0]):
                    _replace_worst(keys, ids, r, square, j)
                    limit = max_key(
                        keys[r, 0] * scale * scale, row_half[r], n_features, unit, exact
                    )


@jit
def sort_lists(keys, ids):
    """Sort each heap ascending."""
    for row in range(len(keys)):
        _sort_heap(keys, ids, row, keys.shape[1])


@jit
def smallest(distances, self_ids, ids, keys):
    """The smallest entries of each row, ascending by (distance, index), without entry ``self_ids[row]``."""
    n_cols = distances.shape[1]
    for row in range(len(distances)):
        keys[row, :] = np.inf
        ids[row, :] = n_cols
        for start in range(0, n_cols, CHUNK):
            stop = min(start + CHUNK, n_cols)
            chunk = distances[row, start:stop]
            reach = keys[row, 0]
            hits = np.int32(0)
            for c in range(stop - start):
                hits |= np.int32(chunk[c] <= reach)
            if hits == 0:
                continue
            for c in range(stop - start):
                j = start + c
                better = chunk[c] < keys[row, 0] or (chunk[c] == keys[row, 0] and j < ids[row, 0])
                if better and j != self_ids[row]:
                    _replace_worst(keys, ids, row, chunk[c], j)
        _sort_heap(keys, ids, row, keys.shape[1])


@jit
def manhattan_rows(Q, columns, first, out):
    """Sums of absolute differences; ``columns`` is the transposed set, so that points are adjacent."""
    for row in range(len(out)):
        out[row] = 0.0
        for c in range(len(columns)):
            x = Q[first + row, c]
            for j in range(columns.shape[1]):
                out[row, j] += abs(x - columns[c, j])


@jit
def euclidean_rows(points, columns, first, out):
    """Distances to all points; ``columns`` is the transposed set, so that points are adjacent."""
    for row in range(len(out)):
        out[row] = 0.0
        for c in range(len(columns)):
            x = points[first + row, c]
            for j in range(columns.shape[1]):
                out[row, j] += (x - columns[c, j]) * (x - columns[c, j])
        for j in range(columns.shape[1]):
            out[row, j] = np.sqrt(out[row, j])


@jit
def squared_lengths(X, pairs, squares):
    """Squared distance between the two points of each pair."""
    for p in range(len(pairs)):
        squares[p] = squared_distance(X, pairs[p, 0], X, pairs[p, 1])
