"""Similarities before and after self-smoothing, as sorted matrices and as nearest rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal import SelfSmoothing
from vicinal.neighbors import NeighborSearch
from vicinal.report._shared_inputs import SharedInputs

N_NEAREST = 8
# Numbers of steps to choose from on the page, relative to the automatic one.
STEP_FACTORS = (1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64)
# Rows outside the sample are compared with all sampled rows, unless there are more than this.
MAX_EXTENDED_ROWS = 10_000
# Maximum number of rows of the matrices on the page.
MAX_MATRIX_ROWS = 300


class Smoothing(NamedTuple):
    """Similarities of the sampled rows.

    Attributes
    ----------
    t : float
        Number of steps, chosen automatically.
    t_curve : ndarray (m, 2)
        Numbers of steps, and the rank correlation between return probability and density at each;
        it crosses 0 at ``t``.
    rows : ndarray of int
        The sampled rows.
    before, after : ndarray of int (len(rows), 8)
        Nearest rows of each sampled row by distance and by smoothed similarity, as row numbers of the
        whole table.
    before_distances, after_similarities : ndarray (len(rows), 8)
        Distances and smoothed similarities to these rows.
    nearest : ndarray of int (n, 8)
        Nearest rows of every row by distance, among all rows; of equal rows, only the first.
    nearest_smoothed : ndarray of int (n, 8)
        Most similar sampled rows of every row after ``t`` steps; rows outside the sample are extended, or, if
        there are more than 10,000, have the list of the nearest sampled row, after this row.
    steps : ndarray (s,)
        Numbers of steps, ascending, with ``t`` among them.
    nearest_by_steps : ndarray of int (s, len(rows), 8)
        Most similar rows of each sampled row after each of these numbers of steps.
    nearest_sampled : ndarray of int (n,)
        Position in ``rows`` of the sampled row nearest to each row.
    shown : ndarray of int
        Rows of the matrices, sorted by cluster, then by noise score.
    matrix_before, matrix_after : ndarray (m, m)
        Similarities of these rows before (kernel of the distance) and after smoothing; the diagonal is 1.
    same_before, same_after : float
        Fraction of the nearest rows that are in the same cluster, ignoring noise.
    """

    t: float
    t_curve: np.ndarray
    rows: np.ndarray
    before: np.ndarray
    after: np.ndarray
    before_distances: np.ndarray
    after_similarities: np.ndarray
    nearest: np.ndarray
    nearest_smoothed: np.ndarray
    steps: np.ndarray
    nearest_by_steps: np.ndarray
    nearest_sampled: np.ndarray
    shown: np.ndarray
    matrix_before: np.ndarray
    matrix_after: np.ndarray
    same_before: float
    same_after: float


def smooth(inputs: SharedInputs, labels: np.ndarray, noise_score: np.ndarray) -> Smoothing:
    """Smooth the similarities of the sampled rows."""
    X, rows = inputs.sample_points, inputs.sample
    k = min(N_NEAREST, len(X) - 1)
    model = SelfSmoothing(
        method="dense",
        n_neighbors=min(30, len(X) - 1),
        random_state=inputs.seed,
        n_jobs=inputs.n_jobs,
    ).fit(X)
    search = NeighborSearch(X, n_jobs=inputs.n_jobs)
    nearest, distances = search.nearest(k)
    similarities, smoothed = model.kneighbors(n_neighbors=k)
    before, after = rows[nearest[:, 1:]], rows[smoothed]
    if len(rows) == inputs.n:
        nearest_sampled = np.arange(inputs.n)
    else:
        nearest_sampled = search.nearest(1, queries=inputs.points)[0][:, 0]
        nearest_sampled[rows] = np.arange(len(rows))
    shown = _matrix_rows(inputs, labels[rows], noise_score[rows])
    t = float(model.t_)
    steps = np.unique([t, *(max(1.0, round(t * factor)) for factor in STEP_FACTORS)])
    by_steps = [rows[found[1]] for _, found in model.sweep_neighbors(steps, k)]
    by_steps[int(np.searchsorted(steps, t))] = after
    return Smoothing(
        t=t,
        t_curve=np.asarray(model.t_curve_, dtype=np.float64).reshape(-1, 2),
        rows=rows,
        before=before,
        after=after,
        before_distances=distances[:, 1:],
        after_similarities=similarities,
        nearest=_nearest_of_all(inputs),
        nearest_smoothed=_smoothed_of_all(inputs, model, after, nearest_sampled),
        steps=steps,
        nearest_by_steps=np.stack(by_steps),
        nearest_sampled=nearest_sampled,
        shown=rows[shown],
        matrix_before=np.asarray(model.affinity_)[np.ix_(shown, shown)],
        matrix_after=model.similarity_[np.ix_(shown, shown)],
        same_before=_same_fraction(labels, rows, before),
        same_after=_same_fraction(labels, rows, after),
    )


def _nearest_of_all(inputs: SharedInputs) -> np.ndarray:
    """Nearest rows of every row by distance, without its duplicates."""
    lists = inputs.neighbors[0][:, 1 : N_NEAREST + 1]
    return inputs.duplicates.representative[lists][inputs.duplicates.group]


def _smoothed_of_all(
    inputs: SharedInputs, model: SelfSmoothing, after: np.ndarray, nearest_sampled: np.ndarray
) -> np.ndarray:
    """Most similar sampled rows of every row; of very many rows, by the nearest sampled row."""
    found = after[nearest_sampled]
    outside = np.setdiff1d(np.arange(inputs.n), inputs.sample)
    if len(outside) > MAX_EXTENDED_ROWS:
        nearest = nearest_sampled[outside]
        found[outside] = np.column_stack([inputs.sample[nearest], after[nearest, :-1]])
    elif len(outside):
        _, similar = model.kneighbors(inputs.points[outside], n_neighbors=after.shape[1])
        found[outside] = inputs.sample[similar]
    return found


def _matrix_rows(inputs: SharedInputs, labels: np.ndarray, noise_score: np.ndarray) -> np.ndarray:
    rows = np.arange(len(labels))
    if len(rows) > MAX_MATRIX_ROWS:
        rows = np.random.default_rng(inputs.seed).choice(
            len(labels), MAX_MATRIX_ROWS, replace=False
        )
    # Noise (-1) comes last.
    cluster = np.where(labels < 0, labels.max() + 1, labels)
    return rows[np.lexsort((noise_score[rows], cluster[rows]))]


def _same_fraction(labels: np.ndarray, rows: np.ndarray, nearest: np.ndarray) -> float:
    known = labels[rows] >= 0
    if not known.any():
        return float("nan")
    return float(np.mean(labels[nearest[known]] == labels[rows[known], None]))
