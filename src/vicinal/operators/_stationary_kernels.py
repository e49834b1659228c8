"""Kernels for stationary distributions: incomplete LU, steps of BiCGSTAB, elimination for small chains."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit


@jit
def factorize(indptr, indices, values, diagonal):
    """Incomplete LU factorisation of a CSR matrix with sorted rows, in place and without fill-in.

    ``diagonal`` receives the position of the diagonal entry of each row.
    """
    n = len(indptr) - 1
    position = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            position[indices[e]] = e
            if indices[e] == i:
                diagonal[i] = e
        for e in range(indptr[i], diagonal[i]):
            k = indices[e]
            values[e] /= values[diagonal[k]]
            for f in range(diagonal[k] + 1, indptr[k + 1]):
                at = position[indices[f]]
                if at >= 0:
                    values[at] -= values[e] * values[f]
        for e in range(indptr[i], indptr[i + 1]):
            position[indices[e]] = -1


@jit(allocates=False)
def substitute(indptr, indices, values, diagonal, b, x):
    """x = (L U)^-1 b."""
    n = len(b)
    for i in range(n):
        total = b[i]
        for e in range(indptr[i], diagonal[i]):
            total -= values[e] * x[indices[e]]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for e in range(diagonal[i] + 1, indptr[i + 1]):
            total -= values[e] * x[indices[e]]
        x[i] = total / values[diagonal[i]]


@jit
def restrict(groups, r, coarse):
    """Sum residuals over aggregates."""
    coarse[:] = 0.0
    for i in range(len(groups)):
        coarse[groups[i]] += r[i]


@jit(allocates=False)
def prolong(groups, fractions, coarse, y, start, stop):
    """Divide the corrections of aggregates among the rows of a block."""
    for i in range(start, stop):
        y[i] = fractions[i] * coarse[groups[i]]


@jit(allocates=False)
def smooth(matrix, factor, r, y, remaining, z, start, stop):
    """z = y + (L U)^-1 (r - A y) in the rows of a block, whose own factors are L and U."""
    indptr, indices, values = matrix
    for i in range(start, stop):
        total = r[i]
        for e in range(indptr[i], indptr[i + 1]):
            total -= values[e] * y[indices[e]]
        remaining[i] = total
    substitute(*factor, remaining[start:stop], z[start:stop])
    for i in range(start, stop):
        z[i] += y[i]


@jit(allocates=False)
def multiply(matrix, x, other, out, start, stop):
    """out = A x in the rows of a block; returns its products with ``other`` and with itself."""
    indptr, indices, values = matrix
    product = square = 0.0
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e] * x[indices[e]]
        out[i] = total
        product += total * other[i]
        square += total * total
    return product, square


@jit(allocates=False)
def search_direction(r, v, p, factor, omega, start, stop):
    """p = r + factor (p - omega v) in a block."""
    for i in range(start, stop):
        p[i] = r[i] + factor * (p[i] - omega * v[i])


@jit(allocates=False)
def advance(x, y, r, v, shadow, step, start, stop):
    """x += step y and r -= step v in a block; returns the new |r|_1 and the product of shadow and r."""
    size = product = 0.0
    for i in range(start, stop):
        x[i] += step * y[i]
        r[i] -= step * v[i]
        size += abs(r[i])
        product += shadow[i] * r[i]
    return size, product


@jit
def exact_stationary(P, out):
    """Stationary distribution of a small irreducible chain; overwrites P.

    Elimination by Grassmann, Taksar and Heyman: without subtractions, all entries are accurate.
    """
    n = len(P)
    for k in range(n - 1, 0, -1):
        total = 0.0
        for j in range(k):
            total += P[k, j]
        for i in range(k):
            P[i, k] /= total
            for j in range(k):
                P[i, j] += P[i, k] * P[k, j]
    out[0] = 1.0
    sum_of_out = 1.0
    for k in range(1, n):
        out[k] = 0.0
        for i in range(k):
            out[k] += out[i] * P[i, k]
        sum_of_out += out[k]
    for k in range(n):
        out[k] /= sum_of_out
