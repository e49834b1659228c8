"""Kernels for powers of a sparse transition matrix whose rows keep only their largest entries.

A pruned matrix is three arrays: ``items`` (n, capacity), ``values`` (n, capacity) and ``counts`` (n,).
Row i uses the first ``counts[i]`` columns. Every entry is a lower bound of the exact one, because only
nonnegative terms are omitted. Items are unsigned: numba would test signed indices for negative values.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.similarity.smoothing._selection_kernels import kth_largest, sort_descending

# Smaller numbers lose digits in single precision, and then underflow.
MIN_VALUE = 1e-37

# Smaller cosines are rounding errors of the powers, which order nothing.
ROUNDING = 1e-9


@jit
def _multiply_row(
    i, left, left_values, left_counts, right, right_values, right_counts, sums, touched
):
    """Row i of left times right, in ``sums``; its columns are in ``touched``. Returns their number."""
    n_touched = np.uint64(0)
    for e in range(left_counts[i]):
        k, value = left[i, e], np.float64(left_values[i, e])
        row, row_values = right[k], right_values[k]
        for f in range(right_counts[k]):
            j = row[f]
            previous = sums[j]
            # Always written, but counted only if new: a branch would often be mispredicted.
            touched[n_touched] = j
            n_touched += np.uint64(previous == 0.0)
            # Positive single-precision values have a positive product in double precision.
            sums[j] = previous + value * row_values[f]
    return np.int64(n_touched)


@jit
def _gather(sums, touched, n_touched, minimum, values):
    """Gather the sums that are at least ``minimum``; returns their number."""
    n_gathered = 0
    for e in range(n_touched):
        value = sums[touched[e]]
        values[n_gathered] = value
        n_gathered += value >= minimum
    return n_gathered


@jit
def _threshold(sums, touched, n_touched, n_kept, minimum, guess, values):
    """The n_kept-th largest sum, or ``minimum`` if fewer reach it; a close lower guess saves time."""
    n_gathered = _gather(sums, touched, n_touched, max(minimum, guess), values)
    if n_gathered <= n_kept and guess > minimum:
        n_gathered = _gather(sums, touched, n_touched, minimum, values)
    return kth_largest(values, n_gathered, n_kept) if n_gathered > n_kept else minimum


@jit
def pruned_product(
    left, left_values, left_counts, right, right_values, right_counts, start, stop, tolerance, out
):
    """Rows ``start`` to ``stop`` of a product, each with its largest entries.

    Only these rows of the left factor and of the result are given. Entries below ``tolerance`` times the
    off-diagonal mass of the left row are dropped even if there is capacity.
    """
    items, values, counts = out
    n, capacity = len(right_counts), items.shape[1]
    sums, touched, buffer = np.zeros(n), np.empty(n + 1, np.uint32), np.empty(n + 1)
    guess = 0.0
    for i in range(start, stop):
        row = i - start
        n_touched = _multiply_row(
            row, left, left_values, left_counts, right, right_values, right_counts, sums, touched
        )
        off_diagonal = 0.0
        for e in range(left_counts[row]):
            if left[row, e] != i:
                off_diagonal += left_values[row, e]
        minimum = max(tolerance * off_diagonal, MIN_VALUE)
        threshold = _threshold(sums, touched, n_touched, capacity, minimum, guess, buffer)
        # Rows of one block are similar, so the next threshold is close.
        guess = 0.6 * threshold
        n_kept = 0
        for e in range(n_touched):
            j = touched[e]
            touched[n_kept], buffer[n_kept] = j, sums[j]
            n_kept += sums[j] >= threshold
            sums[j] = 0.0
        n_kept = min(n_kept, capacity)
        for e in range(n_kept):
            items[row, e], values[row, e] = touched[e], buffer[e]
        counts[row] = n_kept


@jit
def largest_of_product(
    left,
    left_values,
    left_counts,
    right,
    right_values,
    right_counts,
    start,
    stop,
    ids,
    positions,
    out,
):
    """Largest off-diagonal entries of rows ``start`` to ``stop`` of a product, in any order.

    Only these rows of the left factor are given. Among equal entries, the smallest items are selected. Rows
    with fewer entries are filled with other items and value 0. Node i of the factors is item ``ids[i]``, and
    item j is node ``positions[j]``.
    """
    nearest, values, diagonal, totals = out
    n, k = len(diagonal), nearest.shape[1]
    sums, touched, buffer = np.zeros(n), np.empty(n + 1, np.uint32), np.empty(n + 1)
    guess = 0.0
    for i in range(start, stop):
        n_touched = _multiply_row(
            i - start,
            left,
            left_values,
            left_counts,
            right,
            right_values,
            right_counts,
            sums,
            touched,
        )
        total = 0.0
        for e in range(n_touched):
            total += sums[touched[e]]
        item = ids[i]
        totals[item] = total
        diagonal[item] = sums[i]
        sums[i] = 0.0
        threshold = _threshold(sums, touched, n_touched, k, 0.0, guess, buffer)
        guess = 0.6 * threshold
        n_selected = 0
        for e in range(n_touched):
            j = touched[e]
            if sums[j] > threshold:
                nearest[item, n_selected], values[item, n_selected] = ids[j], sums[j]
                n_selected += 1
        last = -1
        while threshold > 0.0 and n_selected < k:
            next_tie = n
            for e in range(n_touched):
                if sums[touched[e]] == threshold and last < ids[touched[e]] < next_tie:
                    next_tie = ids[touched[e]]
            last = next_tie
            nearest[item, n_selected], values[item, n_selected] = last, threshold
            n_selected += 1
        other = 0
        for e in range(n_selected, k):
            while other == item or sums[positions[other]] > 0.0:
                other += 1
            nearest[item, e], values[item, e] = other, 0.0
            other += 1
        for e in range(n_touched):
            sums[touched[e]] = 0.0


@jit
def squared_lengths(items, values, counts, sums, start, stop, out):
    """d_i sum_j P[i, j]^2 / d_j of rows ``start`` to ``stop``: the diagonal of the square of P."""
    for i in range(start, stop):
        total = 0.0
        for e in range(counts[i]):
            value = np.float64(values[i, e])
            total += value * value / sums[items[i, e]]
        out[i] = total * sums[i]


@jit
def most_similar(
    candidates,
    n_candidates,
    items,
    values,
    counts,
    norms,
    sums,
    start,
    stop,
    ids,
    out_items,
    out_cosines,
):
    """Cosines of the rows of a power with those of candidates: the largest of rows ``start`` to ``stop``.

    Cosines near 1 are compared by differences that single precision would lose, so they are summed in double
    precision over the rows of both items: errors of the entries then matter to second order only. Node i of
    the power is item ``ids[i]``.
    """
    n_listed, row = out_items.shape[1] - 1, np.zeros(len(sums))
    others, cosines = np.empty(candidates.shape[1], np.int64), np.empty(candidates.shape[1])
    for i in range(start, stop):
        for e in range(counts[i]):
            k = items[i, e]
            row[k] = np.float64(values[i, e]) / (sums[k] * norms[i])
        n_found = 0
        for e in range(n_candidates[i]):
            j = np.int64(candidates[i, e])
            if j == i:
                continue
            total = 0.0
            for f in range(counts[j]):
                total += row[items[j, f]] * values[j, f]
            cosine = min(1.0, total / norms[j])
            if cosine > ROUNDING:
                others[n_found], cosines[n_found] = ids[j], cosine
                n_found += 1
        sort_descending(cosines, others, n_found)
        item = ids[i]
        out_items[item, 0], out_cosines[item, 0] = item, 1.0
        for e in range(min(n_found, n_listed)):
            out_items[item, e + 1], out_cosines[item, e + 1] = others[e], cosines[e]
        for e in range(counts[i]):
            row[items[i, e]] = 0.0
