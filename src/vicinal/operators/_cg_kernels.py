"""Incomplete Cholesky factors, coarse corrections, and conjugate gradients on many right-hand sides at once.

A row of the matrix is read once for all lanes (see `vicinal._core._lane_kernels`): 8 right-hand sides in
double precision, or 16 in single precision. Lanes do not interact, so the result for one does not depend on
the others.
"""

from __future__ import annotations

import numpy as np

from vicinal._core._lane_kernels import flush, larger, load, magnitude, store, wide, zeros_like
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
        if pivot < MIN_RELATIVE_PIVOT * diagonal:
            pivot = MIN_RELATIVE_PIVOT * diagonal
        pivot = np.sqrt(pivot)
        values[last] = pivot
        inverse_pivots[i] = 1.0 / pivot


@jit
def precondition(indptr, indices, values, inverse_pivots, R, Z):
    """Z = (L L')^-1 R."""
    n = len(inverse_pivots)
    for i in range(n):
        z = load(R, i)
        for e in range(indptr[i], indptr[i + 1] - 1):
            z -= values[e] * load(Z, indices[e])
        store(Z, i, flush(inverse_pivots[i] * z))
    for i in range(n - 1, -1, -1):
        z = flush(inverse_pivots[i] * load(Z, i))
        store(Z, i, z)
        for e in range(indptr[i], indptr[i + 1] - 1):
            j = indices[e]
            store(Z, j, load(Z, j) - values[e] * z)


@jit
def restrict(indptr, indices, values, R, coarse):
    """Coarse residuals P' R of a prolongation P."""
    coarse[:] = 0.0
    for i in range(len(indptr) - 1):
        r = load(R, i)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            store(coarse, j, load(coarse, j) + values[e] * r)


@jit
def prolong(indptr, indices, values, coarse, Z):
    """Add the coarse corrections P ``coarse`` to Z."""
    for i in range(len(indptr) - 1):
        z = load(Z, i)
        for e in range(indptr[i], indptr[i + 1]):
            z += values[e] * load(coarse, indices[e])
        store(Z, i, z)


@jit
def multiply_dense(matrix, R, Z):
    """Z = matrix R."""
    for i in range(len(matrix)):
        row = matrix[i]
        z = zeros_like(load(R, 0))
        for j in range(len(row)):
            z += row[j] * load(R, j)
        store(Z, i, z)


@jit
def precondition_levels(factor, coarse_levels, R, Z):
    """Sum of the corrections of all levels; R and Z have room for all nodes, R is given on the first."""
    indptr, indices, values, inverse_pivots = factor
    starts, (moves, targets, weights), inverse = coarse_levels
    n_levels = len(starts) - 1
    width = len(R) // starts[-1]
    for level in range(n_levels - 1):
        a, b, c = starts[level], starts[level + 1], starts[level + 2]
        fine, coarse = R[width * a : width * b], R[width * b : width * c]
        restrict(moves[a : b + 1], targets, weights, fine, coarse)
    for level in range(n_levels):
        a, b = starts[level], starts[level + 1]
        r, z = R[width * a : width * b], Z[width * a : width * b]
        if level == n_levels - 1 and len(inverse) > 0:
            multiply_dense(inverse, r, z)
        else:
            precondition(indptr[a : b + 1], indices, values, inverse_pivots[a:b], r, z)
    for level in range(n_levels - 2, -1, -1):
        a, b, c = starts[level], starts[level + 1], starts[level + 2]
        fine, coarse = Z[width * a : width * b], Z[width * b : width * c]
        prolong(moves[a : b + 1], targets, weights, coarse, fine)


@jit
def restart(matrix, inverse_diagonal, B, X, scales, R, row, largest, residuals):
    """R = (B - A X) / scales, from products in double precision.

    ``largest`` receives the largest |x_i| of each right-hand side, ``residuals`` the largest |r_i| / a_ii
    relative to it; ``row`` is scratch for 8 values.
    """
    indptr, indices, values = matrix
    n, width = len(inverse_diagonal), len(scales)
    # Each lane of R is one of B, but a vector of lanes has fewer doubles.
    n_parts = width // 8
    for part in range(n_parts):
        zero = zeros_like(load(B, 0))
        above = size = total = zero
        for i in range(n):
            x = load(X, n_parts * i + part)
            r = load(B, n_parts * i + part)
            for e in range(indptr[i], indptr[i + 1]):
                r -= values[e] * load(X, n_parts * indices[e] + part)
            above = larger(above, magnitude(inverse_diagonal[i] * r))
            size = larger(size, magnitude(x))
            total += r
            store(row, 0, r)
            for c in range(8):
                R[width * i + 8 * part + c] = row[c] / scales[8 * part + c]
        store(residuals, part, above)
        store(largest, part, size)
        store(row, 0, total)
        for c in range(8):
            lane = 8 * part + c
            if row[c] - row[c] != 0.0:  # not finite
                residuals[lane] = np.inf
            elif residuals[lane] > 0.0:
                in_range = largest[lane] > residuals[lane]
                residuals[lane] /= largest[lane] if in_range else residuals[lane]


@jit(allocates=False, error_model="numpy")
def descend(
    matrix,
    factor,
    coarse_levels,
    inverse_diagonal,
    vectors,
    lanes,
    goals,
    tolerance,
    active,
    max_iter,
    residuals,
):
    """Conjugate gradients for A D = R, starting from D = 0; R becomes the recursive residuals.

    ``vectors`` are R, D, the directions P (zeros at first), Q and Z; R and Z have entries for coarser levels,
    too. ``lanes`` are three vectors of doubles and four of the type of D, with one entry per lane: the caller
    allocates them all, because that takes long to compile. The kernels of coarser
    levels are not compiled if ``coarse_levels`` is None.

    A lane ends when its largest |r_i| / a_ii is below its goal, or below the tolerance or rounding errors
    relative to its largest |d_i|. ``residuals`` receives the largest |r_i| / a_ii. Returns the number of
    iterations.
    """
    n = len(inverse_diagonal)
    indptr, indices, values = matrix
    R, D, P, Q, Z = vectors
    slopes, new_slopes, curvatures, ratios, lengths, largest, above = lanes
    width = len(slopes)
    for c in range(width):
        slopes[c] = 1.0
    for step in range(max_iter):
        if coarse_levels is None:
            precondition(*factor, R, Z)
        else:
            precondition_levels(factor, coarse_levels, R, Z)
        total = zeros_like(wide(load(Z, 0)))
        for i in range(n):
            total += wide(load(R, i)) * wide(load(Z, i))
        store(new_slopes, 0, total)
        for c in range(width):
            ratios[c] = new_slopes[c] / slopes[c] if active[c] else 0.0
            slopes[c] = new_slopes[c]
        ratio = load(ratios, 0)
        for i in range(n):
            store(P, i, load(Z, i) + ratio * load(P, i))
        total = zeros_like(total)
        for i in range(n):
            p = load(P, i)
            q = zeros_like(p)
            for e in range(indptr[i], indptr[i + 1]):
                q += values[e] * load(P, indices[e])
            store(Q, i, q)
            total += wide(p) * wide(q)
        store(curvatures, 0, total)
        for c in range(width):
            # A curvature <= 0 is due to rounding, or to a matrix that is not positive definite.
            active[c] = active[c] and curvatures[c] > 0.0
            lengths[c] = slopes[c] / curvatures[c] if active[c] else 0.0
        length = load(lengths, 0)
        residual = size = zeros_like(length)
        for i in range(n):
            d, r = load(D, i) + length * load(P, i), load(R, i) - length * load(Q, i)
            store(D, i, d)
            store(R, i, r)
            residual = larger(residual, magnitude(inverse_diagonal[i] * r))
            size = larger(size, magnitude(d))
        store(above, 0, residual)
        store(largest, 0, size)
        any_active = False
        for c in range(width):
            active[c] = active[c] and above[c] > goals[c] and above[c] > tolerance * largest[c]
            any_active |= active[c]
            residuals[c] = above[c]
        if not any_active:
            return step + 1
    return max_iter
