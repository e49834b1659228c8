"""Kernels of powers of a sparse transition matrix whose rows keep their largest entries only.

A pruned matrix is three arrays: ``items`` (n, cap) and ``shares`` (n, cap), of which row i uses the first
``counts[i]`` places. Every entry is a lower bound of the true one, as only nonnegative parts are left out.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _spread(i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched):
    """Row i of left times right in ``sums``, its places in ``touched``; returns how many, and the total."""
    n_touched, total = 0, 0.0
    for e in range(left_counts[i]):
        k, share = left[i, e], left_shares[i, e]
        for f in range(right_counts[k]):
            j = right[k, f]
            if sums[j] == 0.0:
                touched[n_touched] = j
                n_touched += 1
            part = share * right_shares[k, f]
            sums[j] += part
            total += part
            if sums[j] == 0.0:
                n_touched -= 1
    return n_touched, total


@njit(cache=True, nogil=True)
def _floor_of(values, n_values, n_kept):
    """The n_kept-th largest of the values, which are reordered; 0 if there are not so many."""
    if n_values <= n_kept:
        return 0.0
    # Quickselect by hand: numba takes seconds to compile its own partition.
    low, high, wanted = 0, n_values - 1, n_kept - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return values[wanted]


@njit(cache=True, nogil=True)
def pruned_product(
    left, left_shares, left_counts, right, right_shares, right_counts, start, stop, least, out
):
    """Rows ``start`` to ``stop`` of a product, each with its largest entries that are at least ``least``."""
    items, shares, counts = out
    n, cap = items.shape
    sums, touched, values = np.zeros(n), np.empty(n, np.int64), np.empty(n)
    for i in range(start, stop):
        n_touched, _ = _spread(
            i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched
        )
        for e in range(n_touched):
            values[e] = sums[touched[e]]
        floor = max(least, _floor_of(values, n_touched, cap))
        kept = 0
        for e in range(n_touched):
            j = touched[e]
            if sums[j] >= floor and kept < cap:
                items[i, kept], shares[i, kept] = j, sums[j]
                kept += 1
            sums[j] = 0.0
        counts[i] = kept


@njit(cache=True, nogil=True)
def largest_of_product(
    left, left_shares, left_counts, right, right_shares, right_counts, start, stop, out
):
    """The largest entries of rows ``start`` to ``stop`` of a product, without the diagonal, in any order.

    Of equal ones those with the smallest numbers are taken. Rows with fewer entries are filled up with
    other items at 0.
    """
    nearest, shares, own, totals = out
    n, k = len(own), nearest.shape[1]
    sums, touched, values = np.zeros(n), np.empty(n, np.int64), np.empty(n)
    for i in range(start, stop):
        n_touched, totals[i] = _spread(
            i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched
        )
        own[i] = sums[i]
        sums[i] = 0.0
        for e in range(n_touched):
            values[e] = sums[touched[e]]
        floor = _floor_of(values, n_touched, k)
        kept = 0
        for e in range(n_touched):
            j = touched[e]
            if sums[j] > floor:
                nearest[i, kept], shares[i, kept] = j, sums[j]
                kept += 1
        last = -1
        while floor > 0.0 and kept < k:
            following = n
            for e in range(n_touched):
                if sums[touched[e]] == floor and last < touched[e] < following:
                    following = touched[e]
            last = following
            nearest[i, kept], shares[i, kept] = last, floor
            kept += 1
        j = 0
        for e in range(kept, k):
            while j == i or sums[j] > 0.0:
                j += 1
            nearest[i, e], shares[i, e] = j, 0.0
            j += 1
        for e in range(n_touched):
            sums[touched[e]] = 0.0
