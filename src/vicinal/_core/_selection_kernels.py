"""Kernels that find the k-th largest of many values in single precision, and the ranks of a few values."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

LOWEST_KEY = -(2**31)
# Up to this many values, comparing all pairs is faster than sorting.
MAX_COUNTED = 24


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


@jit(inline="always")
def rank_by_counting(values, n, ranks):
    """Position of each of the first n values in ascending order; of equal values, the first comes first.

    All pairs are compared. Up to ``MAX_COUNTED`` values, this is faster than the branches of a sort, which
    the processor cannot predict.
    """
    for p in range(n):
        value, n_before = values[p], 0
        for q in range(p):
            is_before = np.int64(values[q] <= value)
            n_before += is_before
            ranks[q] += 1 - is_before
        ranks[p] = n_before
