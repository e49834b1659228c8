"""Compiled loops that collect candidates from blocks of products, and measure them exactly."""

from __future__ import annotations

import numpy as np

from vicinal._core._lane_kernels import (
    count_lanes,
    first_bit,
    larger,
    largest_of,
    load_from,
    only_below,
    which_below,
)
from vicinal._core._selection_kernels import LOWEST_KEY, kth_largest_key, rank_by_counting, set_keys
from vicinal._core.jit import jit
from vicinal.neighbors._brute_kernels import (
    _replace_worst,
    _sift_down,
    _sort_heap,
    max_key,
    squared_distance,
)

WIDTH = count_lanes(np.float32)
ALL_LANES = (1 << WIDTH) - 1
# Lists of these lengths are in any order. Their largest key is found by comparing all keys at once, without
# the branches of a heap, which processors cannot predict. The bits of one integer mark keys of a list.
MIN_UNORDERED, MAX_UNORDERED = WIDTH, 64


@jit
def squared_distances(A, i, B, others, squares):
    """Squared distances of a point to others, each summed in feature order as in every exact search."""
    n_others = len(others)
    for o in range(0, n_others - 3, 4):
        # Sums of four points at a time do not wait for each other.
        a, b, c, d = others[o], others[o + 1], others[o + 2], others[o + 3]
        sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
        for f in range(A.shape[1]):
            value = np.float64(A[i, f])
            gap_a, gap_b = value - np.float64(B[a, f]), value - np.float64(B[b, f])
            gap_c, gap_d = value - np.float64(B[c, f]), value - np.float64(B[d, f])
            sum_a += gap_a * gap_a
            sum_b += gap_b * gap_b
            sum_c += gap_c * gap_c
            sum_d += gap_d * gap_d
        squares[o], squares[o + 1], squares[o + 2], squares[o + 3] = sum_a, sum_b, sum_c, sum_d
    for o in range(n_others - n_others % 4, n_others):
        squares[o] = squared_distance(A, i, B, others[o])


@jit(inline="always")
def _is_heap(keys):
    return keys.shape[1] < MIN_UNORDERED or keys.shape[1] > MAX_UNORDERED


@jit(allocates=False)
def _largest_key(keys, row):
    result = keys[row, 0]
    if not _is_heap(keys):
        for c in range(1, keys.shape[1]):
            result = max(result, keys[row, c])
    return result


@jit(allocates=False)
def _replace_largest(keys, ids, row, reach, key, point):
    """Replace ``reach``, the largest key of a list, by a smaller one; return the largest key afterwards."""
    if _is_heap(keys):
        _replace_worst(keys, ids, row, key, point)
        return keys[row, 0]
    size = keys.shape[1]
    largest_bits, others = np.int64(0), only_below(load_from(keys, row * size), reach)
    for position in range(0, size, WIDTH):
        start = min(position, size - WIDTH)  # the last lanes overlap with those before
        lanes = load_from(keys, row * size + start)
        largest_bits |= (which_below(lanes, reach) ^ ALL_LANES) << start
        others = larger(others, only_below(lanes, reach))
    at = first_bit(largest_bits)
    keys[row, at], ids[row, at] = key, point
    is_only_one = largest_bits & (largest_bits - 1) == 0
    return max(key, largest_of(others)) if is_only_one else reach


@jit
def fill_empty(products, positions, rows, columns):
    """Fill the empty lists of the rows of a block with its best columns; arguments are those of `scan`.

    Of the first thousand candidates, a hundred would enter a list of twenty one after the other.
    """
    _, row_reach, row_keys, row_ids, row_point_ids = rows
    col_half, _, _, _, col_point_ids = columns
    n_cols, size = products.shape[1], row_keys.shape[1]
    values, order = np.empty(n_cols, np.float32), np.empty(n_cols, np.int32)
    for i in range(len(products)):
        row = positions[i]
        for j in range(n_cols):
            values[j] = products[i, j] - col_half[j]
        set_keys(values, order)
        for j in range(n_cols):
            order[j] = LOWEST_KEY if col_point_ids[j] == row_point_ids[row] else order[j]
        threshold = kth_largest_key(order, size)
        count = 0
        for above in (True, False):
            for j in range(n_cols):
                chosen = order[j] > threshold if above else order[j] == threshold
                if chosen and count < size:
                    row_keys[row, count], row_ids[row, count] = -values[j], col_point_ids[j]
                    count += 1
        if _is_heap(row_keys):
            for at in range(size // 2 - 1, -1, -1):
                _sift_down(row_keys, row_ids, row, at, size)
        row_reach[row] = _largest_key(row_keys, row)


@jit
def scan(products, positions, rows, columns):
    """Push each pair of a block of products into the list of its row and into that of its column.

    ``rows`` and ``columns`` are (half, reach, keys, ids, point_ids): half squared norms, the key below
    which a candidate is accepted, the lists, and the ids of the points. The key of y for x is
    (|x - y|^2 - |x|^2) / 2 = |y|^2 / 2 - x.y. Row i of the products belongs to entry ``positions[i]`` of
    ``rows``. Points whose reach is -inf accept no candidates.
    """
    row_half, row_reach, row_keys, row_ids, row_point_ids = rows
    col_half, col_reach, col_keys, col_ids, col_point_ids = columns
    n_rows, n_cols = products.shape
    for i in range(n_rows):
        row, line = positions[i], products[i]
        half, reach = row_half[row], row_reach[row]
        for start in range(0, n_cols, WIDTH):
            if start + WIDTH <= n_cols:
                product = load_from(line, start)
                hits = which_below(load_from(col_half, start) - product, reach)
                hits |= which_below(half - product, load_from(col_reach, start))
            else:
                hits = 0
                for j in range(start, n_cols):
                    is_hit = (col_half[j] - line[j] < reach) | (half - line[j] < col_reach[j])
                    hits |= np.int64(is_hit) << (j - start)
            while hits:
                j = start + first_bit(hits)
                hits &= hits - 1
                if row_point_ids[row] == col_point_ids[j]:
                    continue
                key, col_key = col_half[j] - line[j], half - line[j]
                if key < reach:
                    reach = _replace_largest(row_keys, row_ids, row, reach, key, col_point_ids[j])
                if col_key < col_reach[j]:
                    col_reach[j] = _replace_largest(
                        col_keys, col_ids, j, col_reach[j], col_key, row_point_ids[row]
                    )
        row_reach[row] = reach


@jit
def refine(Q, X, halves, scale, unit, exact, keys, ids, first, out_ids, out_squares, certain):
    """Measure the candidates exactly, sort the best k, and find whether these are certain to be right.

    The keys of all other points are at least the largest of the list. If `max_key` of the k-th exact square
    is below it, the row is final; otherwise it needs an exhaustive search.
    """
    n_candidates, k, n_features = ids.shape[1], out_ids.shape[1], Q.shape[1]
    squares, point_ids = np.empty((1, n_candidates)), np.empty((1, n_candidates), np.int64)
    ranks = np.empty(n_candidates, np.int64)
    # Comparing all keys must cost less than the distances that need not be measured then.
    in_order = n_candidates**2 < 2 * (n_candidates - k) * n_features
    for row in range(len(ids)):
        i = first + row
        worst_key = _largest_key(keys, row)
        if in_order and worst_key < np.inf:
            rank_by_counting(keys[row], n_candidates, ranks)
            for c in range(n_candidates):
                point_ids[0, ranks[c]] = ids[row, c]
            squared_distances(Q, i, X, point_ids[0, :k], squares[0])
            worst = 0.0
            for c in range(k):
                worst = max(worst, squares[0, c])
            limit = max_key(worst * scale * scale, halves[i], n_features, unit, exact)
            count = 0
            for c in range(n_candidates):
                count += keys[row, c] <= limit
            count = max(count, k)
            squared_distances(Q, i, X, point_ids[0, k:count], squares[0, k:])
        else:
            count = 0
            for c in range(n_candidates):
                if ids[row, c] >= 0:
                    point_ids[0, count] = ids[row, c]
                    count += 1
            squared_distances(Q, i, X, point_ids[0, :count], squares[0])
        for at in range(count // 2 - 1, -1, -1):
            _sift_down(squares, point_ids, 0, at, count)
        _sort_heap(squares, point_ids, 0, count)
        for c in range(k):
            out_ids[i, c] = point_ids[0, c] if c < count else -1
            out_squares[i, c] = squares[0, c] if c < count else np.inf
        worst = out_squares[i, k - 1] * scale * scale
        certain[i] = max_key(worst, halves[i], n_features, unit, exact) < worst_key
