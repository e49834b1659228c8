"""Rescaling by powers of two, which is exact.

Squares and sums of very large or very small values overflow or underflow. Rescaling avoids this, and where
the original computation stays in range, the result is bit-identical.
"""

from __future__ import annotations

import numpy as np

# Powers of two up to this exponent, and their inverses, are normal floats.
MAX_EXPONENT = 1000
# Magnitudes between which squares and their sums neither overflow nor underflow.
SAFE_RANGE = 1e-140, 1e140
# Values are brought to this exponent, well above 1: most may be far smaller than the largest.
SAFE_EXPONENT = 400


def max_magnitude(values: np.ndarray) -> float:
    """Largest absolute value, computed without a copy of the array; 0 if it is empty."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def binary_exponent(magnitude: float) -> int:
    """Smallest e with ``magnitude < 2**e``; 0 for 0."""
    return int(np.frexp(magnitude)[1])


def power_of_two(magnitude: float) -> float:
    """Largest power of two up to ``magnitude``, within ``2**±MAX_EXPONENT``; 1 for 0."""
    if magnitude <= 0:
        return 1.0
    return float(2.0 ** np.clip(binary_exponent(magnitude) - 1, -MAX_EXPONENT, MAX_EXPONENT))


def safe_factor(values: np.ndarray) -> float:
    """Power of two that brings values into `SAFE_RANGE`; 1 if they are in it already."""
    magnitude = max_magnitude(values)
    if magnitude == 0.0 or SAFE_RANGE[0] < magnitude < SAFE_RANGE[1]:
        return 1.0
    exponent = SAFE_EXPONENT - binary_exponent(magnitude)
    return float(2.0 ** np.clip(exponent, -MAX_EXPONENT, MAX_EXPONENT))


def normalize_magnitude(
    values: np.ndarray, axis: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rescale values so that the largest magnitude, along ``axis`` or overall, is in [0.5, 1).

    Returns the rescaled values and the binary exponents: ``numpy.ldexp(rescaled, exponents)`` restores the
    values. The exponents keep the axis, with size 1.
    """
    magnitudes = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    exponents = np.frexp(magnitudes)[1]
    return np.ldexp(values, -exponents), exponents
