"""Kernels that select the largest numbers of an array, or sort them."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def kth_largest(values, n_values, k):
    """The k-th largest of the first ``n_values`` values, which are reordered."""
    # A hand-written quickselect, because numba takes seconds to compile numpy's partition.
    low, high, rank = 0, n_values - 1, k - 1
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
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@jit(allocates=False)
def sort_descending(values, items, n):
    """Sort the first n values from large to small, and their items with them; equal values by item."""
    # A hand-written heap sort, because numba takes seconds to compile numpy's sorts.
    start, end = n // 2, n
    while end > 1:
        if start > 0:
            start -= 1
            value, item = values[start], items[start]
        else:
            end -= 1
            value, item = values[end], items[end]
            values[end], items[end] = values[0], items[0]
        at, child = start, 2 * start + 1
        while child < end:
            # The smaller child, which comes later in the result.
            other = child + 1
            if other < end and (
                values[other] < values[child]
                or (values[other] == values[child] and items[other] > items[child])
            ):
                child = other
            if values[child] > value or (values[child] == value and items[child] < item):
                break
            values[at], items[at] = values[child], items[child]
            at, child = child, 2 * child + 1
        values[at], items[at] = value, item


@jit
def largest_columns(rows, columns):
    """Columns of the largest entries of each row, ascending; among equal entries, the first columns."""
    n, k = rows.shape[1], columns.shape[1]
    values = np.empty(n + 1)
    guess = -np.inf
    for i in range(len(rows)):
        row = rows[i]
        n_values = 0
        for j in range(n):
            values[n_values] = row[j]
            n_values += row[j] >= guess
        if n_values < k:
            n_values = n
            for j in range(n):
                values[j] = row[j]
        threshold = kth_largest(values, n_values, k)
        # Successive rows are often similar, so the next threshold is close.
        guess = 0.6 * threshold if threshold > 0.0 else -np.inf
        n_ties = k
        for j in range(n):
            n_ties -= row[j] > threshold
        n_selected = 0
        for j in range(n):
            if row[j] > threshold or (row[j] == threshold and n_ties > 0):
                n_ties -= row[j] == threshold
                columns[i, n_selected] = j
                n_selected += 1
