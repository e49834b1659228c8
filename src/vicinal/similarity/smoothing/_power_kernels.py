"""Kernels of powers of a sparse transition matrix whose rows keep their largest entries only.

A pruned matrix is three arrays: ``items`` (n, cap) and ``shares`` (n, cap), of which row i uses the first
``counts[i]`` places. Every entry is a lower bound of the true one, as only nonnegative parts are left out.
Numbers of items are unsigned: signed ones would be tested at each access, as they might count from the end.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.similarity.smoothing._selection_kernels import floor_of

# Below, single precision loses digits and then everything.
SMALLEST = 1e-37


@jit
def _spread(i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched):
    """Row i of left times right in ``sums``, its places in ``touched``; returns how many."""
    n_touched = np.uint64(0)
    for e in range(left_counts[i]):
        k, share = left[i, e], np.float64(left_shares[i, e])
        row, row_shares = right[k], right_shares[k]
        for f in range(right_counts[k]):
            j = row[f]
            before = sums[j]
            # Written each time and counted when new: a branch here would mostly be guessed wrong.
            touched[n_touched] = j
            n_touched += np.uint64(before == 0.0)
            # Shares are single numbers above 0, so that a product of two is above 0 in double.
            sums[j] = before + share * row_shares[f]
    return np.int64(n_touched)


@jit
def _gather(sums, touched, n_touched, least, values):
    """Sums that are at least ``least``; returns how many."""
    found = 0
    for e in range(n_touched):
        value = sums[touched[e]]
        values[found] = value
        found += value >= least
    return found


@jit
def _largest(sums, touched, n_touched, n_kept, least, guess, values):
    """The n_kept-th largest sum, or ``least`` if fewer are as large; a good guess below it saves time."""
    found = _gather(sums, touched, n_touched, max(least, guess), values)
    if found <= n_kept and guess > least:
        found = _gather(sums, touched, n_touched, least, values)
    return floor_of(values, found, n_kept) if found > n_kept else least


@jit
def pruned_product(
    left, left_shares, left_counts, right, right_shares, right_counts, start, stop, least, out
):
    """Rows ``start`` to ``stop`` of a product, each with its largest entries.

    Those below ``least`` of what has left the row's item are dropped even where there is room.
    """
    items, shares, counts = out
    n, cap = len(right_counts), items.shape[1]
    sums, touched, values = np.zeros(n), np.empty(n + 1, np.uint32), np.empty(n + 1)
    guess = 0.0
    for i in range(start, stop):
        n_touched = _spread(
            i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched
        )
        gone = 0.0
        for e in range(left_counts[i]):
            if left[i, e] != i:
                gone += left_shares[i, e]
        lowest = max(least * gone, SMALLEST)
        floor = _largest(sums, touched, n_touched, cap, lowest, guess, values)
        # Rows of one block are alike: the next floor is not far.
        guess = 0.6 * floor
        kept = 0
        for e in range(n_touched):
            j = touched[e]
            touched[kept], values[kept] = j, sums[j]
            kept += sums[j] >= floor
            sums[j] = 0.0
        kept = min(kept, cap)
        for e in range(kept):
            items[i, e], shares[i, e] = touched[e], values[e]
        counts[i] = kept


@jit
def largest_of_product(
    left, left_shares, left_counts, right, right_shares, right_counts, start, stop, out
):
    """The largest entries of rows ``start`` to ``stop`` of a product, without the diagonal, in any order.

    Of equal ones those with the smallest numbers are taken. Rows with fewer entries are filled up with
    other items at 0.
    """
    nearest, shares, own, totals = out
    n, k = len(own), nearest.shape[1]
    sums, touched, values = np.zeros(n), np.empty(n + 1, np.uint32), np.empty(n + 1)
    guess = 0.0
    for i in range(start, stop):
        n_touched = _spread(
            i, left, left_shares, left_counts, right, right_shares, right_counts, sums, touched
        )
        total = 0.0
        for e in range(n_touched):
            total += sums[touched[e]]
        totals[i] = total
        own[i] = sums[i]
        sums[i] = 0.0
        floor = _largest(sums, touched, n_touched, k, 0.0, guess, values)
        guess = 0.6 * floor
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
