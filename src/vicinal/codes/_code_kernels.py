"""Sparse codes by an active set: min 1/2 |x - sum a_j z_j|^2 + penalty sum(a), a >= 0.

The support is the set of atoms with a_j > 0. The optimum on it solves a small linear system, stored as a
Cholesky factor of the support's Gram matrix that is updated by one atom at a time. The atom with the
largest correlation z_j'r > penalty with the residual r is added; on the way to the new optimum, atoms whose
coefficients would become negative are removed. Each step lowers the objective, so the method terminates.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.codes._cholesky_kernels import FAST_MATH, append, backward, dot, forward, remove

# Steps per atom of the support; only rounding errors can need as many.
MAX_STEPS_PER_ATOM = 20
# A target closer to the span of a support, relative to its length, is in the span.
SPAN_TOLERANCE = 1e-10
NEGATIVE_TOLERANCE = 1e-12
# A variable that starts as a literal has its own type in numba, and everything would be compiled twice.
NONE = np.int64(-1)


@jit
def correlate(points, vectors, atoms, correlations):
    """Inner products of each vector with the atoms of its dictionary."""
    for b in range(len(vectors)):
        for j in range(atoms.shape[1]):
            correlations[b, j] = dot(points[atoms[b, j]], vectors[b])


@jit
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


@jit
def remove_from_support(k, factor, size, support, values, state):
    """Remove the k-th atom from the support; returns the new size."""
    remove(factor, size, k)
    state[support[k]] = 0
    for m in range(k, size - 1):
        support[m], values[m] = support[m + 1], values[m + 1]
    return size - 1


@jit(fastmath=FAST_MATH)
def set_residual(Z, target, support, values, size, residual):
    for d in range(len(target)):
        residual[d] = target[d]
    for k in range(size):
        value, atom = values[k], Z[support[k]]
        for d in range(len(residual)):
            residual[d] -= value * atom[d]


@jit
def exchange(factor, size, support, values, state, direction):
    """Make room for an atom in the span of the support; its row of the factor is in place.

    Moving along its combination of the support keeps the residual and changes only sum(a), until a
    coefficient reaches 0. That atom is removed. Returns the step length; 0 if there is no such atom.
    """
    for k in range(size):
        direction[k] = factor[size, k]
    backward(factor, size, direction)
    step, first = np.inf, NONE
    for k in range(size):
        if direction[k] > 0.0 and values[k] < step * direction[k]:
            step, first = values[k] / direction[k], k
    if first < 0:
        return 0.0
    for k in range(size):
        values[k] = max(0.0, values[k] - step * direction[k])
    remove_from_support(first, factor, size, support, values, state)
    return step


@jit
def optimize_support(penalty, products, factor, size, support, values, state, optimum):
    """Optimum on the support; atoms whose coefficients reach 0 are removed.

    ``products`` are inner products of the atoms with the target. Returns the size of the support.
    """
    while size > 0:
        for k in range(size):
            optimum[k] = products[support[k]] - penalty
        forward(factor, size, optimum)
        backward(factor, size, optimum)
        step, first = 1.0, NONE
        for k in range(size):
            if optimum[k] <= 0.0:
                fraction = values[k] / (values[k] - optimum[k]) if values[k] > 0.0 else 0.0
                if fraction < step or first < 0:
                    step, first = fraction, k
        for k in range(size):
            values[k] += step * (optimum[k] - values[k])
        if first < 0:
            break
        size = remove_from_support(first, factor, size, support, values, state)
    return size


@jit
def solve(Z, n_atoms, target, penalty, tolerance, signed, size, workspace):
    """Active-set method over the first atoms of Z, starting from the support in the workspace.

    ``state`` of an atom is 1 in the support, 2 if rounding keeps it out, otherwise 0. With ``signed``,
    atoms may be negated. Returns the size of the support.
    """
    factor, support, values, state, optimum, products, residual = workspace
    for m in range(n_atoms):
        products[m] = dot(Z[m], target)
    # The support may come from another penalty.
    size = optimize_support(penalty, products, factor, size, support, values, state, optimum)
    for _ in range(MAX_STEPS_PER_ATOM * len(factor)):
        set_residual(Z, target, support, values, size, residual)
        best, j, negated = penalty + tolerance, NONE, False
        for m in range(n_atoms):
            if state[m] == 0:
                value = dot(Z[m], residual)
                if abs(value) > best and (signed or value > 0.0):
                    best, j, negated = abs(value), m, value < 0.0
        if j < 0:
            break
        if negated:
            products[j] = -products[j]
            for d in range(Z.shape[1]):
                Z[j, d] = -Z[j, d]
        value = 0.0
        fits = append(factor, size, Z, support, j)
        if not fits or size + 1 == len(factor):
            value = exchange(factor, size, support, values, state, optimum)
            if value > 0.0:
                size -= 1
                fits = append(factor, size, Z, support, j)
        if fits:
            support[size], values[size], state[j] = j, value, 1
            size += 1
        size = optimize_support(penalty, products, factor, size, support, values, state, optimum)
        # Adding the atom lowers the objective; if it was removed again, only rounding let it in.
        if state[j] == 0:
            state[j] = 2
    return size


@jit
def make_workspace(capacity, n_new, n_features):
    """Cholesky factor, support and its values; state of each atom; solution, products and residual."""
    return (
        np.empty((capacity, capacity)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(capacity + n_new, dtype=np.int8),
        np.empty(capacity),
        np.empty(capacity + n_new),
        np.empty(n_features),
    )


@jit
def load(points, atoms, positions, coefficients, n_used, Z, workspace):
    """Fill Z and the workspace with the atoms of a code; returns the size of the support."""
    factor, support, values, state = workspace[0], workspace[1], workspace[2], workspace[3]
    size = np.int64(0)
    for m in range(n_used):
        sign = -1.0 if coefficients[m] < 0.0 else 1.0
        for d in range(Z.shape[1]):
            Z[m, d] = sign * points[atoms[positions[m]], d]
        state[m] = 0
        if append(factor, size, Z, support, m):
            support[size], values[size], state[m] = m, abs(coefficients[m]), 1
            size += 1
    return size


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
        n_used = counts[b]
        for m in range(n_used):
            code[m] = positions[b, m]
        for c in range(n_chosen):
            # An atom may already be in the support: the penalty decreased, or by rounding.
            is_in_support = False
            for m in range(counts[b]):
                is_in_support = is_in_support or code[m] == chosen[c]
            if not is_in_support:
                code[n_used], state[n_used] = chosen[c], 0
                n_used += 1
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
        for k in range(size):
            m = support[k]
            positions[b, k] = code[m]
            negated = signed and dot(Z[m], points[dictionary[code[m]]]) < 0.0
            coefficients[b, k] = -values[k] if negated else values[k]


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
