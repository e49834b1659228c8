"""Clusters by two methods that look at different things, how far they agree, and what is noise."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from vicinal import PerceptualClustering, SpectralClustering
from vicinal.metrics import normalized_mutual_info
from vicinal.report._preprocessing import CleanTable
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.n_clusters import agreement

TELLING_COLUMNS = 3


class Clusters(NamedTuple):
    """Clusters of every row.

    Attributes
    ----------
    labels : ndarray of int (n,)
        By perceptual clustering, -1 for noise: the clusters of the report.
    tree_labels : ndarray of int (n,)
        By spectral clustering on disjoint spanning trees, numbered like the most similar of ``labels``.
    noise_score : ndarray (n,)
        From 0, at home in the structure, to 1.
    sought : int
        Number of clusters that ``labels`` were to have.
    noise_threshold : float
        Score above which a row is noise; 1 if there is no noise.
    noise_doubt : bool
        Whether heavy noise cannot be told from thin edges of clusters, so that none is called noise.
    adjusted_rand, mutual_information, same_share : float
        Agreement of the two, noise left out; the last is the share of rows with the same number.
    shared : ndarray of int (c, c')
        Rows by their cluster in ``labels`` (noise last) and in ``tree_labels``.
    sizes : list of dict
        Rows, share, mean noise score and agreement of each cluster, and the columns that tell it from
        the rest.
    """

    labels: np.ndarray
    tree_labels: np.ndarray
    sought: int
    noise_score: np.ndarray
    noise_threshold: float
    noise_doubt: bool
    adjusted_rand: float
    mutual_information: float
    same_share: float
    shared: np.ndarray
    sizes: list[dict[str, Any]]


def find_clusters(scene: SharedInputs, prepared: CleanTable, n_clusters: int) -> Clusters:
    """Cluster all rows both ways and compare."""
    common: dict[str, Any] = {"random_state": scene.seed, "n_jobs": scene.n_jobs}
    # No more than there are distinct rows.
    sought = min(n_clusters, len(scene.copies.representative))
    model = PerceptualClustering(sought, **common)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the summary tells of the doubt
        model.fit(scene.digraph)
    group = scene.copies.group
    labels, score = model.labels_[group], model.noise_score_[group]
    trees = SpectralClustering(n_clusters, **common).fit(scene.trees).labels_
    trees = numbered_like(labels, trees)
    known = labels >= 0
    shared = shared_rows(labels, trees)
    noise = score[~known]
    return Clusters(
        labels=labels,
        tree_labels=trees,
        sought=sought,
        noise_score=score,
        noise_threshold=float(noise.min()) if len(noise) else 1.0,
        noise_doubt=model.noise_doubt_,
        adjusted_rand=agreement(labels, trees),
        mutual_information=normalized_mutual_info(labels[known], trees[known]),
        same_share=float(np.mean(labels[known] == trees[known])),
        shared=shared,
        sizes=cluster_sizes(labels, trees, score, prepared),
    )


def shared_rows(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Counts of rows by label, noise (-1) in the last row, and by other label."""
    width = max(int(labels.max()), int(others.max())) + 1
    counts = np.zeros((width + 1, width), dtype=np.int64)
    np.add.at(counts, (labels, others), 1)
    return counts


def numbered_like(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``others`` renumbered so that as many rows as possible have the number of ``labels``."""
    counts = shared_rows(labels, others)[:-1]
    to, old = linear_sum_assignment(counts, maximize=True)
    number = np.empty(counts.shape[1], dtype=np.int64)
    number[old] = to
    return number[others]


def telling_columns(
    values: np.ndarray, names: list[str], members: np.ndarray
) -> list[dict[str, Any]]:
    """Columns in which the mean of some rows is farthest from the mean of all, in deviations."""
    spread = values.std(axis=0)
    apart = (values[members].mean(axis=0) - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    best = np.argsort(-np.abs(apart), kind="stable")[:TELLING_COLUMNS]
    return [{"column": names[j], "deviations": float(apart[j])} for j in best]


def cluster_sizes(
    labels: np.ndarray, trees: np.ndarray, score: np.ndarray, prepared: CleanTable
) -> list[dict[str, Any]]:
    """Rows, fraction, mean noise score, agreement and distinguishing columns of each cluster."""
    sizes = []
    for label in [*range(int(labels.max()) + 1), -1]:
        members = labels == label
        if not members.any():
            continue
        sizes.append(
            {
                "cluster": label,
                "rows": int(members.sum()),
                "share": float(members.mean()),
                "noise_score": float(score[members].mean()),
                "agreement": float(np.mean(trees[members] == label)) if label >= 0 else None,
                "telling": telling_columns(prepared.points, prepared.names, members),
            }
        )
    return sizes
