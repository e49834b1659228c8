"""From rows of eigenvectors to labels: k-means, or the rotation nearest to indicators."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vicinal._core.parallel import one_openmp_thread

STARTS = 10
SAMPLE = 20_000


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; a row of zeros stays."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


class Assigned(NamedTuple):
    """Labels of rows, and a place for each cluster: rows belong to the nearest one."""

    labels: np.ndarray
    places: np.ndarray


def assign_rows(rows: np.ndarray, n_clusters: int, assign: str, seed: int) -> Assigned:
    """Cluster rows; clusters are numbered by their first rows."""
    if assign == "discretize":
        rows = unit_rows(rows)
    found = (kmeans if assign == "kmeans" else discretize)(rows, n_clusters, seed)
    return relabel_by_first_occurrence(*found)


def relabel_by_first_occurrence(labels: np.ndarray, places: np.ndarray) -> Assigned:
    """Clusters numbered by their first rows; empty ones are left out."""
    used, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Assigned(rank[labels], places[used[order]])


def nearest_center(rows: np.ndarray, places: np.ndarray, assign: str) -> np.ndarray:
    """Clusters of new rows."""
    if assign == "discretize":
        rows = unit_rows(rows)
    # |row - place|^2 without the row's own length, which is the same for every place.
    scores = np.sum(places**2, axis=1) - 2.0 * (rows @ places.T)
    return np.argmin(scores, axis=1)


def kmeans(rows: np.ndarray, n_clusters: int, seed: int) -> Assigned:
    """k-means: the best of several starts on a sample, then all rows from there."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    sample = rows
    if len(rows) > SAMPLE:
        sample = rows[np.sort(rng.choice(len(rows), SAMPLE, replace=False))]
    with warnings.catch_warnings(), one_openmp_thread():
        # Fewer distinct rows than clusters: clusters that cannot be told apart stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = KMeans(n_clusters, n_init=STARTS, random_state=seed).fit(sample)
        if sample is not rows:
            best = KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit(rows)
    return Assigned(best.labels_, best.cluster_centers_)


def discretize(units: np.ndarray, n_clusters: int, seed: int) -> Assigned:
    """The partition whose indicators are nearest to a rotation of the unit rows.

    Alternates between the nearest indicators of rotated rows and the rotation nearest to given
    indicators (a product of singular vectors), from several starts.

    References
    ----------
    Yu and Shi, "Multiclass spectral clustering", ICCV 2003.
    """
    rng = np.random.default_rng(seed)
    best, best_score = None, -np.inf
    for _ in range(STARTS):
        found, score = _rotate(units, _spread_rows(units, n_clusters, rng))
        if best is None or score > best_score * (1 + 1e-12):
            best, best_score = found, score
    assert best is not None
    return best


def _spread_rows(units: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Rows as orthogonal to each other as possible, from a random first one: a start rotation."""
    rotation = np.empty((units.shape[1], n_clusters))
    rotation[:, 0] = units[rng.integers(len(units))]
    overlap = np.zeros(len(units))
    for c in range(1, n_clusters):
        overlap += np.abs(units @ rotation[:, c - 1])
        rotation[:, c] = units[np.argmin(overlap)]
    return rotation


def _rotate(units: np.ndarray, rotation: np.ndarray, max_steps: int = 60) -> tuple[Assigned, float]:
    score = -np.inf
    for _ in range(max_steps):
        places = rotation.T
        labels = np.argmax(units @ rotation, axis=1)
        # Indicators' times rows, without forming the indicators.
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
    return Assigned(labels, places), score
