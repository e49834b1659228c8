"""Incomplete Cholesky factors, coarse corrections, and conjugate gradients on four right-hand sides at once.

Four doubles fit into one vector register, so a row of the matrix is read once for four columns. Columns do
not interact, so the result for one does not depend on the others. Arrays of vectors are flat, with the four
values of node i at 4 i. Indices are unsigned, so that numba does not handle negative ones.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Smallest pivot relative to its diagonal entry; below is rounding noise.
MIN_RELATIVE_PIVOT = 1e-10


@jit
def factorize(indptr, indices, values, inverse_pivots):
    """Incomplete Cholesky factorisation of a lower triangle, in place and without fill-in.

    Rows must be sorted, so that they end with their diagonal entry.
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
        pivot = np.sqrt(max(pivot, MIN_RELATIVE_PIVOT * diagonal))
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
def restrict(indptr, indices, values, R, coarse):
    """Coarse residuals P' R of a prolongation P."""
    coarse[:] = 0.0
    for i in range(len(indptr) - 1):
        r0, r1, r2, r3 = R[4 * i], R[4 * i + 1], R[4 * i + 2], R[4 * i + 3]
        for e in range(indptr[i], indptr[i + 1]):
            j, value = 4 * indices[e], values[e]
            coarse[j] += value * r0
            coarse[j + 1] += value * r1
            coarse[j + 2] += value * r2
            coarse[j + 3] += value * r3


@jit
def prolong(indptr, indices, values, coarse, Z):
    """Add the coarse corrections P ``coarse`` to Z."""
    for i in range(len(indptr) - 1):
        z0, z1, z2, z3 = Z[4 * i], Z[4 * i + 1], Z[4 * i + 2], Z[4 * i + 3]
        for e in range(indptr[i], indptr[i + 1]):
            j, value = 4 * indices[e], values[e]
            z0 += value * coarse[j]
            z1 += value * coarse[j + 1]
            z2 += value * coarse[j + 2]
            z3 += value * coarse[j + 3]
        Z[4 * i], Z[4 * i + 1], Z[4 * i + 2], Z[4 * i + 3] = z0, z1, z2, z3


@jit
def multiply_dense(matrix, R, Z):
    """Z = matrix R."""
    n = len(matrix)
    for i in range(n):
        row = matrix[i]
        z0 = z1 = z2 = z3 = 0.0
        for j in range(n):
            value = row[j]
            z0 += value * R[4 * j]
            z1 += value * R[4 * j + 1]
            z2 += value * R[4 * j + 2]
            z3 += value * R[4 * j + 3]
        Z[4 * i], Z[4 * i + 1], Z[4 * i + 2], Z[4 * i + 3] = z0, z1, z2, z3


@jit
def precondition_levels(starts, factor, transfer, inverse, R, Z):
    """Sum of the corrections of all levels; R and Z have room for all nodes, R is given on the first."""
    indptr, indices, values, inverse_pivots = factor
    moves, targets, weights = transfer
    n_levels = len(starts) - 1
    for level in range(n_levels - 1):
        a, b, c = starts[level], starts[level + 1], starts[level + 2]
        restrict(moves[a : b + 1], targets, weights, R[4 * a : 4 * b], R[4 * b : 4 * c])
    for level in range(n_levels):
        a, b = starts[level], starts[level + 1]
        if level == n_levels - 1 and len(inverse) > 0:
            multiply_dense(inverse, R[4 * a : 4 * b], Z[4 * a : 4 * b])
        else:
            precondition(
                indptr[a : b + 1],
                indices,
                values,
                inverse_pivots[a:b],
                R[4 * a : 4 * b],
                Z[4 * a : 4 * b],
            )
    for level in range(n_levels - 2, -1, -1):
        a, b, c = starts[level], starts[level + 1], starts[level + 2]
        prolong(moves[a : b + 1], targets, weights, Z[4 * b : 4 * c], Z[4 * a : 4 * b])


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
def descend(matrix, levels, inverse_diagonal, B, X, tolerance, max_iter, residuals):
    """Conjugate gradients, starting from X, until all residuals are small or ``max_iter`` is reached.

    ``residuals`` receives the recursive residuals of B - A X: the largest |r_i| / a_ii relative to the
    largest |x_i|. Returns the number of iterations.
    """
    size = len(B)
    n = size // 4
    P, Q = np.empty(size), np.empty(size)
    starts, factor, transfer, inverse = levels
    # Residuals and corrections have entries for coarser levels, too.
    R, Z = np.empty(4 * starts[-1]), np.empty(4 * starts[-1])
    multiply(*matrix, X, Q)
    for e in range(size):
        R[e] = B[e] - Q[e]
        P[e] = 0.0
    active, slopes = np.ones(4, dtype=np.bool_), np.ones(4)
    new_slopes, ratios, lengths, largest = np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for step in range(max_iter + 1):
        residuals[:] = 0.0
        largest[:] = 0.0
        for i in range(n):
            for c in range(4):
                residuals[c] = max(residuals[c], abs(R[4 * i + c]) * inverse_diagonal[i])
                largest[c] = max(largest[c], abs(X[4 * i + c]))
        for c in range(4):
            if residuals[c] > 0.0:
                residuals[c] /= max(largest[c], residuals[c])
            active[c] = active[c] and residuals[c] > tolerance
        if step == max_iter or not active.any():
            return step
        precondition_levels(starts, factor, transfer, inverse, R, Z)
        new_slopes[:] = 0.0
        for i in range(n):
            for c in range(4):
                new_slopes[c] += R[4 * i + c] * Z[4 * i + c]
        for c in range(4):
            ratios[c] = new_slopes[c] / slopes[c] if active[c] else 0.0
            slopes[c] = new_slopes[c]
        for i in range(n):
            for c in range(4):
                P[4 * i + c] = Z[4 * i + c] + ratios[c] * P[4 * i + c]
        curvatures = multiply(*matrix, P, Q)
        for c in range(4):
            # A curvature <= 0 is due to rounding, or to a matrix that is not positive definite.
            active[c] = active[c] and curvatures[c] > 0.0
            lengths[c] = slopes[c] / curvatures[c] if active[c] else 0.0
        for i in range(n):
            for c in range(4):
                X[4 * i + c] += lengths[c] * P[4 * i + c]
                R[4 * i + c] -= lengths[c] * Q[4 * i + c]
    return max_iter
