"""Kernels that select the largest entries of rows of float32."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

LOWEST_KEY = -(2**31)


@jit
def set_keys(values, keys):
    """Integers in the same order as the values, because they are compared and bisected faster."""
    bits = values.view(np.int32)
    for j in range(len(keys)):
        keys[j] = bits[j] ^ ((bits[j] >> np.int32(31)) & np.int32(0x7FFFFFFF))


@jit
def count_from(keys, threshold):
    total = np.int32(0)
    for j in range(len(keys)):
        total += np.int32(keys[j] >= threshold)
    return total


@jit
def smallest_from(keys, threshold):
    smallest = np.int32(2**31 - 1)
    for j in range(len(keys)):
        if keys[j] >= threshold:
            smallest = min(smallest, keys[j])
    return smallest


@jit
def kth_largest_key(keys, k):
    """The k-th largest key, by bisection: counting is vectorised, unlike a partition."""
    low, high = np.int64(LOWEST_KEY), np.int64(2**31)
    while high - low > 1:
        middle = (low + high) >> 1
        count = count_from(keys, np.int32(middle))
        if count == k:
            return smallest_from(keys, np.int32(middle))
        if count > k:
            low = middle
        else:
            high = middle
    return np.int32(low)


@jit
def kth_largest_of_rows(rows, k, columns):
    """The column of the k-th largest value of each row; among equal values, the first."""
    keys = np.empty(rows.shape[1], dtype=np.int32)
    for i in range(len(rows)):
        set_keys(rows[i], keys)
        threshold = kth_largest_key(keys, k)
        columns[i] = 0
        while keys[columns[i]] != threshold:
            columns[i] += 1


@jit
def best_columns(rows, excluded, columns):
    """Columns of the largest values of each row, ascending, except one column.

    Among equal values, the first columns are chosen.
    """
    n, k = rows.shape[1], columns.shape[1]
    keys = np.empty(n, dtype=np.int32)
    for i in range(len(rows)):
        set_keys(rows[i], keys)
        keys[excluded[i]] = np.int32(LOWEST_KEY)
        threshold = kth_largest_key(keys, k)
        n_ties = k - (count_from(keys, threshold + np.int32(1)) if threshold < 2**31 - 1 else 0)
        n_selected = 0
        for j in range(n):
            if keys[j] > threshold or (keys[j] == threshold and n_ties > 0):
                n_ties -= keys[j] == threshold
                columns[i, n_selected] = j
                n_selected += 1
