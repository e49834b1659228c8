"""Rounds of sparse codes: find atoms that would improve a code, and solve again with them."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.codes._active_set_kernels import NONE, load, make_workspace, set_residual, solve
from vicinal.codes._cholesky_kernels import backward, dot, forward

# A target closer to the span of a support, relative to its length, is in the span.
SPAN_TOLERANCE = 1e-10
NEGATIVE_TOLERANCE = 1e-12


@jit(allocates=False)
def correlate(points, vectors, atoms, correlations):
    """Inner products of each vector with the atoms of its dictionary."""
    for b in range(len(vectors)):
        for j in range(atoms.shape[1]):
            correlations[b, j] = dot(points[atoms[b, j]], vectors[b])


@jit(allocates=False, no_cpython_wrapper=True)
def violators(correlations, excluded, threshold, signed, chosen, strengths):
    """Atoms with a correlation above the threshold, the largest ones if ``chosen`` has no room for all.

    ``excluded`` is skipped. Returns their number and the largest correlation of all.
    """
    size, count, smallest, largest = len(chosen), 0, threshold, 0.0
    for j in range(len(correlations)):
        value = abs(correlations[j]) if signed else correlations[j]
        if value <= smallest or j == excluded:
            if value > largest and j != excluded:
                largest = value
            continue
        largest = max(largest, value)
        # A heap with the smallest on top.
        if count < size:
            at = count
            count += 1
            while at > 0 and strengths[(at - 1) // 2] > value:
                chosen[at], strengths[at] = chosen[(at - 1) // 2], strengths[(at - 1) // 2]
                at = (at - 1) // 2
        else:
            at = 0
            while 2 * at + 1 < size:
                child = 2 * at + 1
                if child + 1 < size and strengths[child + 1] < strengths[child]:
                    child += 1
                if strengths[child] >= value:
                    break
                chosen[at], strengths[at] = chosen[child], strengths[child]
                at = child
        chosen[at], strengths[at] = j, value
        if count == size:
            smallest = max(threshold, strengths[0])
    return count, largest


@jit(allocates=False, no_cpython_wrapper=True)
def extend(code, n_old, chosen, n_chosen, state):
    """Append the chosen atoms that are not yet in a code; returns its new length."""
    n_used = n_old
    for c in range(n_chosen):
        # An atom may already be in the support: the penalty decreased, or by rounding.
        is_in_support = False
        for m in range(n_old):
            is_in_support = is_in_support or code[m] == chosen[c]
        if not is_in_support:
            code[n_used], state[n_used] = chosen[c], 0
            n_used += 1
    return n_used


@jit(allocates=False, no_cpython_wrapper=True)
def store(points, dictionary, signed, code, size, Z, workspace, positions, coefficients):
    """Copy the support in the workspace to a code."""
    support, values = workspace[1], workspace[2]
    for k in range(size):
        m = support[k]
        positions[k] = code[m]
        negated = signed and dot(Z[m], points[dictionary[code[m]]]) < 0.0
        coefficients[k] = -values[k] if negated else values[k]


@jit
def advance(
    points,
    targets,
    excluded,
    atoms,
    correlations,
    penalties,
    tolerances,
    signed,
    n_new,
    codes,
    residuals,
):
    """One round per row: add the atoms with the largest correlations to the residual, and solve again.

    ``codes`` holds positions in the dictionary, coefficients and their numbers; they and ``residuals``
    are updated. Also the largest correlation with the residual, infinite before the first round, and
    whether the code changed.
    """
    positions, coefficients, counts, largest, changed = codes
    n_features, capacity = points.shape[1], positions.shape[1]
    Z = np.empty((capacity + n_new, n_features))
    workspace = make_workspace(capacity, n_new, n_features)
    support, values, state = workspace[1], workspace[2], workspace[3]
    chosen, strengths = np.empty(n_new, dtype=np.int64), np.empty(n_new)
    code = np.empty(capacity + n_new, dtype=np.int64)
    for b in range(len(targets)):
        dictionary = atoms[min(b, len(atoms) - 1)]
        bound, previous = penalties[b] + tolerances[b], largest[b]
        n_chosen, largest[b] = violators(
            correlations[b], excluded[b], bound, signed, chosen, strengths
        )
        for m in range(counts[b]):
            code[m] = positions[b, m]
        n_used = extend(code, counts[b], chosen, n_chosen, state)
        changed[b] = n_used > counts[b] or (n_chosen > 0 and largest[b] < 0.5 * previous)
        if not changed[b]:
            continue
        size = load(points, dictionary, code, coefficients[b], counts[b], Z, workspace)
        for m in range(counts[b], n_used):
            for d in range(n_features):
                Z[m, d] = points[dictionary[code[m]], d]
        size = solve(Z, n_used, targets[b], penalties[b], tolerances[b], signed, size, workspace)
        set_residual(Z, targets[b], support, values, size, residuals[b])
        counts[b] = size
        store(points, dictionary, signed, code, size, Z, workspace, positions[b], coefficients[b])


@jit
def complete(
    points,
    targets,
    atoms,
    penalties,
    tolerances,
    signed,
    n_new,
    max_rounds,
    codes,
    residuals,
):
    """All rounds of each row, over small dictionaries; arguments and results are those of `advance`.

    The factor of a support stays in place from round to round, and a dictionary is read once.
    """
    positions, coefficients, counts, largest, changed = codes
    n_features, capacity = points.shape[1], positions.shape[1]
    Z, spare = np.empty((capacity + n_new, n_features)), np.empty((capacity, n_features))
    workspace = make_workspace(capacity, n_new, n_features)
    support, values, state = workspace[1], workspace[2], workspace[3]
    chosen, strengths = np.empty(n_new, dtype=np.int64), np.empty(n_new)
    code = np.empty(capacity + n_new, dtype=np.int64)
    local = np.empty((atoms.shape[1], n_features))
    correlations = np.empty(len(local))
    rows = np.arange(len(local))
    for b in range(len(targets)):
        for j in range(len(local)):
            for d in range(n_features):
                local[j, d] = points[atoms[b, j], d]
        bound, n_old = penalties[b] + tolerances[b], counts[b]
        for m in range(n_old):
            code[m] = positions[b, m]
        size = load(local, rows, code, coefficients[b], n_old, Z, workspace)
        for _ in range(max_rounds):
            for j in range(len(local)):
                correlations[j] = dot(local[j], residuals[b])
            previous = largest[b]
            n_chosen, largest[b] = violators(correlations, NONE, bound, signed, chosen, strengths)
            n_used = extend(code, n_old, chosen, n_chosen, state)
            changed[b] = n_used > n_old or (n_chosen > 0 and largest[b] < 0.5 * previous)
            if not changed[b]:
                break
            for m in range(n_old, n_used):
                for d in range(n_features):
                    Z[m, d] = local[code[m], d]
            size = solve(
                Z, n_used, targets[b], penalties[b], tolerances[b], signed, size, workspace
            )
            set_residual(Z, targets[b], support, values, size, residuals[b])
            store(local, rows, signed, code, size, Z, workspace, positions[b], coefficients[b])
            counts[b] = n_old = size
            for k in range(size):
                code[k] = positions[b, k]
                for d in range(n_features):
                    spare[k, d] = Z[support[k], d]
            for k in range(size):
                support[k], state[k] = k, 1
                for d in range(n_features):
                    Z[k, d] = spare[k, d]


@jit
def extrapolate(points, targets, atoms, codes, vectors, spanned):
    """Codes with penalty 0 on the same supports, if x is in their span, and certificates to check.

    On a support S with a = G^-1 Z x and x = Z'a, the vector y = Z' G^-1 1 proves that a is the shortest
    code if no atom has z'y > 1. If x is not in the span, the residual r = x - Z'a proves that there is no
    code if no atom has z'r > 0. ``vectors`` gets y or r; ``spanned`` is 1 for y, 0 for r, and -1 if some
    a_j is negative. Codes are updated where it is 1.
    """
    positions, coefficients, counts = codes
    n_features, capacity = points.shape[1], positions.shape[1]
    Z = np.empty((capacity, n_features))
    workspace = make_workspace(capacity, 0, n_features)
    factor, support, values, residual = workspace[0], workspace[1], workspace[2], workspace[6]
    slope = np.empty(capacity)
    for b in range(len(targets)):
        dictionary = atoms[min(b, len(atoms) - 1)]
        size = load(points, dictionary, positions[b], coefficients[b], counts[b], Z, workspace)
        for k in range(size):
            values[k], slope[k] = 0.0, 1.0
        # The second pass is iterative refinement.
        for _ in range(2):
            set_residual(Z, targets[b], support, values, size, residual)
            for k in range(size):
                workspace[4][k] = dot(Z[support[k]], residual)
            forward(factor, size, workspace[4])
            backward(factor, size, workspace[4])
            for k in range(size):
                values[k] += workspace[4][k]
        set_residual(Z, targets[b], support, values, size, residual)
        smallest = 0.0
        for k in range(size):
            smallest = min(smallest, values[k])
        length = dot(targets[b], targets[b])
        if dot(residual, residual) > SPAN_TOLERANCE * SPAN_TOLERANCE * length:
            spanned[b] = 0
            for d in range(n_features):
                vectors[b, d] = residual[d]
        elif smallest < -NEGATIVE_TOLERANCE:
            spanned[b] = -1
        else:
            spanned[b] = 1
            forward(factor, size, slope)
            backward(factor, size, slope)
            for d in range(n_features):
                vectors[b, d] = 0.0
            for k in range(size):
                m = support[k]
                for d in range(n_features):
                    vectors[b, d] += slope[k] * Z[m, d]
                sign = -1.0 if coefficients[b, m] < 0.0 else 1.0
                coefficients[b, m] = sign * max(0.0, values[k])
