"""Kernel of the node scales."""

from __future__ import annotations

import numpy as np

from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal._core.jit import jit


@jit
def mean_shortest(indptr, lengths, limit, start, stop, means):
    """Mean of at most ``limit`` shortest positive lengths of each row, 0 if there are none."""
    size = max(limit, MAX_COUNTED)
    shortest, values, ranks = np.empty(size), np.empty(size), np.empty(size, np.int64)
    for i in range(start, stop):
        if indptr[i + 1] - indptr[i] <= MAX_COUNTED:
            n_filled = 0
            for e in range(indptr[i], indptr[i + 1]):
                values[n_filled] = lengths[e]
                n_filled += lengths[e] != 0
            rank_by_counting(values[:n_filled], ranks)
            for p in range(n_filled):
                shortest[ranks[p]] = values[p]
            n_filled = min(n_filled, limit)
        else:
            n_filled = _insert_shortest(lengths[indptr[i] : indptr[i + 1]], limit, shortest)
        means[i] = 0.0
        if n_filled > 0:
            # Relative to the longest, so that the sum cannot overflow.
            longest = shortest[n_filled - 1]
            total = 0.0
            for p in range(n_filled):
                total += shortest[p] / longest
            means[i] = longest * (total / n_filled)


@jit(allocates=False)
def _insert_shortest(lengths, limit, shortest):
    """Sort at most ``limit`` shortest positive lengths; return their number."""
    n_filled = 0
    for length in lengths:
        if length == 0 or (n_filled == limit and length >= shortest[limit - 1]):
            continue
        if n_filled < limit:
            n_filled += 1
        p = n_filled - 1
        while p > 0 and shortest[p - 1] > length:
            shortest[p] = shortest[p - 1]
            p -= 1
        shortest[p] = length
    return n_filled
