"""Similarities and neighbours after many numbers of steps: one product leads from each power to the next.

All entries are nonnegative, so products in single precision keep the relative precision of small entries,
by which items are ranked: about 1e-7 per product. Powers are scaled against underflow; where a relevant entry
may still have underflowed, the similarity is computed in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.smoothing._dense import normalized, symmetric_power, symmetric_product
from vicinal.similarity.smoothing._fusion import FusedWalk
from vicinal.similarity.smoothing._selection import best_of_rows
from vicinal.similarity.smoothing._walks import DECOMPOSITION_COST, DenseWalk, SparseWalk
from vicinal.similarity.smoothing.operator import check_self_similarity

Neighbors = tuple[np.ndarray, np.ndarray]
# From t to a matrix or a `SmoothedSimilarity`.
SimilarityAt = Callable[[float], Any]
# Products of two entries times UNIT squared fit into single precision, from 1 down to MIN_ENTRY squared.
UNIT, MIN_ENTRY = 2.0**60, 1e-36
# Neighbours above this similarity are not affected by entries that underflowed.
MIN_SAFE_SIMILARITY = 1e-24


def sweep_similarities(
    walk: DenseWalk | SparseWalk | FusedWalk, steps: list[float], similarity_at: SimilarityAt
) -> Iterator[tuple[float, Any]]:
    """The similarity after each number of steps; dense walks share one decomposition."""
    if not isinstance(walk, DenseWalk):
        yield from ((t, similarity_at(t)) for t in steps)
        return
    walk.prepare(steps)
    sweep_spectrum, walk.sweep_spectrum = walk.sweep_spectrum, None
    for t in steps:
        # Only the sweep uses its decomposition, not calls between its steps.
        walk.sweep_spectrum = sweep_spectrum
        try:
            similarity = similarity_at(t)
        finally:
            walk.sweep_spectrum = None
        yield t, similarity


def sweep_neighbors(
    walk: DenseWalk | SparseWalk | FusedWalk,
    steps: list[float],
    k: int,
    similarity_at: SimilarityAt,
    n_jobs: int | None,
) -> Iterator[tuple[float, Neighbors]]:
    """The k nearest neighbours of all items after each number of steps."""
    if isinstance(walk, DenseWalk):
        try:
            yield from _sweep_dense(walk, steps, k, n_jobs)
        finally:
            walk.sweep_spectrum = None
        return
    for t in steps:
        if isinstance(walk, SparseWalk):
            yield t, similarity_at(t).nearest(k)
        else:
            yield t, nearest_in(walk.smoothed(t), k, n_jobs)


def _sweep_dense(
    walk: DenseWalk, steps: Sequence[float], k: int, n_jobs: int | None
) -> Iterator[tuple[float, Neighbors]]:
    """Similarities and indices of the k nearest neighbours of all items after each number of steps."""
    chained = not walk.prepare(steps, full=False) and _chain_is_cheaper(walk, steps)
    if not chained:
        walk.prepare(steps)
        for t in steps:
            yield t, nearest_in(walk.smoothed(t), k, n_jobs)
        return
    for t, power in zip(steps, _powers(walk, [int(t) + 1 for t in steps], n_jobs), strict=True):
        neighbors = nearest_in_single(power, np.sqrt(walk.sums), k, n_jobs)
        yield t, neighbors or nearest_in(walk.smoothed(t), k, n_jobs)


def nearest_in(smoothed: np.ndarray, k: int, n_jobs: int | None) -> Neighbors:
    """The k nearest neighbours of all items; the matrix is overwritten."""
    diagonal = np.diagonal(smoothed).copy()
    check_self_similarity(diagonal)
    similarities, indices = best_of_rows(
        lambda a, b: smoothed[a:b], len(smoothed), k, n_jobs, progress=None
    )
    # Dividing a row by one number does not change its order.
    return np.minimum(similarities / diagonal[:, None], 1.0), indices


def _chain_is_cheaper(walk: DenseWalk, steps: Sequence[float]) -> bool:
    """Whether successive powers cost less than a decomposition and a product per t."""
    if not walk.symmetric or any(t != int(t) for t in steps):
        return False
    gaps = [gap for _, gap in _gaps([int(t) + 1 for t in steps])]
    changed = [gap for previous, gap in zip([0, *gaps], gaps, strict=False) if gap != previous]
    squarings = sum(gap.bit_length() + gap.bit_count() - 2 for gap in changed)
    # A product of one triangle takes 0.6 of the time, and half of that in single precision.
    return 0.6 * squarings + 0.3 * len(gaps) < DECOMPOSITION_COST + 0.5 * len(steps)


def _gaps(exponents: Sequence[int]) -> Iterator[tuple[bool, int]]:
    """For each power, whether it restarts from scratch, and the exponent of the factor that leads to it."""
    previous = 0
    for exponent in exponents:
        restart = exponent <= previous
        yield restart, exponent if restart else exponent - previous
        previous = exponent


def _powers(walk: DenseWalk, exponents: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Powers of the normalised affinity in single precision, times UNIT."""
    matrix = normalized(walk.weights, np.sqrt(walk.sums))
    factor_exponent, factor = 0, matrix
    power: np.ndarray | None = None
    for restart, gap in _gaps(exponents):
        if gap != factor_exponent:
            # In double precision: few products, whose errors all later powers inherit.
            factor_exponent = gap
            factor = _scaled(symmetric_power(matrix, gap), UNIT, n_jobs)
        if restart or power is None:
            power = factor.copy()
        else:
            power = _scaled(symmetric_product(power, factor), 1 / UNIT, n_jobs)
        yield power


def _scaled(matrix: np.ndarray, unit: float, n_jobs: int | None) -> np.ndarray:
    """Matrix times ``unit`` in single precision; entries that would become denormal are 0.

    A matrix in single precision is overwritten.
    """
    scaled = matrix if matrix.dtype == np.float32 else np.empty(matrix.shape, np.float32)
    # Powers are stored times UNIT.
    smallest = MIN_ENTRY * UNIT

    def scale(span: tuple[int, int]) -> None:
        rows = matrix[slice(*span)] * matrix.dtype.type(unit)
        rows[rows < smallest] = 0.0
        scaled[slice(*span)] = rows

    map_threads(scale, blocks(len(matrix), 64), n_jobs)
    return scaled


def single_power(affinity: sparse.csr_array, exponent: int, n_jobs: int | None) -> np.ndarray:
    """Power of a normalised affinity by repeated squaring in single precision, times UNIT."""
    matrix = (affinity.astype(np.float32) * np.float32(UNIT)).toarray()
    power = matrix
    for bit in bin(exponent)[3:]:
        power = _scaled(power @ power.T, 1 / UNIT, n_jobs)
        if bit == "1":
            power = _scaled(symmetric_product(power, matrix), 1 / UNIT, n_jobs)
    return power


def nearest_in_single(
    power: np.ndarray, roots: np.ndarray, k: int, n_jobs: int | None
) -> Neighbors | None:
    """Neighbours in a power in single precision; None if some similarities are too small to be safe."""
    diagonal = np.diagonal(power) * roots
    check_self_similarity(diagonal)
    values, indices = best_of_rows(
        lambda a, b: power[a:b] * roots, len(power), k, n_jobs, progress=None
    )
    if values[:, -1].min() < MIN_SAFE_SIMILARITY * UNIT * roots.max():
        return None
    return np.minimum(values / diagonal[:, None], 1.0), indices
