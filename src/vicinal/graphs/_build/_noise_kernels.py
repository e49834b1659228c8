"""Noise that depends on a seed and the number of a row only, so that rows can be perturbed in parts."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit

# Constants of the finalizer of splitmix64.
FIRST, SECOND, STEP = (
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
    np.uint64(0x9E3779B97F4A7C15),
)


@jit(inline="always")
def mix(value):
    """A well-mixed 64-bit hash of a 64-bit number."""
    value = value + STEP
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return value ^ (value >> np.uint64(31))


@jit(inline="always")
def _uniform(state, counter):
    """Draw of a row in (0, 1]."""
    bits = mix(state ^ mix(np.uint64(counter)))
    return (np.float64(bits >> np.uint64(11)) + 1.0) * 2.0**-53


@jit
def perturb_rows(X, spread, seed, rows, out):
    """Add uniform noise from a ball: a normal direction, and a radius that makes the density uniform.

    A uniform ball of radius R in D dimensions has variance R^2 / (D + 2) along each axis; the standard
    deviation along each axis is ``spread``.
    """
    n, d = X.shape
    for r in range(n):
        state = mix(seed ^ mix(np.uint64(rows[r])))
        total = 0.0
        for c in range(0, d, 2):
            # Two independent normal values (Box and Muller).
            length = np.sqrt(-2.0 * np.log(_uniform(state, c + 1)))
            angle = 2.0 * np.pi * _uniform(state, c + 2)
            out[r, c] = length * np.cos(angle)
            total += out[r, c] * out[r, c]
            if c + 1 < d:
                out[r, c + 1] = length * np.sin(angle)
                total += out[r, c + 1] * out[r, c + 1]
        radius = np.sqrt(d + 2.0) * spread[r] * _uniform(state, 0) ** (1.0 / d)
        factor = radius / np.sqrt(total) if total > 0.0 else 0.0
        for c in range(d):
            out[r, c] = np.float64(X[r, c]) + factor * out[r, c]
