"""Sparse codes by an active set: min 1/2 |x - sum a_j z_j|^2 + penalty sum(a), a >= 0.

The support is the set of atoms with a_j > 0. The optimum on it solves a small linear system, stored as a
Cholesky factor of the support's Gram matrix that is updated by one atom at a time. The atom with the
largest correlation z_j'r > penalty with the residual r is added; on the way to the new optimum, atoms whose
coefficients would become negative are removed. Each step lowers the objective, so the method terminates.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.codes._cholesky_kernels import FAST_MATH, append, backward, dot, remove

# Steps per atom of the support; only rounding errors can need as many.
MAX_STEPS_PER_ATOM = 20
# A variable that starts as a literal has its own type in numba, and everything would be compiled twice.
NONE = np.int64(-1)


@jit(allocates=False, no_cpython_wrapper=True)
def remove_from_support(k, factor, size, support, values, state):
    """Remove the k-th atom from the support; returns the new size."""
    remove(factor, size, k)
    state[support[k]] = 0
    for m in range(k, size - 1):
        support[m], values[m] = support[m + 1], values[m + 1]
    return size - 1


@jit(allocates=False, no_cpython_wrapper=True, fastmath=FAST_MATH)
def set_residual(Z, target, support, values, size, residual):
    for d in range(len(target)):
        residual[d] = target[d]
    for k in range(size):
        value, atom = values[k], Z[support[k]]
        for d in range(len(residual)):
            residual[d] -= value * atom[d]


@jit(allocates=False, no_cpython_wrapper=True)
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


@jit(allocates=False, no_cpython_wrapper=True)
def optimize_support(
    penalty, products, factor, size, n_known, support, values, state, optimum, forwarded
):
    """Optimum on the support; atoms whose coefficients reach 0 are removed.

    ``products`` are inner products of the atoms with the target. The first ``n_known`` entries of the
    solution of the forward half of the system are known. Returns the size of the support.
    """
    while size > 0:
        for k in range(n_known, size):
            value = products[support[k]] - penalty - dot(factor[k, :k], forwarded[:k])
            forwarded[k] = value / factor[k, k]
        for k in range(size):
            optimum[k] = forwarded[k]
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
        n_known = first
    return size


@jit(allocates=False, no_cpython_wrapper=True)
def solve(Z, n_atoms, target, penalty, tolerance, signed, size, workspace):
    """Active-set method over the first atoms of Z, starting from the support in the workspace.

    ``state`` of an atom is 1 in the support, 2 if rounding keeps it out, otherwise 0. With ``signed``,
    atoms may be negated. Returns the size of the support.
    """
    factor, support, values, state, optimum, products, residual, forwarded = workspace
    for m in range(n_atoms):
        products[m] = dot(Z[m], target)
    j, n_known = NONE, np.int64(0)
    n_steps = MAX_STEPS_PER_ATOM * len(factor)
    for step in range(n_steps + 1):
        # At first as well, because the support may come from another penalty.
        size = optimize_support(
            penalty, products, factor, size, n_known, support, values, state, optimum, forwarded
        )
        # Adding the atom lowers the objective; if it was removed again, only rounding let it in.
        if j >= 0 and state[j] == 0:
            state[j] = 2
        if step == n_steps:
            break
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
        value, n_known = 0.0, size
        fits = append(factor, size, Z, support, j)
        if not fits or size + 1 == len(factor):
            value = exchange(factor, size, support, values, state, optimum)
            if value > 0.0:
                size, n_known = size - 1, np.int64(0)
                fits = append(factor, size, Z, support, j)
        if fits:
            support[size], values[size], state[j] = j, value, 1
            size += 1
    return size


@jit(no_cpython_wrapper=True)
def make_workspace(capacity, n_new, n_features):
    """Cholesky factor, support and its values; state of each atom; solution, products, residual, half."""
    return (
        np.empty((capacity, capacity)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(capacity + n_new, dtype=np.int8),
        np.empty(capacity),
        np.empty(capacity + n_new),
        np.empty(n_features),
        np.empty(capacity),
    )


@jit(allocates=False, no_cpython_wrapper=True)
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
