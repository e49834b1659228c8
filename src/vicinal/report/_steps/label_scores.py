"""Clusters scored against known labels, next to common clustering methods."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from vicinal._core.parallel import one_openmp_thread
from vicinal.metrics import clustering_accuracy, normalized_mutual_info
from vicinal.report._shared_inputs import N_NEIGHBORS, SharedInputs
from vicinal.report._steps.clusters import Clusters

# Some of the other methods need memory for all pairs.
MAX_ROWS = 5000


class LabelScores(NamedTuple):
    """Scores of each method.

    Attributes
    ----------
    table : list of dict
        One row per method: ``accuracy``, ``mutual_information`` and ``adjusted_rand`` against the
        labels, the number of ``clusters`` and the fraction of ``noise``, which is scored as one cluster.
    n_rows : int
        Number of labelled rows that the methods are scored on.
    n_classes : int
        Number of classes among these rows.
    """

    table: list[dict[str, Any]]
    n_rows: int
    n_classes: int


def score_against(
    labels: np.ndarray, inputs: SharedInputs, clusters: Clusters, n_clusters: int
) -> LabelScores:
    """Score every method with the same number of clusters; HDBSCAN chooses its own."""
    rows = _sample_rows(labels, inputs.seed)
    labelled = labels[rows] != ""
    classes = np.unique(labels[rows][labelled], return_inverse=True)[1]
    labelings = {
        clusters.method: clusters.labels[rows],
        clusters.other_method: clusters.other_labels[rows],
        **_peer_labels(inputs.points[rows], n_clusters, inputs.seed),
    }
    table = [
        {"method": name, **_scores(classes, method_labels[labelled])}
        for name, method_labels in labelings.items()
    ]
    return LabelScores(table, len(classes), int(classes.max()) + 1)


def _sample_rows(labels: np.ndarray, seed: int) -> np.ndarray:
    """Rows for all methods: labelled rows first, then others, which only help to find clusters."""
    rng, picked, n_left = np.random.default_rng(seed), [], MAX_ROWS
    for rows in (np.flatnonzero(labels != ""), np.flatnonzero(labels == "")):
        picked.append(rows if len(rows) <= n_left else rng.choice(rows, n_left, replace=False))
        n_left -= len(picked[-1])
    return np.sort(np.concatenate(picked))


def _peer_labels(X: np.ndarray, n_clusters: int, seed: int) -> dict[str, np.ndarray]:
    from sklearn.cluster import HDBSCAN, KMeans
    from sklearn.cluster import SpectralClustering as SklearnSpectral

    neighbors = {"affinity": "nearest_neighbors", "n_neighbors": min(N_NEIGHBORS, len(X) - 1)}
    with warnings.catch_warnings(), one_openmp_thread():
        # Warnings about a disconnected neighbour graph: the methods are compared as they are.
        warnings.simplefilter("ignore")
        return {
            "k-means": KMeans(n_clusters, n_init=10, random_state=seed).fit(X).labels_,
            "HDBSCAN": HDBSCAN(copy=True).fit(X).labels_,
            "scikit-learn spectral": SklearnSpectral(n_clusters, random_state=seed, **neighbors)
            .fit(X)
            .labels_,
        }


def _scores(classes: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    return {
        "clusters": len(np.unique(labels[labels >= 0])),
        "noise": float(np.mean(labels < 0)),
        "accuracy": clustering_accuracy(classes, labels),
        "mutual_information": normalized_mutual_info(classes, labels),
        "adjusted_rand": float(adjusted_rand_score(classes, labels)),
    }
