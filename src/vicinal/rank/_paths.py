"""The items nearest to a query along neighbour lists, where nothing but lists is known."""

from __future__ import annotations

import heapq

import numpy as np
from scipy import sparse


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
