"""Neighbour structure: how many dimensions the data has, who is everybody's neighbour, who stands twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.report._shared_inputs import NEIGHBORS, SharedInputs

HUBS = 5


class Neighborhoods(NamedTuple):
    """What the nearest neighbours tell.

    Attributes
    ----------
    dimension : float
        Intrinsic dimension of the distinct rows, the mean over numbers of neighbours of ``dimension_curve``.
    dimension_curve : ndarray (m, 2)
        Numbers of neighbours, and the dimension by maximum likelihood with each.
    dimension_two_nearest : float
        A second opinion from the first two neighbours only; NaN where most rows have these at the same
        distance, as on a grid.
    occurrences : ndarray of int (n,)
        In how many lists of 10 nearest neighbours a row stands; equal rows are one.
    skewness : float
        Of the occurrences: near 0 without hubs, above 1 a few rows are near to very many.
    n_orphans : int
        Rows that are in nobody's list.
    context : int
        Number of neighbours in the contexts by which rows are clustered: 10, more if lists of 10 leave
        many rows out.
    hubs : ndarray of int
        The five rows, no two equal, that are in most lists.
    duplicate_of : ndarray of int (n,)
        The first row that holds the same values, -1 for rows that are the first.
    n_duplicates : int
    """

    dimension: float
    dimension_curve: np.ndarray
    dimension_two_nearest: float
    occurrences: np.ndarray
    skewness: float
    n_orphans: int
    context: int
    hubs: np.ndarray
    duplicate_of: np.ndarray
    n_duplicates: int


def find_neighborhoods(scene: SharedInputs) -> Neighborhoods:
    """Dimension, hubs and duplicates."""
    indices, distances = scene.neighbors
    most = indices.shape[1] - 1
    ks = np.unique(np.clip([5, NEIGHBORS, 15, 20], 3, most))
    curve = np.array([[k, likely_dimension(distances[:, 1 : k + 1])] for k in ks])
    k = min(NEIGHBORS, most)
    first, group = scene.copies
    listed = np.bincount(indices[:, 1 : k + 1].ravel(), minlength=len(first))
    occurrences = listed[group]
    duplicate_of = np.where(first[group] == np.arange(scene.n), -1, first[group])
    return Neighborhoods(
        dimension=float(np.nanmean(curve[:, 1]))
        if np.isfinite(curve[:, 1]).any()
        else float("nan"),
        dimension_curve=curve,
        dimension_two_nearest=two_nearest_dimension(distances[:, 1:3]),
        occurrences=occurrences,
        skewness=_skewness(occurrences),
        n_orphans=int(np.count_nonzero(occurrences == 0)),
        context=scene.context,
        hubs=first[np.argsort(-listed, kind="stable")[:HUBS]],
        duplicate_of=duplicate_of,
        n_duplicates=int(np.count_nonzero(duplicate_of >= 0)),
    )


def likely_dimension(distances: np.ndarray) -> float:
    """Dimension by maximum likelihood from the distances to the k nearest neighbours.

    A row's estimate is the inverse mean of log(T_k / T_j) (Levina and Bickel 2004); the inverses are
    averaged over rows (MacKay and Ghahramani 2005). NaN if there is no row.
    """
    if len(distances) == 0 or distances.shape[1] < 2:
        return float("nan")
    mean = np.log(distances[:, -1:] / distances[:, :-1]).mean()
    return float(1.0 / mean) if mean > 0 else float("nan")


def two_nearest_dimension(distances: np.ndarray) -> float:
    """Dimension from the ratio of the distances to the second and to the first neighbour.

    Its logarithm is exponential with rate d (Facco and others 2017); a tenth of the largest ratios,
    which outliers make, is cut off.
    """
    if len(distances) < 10:
        return float("nan")
    logs = np.sort(np.log(distances[:, 1] / distances[:, 0]))
    if logs[len(logs) // 2] == 0:
        return float("nan")
    kept = int(0.9 * len(logs))
    survivors = -np.log1p(-np.arange(1, kept + 1) / len(logs))
    squares = float(logs[:kept] @ logs[:kept])
    return float(logs[:kept] @ survivors / squares) if squares > 0 else float("nan")


def _skewness(counts: np.ndarray) -> float:
    spread = counts.std()
    return float(np.mean(((counts - counts.mean()) / spread) ** 3)) if spread > 0 else 0.0
