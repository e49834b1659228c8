"""Leading axes that rank neighbours as well as all do, at a fraction of a product's cost.

|y|^2 / 2 - x.y ranks y among the neighbours of x. Along the leading principal axes only, with the norm in
full, it lacks what the other axes add to the product, which for most data is next to nothing. How much is
lost is read off a sample of points whose neighbours are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread

N_SAMPLES = 500
# Keys that are looked at as one, by their least.
STACK = 32
# Nearest points of a sampled point that compete for the places in its list, for each such place.
RIVALS = 4
# Points that axes are found from, and the step in which their number grows.
N_POINTS, STEP = 1000, 8
# With more axes than this share of all, the saving is not worth a rotation.
WORTH_IT = 0.7


class Sample(NamedTuple):
    """Some points and the nearest of all others to each, nearest first, up to single precision."""

    rows: np.ndarray
    near: np.ndarray


def draw_sample(
    points: np.ndarray,
    half: np.ndarray,
    length: int,
    random: np.random.Generator,
    n_jobs: int | None,
) -> Sample:
    """Points at random, and ``length`` others nearest to each."""
    rows = np.sort(random.choice(len(points), min(len(points), N_SAMPLES), replace=False))
    return Sample(rows, nearest_keys(points, half, rows, min(length, len(points) - 1), n_jobs))


def nearest_keys(
    points: np.ndarray, half: np.ndarray, rows: np.ndarray, length: int, n_jobs: int | None
) -> np.ndarray:
    """The others with the least keys for each of some points, least first."""
    n = len(points)
    n_stacks = -(-n // STACK)

    def select(span: tuple[int, int]) -> np.ndarray:
        own = rows[span[0] : span[1]]
        keys = np.full((len(own), STACK * n_stacks), np.inf, np.float32)
        np.matmul(points[own], points.T, out=keys[:, :n])
        np.subtract(half, keys[:, :n], out=keys[:, :n])
        keys[np.arange(len(own)), own] = np.inf
        # The nearest are in the stacks whose least keys are least.
        least = keys.reshape(len(own), STACK, n_stacks).min(axis=1)
        stacks = np.argpartition(least, min(length, n_stacks) - 1, axis=1)[:, :length]
        members = stacks[:, None, :] + n_stacks * np.arange(STACK)[:, None]
        return _smallest(keys, members.reshape(len(own), -1), length)

    with one_blas_thread():
        # Each row has a key for every point; products of many rows are faster.
        spans = blocks(len(rows), min(128, max(16, 2**24 // n)))
        return np.concatenate(map_threads(select, spans, n_jobs))


def share_listed(X: np.ndarray, sample: Sample, listed: np.ndarray, k: int) -> np.ndarray:
    """Share of the k places of each sampled point that its list can fill with points near enough.

    Told by distances: which of many equal points is listed makes no difference.
    """
    shares = np.empty(len(sample.rows))
    for i, (row, near, found) in enumerate(zip(*sample, listed, strict=True)):
        reach = np.partition(_squares(X, row, near), k - 1)[k - 1]
        shares[i] = min(k, int((_squares(X, row, found) <= reach).sum())) / k
    return shares


def _squares(X: np.ndarray, row: int, others: np.ndarray) -> np.ndarray:
    gaps = X[others].astype(np.float64) - X[row]
    return np.einsum("ij,ij->i", gaps, gaps)


def kept_by(
    axes: np.ndarray, points: np.ndarray, half: np.ndarray, sample: Sample, k: int, length: int
) -> np.ndarray:
    """Whether lists of ``length``, made along the leading axes, hold each of the k nearest points.

    Entry (i, j, r) is for neighbour j of sampled point i and the first ``(r + 1) * STEP`` axes.
    """
    starts = np.arange(0, len(axes), STEP)
    kept = np.empty((len(sample.rows), k, len(starts)), np.bool_)
    for a, b in blocks(len(kept), 32):
        near = sample.near[a:b]
        shared = (points[near] @ axes.T) * (points[sample.rows[a:b]] @ axes.T)[:, None, :]
        products = np.cumsum(np.add.reduceat(shared, starts, axis=2), axis=2)
        keys = np.ascontiguousarray((half[near][:, :, None] - products).transpose(0, 2, 1))
        last = np.partition(keys, length - 1, axis=2)[:, :, length - 1, None]
        kept[a:b] = (keys[:, :, :k] <= last).transpose(0, 2, 1)
    return kept


def leading_axes(
    points: np.ndarray,
    half: np.ndarray,
    sample: Sample,
    k: int,
    length: int,
    allowed: float,
    random: np.random.Generator,
) -> np.ndarray | None:
    """As few principal axes, as rows, as lose no more than the ``allowed`` share of neighbours.

    None where that takes nearly all of them.
    """
    some = np.sort(random.choice(len(points), min(len(points), N_POINTS), replace=False))
    axes: np.ndarray = np.linalg.svd(points[some], full_matrices=False)[2]
    axes = axes[: int(WORTH_IT * points.shape[1])]
    lost = 1 - kept_by(axes, points, half, sample, k, length).mean(axis=(0, 1))
    enough = np.flatnonzero(lost <= allowed)
    return np.ascontiguousarray(axes[: (enough[0] + 1) * STEP]) if len(enough) else None


def _smallest(keys: np.ndarray, candidates: np.ndarray, length: int) -> np.ndarray:
    """The ``length`` candidates of each row with the least keys, least first."""
    theirs = np.take_along_axis(keys, candidates, axis=1)
    best = np.argpartition(theirs, length - 1, axis=1)[:, :length]
    order = np.argsort(np.take_along_axis(theirs, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(candidates, np.take_along_axis(best, order, axis=1), axis=1)
