"""Similarity before and after self-smoothing: as sorted matrices, and as the nearest rows of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal import SelfSmoothing
from vicinal.neighbors import NeighborSearch
from vicinal.report._shared_inputs import SharedInputs

NEAREST = 8
# Rows and columns of the matrices that are shown.
SHOWN = 300


class Smoothing(NamedTuple):
    """Similarities of the sampled rows.

    Attributes
    ----------
    t : float
        Number of steps, chosen by the method itself.
    t_curve : ndarray (m, 2)
        What it was chosen from: at each number of steps the rank correlation of return probability
        and density, which passes 0 at ``t``.
    rows : ndarray of int
        The sampled rows.
    before, after : ndarray of int (len(rows), 8)
        The nearest rows of each sampled row, by distance and by smoothed similarity; row numbers of
        the whole table.
    before_distances, after_similarities : ndarray (len(rows), 8)
    stand_in : ndarray of int (n,)
        For every row the position in ``rows`` of the nearest sampled row, itself if it was sampled.
    shown : ndarray of int
        Rows of the matrices, in their order: by cluster, then by noise score.
    matrix_before, matrix_after : ndarray (m, m)
        Similarities of these rows; the first as kernel of the distance, both with 1 on the diagonal.
    same_before, same_after : float
        Share of the nearest rows that are in the row's own cluster, noise left out.
    """

    t: float
    t_curve: np.ndarray
    rows: np.ndarray
    before: np.ndarray
    after: np.ndarray
    before_distances: np.ndarray
    after_similarities: np.ndarray
    stand_in: np.ndarray
    shown: np.ndarray
    matrix_before: np.ndarray
    matrix_after: np.ndarray
    same_before: float
    same_after: float


def smooth(scene: SharedInputs, labels: np.ndarray, noise_score: np.ndarray) -> Smoothing:
    """Smooth the similarity of the sampled rows."""
    X, rows = scene.sample_points, scene.sample
    k = min(NEAREST, len(X) - 1)
    model = SelfSmoothing(
        method="dense",
        n_neighbors=min(30, len(X) - 1),
        random_state=scene.seed,
        n_jobs=scene.n_jobs,
    ).fit(X)
    search = NeighborSearch(X, n_jobs=scene.n_jobs)
    nearest, distances = search.nearest(k)
    similarities, smoothed = model.kneighbors(n_neighbors=k)
    before, after = rows[nearest[:, 1:]], rows[smoothed]
    if len(rows) == scene.n:
        stand_in = np.arange(scene.n)
    else:
        stand_in = search.nearest(1, queries=scene.points)[0][:, 0]
        stand_in[rows] = np.arange(len(rows))
    shown = _shown(scene, labels[rows], noise_score[rows])
    return Smoothing(
        t=float(model.t_),
        t_curve=np.asarray(model.t_curve_, dtype=np.float64).reshape(-1, 2),
        rows=rows,
        before=before,
        after=after,
        before_distances=distances[:, 1:],
        after_similarities=similarities,
        stand_in=stand_in,
        shown=rows[shown],
        matrix_before=np.asarray(model.affinity_)[np.ix_(shown, shown)],
        matrix_after=model.similarity_[np.ix_(shown, shown)],
        same_before=_same_share(labels, rows, before),
        same_after=_same_share(labels, rows, after),
    )


def _shown(scene: SharedInputs, labels: np.ndarray, noise_score: np.ndarray) -> np.ndarray:
    chosen = np.arange(len(labels))
    if len(chosen) > SHOWN:
        chosen = np.random.default_rng(scene.seed).choice(len(labels), SHOWN, replace=False)
    # Noise, -1, comes last.
    cluster = np.where(labels < 0, labels.max() + 1, labels)
    return chosen[np.lexsort((noise_score[chosen], cluster[chosen]))]


def _same_share(labels: np.ndarray, rows: np.ndarray, nearest: np.ndarray) -> float:
    known = labels[rows] >= 0
    if not known.any():
        return float("nan")
    return float(np.mean(labels[nearest[known]] == labels[rows[known], None]))
