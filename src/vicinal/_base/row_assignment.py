"""Clustering of the rows of eigenvectors, by k-means or by a rotation to cluster indicators."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vicinal._core.parallel import one_openmp_thread

N_INIT = 10
KMEANS_SAMPLE_SIZE = 20_000


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Normalise rows to length 1; rows of zeros are unchanged."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
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
    used, first = np.unique(labels, return_index=True)
    return Assignment(number_by_first_occurrence(labels), centers[used[np.argsort(first)]])


def number_by_first_occurrence(labels: np.ndarray) -> np.ndarray:
    """Number labels from 0 in the order of their first rows."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def nearest_center(rows: np.ndarray, centers: np.ndarray, assign: str) -> np.ndarray:
    """Index of the nearest centre of each row."""
    if assign == "discretize":
        rows = unit_rows(rows)
    # |row - centre|^2 without |row|^2, which is the same for all centres.
    scores = np.sum(centers**2, axis=1) - 2.0 * (rows @ centers.T)
    return np.argmin(scores, axis=1)


def kmeans(rows: np.ndarray, n_clusters: int, seed: int) -> Assignment:
    """k-means on all rows, initialised by the best of several runs on a sample."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    sample = rows
    if len(rows) > KMEANS_SAMPLE_SIZE:
        sample = rows[np.sort(rng.choice(len(rows), KMEANS_SAMPLE_SIZE, replace=False))]
    with warnings.catch_warnings(), one_openmp_thread():
        # With fewer distinct rows than clusters, some clusters stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = KMeans(n_clusters, n_init=N_INIT, random_state=seed).fit(sample)
        if sample is not rows:
            best = KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit(rows)
    return Assignment(best.labels_, best.cluster_centers_)


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
