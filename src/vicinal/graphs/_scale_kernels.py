"""Kernel of the node scales."""

from __future__ import annotations

from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal._core.jit import jit


@jit(allocates=False)
def mean_shortest(indptr, lengths, limit, start, stop, means, shortest, values, ranks):
    """Mean of at most ``limit`` shortest positive lengths of each row, 0 if there are none.

    The last three arrays are memory.
    """
    for i in range(start, stop):
        n_filled = 0
        if indptr[i + 1] - indptr[i] <= MAX_COUNTED:
            for e in range(indptr[i], indptr[i + 1]):
                values[n_filled] = lengths[e]
                n_filled += lengths[e] != 0
            rank_by_counting(values, n_filled, ranks)
            for p in range(n_filled):
                shortest[ranks[p]] = values[p]
            if n_filled > limit:
                n_filled = limit
        else:
            for e in range(indptr[i], indptr[i + 1]):
                length = lengths[e]
                if length == 0 or (n_filled == limit and length >= shortest[limit - 1]):
                    continue
                if n_filled < limit:
                    n_filled += 1
                p = n_filled - 1
                while p > 0 and shortest[p - 1] > length:
                    shortest[p] = shortest[p - 1]
                    p -= 1
                shortest[p] = length
        means[i] = 0.0
        if n_filled > 0:
            # Relative to the longest, so that the sum cannot overflow.
            longest = shortest[n_filled - 1]
            total = 0.0
            for p in range(n_filled):
                total += shortest[p] / longest
            means[i] = longest * (total / n_filled)
