"""Incomplete Cholesky factors, and conjugate gradients on four right-hand sides at once.

Four columns of doubles are one vector register: a row of the matrix is read once for all of them.
Each column's arithmetic is its own, so its bits do not depend on what the others hold. Arrays of
vectors are flat, the four values of node i at 4 i; nodes are unsigned, which spares numba the
handling of negative indices.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# A pivot below this share of its diagonal entry is rounding noise.
SMALLEST_PIVOT = 1e-10


@jit
def factorize(indptr, indices, values, inverse_pivots):
    """Incomplete Cholesky factor L of a lower triangle, in its place, without any new entry.

    Rows are sorted and end with their diagonal entry.
    """
    for i in range(len(inverse_pivots)):
        first, last = indptr[i], indptr[i + 1] - 1
        diagonal = pivot = values[last]
        for e in range(first, last):
            j = indices[e]
            value = values[e]
            a, b, end = first, indptr[j], indptr[j + 1] - 1
            while a < e and b < end:
                if indices[a] == indices[b]:
                    value -= values[a] * values[b]
                    a += 1
                    b += 1
                elif indices[a] < indices[b]:
                    a += 1
                else:
                    b += 1
            value *= inverse_pivots[j]
            values[e] = value
            pivot -= value * value
        pivot = np.sqrt(max(pivot, SMALLEST_PIVOT * diagonal))
        values[last] = pivot
        inverse_pivots[i] = 1.0 / pivot


@jit
def precondition(indptr, indices, values, inverse_pivots, R, Z):
    """Z = (L L')^-1 R."""
    n = len(inverse_pivots)
    for i in range(n):
        z0, z1, z2, z3 = R[4 * i], R[4 * i + 1], R[4 * i + 2], R[4 * i + 3]
        for e in range(indptr[i], indptr[i + 1] - 1):
            j, value = 4 * indices[e], values[e]
            z0 -= value * Z[j]
            z1 -= value * Z[j + 1]
            z2 -= value * Z[j + 2]
            z3 -= value * Z[j + 3]
        scale = inverse_pivots[i]
        Z[4 * i], Z[4 * i + 1] = scale * z0, scale * z1
        Z[4 * i + 2], Z[4 * i + 3] = scale * z2, scale * z3
    for i in range(n - 1, -1, -1):
        scale = inverse_pivots[i]
        z0, z1 = scale * Z[4 * i], scale * Z[4 * i + 1]
        z2, z3 = scale * Z[4 * i + 2], scale * Z[4 * i + 3]
        Z[4 * i], Z[4 * i + 1], Z[4 * i + 2], Z[4 * i + 3] = z0, z1, z2, z3
        for e in range(indptr[i], indptr[i + 1] - 1):
            j, value = 4 * indices[e], values[e]
            Z[j] -= value * z0
            Z[j + 1] -= value * z1
            Z[j + 2] -= value * z2
            Z[j + 3] -= value * z3


@jit
def multiply(indptr, indices, values, P, Q):
    """Q = A P; returns the four products P'Q."""
    d0 = d1 = d2 = d3 = 0.0
    for i in range(len(indptr) - 1):
        q0 = q1 = q2 = q3 = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, value = 4 * indices[e], values[e]
            q0 += value * P[j]
            q1 += value * P[j + 1]
            q2 += value * P[j + 2]
            q3 += value * P[j + 3]
        Q[4 * i], Q[4 * i + 1], Q[4 * i + 2], Q[4 * i + 3] = q0, q1, q2, q3
        d0 += q0 * P[4 * i]
        d1 += q1 * P[4 * i + 1]
        d2 += q2 * P[4 * i + 2]
        d3 += q3 * P[4 * i + 3]
    return d0, d1, d2, d3


@jit
def descend(matrix, factor, inverse_diagonal, B, X, tolerance, max_steps, residuals):
    """Conjugate gradients from X on, until every column's residual is small or steps run out.

    ``residuals`` gets the residuals of B - A X by its recursion: the largest |r_i| / a_ii as a
    share of the largest |x_i|. Returns the number of steps.
    """
    size = len(B)
    n = size // 4
    R, Z, P, Q = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    multiply(*matrix, X, Q)
    for e in range(size):
        R[e] = B[e] - Q[e]
        P[e] = 0.0
    working, slopes = np.ones(4, dtype=np.bool_), np.ones(4)
    new_slopes, ratios, lengths, largest = np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for step in range(max_steps + 1):
        residuals[:] = 0.0
        largest[:] = 0.0
        for i in range(n):
            for c in range(4):
                residuals[c] = max(residuals[c], abs(R[4 * i + c]) * inverse_diagonal[i])
                largest[c] = max(largest[c], abs(X[4 * i + c]))
        for c in range(4):
            if residuals[c] > 0.0:
                residuals[c] /= max(largest[c], residuals[c])
            working[c] = working[c] and residuals[c] > tolerance
        if step == max_steps or not working.any():
            return step
        precondition(*factor, R, Z)
        new_slopes[:] = 0.0
        for i in range(n):
            for c in range(4):
                new_slopes[c] += R[4 * i + c] * Z[4 * i + c]
        for c in range(4):
            ratios[c] = new_slopes[c] / slopes[c] if working[c] else 0.0
            slopes[c] = new_slopes[c]
        for i in range(n):
            for c in range(4):
                P[4 * i + c] = Z[4 * i + c] + ratios[c] * P[4 * i + c]
        curvatures = multiply(*matrix, P, Q)
        for c in range(4):
            # Only rounding, or a matrix that is not positive definite, makes a curvature <= 0.
            working[c] = working[c] and curvatures[c] > 0.0
            lengths[c] = slopes[c] / curvatures[c] if working[c] else 0.0
        for i in range(n):
            for c in range(4):
                X[4 * i + c] += lengths[c] * P[4 * i + c]
                R[4 * i + c] -= lengths[c] * Q[4 * i + c]
    return max_steps
