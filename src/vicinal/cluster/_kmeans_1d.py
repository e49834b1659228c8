"""k-means in one dimension without compiled kernels, which take longer to compile than NumPy takes here."""

from __future__ import annotations

import numpy as np

from vicinal._base.row_assignment import KMEANS_MAX_ITER, centered_columns, kmeans_starts


def kmeans_labels(values: np.ndarray, n_clusters: int, seed: int, n_init: int) -> list[np.ndarray]:
    """Labels of independent runs, bit for bit those of `kmeans_runs` on one column."""
    (centered,), _, tolerance = centered_columns(values[:, None])
    return [
        _iterate(centered, _spread_centers(centered, *start), tolerance)
        for start in kmeans_starts(len(values), n_clusters, seed, n_init)
    ]


def _spread_centers(values: np.ndarray, first: int, uniforms: np.ndarray) -> np.ndarray:
    """Centres far apart by k-means++; see `_lloyd_kernels.spread_centers`."""
    centers = [values[first]]
    nearest = (values - values[first]) ** 2
    for numbers in uniforms:
        # A cumulative sum adds in order, as the kernels do.
        cumulative = np.cumsum(nearest)
        candidates = np.searchsorted(cumulative, numbers * cumulative[-1])
        candidates = np.minimum(candidates, len(values) - 1)
        trials = np.minimum(nearest, (values - values[candidates, None]) ** 2)
        best = int(np.argmin(np.cumsum(trials, axis=1)[:, -1]))
        centers.append(values[candidates[best]])
        nearest = trials[best]
    return np.array(centers)


def _iterate(values: np.ndarray, centers: np.ndarray, tolerance: float) -> np.ndarray:
    """Labels after Lloyd's iteration; see `_lloyd_kernels.lloyd`."""
    labels, is_settled = np.full(len(values), -1), False
    for step in range(KMEANS_MAX_ITER + 1):
        scores = (0.5 * centers * centers)[:, None] - centers[:, None] * values
        previous, labels = labels, np.argmin(scores, axis=0)
        if is_settled or step == KMEANS_MAX_ITER or np.array_equal(labels, previous):
            break
        counts = np.bincount(labels, minlength=len(centers))
        sums = np.bincount(labels, values, minlength=len(centers))
        _fill_empty(values, centers, labels, counts, sums)
        means = np.divide(sums, counts, out=sums, where=counts > 0)
        is_settled = bool(np.cumsum((means - centers) ** 2)[-1] <= tolerance)
        centers = means
    return labels


def _fill_empty(
    values: np.ndarray,
    centers: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Move the values farthest from their centres to empty clusters, in the sums and the counts."""
    squares = (values - centers[labels]) ** 2
    for empty in np.flatnonzero(counts == 0):
        farthest = int(np.argmax(squares))
        if squares[farthest] <= 0:
            return  # fewer distinct values than clusters
        squares[farthest] = -1.0
        source = labels[farthest]
        counts[source] -= 1
        counts[empty] = 1
        sums[source] -= values[farthest]
        sums[empty] = values[farthest]
