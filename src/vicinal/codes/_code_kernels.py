"""Sparse codes by an active set: min 1/2 |x - sum a_j z_j|^2 + penalty sum(a), a >= 0.

The atoms with a_j > 0 are the support. On it the optimum solves a small linear system, kept as a Cholesky
factor of the support's Gram matrix that grows and shrinks by one atom at a time. The atom that the
residual r speaks for most, z_j'r > penalty, joins; on the way to the new optimum atoms whose
coefficients would turn negative leave. Each step lowers the objective, so the steps come to an end.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.codes._cholesky_kernels import FAST, append, backward, dot, forward, remove

# Steps for each atom that a support can hold; only rounding takes so many.
MAX_STEPS = 20
# A target that is so near to the span of a support, relative to its length, is in it.
RESIDUE = 1e-10
ROUNDING = 1e-12
# A variable that starts as a literal would be a type of its own, and everything compiled twice.
NONE = np.int64(-1)


@jit
def correlate(points, vectors, atoms, correlations):
    """Products of each vector with the atoms of its own dictionary."""
    for b in range(len(vectors)):
        for j in range(atoms.shape[1]):
            correlations[b, j] = dot(points[atoms[b, j]], vectors[b])


@jit
def violators(correlations, own, threshold, signed, chosen, strengths):
    """Atoms whose correlation is above the threshold, as many of the largest as ``chosen`` holds.

    ``own`` is left out. Returns their number and the largest correlation of all.
    """
    size, count, least, largest = len(chosen), 0, threshold, 0.0
    for j in range(len(correlations)):
        value = abs(correlations[j]) if signed else correlations[j]
        if value <= least or j == own:
            if value > largest and j != own:
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
            least = max(threshold, strengths[0])
    return count, largest


@jit
def leave(k, factor, size, support, values, state):
    """Take the k-th atom out of the support; returns the new size."""
    remove(factor, size, k)
    state[support[k]] = 0
    for m in range(k, size - 1):
        support[m], values[m] = support[m + 1], values[m + 1]
    return size - 1


@jit(fastmath=FAST)
def set_residual(Z, target, support, values, size, residual):
    for d in range(len(target)):
        residual[d] = target[d]
    for k in range(size):
        value, atom = values[k], Z[support[k]]
        for d in range(len(residual)):
            residual[d] -= value * atom[d]


@jit
def make_room(factor, size, support, values, state, wanted):
    """Let an atom that the support already spans in; its row of the factor is in place.

    Along its combination of the support the residual stays and only sum(a) changes, so the way leads
    until a coefficient is 0. That atom leaves. Returns how far it was; 0 if there is no such atom.
    """
    for k in range(size):
        wanted[k] = factor[size, k]
    backward(factor, size, wanted)
    step, first = np.inf, NONE
    for k in range(size):
        if wanted[k] > 0.0 and values[k] < step * wanted[k]:
            step, first = values[k] / wanted[k], k
    if first < 0:
        return 0.0
    for k in range(size):
        values[k] = max(0.0, values[k] - step * wanted[k])
    leave(first, factor, size, support, values, state)
    return step


@jit
def settle(penalty, products, factor, size, support, values, state, wanted):
    """Optimum on the support, from which atoms leave as their coefficients reach 0.

    ``products`` are those of the atoms with the target. Returns the size of the support.
    """
    while size > 0:
        for k in range(size):
            wanted[k] = products[support[k]] - penalty
        forward(factor, size, wanted)
        backward(factor, size, wanted)
        step, first = 1.0, NONE
        for k in range(size):
            if wanted[k] <= 0.0:
                share = values[k] / (values[k] - wanted[k]) if values[k] > 0.0 else 0.0
                if share < step or first < 0:
                    step, first = share, k
        for k in range(size):
            values[k] += step * (wanted[k] - values[k])
        if first < 0:
            break
        size = leave(first, factor, size, support, values, state)
    return size


@jit
def solve(Z, n_atoms, target, penalty, tolerance, signed, size, workspace):
    """Active set over the first atoms of Z, from the support in the workspace on.

    ``state`` of an atom is 1 in the support, 2 if rounding keeps it out, else 0. With ``signed`` an atom
    may be turned round. Returns the size of the support.
    """
    factor, support, values, state, wanted, products, residual = workspace
    for m in range(n_atoms):
        products[m] = dot(Z[m], target)
    # The penalty may be another than the one that the support was found for.
    size = settle(penalty, products, factor, size, support, values, state, wanted)
    for _ in range(MAX_STEPS * len(factor)):
        set_residual(Z, target, support, values, size, residual)
        best, j, turned = penalty + tolerance, NONE, False
        for m in range(n_atoms):
            if state[m] == 0:
                value = dot(Z[m], residual)
                if abs(value) > best and (signed or value > 0.0):
                    best, j, turned = abs(value), m, value < 0.0
        if j < 0:
            break
        if turned:
            products[j] = -products[j]
            for d in range(Z.shape[1]):
                Z[j, d] = -Z[j, d]
        value = 0.0
        fits = append(factor, size, Z, support, j)
        if not fits or size + 1 == len(factor):
            value = make_room(factor, size, support, values, state, wanted)
            if value > 0.0:
                size -= 1
                fits = append(factor, size, Z, support, j)
        if fits:
            support[size], values[size], state[j] = j, value, 1
            size += 1
        size = settle(penalty, products, factor, size, support, values, state, wanted)
        # It came in because the objective falls with it: if it is out again, rounding let it in.
        if state[j] == 0:
            state[j] = 2
    return size


@jit
def make_workspace(capacity, n_new, n_features):
    """Cholesky factor, support, its values; state of each atom; two vectors of them; the residual."""
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
def load(points, atoms, places, coefficients, n_used, Z, workspace):
    """Fill Z and the workspace with the atoms of a code; returns the size of the support."""
    factor, support, values, state = workspace[0], workspace[1], workspace[2], workspace[3]
    size = np.int64(0)
    for m in range(n_used):
        sign = -1.0 if coefficients[m] < 0.0 else 1.0
        for d in range(Z.shape[1]):
            Z[m, d] = sign * points[atoms[places[m]], d]
        state[m] = 0
        if append(factor, size, Z, support, m):
            support[size], values[size], state[m] = m, abs(coefficients[m]), 1
            size += 1
    return size


@jit
def advance(
    points,
    targets,
    own,
    atoms,
    correlations,
    penalties,
    tolerances,
    signed,
    n_new,
    codes,
    residuals,
):
    """One round for each row: the atoms that its residual speaks for most join, and it is solved anew.

    ``codes`` holds places in the dictionary, coefficients and their numbers; they and ``residuals``
    are updated. Also the largest correlation with the residual, infinite before the first round, and
    whether there was anything to improve.
    """
    places, coefficients, counts, largest, moved = codes
    n_features, capacity = points.shape[1], places.shape[1]
    Z = np.empty((capacity + n_new, n_features))
    workspace = make_workspace(capacity, n_new, n_features)
    support, values, state = workspace[1], workspace[2], workspace[3]
    chosen, heights = np.empty(n_new, dtype=np.int64), np.empty(n_new)
    code = np.empty(capacity + n_new, dtype=np.int64)
    for b in range(len(targets)):
        dictionary = atoms[min(b, len(atoms) - 1)]
        bound, before = penalties[b] + tolerances[b], largest[b]
        n_chosen, largest[b] = violators(correlations[b], own[b], bound, signed, chosen, heights)
        n_used = counts[b]
        for m in range(n_used):
            code[m] = places[b, m]
        for c in range(n_chosen):
            # An atom may be in the support already: the penalty fell, or it is for rounding.
            known = False
            for m in range(counts[b]):
                known = known or code[m] == chosen[c]
            if not known:
                code[n_used], state[n_used] = chosen[c], 0
                n_used += 1
        moved[b] = n_used > counts[b] or (n_chosen > 0 and largest[b] < 0.5 * before)
        if not moved[b]:
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
            places[b, k] = code[m]
            turned = signed and dot(Z[m], points[dictionary[code[m]]]) < 0.0
            coefficients[b, k] = -values[k] if turned else values[k]


@jit
def extrapolate(points, targets, atoms, codes, vectors, spanned):
    """Codes of penalty 0 on the same supports, if x is in their span, and what remains to be checked.

    On a support S with a = G^-1 Z x and x = Z'a, the vector y = Z' G^-1 1 proves a to be the shortest
    code if no atom has z'y > 1. If x is not in the span, what is left of it, r = x - Z'a, proves
    that there is no code if no atom has z'r > 0. ``vectors`` gets y or r; ``spanned`` is 1, or 0 for r,
    or -1 if some a_j is negative. The codes are changed where it is 1.
    """
    places, coefficients, counts = codes
    n_features, capacity = points.shape[1], places.shape[1]
    Z = np.empty((capacity, n_features))
    workspace = make_workspace(capacity, 0, n_features)
    factor, support, values, rest = workspace[0], workspace[1], workspace[2], workspace[6]
    slope = np.empty(capacity)
    for b in range(len(targets)):
        dictionary = atoms[min(b, len(atoms) - 1)]
        size = load(points, dictionary, places[b], coefficients[b], counts[b], Z, workspace)
        for k in range(size):
            values[k], slope[k] = 0.0, 1.0
        # Once more on what rounding left over.
        for _ in range(2):
            set_residual(Z, targets[b], support, values, size, rest)
            for k in range(size):
                workspace[4][k] = dot(Z[support[k]], rest)
            forward(factor, size, workspace[4])
            backward(factor, size, workspace[4])
            for k in range(size):
                values[k] += workspace[4][k]
        set_residual(Z, targets[b], support, values, size, rest)
        least = 0.0
        for k in range(size):
            least = min(least, values[k])
        length = dot(targets[b], targets[b])
        if dot(rest, rest) > RESIDUE * RESIDUE * length:
            spanned[b] = 0
            for d in range(n_features):
                vectors[b, d] = rest[d]
        elif least < -ROUNDING:
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
