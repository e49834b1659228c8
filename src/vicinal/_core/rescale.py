"""Rescaling by powers of two, which changes no digit of a value.

Squares and sums of very large or very small values overflow or underflow. Computed on rescaled values and
scaled back, results have the same bits wherever the unscaled computation would have been in range.
"""

from __future__ import annotations

import numpy as np

# Powers of two up to this exponent, and their inverses, are ordinary floats.
MAX_EXPONENT = 1000
# Magnitudes between which squares and their sums neither overflow nor underflow.
SAFE_RANGE = 1e-140, 1e140


def max_magnitude(values: np.ndarray) -> float:
    """Largest absolute value, without a copy of the array; 0 if there are no values."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def binary_exponent(size: float) -> int:
    """The smallest e with ``size < 2**e``; 0 for 0."""
    return int(np.frexp(size)[1])


def power_of_two(size: float) -> float:
    """The largest power of two up to ``size``, within ``2**±MAX_EXPONENT``; 1 for 0."""
    if size <= 0:
        return 1.0
    return float(2.0 ** np.clip(binary_exponent(size) - 1, -MAX_EXPONENT, MAX_EXPONENT))


def safe_factor(values: np.ndarray) -> float:
    """Power of two that brings values into the range of safe squares: 1 if they are in it already."""
    size = max_magnitude(values)
    if size == 0.0 or SAFE_RANGE[0] < size < SAFE_RANGE[1]:
        return 1.0
    return float(2.0 ** -np.clip(binary_exponent(size), -MAX_EXPONENT, MAX_EXPONENT))


def normalize_magnitude(
    values: np.ndarray, axis: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Values whose largest magnitude, along ``axis`` or overall, is in [0.5, 1), and the exponents removed.

    ``numpy.ldexp(scaled, exponents)`` restores the values. The axis is kept in the exponents, with size 1.
    """
    sizes = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    exponents = np.frexp(sizes)[1]
    return np.ldexp(values, -exponents), exponents
