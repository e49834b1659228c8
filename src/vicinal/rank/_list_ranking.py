"""Ranking from lists: smoothed similarities to queries, and results that differ from each other."""

from __future__ import annotations

import heapq
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


def nearest_along(
    lists: sparse.csr_array, near: np.ndarray, distances: np.ndarray, item: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k items with the shortest paths from a query, and the lengths of these.

    Parameters
    ----------
    lists : csr_array (n, n)
        Symmetric distances of listed pairs.
    near, distances : ndarray
        Items near the query, and their distances.
    item : int
        The item that the query is, which is not a result; -1 for none.
    k : int
        Number of results, at most that of other items. Items that no path reaches follow by row number,
        with an infinite length.
    """
    heap = list(zip(distances.tolist(), near.tolist(), strict=True))
    if item >= 0:
        heap.append((0.0, item))
    heapq.heapify(heap)
    lengths: dict[int, float] = {}
    while heap and len(lengths) < k + 1:
        length, i = heapq.heappop(heap)
        if i in lengths:
            continue
        lengths[i] = length
        span = slice(lists.indptr[i], lists.indptr[i + 1])
        for j, step in zip(lists.indices[span].tolist(), lists.data[span].tolist(), strict=True):
            if j not in lengths:
                heapq.heappush(heap, (length + step, j))
    reached = [i for i in lengths if i != item][:k]
    missing = k - len(reached)
    if missing:
        left = np.setdiff1d(np.arange(lists.shape[0]), [*reached, item])
        reached += left[:missing].tolist()
    return np.array(reached, np.int64), np.array([lengths.get(i, np.inf) for i in reached])
