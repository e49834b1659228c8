"""Kernels of the contextual distance: all leave-one-out descriptors of a context from one factorisation.

A context of s points is first transformed to Helmert coordinates, see `_coding_kernels`; they remove the
mean without cancellation.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.graphs._coding_kernels import (
    dot,
    factor,
    helmert_basis,
    helmert_gram,
    helmert_rows,
    literal_lengths,
    multiply,
    norm,
    products_of_columns,
    products_of_rows,
    solve,
)

# Above this amplification of rounding errors, a context is recomputed literally; the accepted relative error
# is 1e-16 times this.
MAX_LOSS = 1e4


@jit
def euclidean_rows(points, indices, start, stop, out):
    """Contextual distances of the trivial descriptor: | gamma - |1 - gamma| | d = d."""
    difference = np.empty(points.shape[1])
    for i in range(start, stop):
        for d in range(len(difference)):
            difference[d] = points[indices[i, 0], d] - points[indices[i, 1], d]
        out[i, 0], out[i, 1] = 0.0, norm(difference)


@jit
def centroid_rows(points, indices, start, stop, out):
    """Contextual distances of the centroid: | |x_i - m| - |x_j - m| | / K, with m the context mean."""
    s, dim = indices.shape[1], points.shape[1]
    mean, difference, from_mean = np.empty(dim), np.empty(dim), np.empty(s)
    for i in range(start, stop):
        base = indices[i, 0]
        mean[:] = 0.0
        for j in range(s):
            for d in range(dim):
                # Relative to the point itself, so that contexts far from the origin keep their digits.
                mean[d] += points[indices[i, j], d] - points[base, d]
        for j in range(s):
            for d in range(dim):
                difference[d] = points[indices[i, j], d] - points[base, d] - mean[d] / s
            from_mean[j] = norm(difference)
        for j in range(s):
            out[i, j] = abs(from_mean[0] - from_mean[j]) / (s - 1)


@jit
def centroid_products(products, indices, start, stop, out):
    """`centroid_rows` from the matrix of inner products instead of points."""
    s = indices.shape[1]
    sums, from_mean = np.empty(s), np.empty(s)
    for i in range(start, stop):
        total = 0.0
        for u in range(s):
            sums[u] = 0.0
            for v in range(s):
                sums[u] += products[indices[i, u], indices[i, v]]
            total += sums[u]
        for j in range(s):
            square = products[indices[i, j], indices[i, j]]
            from_mean[j] = np.sqrt(max(square - 2.0 * sums[j] / s + total / s**2, 0.0))
        for j in range(s):
            out[i, j] = abs(from_mean[0] - from_mean[j]) / (s - 1)


@jit(allocates=False, error_model="numpy")
def coding_lengths_by_features(points, indices, dim, distortion, scratch, start, stop, out):
    """Contextual distances of the coding length (13) in ``dim`` dimensions, from products of features.

    Columns of zeros may be left out of the points. Contexts that need `coding_length_literal` get NaN in the
    first column; returns whether there are any. `coding_lengths_by_members` gives the same and is faster if
    there are more features than members; only the one that is used is compiled.

    ``scratch`` is `coding_scratch`: a kernel that allocates takes longer to compile.
    """
    squared = distortion * distortion
    rows, centred, mean, shifts, gram, lower, vectors = scratch
    vector = vectors[0]
    any_inaccurate = False
    for i in range(start, stop):
        spread = _describe_context(points, indices[i], dim, squared, rows, centred, mean, shifts)
        is_accurate = squared > 0.0 and spread * dim / squared < np.inf
        if is_accurate:
            is_accurate = _by_features(
                gram, rows, centred, shifts, dim, squared, lower, vector, out[i]
            )
        if not is_accurate:
            out[i, 0] = np.nan
            any_inaccurate = True
    return any_inaccurate


@jit(allocates=False)
def coding_lengths_by_members(points, indices, dim, distortion, scratch, start, stop, out):
    """`coding_lengths_by_features` from products of members."""
    squared = distortion * distortion
    rows, centred, mean, shifts, gram, lower, vectors = scratch
    any_inaccurate = False
    for i in range(start, stop):
        spread = _describe_context(points, indices[i], dim, squared, rows, centred, mean, shifts)
        is_accurate = squared > 0.0 and spread * dim / squared < np.inf
        if is_accurate:
            products_of_rows(rows, gram)
            is_accurate = _by_members(gram, shifts, dim, squared, lower, vectors, out[i])
        if not is_accurate:
            out[i, 0] = np.nan
            any_inaccurate = True
    return any_inaccurate


@jit(inline="always")
def _describe_context(points, context, dim, squared, rows, centred, mean, shifts):
    """Helmert coordinates of a context, the centred members and their mean; returns the sum of squares.

    ``shifts`` are the changes of the last term of (13) without each of the members.
    """
    s, width = centred.shape
    helmert_rows(points, context, s, rows, centred, mean)
    spread = 0.0
    for r in range(s - 1):
        spread += dot(rows[r], rows[r])
    square = dot(mean, mean)
    for j in range(s):
        moved, without = 0.0, 0.0
        for d in range(width):
            step = centred[j, d] / (s - 1)
            moved += step * (step - 2.0 * mean[d])
            without += (mean[d] - step) * (mean[d] - step)
        shifts[j] = _mean_term(square, moved, without, dim, squared)
    return spread


@jit
def coding_length_literal(points, indices, dim, distortion, start, stop, out):
    """`coding_lengths_by_members` for contexts marked with NaN; each coding length is computed separately."""
    s, width = indices.shape[1], points.shape[1]
    centred, rows = np.empty((s, width)), np.empty((s - 1, width))
    mean, lengths = np.empty(width), np.empty(s)
    for i in range(start, stop):
        if np.isnan(out[i, 0]):
            whole = literal_lengths(
                points, indices[i], dim, distortion, rows, centred, mean, lengths
            )
            _distances(whole, lengths, out[i])


@jit
def coding_length_products(products, indices, dim, distortion, start, stop, out):
    """`coding_lengths_by_members` from the matrix of inner products instead of points."""
    s = indices.shape[1]
    squared = distortion * distortion
    local, half, shifts = np.empty((s, s)), np.empty((s - 1, s)), np.empty(s)
    gram = np.empty((s - 1, s - 1))
    scratch, vectors = np.empty_like(gram), np.empty((3, s - 1))
    for i in range(start, stop):
        square = 0.0
        for u in range(s):
            for v in range(s):
                local[u, v] = products[indices[i, u], indices[i, v]]
                square += local[u, v]
        square = max(square, 0.0) / s**2
        for j in range(s):
            along = local[j].sum() / s - square
            deviation = max(local[j, j] - 2.0 * along - square, 0.0)
            moved = deviation / (s - 1) ** 2 - 2.0 * along / (s - 1)
            shifts[j] = _mean_term(square, moved, max(square + moved, 0.0), dim, squared)
        helmert_gram(local, half, gram)
        _by_members(gram, shifts, dim, squared, scratch, vectors, out[i])


@jit(inline="always")
def _mean_term(square, moved, without, dim, squared):
    """Change of the last term of (13) if the squared mean changes by ``moved`` to ``without``."""
    ratio = moved / (squared + square)
    if ratio > -0.5:
        return 0.5 * dim * np.log1p(ratio)
    return 0.5 * dim * np.log((squared + without) / (squared + square))


@jit(allocates=False)
def _by_members(gram, shifts, dim, squared, lower, vectors, out):
    """Distances of one context from its (s - 1) x (s - 1) Gram matrix in Helmert coordinates.

    Returns whether they are accurate.
    """
    s = len(shifts)
    # By index: after unpacking, numba would not know that they are contiguous and compile everything again.
    vector, other, product = vectors[0], vectors[1], vectors[2]
    whole = 0.5 * (s + dim) * factor(gram, dim / (squared * s), lower)[0]
    c = dim / (squared * (s - 1))
    logdet, loss = factor(gram, c, lower)
    whole -= 0.5 * (s - 1 + dim) * logdet
    for j in range(s):
        # With h row j of the Helmert basis, det without j / det with j is s/(s-1) |L^-1 h|^2.
        helmert_basis(j, vector)
        ratio = solve(lower, vector, vector) * s / (s - 1)
        change = np.log(ratio)
        if ratio > 0.99:
            # Near 1 the logarithm loses digits; |h|^2 - |L^-1 h|^2 = c h' B^-1 gram h does not.
            helmert_basis(j, other)
            multiply(gram, other, product)
            solve(lower, product, other)
            change = np.log1p(-c * s / (s - 1) * dot(vector, other))
        shifts[j] += 0.5 * (s - 1 + dim) * change
    _distances(whole, shifts, out)
    return loss < MAX_LOSS


@jit(inline="always")
def _by_features(gram, rows, centred, shifts, dim, squared, lower, vector, out):
    """`_by_members` from the products of all pairs of features, if there are fewer features than points."""
    s = len(centred)
    products_of_columns(rows, gram)
    whole = 0.5 * (s + dim) * factor(gram, dim / (squared * s), lower)[0]
    c = dim / (squared * (s - 1))
    logdet, loss = factor(gram, c, lower)
    whole -= 0.5 * (s - 1 + dim) * logdet
    for j in range(s):
        # det without j / det with j, because S without z is S - s/(s-1) z z'.
        lost = c * s / (s - 1) * solve(lower, centred[j], vector)
        if lost < 0.99:
            change = np.log1p(-lost)
        else:
            # Little is left without this point: recompute, because a difference would have no digits.
            _products_without(centred, j, vector, gram)
            reduced, reduced_loss = factor(gram, c, lower)
            change, loss = reduced - logdet, max(loss, reduced_loss)
            products_of_columns(rows, gram)
            factor(gram, c, lower)
        shifts[j] += 0.5 * (s - 1 + dim) * change
    _distances(whole, shifts, out)
    return loss < MAX_LOSS


@jit(inline="always")
def _products_without(centred, left_out, centre, gram):
    """Products of the features of a context without one of its points, around the remaining mean."""
    s, dim = centred.shape
    for d in range(dim):
        centre[d] = -centred[left_out, d] / (s - 1)
        for v in range(dim):
            gram[d, v] = 0.0
    for t in range(s):
        if t == left_out:
            continue
        for u in range(dim):
            for v in range(u + 1):
                gram[u, v] += (centred[t, u] - centre[u]) * (centred[t, v] - centre[v])


@jit(inline="always")
def _distances(whole, parts, out):
    """| |whole - part_0| - |whole - part_j| |; if both have the same sign, ``whole`` cancels."""
    first = whole - parts[0]
    for j in range(len(parts)):
        other = whole - parts[j]
        out[j] = abs(parts[0] - parts[j]) if (first < 0.0) == (other < 0.0) else abs(first + other)
