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
    """The n_kept-th largest of the values, 0 if there are not so many."""
    if n_values <= n_kept:
        return 0.0
    return np.partition(values[:n_values], n_values - n_kept)[n_values - n_kept]


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
    """The largest entries of rows ``start`` to ``stop`` of a product, without the diagonal, in order.

    Rows with fewer entries are filled up with other items, in order of their number, at 0.
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
        found = np.empty(n_touched, np.int64)
        kept = 0
        for e in range(n_touched):
            j = touched[e]
            if sums[j] >= floor and sums[j] > 0.0:
                found[kept] = j
                kept += 1
        found = np.sort(found[:kept])
        order = np.argsort(-sums[found], kind="mergesort")[:k]
        for e in range(len(order)):
            nearest[i, e], shares[i, e] = found[order[e]], sums[found[order[e]]]
        j = 0
        for e in range(len(order), k):
            while j == i or sums[j] > 0.0:
                j += 1
            nearest[i, e], shares[i, e] = j, 0.0
            j += 1
        for e in range(n_touched):
            sums[touched[e]] = 0.0
