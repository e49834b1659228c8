"""Kernels of the contextual distance: all leave-one-out descriptors of a context from one factorisation.

A context of s points is first written in Helmert coordinates: row r - 1 is
(x_0 + ... + x_{r-1} - r x_r) / sqrt(r (r + 1)). These s - 1 rows are an orthonormal change of basis that
takes the mean out, so they span what the centred points span, with nothing lost to cancellation.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def centroid_rows(points, indices, start, stop, out):
    """Contextual distances by the centroid: | |x_i - m| - |x_j - m| | / K, m the mean of the context."""
    s, dim = indices.shape[1], points.shape[1]
    mean, far = np.empty(dim), np.empty(s)
    for i in range(start, stop):
        mean[:] = 0.0
        for j in range(s):
            for d in range(dim):
                # Relative to the point itself: a context far from the origin keeps its digits.
                mean[d] += points[indices[i, j], d] - points[indices[i, 0], d]
        for j in range(s):
            total = 0.0
            for d in range(dim):
                difference = points[indices[i, j], d] - points[indices[i, 0], d] - mean[d] / s
                total += difference * difference
            far[j] = np.sqrt(total)
        for j in range(s):
            out[i, j] = abs(far[0] - far[j]) / (s - 1)


@njit(cache=True, nogil=True)
def centroid_products(products, indices, start, stop, out):
    """The same from inner products of all pairs instead of points."""
    s = indices.shape[1]
    sums, far = np.empty(s), np.empty(s)
    for i in range(start, stop):
        total = 0.0
        for u in range(s):
            sums[u] = 0.0
            for v in range(s):
                sums[u] += products[indices[i, u], indices[i, v]]
            total += sums[u]
        for j in range(s):
            own = products[indices[i, j], indices[i, j]]
            far[j] = np.sqrt(max(own - 2.0 * sums[j] / s + total / s**2, 0.0))
        for j in range(s):
            out[i, j] = abs(far[0] - far[j]) / (s - 1)


@njit(cache=True, nogil=True)
def coding_length_rows(points, indices, squared_distortion, start, stop, out):
    """Contextual distances by the coding length (13) of contexts of points."""
    s, dim = indices.shape[1], points.shape[1]
    rows = np.empty((s - 1, dim))
    sums, mean = np.empty(dim), np.empty(dim)
    by_features = dim < s - 1
    gram = np.empty((dim, dim)) if by_features else np.empty((s - 1, s - 1))
    scratch, vectors = np.empty_like(gram), np.empty((3, len(gram)))
    means = np.empty(s)
    for i in range(start, stop):
        _helmert_rows(points, indices[i], rows, sums)
        for d in range(dim):
            mean[d] = sums[d] / s
        square = 0.0
        for d in range(dim):
            square += mean[d] * mean[d]
        for j in range(s):
            without = 0.0
            for d in range(dim):
                value = mean[d] - (points[indices[i, j], d] - mean[d]) / (s - 1)
                without += value * value
            means[j] = without
        if by_features:
            _products_of_columns(rows, gram)
            _by_features(
                gram, points, indices[i], mean, square, means, squared_distortion, scratch,
                vectors[0], out[i],
            )  # fmt: skip
        else:
            _products_of_rows(rows, gram)
            _by_members(gram, square, means, dim, squared_distortion, scratch, vectors, out[i])


@njit(cache=True, nogil=True)
def coding_length_products(products, indices, dim, squared_distortion, start, stop, out):
    """The same from inner products of all pairs instead of points."""
    s = indices.shape[1]
    local, half = np.empty((s, s)), np.empty((s - 1, s))
    gram = np.empty((s - 1, s - 1))
    scratch, vectors, means = np.empty_like(gram), np.empty((3, s - 1)), np.empty(s)
    for i in range(start, stop):
        square = 0.0
        for u in range(s):
            for v in range(s):
                local[u, v] = products[indices[i, u], indices[i, v]]
                square += local[u, v]
        for j in range(s):
            without = 0.0
            for u in range(s):
                for v in range(s):
                    if u != j and v != j:
                        without += local[u, v]
            means[j] = max(without, 0.0) / (s - 1) ** 2
        _helmert_both(local, half, gram)
        square = max(square, 0.0) / s**2
        _by_members(gram, square, means, dim, squared_distortion, scratch, vectors, out[i])


@njit(cache=True, nogil=True)
def _helmert_rows(points, context, rows, sums):
    dim = rows.shape[1]
    for d in range(dim):
        sums[d] = points[context[0], d]
    for r in range(1, len(context)):
        factor = 1.0 / np.sqrt(r * (r + 1.0))
        for d in range(dim):
            value = points[context[r], d]
            rows[r - 1, d] = (sums[d] - r * value) * factor
            sums[d] += value


@njit(cache=True, nogil=True)
def _helmert_both(local, half, gram):
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


@njit(cache=True, nogil=True)
def _products_of_rows(rows, gram):
    for u in range(len(rows)):
        for v in range(u + 1):
            total = 0.0
            for d in range(rows.shape[1]):
                total += rows[u, d] * rows[v, d]
            gram[u, v] = total
            gram[v, u] = total


@njit(cache=True, nogil=True)
def _products_of_columns(rows, gram):
    gram[:] = 0.0
    for r in range(len(rows)):
        for u in range(rows.shape[1]):
            for v in range(u + 1):
                gram[u, v] += rows[r, u] * rows[r, v]


@njit(cache=True, nogil=True)
def _by_members(gram, square, means, dim, squared_distortion, lower, vectors, out):
    """Distances of one context from its (s - 1) x (s - 1) Gram matrix in Helmert coordinates."""
    s = len(means)
    vector, other, product = vectors
    whole = _coding_length(
        _factor(gram, dim / (squared_distortion * s), lower), s, square, dim, squared_distortion
    )
    factor = dim / (squared_distortion * (s - 1))
    logdet = _factor(gram, factor, lower)
    for j in range(s):
        # With h row j of the Helmert basis, det without j over det with it is s/(s-1) |L^-1 h|^2.
        _helmert_basis(j, vector)
        ratio = _solve(lower, vector, vector) * s / (s - 1)
        change = np.log(ratio)
        if ratio > 0.999:
            # Near 1 its logarithm has no digits: |h|^2 - |L^-1 h|^2 = factor h' B^-1 gram h does.
            _helmert_basis(j, other)
            _times(gram, other, product)
            _solve(lower, product, other)
            change = np.log1p(-factor * s / (s - 1) * _dot(vector, other))
        part = _coding_length(logdet + change, s - 1, means[j], dim, squared_distortion)
        out[j] = abs(whole - part)
    own = out[0]
    for j in range(s):
        out[j] = abs(own - out[j])


@njit(cache=True, nogil=True)
def _by_features(
    gram, points, context, mean, square, means, squared_distortion, lower, vector, out
):
    """The same from the D x D products of features, where the context has more points than features."""
    s, dim = len(context), len(mean)
    whole = _coding_length(
        _factor(gram, dim / (squared_distortion * s), lower), s, square, dim, squared_distortion
    )
    factor = dim / (squared_distortion * (s - 1))
    logdet = _factor(gram, factor, lower)
    for j in range(s):
        for d in range(dim):
            vector[d] = points[context[j], d] - mean[d]
        # det without j over det with it, for S - s/(s-1) z z' is what is left of S without z.
        lost = factor * s / (s - 1) * _solve(lower, vector, vector)
        if lost < 0.999:
            part = logdet + np.log1p(-lost)
        else:
            # Almost nothing is left without this point: count it, a difference would have no digits.
            _products_without(points, context, j, mean, vector, gram)
            part = _factor(gram, factor, lower)
            _products_without(points, context, -1, mean, vector, gram)
            _factor(gram, factor, lower)
        out[j] = abs(whole - _coding_length(part, s - 1, means[j], dim, squared_distortion))
    own = out[0]
    for j in range(s):
        out[j] = abs(own - out[j])


@njit(cache=True, nogil=True)
def _products_without(points, context, left_out, mean, centre, gram):
    """Products of the features of a context without one of its points, around its own mean."""
    s, dim = len(context), len(mean)
    for d in range(dim):
        centre[d] = mean[d]
        if left_out >= 0:
            centre[d] -= (points[context[left_out], d] - mean[d]) / (s - 1)
    gram[:] = 0.0
    for t in range(s):
        if t == left_out:
            continue
        for u in range(dim):
            for v in range(u + 1):
                gram[u, v] += (points[context[t], u] - centre[u]) * (
                    points[context[t], v] - centre[v]
                )


@njit(cache=True, nogil=True)
def _helmert_basis(j, row):
    """Row j of the basis: the coordinates of the j-th point's own axis."""
    for r in range(1, len(row) + 1):
        root = np.sqrt(r * (r + 1.0))
        if j < r:
            row[r - 1] = 1.0 / root
        elif j == r:
            row[r - 1] = -r / root
        else:
            row[r - 1] = 0.0


@njit(cache=True, nogil=True)
def _coding_length(logdet, count, square, dim, squared_distortion):
    """Formula (13); the mean's term keeps its digits where the mean is near the origin."""
    return 0.5 * (count + dim) * logdet + 0.5 * dim * np.log1p(square / squared_distortion)


@njit(cache=True, nogil=True)
def _factor(gram, factor, lower):
    """Cholesky factor of I + factor * gram, in place of ``lower``; returns the log of the determinant."""
    logdet = 0.0
    for u in range(len(gram)):
        for v in range(u + 1):
            total = factor * gram[u, v]
            for w in range(v):
                total -= lower[u, w] * lower[v, w]
            if u == v:
                # Below 0 by rounding only: the matrix is I plus a positive semidefinite one.
                total = max(total, 0.0)
                lower[u, u] = np.sqrt(1.0 + total)
                logdet += np.log1p(total)
            else:
                lower[u, v] = total / lower[v, v]
    return logdet


@njit(cache=True, nogil=True)
def _solve(lower, vector, out):
    """L^-1 v, and the square of its length; ``out`` may be ``vector``."""
    total = 0.0
    for u in range(len(lower)):
        value = vector[u]
        for w in range(u):
            value -= lower[u, w] * out[w]
        value /= lower[u, u]
        out[u] = value
        total += value * value
    return total


@njit(cache=True, nogil=True)
def _times(matrix, vector, out):
    for u in range(len(matrix)):
        out[u] = _dot(matrix[u], vector)


@njit(cache=True, nogil=True)
def _dot(a, b):
    total = 0.0
    for d in range(len(a)):
        total += a[d] * b[d]
    return total
