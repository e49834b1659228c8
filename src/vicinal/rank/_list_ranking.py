"""Ranking from lists: smoothed similarities to queries, and results that differ from each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.smoothing._diffusion_lists import DiffusionLists

QUERIES_PER_TASK = 64


class Ranking(NamedTuple):
    """Best items of each query, their scores, and how many there are."""

    indices: np.ndarray
    scores: np.ndarray
    counts: np.ndarray


def rank_by_lists(
    lists: DiffusionLists,
    starts: np.ndarray,
    weights: np.ndarray,
    near: np.ndarray,
    own: np.ndarray,
    size: int,
    *,
    keep_nearest: bool,
    n_jobs: int | None,
) -> Ranking:
    """Rank the gallery for queries by the cosine of diffusion coordinates.

    Parameters
    ----------
    lists : DiffusionLists
        Lists of the gallery.
    starts, weights : ndarray (m, s)
        Items whose weighted coordinates sum to those of each query.
    near : ndarray (m, k)
        Items near each query, the nearest first.
    own : ndarray (m,)
        The item that each query is, which is not among its results; -1 for none.
    size : int
        Largest number of results.
    keep_nearest : bool
        Whether the nearest item is the first result.
    n_jobs : int or None
        Number of threads.
    """
    from vicinal.rank._list_kernels import rank_queries

    m = len(starts)
    out = Ranking(np.zeros((m, size), np.int64), np.zeros((m, size)), np.empty(m, np.int64))
    map_threads(
        lambda rows: rank_queries(
            starts,
            weights,
            near,
            own,
            lists.items,
            lists.similarities,
            keep_nearest,
            *rows,
            tuple(out),
        ),
        blocks(m, QUERIES_PER_TASK),
        n_jobs,
    )
    return out


def plain_lists(indices: np.ndarray, distances: np.ndarray, unit: float) -> DiffusionLists:
    """Neighbour lists as they are, with the similarities exp(-distance / unit)."""
    n = len(indices)
    items = np.column_stack([np.arange(n), indices]).astype(np.int32)
    similarities = np.column_stack([np.ones(n), np.exp(-distances / unit)])
    return DiffusionLists(items, similarities, np.ones(n), 1, np.empty((0, 2)))


def similarities_between(lists: DiffusionLists, rows: np.ndarray) -> np.ndarray:
    """Similarities between the given items, 0 for those that are not in the lists."""
    order = np.argsort(rows)
    items = lists.items[rows]
    at = order[np.minimum(np.searchsorted(rows[order], items), len(rows) - 1)]
    known = rows[at] == items
    matrix = np.zeros((len(rows), len(rows)))
    matrix[np.nonzero(known)[0], at[known]] = lists.similarities[rows][known]
    return np.maximum(matrix, matrix.T)


def distance_matrix(indices: np.ndarray, distances: np.ndarray) -> sparse.csr_array:
    """Symmetric sparse distances from neighbour lists; the smaller of two distances of a pair."""
    n, k = indices.shape
    rows = np.repeat(np.arange(n), k)
    i, j = np.append(rows, indices.ravel()), np.append(indices.ravel(), rows)
    lengths = np.tile(distances.ravel(), 2)
    order = np.lexsort([lengths, j, i])
    i, j, lengths = i[order], j[order], lengths[order]
    first = np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])) & (i != j)
    return sparse.csr_array((lengths[first], (i[first], j[first])), shape=(n, n))


def diversified(
    relevance: np.ndarray, similarity: np.ndarray, k: int, diversity: float
) -> np.ndarray:
    """Positions of k candidates by maximal marginal relevance, given relevance and similarity in [0, 1].

    Each next one maximizes (1 - diversity) relevance - diversity (largest similarity to those before it).
    """
    chosen: list[int] = []
    largest, open_ = np.zeros(len(relevance)), np.ones(len(relevance), np.bool_)
    for _ in range(k):
        merit = np.where(open_, (1 - diversity) * relevance - diversity * largest, -np.inf)
        best = int(merit.argmax())
        chosen.append(best)
        open_[best] = False
        largest = np.maximum(largest, similarity[best])
    return np.array(chosen, np.int64)
