"""Clustering of the rows of eigenvectors, by k-means or by a rotation to cluster indicators."""

from __future__ import annotations

from threading import local
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import map_threads

N_INIT = 10
# As in scikit-learn.
KMEANS_MAX_ITER, KMEANS_TOLERANCE = 300, 1e-4
KMEANS_SAMPLE_SIZE = 20_000
# Up to this fraction of the sum of squares, the inertia is due to rounding: all rows are at their centres.
ROUNDED_INERTIA = 1e-24
# The generator of scikit-learn, one per thread: making one takes a hundred times longer than seeding it.
_generators = local()


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Normalise rows to length 1; rows of zeros are unchanged."""
    # Like `numpy.linalg.norm`, whose overhead exceeds the time of a search for one point.
    norms = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    if norms.size and norms.min() > 0:
        return np.asarray(rows / norms)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


class Assignment(NamedTuple):
    """Labels of rows, and the centre of each cluster: rows belong to the nearest centre."""

    labels: np.ndarray
    centers: np.ndarray


def assign_rows(rows: np.ndarray, n_clusters: int, assign: str, seed: int) -> Assignment:
    """Cluster rows; clusters are numbered in the order of their first rows."""
    if assign == "discretize":
        rows = unit_rows(rows)
    method = kmeans if assign == "kmeans" else discretize
    return relabel_by_first_occurrence(*method(rows, n_clusters, seed))


def relabel_by_first_occurrence(labels: np.ndarray, centers: np.ndarray) -> Assignment:
    """Number clusters in the order of their first rows; empty clusters are dropped."""
    first = np.full(len(centers), len(labels))
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of equal indices, the last is assigned
    order = np.argsort(first, kind="stable")
    numbers = np.empty(len(centers), np.int64)
    numbers[order] = np.arange(len(centers))
    return Assignment(numbers[labels], centers[order[: np.count_nonzero(first < len(labels))]])


def number_by_first_occurrence(labels: np.ndarray) -> np.ndarray:
    """Number labels from 0 in the order of their first rows."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def nearest_center(rows: np.ndarray, centers: np.ndarray, assign: str) -> np.ndarray:
    """Index of the nearest centre of each row."""
    if assign == "discretize":
        rows = unit_rows(rows)
    # |row - centre|^2 without |row|^2, which is the same for all centres.
    scores = np.add.reduce(centers * centers, axis=1) - 2.0 * (rows @ centers.T)
    return np.asarray(scores.argmin(axis=1))


def kmeans(rows: np.ndarray, n_clusters: int, seed: int) -> Assignment:
    """k-means on all rows, initialised by the best of several runs on a sample.

    With fewer distinct rows than clusters, some clusters stay empty.
    """
    sample = rows
    if len(rows) > KMEANS_SAMPLE_SIZE:
        rng = np.random.default_rng(seed)
        sample = rows[np.sort(rng.choice(len(rows), KMEANS_SAMPLE_SIZE, replace=False))]
    best = _best_run(kmeans_runs(sample, n_clusters, seed, N_INIT, until_perfect=True))
    if sample is rows:
        return best
    columns, mean, tolerance = centered_columns(rows)
    labels, centers = np.empty(len(rows), np.int64), best.centers - mean
    _lloyd(columns, centers, tolerance, labels)
    return Assignment(labels, centers + mean)


def kmeans_runs(
    rows: np.ndarray,
    n_clusters: int,
    seed: int,
    n_init: int,
    *,
    until_perfect: bool = False,
) -> list[tuple[float, Assignment]]:
    """Inertia and clusters of independent runs of k-means.

    They use the random numbers of scikit-learn's KMeans, and so find the same clusters, without its fixed
    costs. With ``until_perfect``, there are no more runs if the first finds centres for all rows, which no
    other run could improve.
    """
    columns, mean, tolerance = centered_columns(rows)

    def run(start: tuple[int, np.ndarray]) -> tuple[float, Assignment]:
        centers = np.empty((n_clusters, len(columns)))
        labels = np.empty(columns.shape[1], np.int64)
        _spread_centers(columns, *start, centers)
        inertia = _lloyd(columns, centers, tolerance, labels)
        return inertia, Assignment(labels, centers + mean)

    starts = kmeans_starts(len(rows), n_clusters, seed, n_init)
    first = run(starts[0])
    sum_of_squares = tolerance / KMEANS_TOLERANCE * columns.size
    if until_perfect and first[0] <= ROUNDED_INERTIA * sum_of_squares:
        return [first]
    return [first, *map_threads(run, starts[1:])]


def _spread_centers(
    columns: np.ndarray, first: int, uniforms: np.ndarray, centers: np.ndarray
) -> None:
    """Choose centres by k-means++."""
    from vicinal._base._lloyd_kernels import ROWS_PER_BATCH, spread_centers

    nearest, trial, best = np.empty((3, columns.shape[1]))
    nearest.fill(np.inf)
    spread_centers(
        columns, first, uniforms, centers, nearest, trial, best, np.empty(ROWS_PER_BATCH)
    )


def _lloyd(columns: np.ndarray, centers: np.ndarray, tolerance: float, labels: np.ndarray) -> float:
    """Set centres and labels by Lloyd's iteration; returns the inertia.

    An empty cluster takes the row that is farthest from its centre.
    """
    from vicinal._base._lloyd_kernels import ROWS_PER_BATCH, lloyd

    # Division by 1 and an infinite shift leave the first centres as they are.
    counts, old = np.ones(len(centers), np.int64), np.full_like(centers, np.inf)
    squares, (scores, best) = np.zeros(len(labels)), np.empty((2, ROWS_PER_BATCH))
    memory = squares, scores, best, np.empty(ROWS_PER_BATCH, np.int64)
    labels.fill(-1)
    n_left = KMEANS_MAX_ITER
    while True:
        n_left = lloyd(columns, centers, counts, old, n_left, tolerance, labels, *memory)
        if n_left < 0:
            return float(np.cumsum(squares, out=squares)[-1])
        _fill_empty(columns, centers, counts, labels, squares)


def _fill_empty(
    columns: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
    labels: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Move the rows farthest from their centres to empty clusters, in the sums and the counts."""
    for c in range(len(counts)):
        if counts[c] > 0:
            continue
        farthest = squares.argmax()
        if squares[farthest] <= 0.0:
            break  # fewer distinct rows than clusters
        squares[farthest] = -1.0
        source = labels[farthest]
        counts[source] -= 1
        counts[c] = 1
        sums[source] -= columns[:, farthest]
        sums[c] = columns[:, farthest]
    squares.fill(0.0)


def centered_columns(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Columns of the centred rows, the mean, and the squared shift of centres that ends k-means."""
    mean = rows.mean(axis=0)
    columns = np.ascontiguousarray((rows - mean).T, dtype=np.float64)
    return columns, mean, KMEANS_TOLERANCE * float(columns.var(axis=1).mean())


def kmeans_starts(n: int, n_clusters: int, seed: int, n_init: int) -> list[tuple[int, np.ndarray]]:
    """First centre and random numbers of each run, drawn as by scikit-learn."""
    cumulative = np.cumsum(np.full(n, 1.0 / n))
    cumulative /= cumulative[-1]
    size = n_clusters - 1, 2 + int(np.log(n_clusters))
    # Each run draws one number for the first centre, then those of the others.
    numbers = _seeded_generator(seed).random_sample((n_init, 1 + size[0] * size[1]))
    first = np.searchsorted(cumulative, numbers[:, 0], side="right")
    return [(int(i), row[1:].reshape(size)) for i, row in zip(first, numbers, strict=True)]


def _seeded_generator(seed: int) -> np.random.RandomState:
    """``RandomState(seed)``, to be used before the next call in this thread."""
    if not hasattr(_generators, "legacy"):
        _generators.legacy = np.random.RandomState()
    generator: np.random.RandomState = _generators.legacy
    generator.seed(seed)
    return generator


def _best_run(runs: list[tuple[float, Assignment]]) -> Assignment:
    """The run of the smallest inertia; the first of runs that found the same clusters."""
    lowest, best = runs[0]
    for inertia, run in runs[1:]:
        if inertia < lowest and not _is_same_partition(run.labels, best.labels):
            lowest, best = inertia, run
    return best


def _is_same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether each label occurs with one label of the other: as many pairs of labels as labels."""
    n_labels = int(b.max()) + 1
    sizes = [np.count_nonzero(np.bincount(codes)) for codes in (a * n_labels + b, a, b)]
    return sizes[0] == sizes[1] == sizes[2]


def discretize(units: np.ndarray, n_clusters: int, seed: int) -> Assignment:
    """Find the partition whose indicator matrix is nearest to a rotation of the unit rows.

    Alternates between the indicators nearest to the rotated rows, and the rotation nearest to the
    indicators (by a singular value decomposition), from several random starts.

    References
    ----------
    Yu and Shi, "Multiclass spectral clustering", ICCV 2003.
    """
    rng = np.random.default_rng(seed)
    best, best_score = None, -np.inf
    for _ in range(N_INIT):
        assignment, score = _rotate(units, _orthogonal_rows(units, n_clusters, rng))
        if best is None or score > best_score * (1 + 1e-12):
            best, best_score = assignment, score
    assert best is not None
    return best


def _orthogonal_rows(units: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Initial rotation: rows as orthogonal to each other as possible, starting from a random one."""
    rotation = np.empty((units.shape[1], n_clusters))
    rotation[:, 0] = units[rng.integers(len(units))]
    overlap = np.zeros(len(units))
    for c in range(1, n_clusters):
        overlap += np.abs(units @ rotation[:, c - 1])
        rotation[:, c] = units[np.argmin(overlap)]
    return rotation


def _rotate(
    units: np.ndarray, rotation: np.ndarray, max_iter: int = 60
) -> tuple[Assignment, float]:
    score = -np.inf
    for _ in range(max_iter):
        centers = rotation.T
        labels = np.argmax(units @ rotation, axis=1)
        # Product of the indicator matrix and the rows, without forming the indicators.
        sums = np.stack(
            [
                np.bincount(labels, weights=column, minlength=rotation.shape[1])
                for column in units.T
            ],
            axis=1,
        )
        left, singular, right = np.linalg.svd(sums, full_matrices=False)
        rotation = (left @ right).T
        if singular.sum() <= score * (1 + 1e-10):
            break
        score = float(singular.sum())
    return Assignment(labels, centers), score
