"""Kernels that select the largest entries of rows of float32."""

from __future__ import annotations

import numpy as np

from vicinal._core._selection_kernels import LOWEST_KEY, count_from, kth_largest_key, set_keys
from vicinal._core.jit import jit


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
