"""Kernels that select the largest numbers of an array."""

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
