"""Kernels that find the largest of many numbers."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def floor_of(values, n_values, n_kept):
    """The n_kept-th largest of at least so many values, which are reordered."""
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


@jit
def largest_places(rows, places):
    """Places of the largest entries of each row, ascending; of equal ones those that come first."""
    n, k = rows.shape[1], places.shape[1]
    values = np.empty(n + 1)
    guess = -np.inf
    for i in range(len(rows)):
        row = rows[i]
        found = 0
        for j in range(n):
            values[found] = row[j]
            found += row[j] >= guess
        if found < k:
            found = n
            for j in range(n):
                values[j] = row[j]
        floor = floor_of(values, found, k)
        # Rows that follow each other are often alike: the next floor is not far.
        guess = 0.6 * floor if floor > 0.0 else -np.inf
        equal = k
        for j in range(n):
            equal -= row[j] > floor
        kept = 0
        for j in range(n):
            if row[j] > floor or (row[j] == floor and equal > 0):
                equal -= row[j] == floor
                places[i, kept] = j
                kept += 1
