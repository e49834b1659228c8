"""Clusters against known labels, beside the methods that everybody has."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from vicinal._core.parallel import one_openmp_thread
from vicinal.metrics import clustering_accuracy, normalized_mutual_info
from vicinal.report._shared_inputs import NEIGHBORS, SharedInputs
from vicinal.report._steps.clusters import Clusters

# Some of the other methods hold all pairs.
MAX_ROWS = 5000


class LabelScores(NamedTuple):
    """Scores of each method.

    Attributes
    ----------
    table : list of dict
        ``accuracy``, ``mutual_information`` and ``adjusted_rand`` against the labels, the number of
        clusters and the share of rows taken for noise, which count as a cluster of their own.
    n_rows : int
        Number of rows that all methods are compared on; rows without a label are not counted.
    n_classes : int
    """

    table: list[dict[str, Any]]
    n_rows: int
    n_classes: int


def score_against(
    labels: np.ndarray, scene: SharedInputs, clusters: Clusters, n_clusters: int
) -> LabelScores:
    """Every method is told the same number of clusters, but HDBSCAN, which finds its own."""
    rows = _drawn_rows(labels, scene.seed)
    labelled = labels[rows] != ""
    classes = np.unique(labels[rows][labelled], return_inverse=True)[1]
    found = {
        "perceptual clustering": clusters.labels[rows],
        "spectral on disjoint trees": clusters.tree_labels[rows],
        **_others(scene.points[rows], n_clusters, scene.seed),
    }
    table = [{"method": name, **_scores(classes, part[labelled])} for name, part in found.items()]
    return LabelScores(table, len(classes), int(classes.max()) + 1)


def _drawn_rows(labels: np.ndarray, seed: int) -> np.ndarray:
    """Rows for all methods, those with a label first; the others help to find clusters."""
    draw, picked, room = np.random.default_rng(seed), [], MAX_ROWS
    for rows in (np.flatnonzero(labels != ""), np.flatnonzero(labels == "")):
        picked.append(rows if len(rows) <= room else draw.choice(rows, room, replace=False))
        room -= len(picked[-1])
    return np.sort(np.concatenate(picked))


def _others(X: np.ndarray, n_clusters: int, seed: int) -> dict[str, np.ndarray]:
    from sklearn.cluster import HDBSCAN, KMeans
    from sklearn.cluster import SpectralClustering as SklearnSpectral

    neighbors = {"affinity": "nearest_neighbors", "n_neighbors": min(NEIGHBORS, len(X) - 1)}
    with warnings.catch_warnings(), one_openmp_thread():
        # A graph in pieces is what its neighbours are, and part of what is compared.
        warnings.simplefilter("ignore")
        return {
            "k-means": KMeans(n_clusters, n_init=10, random_state=seed).fit(X).labels_,
            "HDBSCAN": HDBSCAN(copy=True).fit(X).labels_,
            "scikit-learn spectral": SklearnSpectral(n_clusters, random_state=seed, **neighbors)
            .fit(X)
            .labels_,
        }


def _scores(classes: np.ndarray, found: np.ndarray) -> dict[str, Any]:
    return {
        "clusters": len(np.unique(found[found >= 0])),
        "noise": float(np.mean(found < 0)),
        "accuracy": clustering_accuracy(classes, found),
        "mutual_information": normalized_mutual_info(classes, found),
        "adjusted_rand": float(adjusted_rand_score(classes, found)),
    }
