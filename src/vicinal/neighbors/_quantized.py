"""Exact neighbours of few queries: points in 8 bits rule out almost all others.

A search for one query reads every point once, so its time is that of reading memory. Codes of 8 bits per
coordinate take a quarter of the memory of single precision, and integer products of them are exact. The error
of each code is known, and only points that it cannot rule out are measured.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._quantized_kernels import nearest_by_codes, quantize

# Products of codes are sums of 32-bit integers.
MAX_FEATURES = 2**31 // 127**2 - 1
# Queries beyond this multiple of the extent of the points are too coarse in 8 bits.
MAX_QUERY_MAGNITUDE = 100.0


class Codes(NamedTuple):
    """Rows in 8 bits, the step of each, the length of its rounding error, and its squared norm."""

    codes: np.ndarray
    steps: np.ndarray
    errors: np.ndarray
    squares: np.ndarray


class QuantizedPoints(NamedTuple):
    """Points in 8 bits, after rescaling."""

    rescaling: brute.Rescaling
    codes: Codes


def quantize_points(X: np.ndarray) -> QuantizedPoints:
    """Rescale and quantise points."""
    rescaling = brute.fit_rescaling(X)
    return QuantizedPoints(rescaling, _quantized(X, rescaling))


def can_quantize(queries: np.ndarray, points: QuantizedPoints) -> bool:
    """Whether queries are near enough to the points."""
    return brute.rescaled_magnitude(queries, points.rescaling) <= MAX_QUERY_MAGNITUDE


def nearest_to_few(
    X: np.ndarray, points: QuantizedPoints, queries: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k points of X nearest to each query, sorted by (distance, index)."""
    m = len(queries)
    targets = _quantized(queries, points.rescaling)
    indices, squares = np.empty((m, k), np.int64), np.empty((m, k))

    def search(span: tuple[int, int]) -> None:
        nearest_by_codes(
            queries, X, points.rescaling.scale, tuple(points.codes), tuple(targets),
            *span, indices, squares,
        )  # fmt: skip

    map_threads(search, blocks(m, 1))
    return indices, np.sqrt(squares, out=squares)


def _quantized(X: np.ndarray, rescaling: brute.Rescaling) -> Codes:
    n = len(X)
    result = Codes(np.empty(X.shape, np.int8), np.empty(n), np.empty(n), np.empty(n))

    def fill(span: tuple[int, int]) -> None:
        a, b = span
        quantize(rescaling.transform(X[a:b], np.float64), *(values[a:b] for values in result))

    map_threads(fill, blocks(n, 1024))
    return result
