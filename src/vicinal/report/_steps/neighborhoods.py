"""Neighbour structure: nearest rows, intrinsic dimension, hubs and duplicates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.neighbors._intrinsic_dimension import (
    maximum_likelihood_dimension,
    two_nearest_dimension,
)
from vicinal.report._shared_inputs import N_NEIGHBORS, SharedInputs

N_HUBS, N_NEAREST = 5, 8


class Neighborhoods(NamedTuple):
    """Statistics of the nearest neighbours.

    Attributes
    ----------
    dimension : float
        Intrinsic dimension of the distinct rows: the mean of ``dimension_curve``.
    dimension_curve : ndarray (m, 2)
        Numbers of neighbours, and the maximum likelihood estimate with each.
    dimension_two_nearest : float
        TwoNN estimate; NaN where the first two neighbours of most rows are equally far, as on a grid.
    nearest : ndarray of int (n, 8)
        Nearest rows of every row, nearest first; of equal rows, only the first.
    occurrences : ndarray of int (n,)
        Number of 10-neighbour lists that contain a row; duplicates count as one row.
    skewness : float
        Skewness of the occurrences: near 0 without hubs, above 1 if a few rows are in very many lists.
    n_orphans : int
        Number of rows in no neighbour list.
    context : int
        Number of neighbours per context for clustering: 10, or more if that leaves many orphans.
    hubs : ndarray of int
        The five distinct rows that are in the most lists.
    duplicate_of : ndarray of int (n,)
        First row with the same values; -1 for first occurrences.
    n_duplicates : int
        Number of rows that repeat an earlier row.
    """

    dimension: float
    dimension_curve: np.ndarray
    dimension_two_nearest: float
    nearest: np.ndarray
    occurrences: np.ndarray
    skewness: float
    n_orphans: int
    context: int
    hubs: np.ndarray
    duplicate_of: np.ndarray
    n_duplicates: int


def find_neighborhoods(inputs: SharedInputs) -> Neighborhoods:
    """Compute nearest rows, dimension, hubs and duplicates."""
    indices, distances = inputs.neighbors
    max_k = indices.shape[1] - 1
    ks = np.unique(np.clip([5, N_NEIGHBORS, 15, 20], 3, max_k))
    curve = np.array([[k, maximum_likelihood_dimension(distances[:, 1 : k + 1])] for k in ks])
    k = min(N_NEIGHBORS, max_k)
    representative, group = inputs.duplicates
    counts = np.bincount(indices[:, 1 : k + 1].ravel(), minlength=len(representative))
    occurrences = counts[group]
    duplicate_of = np.where(representative[group] == np.arange(inputs.n), -1, representative[group])
    return Neighborhoods(
        dimension=float(np.nanmean(curve[:, 1]))
        if np.isfinite(curve[:, 1]).any()
        else float("nan"),
        dimension_curve=curve,
        dimension_two_nearest=two_nearest_dimension(distances[:, 1:3]),
        nearest=representative[indices[:, 1 : N_NEAREST + 1]][group],
        occurrences=occurrences,
        skewness=_skewness(occurrences),
        n_orphans=int(np.count_nonzero(occurrences == 0)),
        context=inputs.context,
        hubs=representative[np.argsort(-counts, kind="stable")[:N_HUBS]],
        duplicate_of=duplicate_of,
        n_duplicates=int(np.count_nonzero(duplicate_of >= 0)),
    )


def _skewness(counts: np.ndarray) -> float:
    std = counts.std()
    return float(np.mean(((counts - counts.mean()) / std) ** 3)) if std > 0 else 0.0
