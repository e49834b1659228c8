"""W P^t of a dense matrix: by repeated squaring, leading eigenpairs if they suffice, or all eigenpairs."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import fractional_matrix_power

from vicinal._core.rescale import binary_exponent
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicates import many_duplicates
from vicinal.operators.laplacians import MAX_SAFE_FACTOR
from vicinal.similarity.smoothing._spectral import (
    SmoothingSpectrum,
    all_pairs,
    leading_pairs,
    merge_duplicates,
)

# Truncation error of S^(t+1) allowed for leading eigenpairs.
TOLERANCE = 1e-13
# Up to this size, squaring is always fast enough.
SQUARING_MAX_ITEMS = 500
# Smaller entries would only produce denormal numbers, which are very slow.
MIN_ENTRY = 1e-150
N_STRIPS = 8


def in_range(weights: Any) -> tuple[Any, int]:
    """Similarities rescaled so that sums do not overflow nor roots underflow, and the power of 2 removed."""
    largest = float(weights.max())
    if largest == 0 or 1 / MAX_SAFE_FACTOR < largest < MAX_SAFE_FACTOR:
        return weights, 0
    exponent = binary_exponent(largest)
    if not sparse.issparse(weights):
        return np.ldexp(weights, -exponent), exponent
    scaled = weights.copy()
    scaled.data = np.ldexp(scaled.data, -exponent)
    return scaled, exponent


def smooth_symmetric(weights: np.ndarray, t: float) -> np.ndarray:
    """W P^t for symmetric W."""
    if t == 0:
        return weights.copy()
    roots = np.sqrt(weights.sum(axis=1))
    matrix = normalized(weights, roots)
    duplicates = many_duplicates(matrix)
    if duplicates is None:
        return _smooth_distinct(matrix, roots, t)
    first, sizes = duplicates.representative, np.sqrt(duplicates.counts)
    smoothed = _smooth_distinct(merge_duplicates(matrix, duplicates), roots[first] / sizes, t)
    return smoothed[np.ix_(duplicates.group, duplicates.group)]


def _smooth_distinct(matrix: np.ndarray, roots: np.ndarray, t: float) -> np.ndarray:
    """D^1/2 S^(t+1) D^1/2 of a normalised affinity S."""
    if t != int(t):
        return all_pairs(matrix, roots).matrix(t)
    spectrum = cheap_pairs(matrix, roots, t)
    if spectrum is not None:
        return spectrum.matrix(t)
    power = symmetric_power(matrix, int(t) + 1)
    power *= roots[:, None]
    power *= roots
    return power


def cheap_pairs(matrix: np.ndarray, roots: np.ndarray, t: float) -> SmoothingSpectrum | None:
    """Leading eigenpairs if the others are negligible after t steps and this is faster than squaring."""
    n = len(matrix)
    if n <= SQUARING_MAX_ITEMS:
        return None
    exponent = int(t) + 1
    products = exponent.bit_length() + exponent.bit_count() - 2
    # A symmetric product in strips takes about 0.6 of the time of a full one.
    return leading_pairs(
        matrix, roots, cutoff=TOLERANCE ** (1 / exponent), budget=0.6 * products * n
    )


def normalized(weights: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """S = D^-1/2 W D^-1/2, exactly symmetric; 0 in the rows of items without any similarity."""
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    if inverse.max(initial=0.0) < MAX_SAFE_FACTOR:
        matrix = weights * (inverse[:, None] * inverse)
    else:  # the product of two inverse roots might overflow
        digits, exponents = np.frexp(inverse)
        matrix = np.ldexp(weights, exponents[:, None] + exponents) * (digits[:, None] * digits)
    matrix[matrix < MIN_ENTRY] = 0.0
    return matrix


def symmetric_power(matrix: np.ndarray, exponent: int) -> np.ndarray:
    """Power of a symmetric matrix by repeated squaring, at half the cost of general products."""
    bits = bin(exponent)[2:]
    # Two ones in a row cost one product with the cube, which is needed anyway if the first two bits are ones.
    windows = re.findall("11|1|0" if bits.startswith("11") else "1|0", bits)
    factors = {"1": matrix}
    if windows[0] == "11":
        factors["11"] = symmetric_product(_square(matrix), matrix)
    power = factors[windows[0]]
    for window in windows[1:]:
        for _ in window:
            power = _square(power)
        if window in factors:
            power = symmetric_product(power, factors[window])
    return power.copy() if power is matrix else power


def _square(matrix: np.ndarray) -> np.ndarray:
    return matrix @ matrix.T  # BLAS computes only one triangle of a matrix times its own transpose


def smooth_asymmetric(weights: np.ndarray, t: float) -> np.ndarray:
    """W P^t for any W, by repeated squaring; for fractional t, the real part of the principal power."""
    return np.real(weights @ walk_power(weights, t))


def walk_power(weights: np.ndarray, t: float) -> np.ndarray:
    """P^t, complex for fractional t; the walk does not leave an item without any similarity."""
    sums = weights.sum(axis=1)
    walk = weights / np.where(sums > 0, sums, 1.0)[:, None]
    empty = np.flatnonzero(sums == 0)
    walk[empty, empty] = 1.0
    power = np.linalg.matrix_power(walk, int(t))
    return power if t == int(t) else power @ _fractional_power(walk, t - int(t))


def _fractional_power(walk: np.ndarray, fraction: float) -> np.ndarray:
    values, vectors = np.linalg.eig(walk)
    # An eigenvalue that is 0 up to rounding would be magnified by the fractional power.
    values = np.where(np.abs(values) < 1e-14 * len(walk), 0.0, values.astype(complex))
    if np.linalg.cond(vectors) < 1e4:
        return (vectors * values**fraction) @ np.linalg.inv(vectors)
    power = fractional_matrix_power(walk, fraction) if (values != 0).all() else None
    if power is None or not np.isfinite(power).all():
        raise InvalidValueError(
            f"t has the fraction {fraction:g}, but the transition matrix has no such power (it is singular "
            "and not diagonalisable); use an integer t, or symmetrise W by (W + W.T) / 2."
        )
    return power


def symmetric_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Product of two commuting symmetric matrices: it is symmetric, so only one triangle is computed."""
    n = len(left)
    product = np.empty_like(left)
    edges = np.linspace(0, n, min(N_STRIPS, n) + 1).astype(int)
    for start, stop in pairwise(edges):
        product[start:stop, start:] = left[start:stop] @ right[:, start:]
        product[stop:, start:stop] = product[start:stop, stop:].T
    return product
