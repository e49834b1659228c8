"""Kernels for stationary distributions: incomplete LU, BiCGSTAB, and elimination for small chains."""

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


@jit
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
def precondition(levels, r, y):
    """Sum of the corrections of all levels; r and y have room for all nodes, r is given on the first."""
    starts, indptr, indices, factor, diagonal, groups, fractions, inverse = levels
    last = len(starts) - 2
    r[starts[1] :] = 0.0
    for level in range(last):
        a, b = starts[level], starts[level + 1]
        for i in range(a, b):
            r[b + groups[i]] += r[i]
    for level in range(last + 1):
        a, b = starts[level], starts[level + 1]
        if level == last and len(inverse) > 0:
            for i in range(b - a):
                total = 0.0
                for j in range(b - a):
                    total += inverse[i, j] * r[a + j]
                y[a + i] = total
        else:
            substitute(indptr[a : b + 1], indices, factor, diagonal[a:b], r[a:b], y[a:b])
    for level in range(last - 1, -1, -1):
        a, b = starts[level], starts[level + 1]
        for i in range(a, b):
            y[i] += fractions[i] * y[b + groups[i]]


@jit
def multiply(indptr, indices, values, x, out):
    """out = A x; returns out'out."""
    square = 0.0
    for i in range(len(out)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e] * x[indices[e]]
        out[i] = total
        square += total * total
    return square


@jit
def bicgstab(indptr, indices, values, levels, b, tolerance, max_iter, x):
    """Solve A x = b from x = 0 until |b - A x|_1 is small; returns the steps and the residual.

    Stops early on a breakdown; the caller restarts from the residual.
    """
    n = len(b)
    # Vectors that are preconditioned have entries for coarser levels, too.
    size_of_all = levels[0][-1]
    r, p, y = np.zeros(size_of_all), np.zeros(size_of_all), np.empty(size_of_all)
    r[:n] = b
    shadow, v, t = b.copy(), np.zeros(n), np.empty(n)
    x[:] = 0.0
    rho = alpha = omega = 1.0
    size = np.abs(b).sum()
    for step in range(max_iter):
        if size <= tolerance:
            return step, size
        previous = rho
        rho = _dot(shadow, r)
        if rho == 0.0 or omega == 0.0:
            return step, size
        factor_p = rho / previous * alpha / omega
        for i in range(n):
            p[i] = r[i] + factor_p * (p[i] - omega * v[i])
        precondition(levels, p, y)
        multiply(indptr, indices, values, y, v)
        slope = _dot(shadow, v)
        if slope == 0.0:
            return step, size
        alpha = rho / slope
        for i in range(n):
            x[i] += alpha * y[i]
            r[i] -= alpha * v[i]
        precondition(levels, r, y)
        square = multiply(indptr, indices, values, y, t)
        if square == 0.0:
            return step + 1, np.abs(r[:n]).sum()
        omega = _dot(t, r) / square
        size = 0.0
        for i in range(n):
            x[i] += omega * y[i]
            r[i] -= omega * t[i]
            size += abs(r[i])
    return max_iter, size


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


@jit
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
