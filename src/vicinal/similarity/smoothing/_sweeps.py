"""Neighbours after many numbers of steps: one product leads from each power to the next.

All entries are nonnegative, so products in single precision keep the relative precision of small ones, by
which items are ranked: about 1e-7 a product. They are scaled so that they do not vanish; where one that
counts may have, the similarity is computed in double precision after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.smoothing._dense import normalized, symmetric_power, symmetric_product
from vicinal.similarity.smoothing._walks import DECOMPOSITION, DenseWalk, best_of_rows
from vicinal.similarity.smoothing.operator import check_self_similarity

Neighbors = tuple[np.ndarray, np.ndarray]
# Products of two entries times UNIT squared fit into single precision, from 1 down to LEAST squared.
UNIT, LEAST = 2.0**60, 1e-36
# Neighbours above this are safe from what was taken for 0.
CERTAIN = 1e-24


def sweep_nearest(
    walk: DenseWalk, steps: Sequence[float], k: int, n_jobs: int | None
) -> Iterator[tuple[float, Neighbors]]:
    """The k most similar others of all items after each number of steps, as (similarities, indices)."""
    chained = not walk.prepare(steps, full=False) and _chain_pays(walk, steps)
    if not chained:
        walk.prepare(steps)
        for t in steps:
            yield t, nearest_in(walk.smoothed(t), k, n_jobs)
        return
    for t, power in zip(steps, _powers(walk, [int(t) + 1 for t in steps], n_jobs), strict=True):
        found = nearest_in_single(power, np.sqrt(walk.sums), k, n_jobs)
        yield t, nearest_in(walk.smoothed(t), k, n_jobs) if found is None else found


def nearest_in(smoothed: np.ndarray, k: int, n_jobs: int | None) -> Neighbors:
    """The k most similar others of all items; the matrix is overwritten."""
    own = np.diagonal(smoothed).copy()
    check_self_similarity(own)
    similarities, indices = best_of_rows(
        lambda a, b: smoothed[a:b], len(smoothed), k, n_jobs, progress=None
    )
    # Each row is divided by one number, which does not change its order.
    return np.minimum(similarities / own[:, None], 1.0), indices


def _chain_pays(walk: DenseWalk, steps: Sequence[float]) -> bool:
    """Whether powers one after the other cost less than a decomposition and a product for each t."""
    if not walk.symmetric or any(t != int(t) for t in steps):
        return False
    gaps = [gap for _, gap in _gaps([int(t) + 1 for t in steps])]
    fresh = [gap for before, gap in zip([0, *gaps], gaps, strict=False) if gap != before]
    squarings = sum(gap.bit_length() + gap.bit_count() - 2 for gap in fresh)
    # One triangle takes 0.6 of the time, and half of that in single precision.
    return 0.6 * squarings + 0.3 * len(gaps) < DECOMPOSITION + 0.5 * len(steps)


def _gaps(exponents: Sequence[int]) -> Iterator[tuple[bool, int]]:
    """Whether a power starts anew, and the exponent of the factor that leads to it."""
    before = 0
    for exponent in exponents:
        anew = exponent <= before
        yield anew, exponent if anew else exponent - before
        before = exponent


def _powers(walk: DenseWalk, exponents: Sequence[int], n_jobs: int | None) -> Iterator[np.ndarray]:
    """Powers of the normalised affinity in single precision, times UNIT."""
    matrix = normalized(walk.weights, np.sqrt(walk.sums))
    factors: tuple[int, np.ndarray] = (0, matrix)
    power: np.ndarray | None = None
    for anew, gap in _gaps(exponents):
        if gap != factors[0]:
            # Few products, whose errors all that follow inherit: in double precision.
            factors = gap, _scaled(symmetric_power(matrix, gap), UNIT, n_jobs)
        if anew or power is None:
            power = factors[1].copy()
        else:
            power = _scaled(symmetric_product(power, factors[1]), 1 / UNIT, n_jobs)
        yield power


def _scaled(matrix: np.ndarray, unit: float, n_jobs: int | None) -> np.ndarray:
    """A matrix in another unit, in single precision and without what would make denormal numbers.

    One that is in single precision is overwritten.
    """
    scaled = matrix if matrix.dtype == np.float32 else np.empty(matrix.shape, np.float32)
    # Powers are in units of UNIT, before and after.
    least = LEAST * UNIT

    def scale(span: tuple[int, int]) -> None:
        rows = matrix[slice(*span)] * matrix.dtype.type(unit)
        rows[rows < least] = 0.0
        scaled[slice(*span)] = rows

    map_threads(scale, blocks(len(matrix), 64), n_jobs)
    return scaled


def single_power(affinity: sparse.csr_array, exponent: int, n_jobs: int | None) -> np.ndarray:
    """A power of a normalised affinity by squaring in single precision, times UNIT."""
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
    """Neighbours in such a power; None if some are too far to be certain."""
    own = np.diagonal(power) * roots
    check_self_similarity(own)
    values, indices = best_of_rows(
        lambda a, b: power[a:b] * roots, len(power), k, n_jobs, progress=None
    )
    if values[:, -1].min() < CERTAIN * UNIT * roots.max():
        return None
    return np.minimum(values / own[:, None], 1.0), indices
