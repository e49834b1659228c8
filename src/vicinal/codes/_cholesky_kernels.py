"""The Cholesky factor L of the Gram matrix of some atoms, which grows and shrinks by one at a time."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Sums in any order, which lets them run in vector registers; still the same bits for each call.
FAST = {"reassoc", "contract"}
# What an atom adds to the span of the support, as a share of its length squared; less is none.
DEPENDENT = 1e-12


@jit(fastmath=FAST)
def dot(a, b):
    total = 0.0
    for d in range(len(a)):
        total += a[d] * b[d]
    return total


@jit(fastmath=FAST)
def forward(factor, size, b):
    """b = L^-1 b."""
    for i in range(size):
        b[i] = (b[i] - dot(factor[i, :i], b[:i])) / factor[i, i]


@jit(fastmath=FAST)
def backward(factor, size, b):
    """b = L'^-1 b."""
    for i in range(size - 1, -1, -1):
        b[i] /= factor[i, i]
        value = b[i]
        for j in range(i):
            b[j] -= value * factor[i, j]


@jit
def append(factor, size, Z, support, j):
    """Row of the Cholesky factor for one more atom; returns whether it adds to the span."""
    row = factor[size]
    for k in range(size):
        row[k] = dot(Z[support[k]], Z[j])
    forward(factor, size, row)
    length = dot(Z[j], Z[j])
    rest = length - dot(row[:size], row[:size])
    row[size] = np.sqrt(max(rest, 0.0))
    return rest > DEPENDENT * length


@jit(fastmath=FAST)
def remove(factor, size, k):
    """Cholesky factor without the k-th atom: rows move up, rotations make it triangular again."""
    for i in range(k, size - 1):
        for j in range(i + 2):
            factor[i, j] = factor[i + 1, j]
        a, b = factor[i, i], factor[i, i + 1]
        length = np.hypot(a, b)
        cosine, sine = a / length, b / length
        factor[i, i] = length
        for m in range(i + 2, size):
            low, high = factor[m, i], factor[m, i + 1]
            factor[m, i] = cosine * low + sine * high
            factor[m, i + 1] = cosine * high - sine * low
