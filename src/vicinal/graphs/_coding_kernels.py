"""Kernels of coding lengths: contexts in Helmert coordinates, and Cholesky factors of I + c gram.

The s - 1 Helmert coordinates of s points, (x_0 + ... + x_{r-1} - r x_r) / sqrt(r (r + 1)), are an
orthonormal change of basis that removes the mean: they span the same space as the centred points.
"""

from __future__ import annotations

import math

import numpy as np

from vicinal._core.jit import jit


@jit(inline="always")
def helmert_rows(points, context, left_out, rows, centred, mean):
    """Helmert coordinates of a context, its centred members and its mean.

    Member ``left_out`` is skipped; no member is skipped if it equals the number of members.

    All values are relative to a member of the context: far from the origin digits would be lost, and
    duplicates must have coordinates 0.
    """
    dim = points.shape[1]
    base = context[1] if left_out == 0 else context[0]
    for d in range(dim):
        mean[d] = 0.0
    count = 0
    for t in range(len(context)):
        if t == left_out:
            continue
        scale = 1.0 / np.sqrt(count * (count + 1.0)) if count else 0.0
        for d in range(dim):
            value = points[context[t], d] - points[base, d]
            if count:
                rows[count - 1, d] = (mean[d] - count * value) * scale
            centred[count, d] = value
            mean[d] += value
        count += 1
    for d in range(dim):
        mean[d] /= count
        for t in range(count):
            centred[t, d] -= mean[d]
        mean[d] += points[base, d]


@jit(allocates=False, no_cpython_wrapper=True)
def helmert_gram(local, half, gram):
    """Gram matrix in Helmert coordinates, from the inner products of a context."""
    s = len(local)
    for v in range(s):
        total = local[0, v]
        for r in range(1, s):
            half[r - 1, v] = (total - r * local[r, v]) / np.sqrt(r * (r + 1.0))
            total += local[r, v]
    for u in range(s - 1):
        total = half[u, 0]
        for r in range(1, s):
            gram[u, r - 1] = (total - r * half[u, r]) / np.sqrt(r * (r + 1.0))
            total += half[u, r]


@jit(allocates=False, no_cpython_wrapper=True)
def helmert_basis(j, row):
    """Row j of the basis: the coordinates of the j-th unit vector."""
    for r in range(1, len(row) + 1):
        root = np.sqrt(r * (r + 1.0))
        if j < r:
            row[r - 1] = 1.0 / root
        elif j == r:
            row[r - 1] = -r / root
        else:
            row[r - 1] = 0.0


@jit(allocates=False, no_cpython_wrapper=True)
def products_of_rows(rows, gram):
    """Symmetric product rows rows'."""
    for u in range(len(rows)):
        for v in range(u + 1):
            gram[u, v] = gram[v, u] = dot(rows[u], rows[v])


@jit(allocates=False, no_cpython_wrapper=True)
def products_of_columns(rows, gram):
    """Lower triangle of the product rows' rows."""
    for u in range(len(gram)):
        for v in range(len(gram)):
            gram[u, v] = 0.0
    for r in range(len(rows)):
        for u in range(rows.shape[1]):
            for v in range(u + 1):
                gram[u, v] += rows[r, u] * rows[r, v]


@jit(allocates=False, no_cpython_wrapper=True, error_model="numpy")
def factor(gram, c, lower):
    """Cholesky factor of I + c gram, written to ``lower``; returns the log of its determinant.

    Also returns the largest amplification of the relative rounding error of a pivot.
    """
    logdet, loss = 0.0, 0.0
    for u in range(len(gram)):
        for v in range(u + 1):
            total = c * gram[u, v]
            for w in range(v):
                total -= lower[u, w] * lower[v, w]
            if u == v:
                # Negative only by rounding: the matrix is I plus a positive semidefinite matrix.
                total = max(total, 0.0)
                loss = max(loss, c * gram[u, u] / (1.0 + total))
                lower[u, u] = np.sqrt(1.0 + total)
                logdet += np.log1p(total)
            else:
                lower[u, v] = total / lower[v, v]
    return logdet, loss


@jit(allocates=False, no_cpython_wrapper=True, error_model="numpy")
def solve(lower, vector, out):
    """L^-1 v written to ``out``, which may be ``vector``; returns its squared length."""
    total = 0.0
    for u in range(len(lower)):
        value = vector[u]
        for w in range(u):
            value -= lower[u, w] * out[w]
        value /= lower[u, u]
        out[u] = value
        total += value * value
    return total


@jit
def literal_lengths(points, context, dim, distortion, rows, centred, mean, parts):
    """Coding length (13) of a context; ``parts`` gets those of the context without each member.

    Each is computed separately and without Gram matrices, whose rounding errors would exceed the identity
    if the points are spread over many times the distortion.
    """
    s = len(context)
    whole = 0.0
    for left_out in range(s + 1):
        helmert_rows(points, context, left_out, rows, centred, mean)
        count = s - 1 if left_out < s else s
        stretch = np.sqrt(dim / count) / distortion
        logdet = _logdet_of_rows(rows[: count - 1], stretch)
        ratio = norm(mean) / distortion
        # Beyond 1e8, adding 1 to the square has no effect, and larger squares overflow.
        term = np.log1p(ratio * ratio) if ratio < 1e8 else 2.0 * np.log(ratio)
        length = 0.5 * (count + dim) * logdet + 0.5 * dim * term
        if left_out < s:
            parts[left_out] = length
        else:
            whole = length
    return whole


@jit
def _logdet_of_rows(rows, stretch):
    """log det(I + stretch^2 rows rows'), by Householder reflections of the stretched rows above I.

    Large rows on top and column pivoting preserve the digits of small entries.
    """
    m, dim = rows.shape
    width, height = min(m, dim), max(m, dim)
    # Stored transposed, so that columns of the matrix are contiguous.
    A = np.zeros((width, height + width))
    for c in range(width):
        for r in range(height):
            A[c, r] = stretch * (rows[r, c] if m > dim else rows[c, r])
        A[c, height + c] = 1.0
    logdet = 0.0
    for c in range(width):
        longest, pivot = -1.0, c
        for other in range(c, width):
            length = norm(A[other, c:])
            if length > longest:
                longest, pivot = length, other
        for r in range(height + width):
            A[c, r], A[pivot, r] = A[pivot, r], A[c, r]
        logdet += 2.0 * np.log(longest)
        for r in range(c, height + width):
            A[c, r] /= longest
        first = A[c, c]
        A[c, c] += 1.0 if first >= 0.0 else -1.0
        for other in range(c + 1, width):
            along = dot(A[c, c:], A[other, c:]) / (1.0 + abs(first))
            for r in range(c, height + width):
                A[other, r] -= along * A[c, r]
    return logdet


@jit(allocates=False, no_cpython_wrapper=True)
def norm(vector):
    """Length of a vector, even if squares overflow or underflow."""
    square = dot(vector, vector)
    if 1e-290 < square < np.inf:
        return np.sqrt(square)
    largest = 0.0
    for d in range(len(vector)):
        largest = max(largest, abs(vector[d]))
    # Scaling by a power of two is exact.
    scale = 2.0 ** min(math.frexp(largest)[1], 1023)
    square = 0.0
    for d in range(len(vector)):
        square += (vector[d] / scale) ** 2
    return scale * np.sqrt(square)


@jit(allocates=False, no_cpython_wrapper=True)
def multiply(matrix, vector, out):
    """out = A v."""
    for u in range(len(matrix)):
        out[u] = dot(matrix[u], vector)


@jit(allocates=False, no_cpython_wrapper=True)
def dot(a, b):
    """a'b, summed in order."""
    total = 0.0
    for d in range(len(a)):
        total += a[d] * b[d]
    return total
