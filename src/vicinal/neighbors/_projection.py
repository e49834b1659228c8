"""Projection to the leading principal axes, in which neighbours are ranked at a fraction of the cost.

The key |y|^2 / 2 - x.y ranks y among the neighbours of x. With the full norm, but the product along the
leading principal axes only, the error is the contribution of the other axes to the product, which is small
for most data. The number of neighbours that are lost is measured on a sample whose neighbours are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread

N_SAMPLES = 500
# Keys are grouped in stacks, and most stacks are discarded by their smallest key.
STACK_SIZE = 32
# Nearest points of a sampled point that are considered, per entry of its list.
CANDIDATES_PER_ENTRY = 4
# Points used to find the axes, and the step size of the number of axes.
N_POINTS, AXES_STEP = 1000, 8
# With more than this fraction of the axes, a projection does not pay.
MAX_AXES_FRACTION = 0.7


class Sample(NamedTuple):
    """A sample of points and their nearest neighbours, nearest first, in single precision."""

    rows: np.ndarray
    near: np.ndarray


def draw_sample(
    points: np.ndarray,
    half: np.ndarray,
    length: int,
    rng: np.random.Generator,
) -> Sample:
    """Sample points at random, and find the ``length`` nearest other points of each."""
    rows = np.sort(rng.choice(len(points), min(len(points), N_SAMPLES), replace=False))
    return Sample(rows, nearest_keys(points, half, rows, min(length, len(points) - 1)))


def nearest_keys(points: np.ndarray, half: np.ndarray, rows: np.ndarray, length: int) -> np.ndarray:
    """The other points with the smallest keys for each of ``rows``, smallest first."""
    n = len(points)
    n_stacks = -(-n // STACK_SIZE)

    def select(span: tuple[int, int]) -> np.ndarray:
        block = rows[span[0] : span[1]]
        keys = np.full((len(block), STACK_SIZE * n_stacks), np.inf, np.float32)
        np.matmul(points[block], points.T, out=keys[:, :n])
        np.subtract(half, keys[:, :n], out=keys[:, :n])
        keys[np.arange(len(block)), block] = np.inf
        # The nearest points are in the stacks with the smallest minimum.
        minima = keys.reshape(len(block), STACK_SIZE, n_stacks).min(axis=1)
        stacks = np.argpartition(minima, min(length, n_stacks) - 1, axis=1)[:, :length]
        members = stacks[:, None, :] + n_stacks * np.arange(STACK_SIZE)[:, None]
        return _smallest(keys, members.reshape(len(block), -1), length)

    with one_blas_thread():
        # Products of many rows are faster, but each row needs memory for a key of every point.
        spans = blocks(len(rows), min(128, max(16, 2**24 // n)))
        return np.concatenate(map_threads(select, spans))


def fraction_listed(X: np.ndarray, sample: Sample, listed: np.ndarray, k: int) -> np.ndarray:
    """Fraction of the k nearest neighbours of each sampled point that are in its list.

    Compared by distance, so that any of several tied neighbours counts.
    """
    fractions = np.empty(len(sample.rows))
    for i, (row, near, candidates) in enumerate(zip(*sample, listed, strict=True)):
        reach = np.partition(_squares(X, row, near), k - 1)[k - 1]
        fractions[i] = min(k, int((_squares(X, row, candidates) <= reach).sum())) / k
    return fractions


def _squares(X: np.ndarray, row: int, others: np.ndarray) -> np.ndarray:
    differences = X[others].astype(np.float64) - X[row]
    return np.einsum("ij,ij->i", differences, differences)


def is_listed(
    axes: np.ndarray, points: np.ndarray, half: np.ndarray, sample: Sample, k: int, length: int
) -> np.ndarray:
    """Whether lists of ``length``, computed along the leading axes, contain each of the k nearest points.

    Entry (i, j, r) is for neighbour j of sampled point i and the first ``(r + 1) * AXES_STEP`` axes.
    """
    starts = np.arange(0, len(axes), AXES_STEP)
    listed = np.empty((len(sample.rows), k, len(starts)), np.bool_)
    for a, b in blocks(len(listed), 32):
        near = sample.near[a:b]
        terms = (points[near] @ axes.T) * (points[sample.rows[a:b]] @ axes.T)[:, None, :]
        products = np.cumsum(np.add.reduceat(terms, starts, axis=2), axis=2)
        keys = np.ascontiguousarray((half[near][:, :, None] - products).transpose(0, 2, 1))
        last = np.partition(keys, length - 1, axis=2)[:, :, length - 1, None]
        listed[a:b] = (keys[:, :, :k] <= last).transpose(0, 2, 1)
    return listed


def leading_axes(
    points: np.ndarray,
    half: np.ndarray,
    sample: Sample,
    k: int,
    length: int,
    max_loss: float,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """The fewest principal axes, as rows, that lose at most the fraction ``max_loss`` of the neighbours.

    None if almost all axes are needed.
    """
    chosen = np.sort(rng.choice(len(points), min(len(points), N_POINTS), replace=False))
    axes: np.ndarray = np.linalg.svd(points[chosen], full_matrices=False)[2]
    axes = axes[: int(MAX_AXES_FRACTION * points.shape[1])]
    loss = 1 - is_listed(axes, points, half, sample, k, length).mean(axis=(0, 1))
    sufficient = np.flatnonzero(loss <= max_loss)
    return (
        np.ascontiguousarray(axes[: (sufficient[0] + 1) * AXES_STEP]) if len(sufficient) else None
    )


def _smallest(keys: np.ndarray, candidates: np.ndarray, length: int) -> np.ndarray:
    """The ``length`` candidates of each row with the smallest keys, smallest first."""
    candidate_keys = np.take_along_axis(keys, candidates, axis=1)
    best = np.argpartition(candidate_keys, length - 1, axis=1)[:, :length]
    order = np.argsort(np.take_along_axis(candidate_keys, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(candidates, np.take_along_axis(best, order, axis=1), axis=1)
