"""Cholesky factor L of the Gram matrix of some atoms, with updates by one atom at a time."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Reassociation lets sums be vectorised; each call still gives the same bits.
FAST_MATH = {"reassoc", "contract"}
# Atoms whose component outside the span of the support is smaller, relative to their squared length, count
# as dependent.
DEPENDENCE_TOLERANCE = 1e-12


@jit(allocates=False, no_cpython_wrapper=True, fastmath=FAST_MATH)
def dot(a, b):
    total = 0.0
    for d in range(len(a)):
        total += a[d] * b[d]
    return total


@jit(allocates=False, no_cpython_wrapper=True, fastmath=FAST_MATH)
def forward(factor, size, b):
    """b = L^-1 b."""
    for i in range(size):
        b[i] = (b[i] - dot(factor[i, :i], b[:i])) / factor[i, i]


@jit(allocates=False, no_cpython_wrapper=True, fastmath=FAST_MATH)
def backward(factor, size, b):
    """b = L'^-1 b."""
    for i in range(size - 1, -1, -1):
        b[i] /= factor[i, i]
        value = b[i]
        for j in range(i):
            b[j] -= value * factor[i, j]


@jit(allocates=False, no_cpython_wrapper=True)
def append(factor, size, Z, support, j):
    """Append the row of one more atom; returns whether it extends the span."""
    row = factor[size]
    for k in range(size):
        row[k] = dot(Z[support[k]], Z[j])
    forward(factor, size, row)
    length = dot(Z[j], Z[j])
    residual = length - dot(row[:size], row[:size])
    row[size] = np.sqrt(max(residual, 0.0))
    return residual > DEPENDENCE_TOLERANCE * length


@jit(allocates=False, no_cpython_wrapper=True, fastmath=FAST_MATH)
def remove(factor, size, k):
    """Remove the k-th atom: rows move up, and rotations restore the triangular form."""
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
