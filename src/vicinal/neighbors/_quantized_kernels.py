"""Compiled loops of the exact search among points in 8 bits."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.neighbors._brute_kernels import _replace_worst, _sort_heap, squared_distance

# Bound of the relative rounding error of a squared distance between codes, in double precision.
ROUNDING = 1e-14
# Points whose products are computed at a time.
CHUNK = 1024


@jit
def quantize(rescaled, codes, steps, errors, squares):
    """Round each row to multiples of its own step, and bound the length of what rounding removed."""
    n, n_features = codes.shape
    for i in range(n):
        largest = 0.0
        for c in range(n_features):
            largest = max(largest, abs(rescaled[i, c]))
        step = largest / 127.0
        removed, length, squared = 0.0, 0.0, 0.0
        for c in range(n_features):
            value = rescaled[i, c]
            code = np.rint(value / step) if step > 0.0 else 0.0
            codes[i, c] = np.int8(code)
            removed += (value - code * step) ** 2
            length += value * value
            squared += code * code
        steps[i] = step
        # The rescaled coordinates themselves are rounded, relative to their size.
        errors[i] = np.sqrt(removed) * (1.0 + ROUNDING) + 2.0**-50 * np.sqrt(length)
        squares[i] = squared * step * step


@jit
def _bound_distances(points, queries, q, first, stop, products, bounds):
    """Lower bounds of the distances of query q from points ``first`` to ``stop``.

    Loops of one operation each, which the compiler vectorises.
    """
    codes, steps, errors, norms = points
    query, query_step, query_error, query_norm = (
        queries[0][q],
        queries[1][q],
        queries[2][q],
        queries[3][q],
    )
    for i in range(first, stop):
        product = np.int32(0)
        for c in range(codes.shape[1]):
            product += np.int32(codes[i, c]) * np.int32(query[c])
        products[i - first] = product
    for i in range(first, stop):
        sizes = norms[i] + query_norm
        squared = sizes * (1.0 - ROUNDING) - 2.0 * (steps[i] * query_step) * products[i - first]
        bounds[i] = np.sqrt(max(squared, 0.0)) - (errors[i] + query_error)


@jit(inline="always")
def _max_bound(squared, n_features, scale):
    """Upper bound of the lower bounds of all points within ``squared`` of a query.

    It includes the rounding errors of the exact sum, also of terms that are too small to be represented.
    """
    return np.sqrt(squared + n_features * 1e-307) * (scale * (1.0 + (n_features + 8) * 2.0**-52))


@jit
def nearest_by_codes(Q, X, scale, points, queries, start, stop, ids, squares):
    """Nearest points of queries ``start`` to ``stop``, sorted by (squared distance, index).

    ``points`` and ``queries`` are (codes, steps, errors, squares) as of `quantize`. By the triangle
    inequality, the distance between two rows differs from that of their codes by at most both errors, so most
    points are ruled out without being read. Those that seem nearest are measured first.
    """
    n, n_features = points[0].shape
    k = ids.shape[1]
    products, bounds = np.empty(CHUNK, np.int32), np.empty(n)
    lowest, lowest_ids = np.empty((1, k)), np.empty((1, k), np.int64)
    for q in range(start, stop):
        lowest[:] = np.inf
        lowest_ids[:] = n
        for first in range(0, n, CHUNK):
            last = min(first + CHUNK, n)
            _bound_distances(points, queries, q, first, last, products, bounds)
            for i in range(first, last):
                if bounds[i] < lowest[0, 0]:
                    _replace_worst(lowest, lowest_ids, 0, bounds[i], i)
        # The k-th exact distance of any k points bounds that of the nearest.
        worst = 0.0
        for c in range(k):
            worst = max(worst, squared_distance(Q, q, X, lowest_ids[0, c]))
        limit = _max_bound(worst, n_features, scale)
        ids[q, :], squares[q, :] = n, np.inf
        for i in range(n):
            if bounds[i] > limit:
                continue
            square = squared_distance(Q, q, X, i)
            if square < squares[q, 0] or (square == squares[q, 0] and i < ids[q, 0]):
                _replace_worst(squares, ids, q, square, i)
                limit = min(limit, _max_bound(squares[q, 0], n_features, scale))
        _sort_heap(squares, ids, q, k)
