"""Retrieval: how many of a query's own class are among the first that are found.

All measures take similarities, or lists of neighbours, with which nothing of size n by n is held. The
query itself always comes first, whether a list names it or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidValueError
from vicinal.metrics.clustering import label_codes

ENTRIES_PER_TASK = 1 << 21


@checked
def bulls_eye(ranking: Any, labels: Any, *, n_jobs: int | None = -1) -> float:
    """Fraction of a query's class among its first 2 m results, with m the class size; mean over all queries.

    Parameters
    ----------
    ranking : array of shape (n, n) or (n, k)
        Similarities of all pairs as floats, one row per query; or neighbours as integers, best first, like
        the second result of `SelfSmoothing.kneighbors`: at least 2 m - 1 besides the query, with m the size
        of the largest class, or all others. Ties are ordered by index.
    labels : array of shape (n,)
        Class of each item.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    float
        From 0 to 1. The query itself counts, as is usual in shape retrieval.

    Examples
    --------
    >>> from vicinal.metrics import bulls_eye
    >>> similarity = [[1, 0.9, 0.1, 0.2], [0.9, 1, 0.3, 0.1], [0.1, 0.3, 1, 0.2], [0.2, 0.1, 0.2, 1]]
    >>> bulls_eye(similarity, [0, 0, 1, 1])
    1.0
    """
    codes, sizes = classes(labels)
    return _mean_recall(ranking, codes, sizes, 2 * sizes, n_jobs)


@checked
def retrieval_rate(ranking: Any, labels: Any, window: int, *, n_jobs: int | None = -1) -> float:
    """Fraction of a query's class among its first ``window`` results, query included; mean over queries.

    Parameters
    ----------
    ranking : array of shape (n, n) or (n, k)
        Similarities of all pairs as floats, one row per query; or neighbours as integers, best first,
        at least ``window - 1`` besides the query. Ties are ordered by index.
    labels : array of shape (n,)
        Class of each item.
    window : int
        Number of results to consider.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    float
        From 0 to 1; a class larger than the window cannot reach 1.

    Examples
    --------
    >>> from vicinal.metrics import retrieval_rate
    >>> retrieval_rate([[1, 2], [0, 2], [0, 1]], ["a", "a", "b"], window=2)
    1.0
    """
    codes, sizes = classes(labels)
    window = check_count(window, "window", high=len(codes))
    return _mean_recall(ranking, codes, sizes, np.full(len(sizes), window), n_jobs)


@checked
def mean_average_precision(ranking: Any, labels: Any, *, n_jobs: int | None = -1) -> float:
    """Mean over all queries of the average precision at each item of the query's class.

    Parameters
    ----------
    ranking : array of shape (n, n) or (n, k)
        Similarities of all pairs as floats, one row per query; or neighbours as integers, best first. Lists
        may have any length: items of the class that are not in a list have precision 0.
    labels : array of shape (n,)
        Class of each item.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    float
        From 0 to 1. The query itself does not count; queries without another item of their class are skipped.

    Examples
    --------
    >>> from vicinal.metrics import mean_average_precision
    >>> mean_average_precision([[1, 2], [2, 0], [0, 1]], [0, 0, 1])
    0.75
    """
    codes, sizes = classes(labels)
    has_relevant = sizes[codes] > 1
    if not has_relevant.any():
        raise InvalidValueError(
            "labels has no class of two or more items, so there is nothing to retrieve."
        )

    def precision(queries: np.ndarray, found: np.ndarray) -> np.ndarray:
        hits = codes[found[:, 1:]] == codes[queries, None]
        precisions = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
        return (precisions * hits).sum(axis=1) / np.maximum(sizes[codes[queries]] - 1, 1)

    measured = _over_queries(ranking, len(codes), len(codes), precision, n_jobs, whole=False)
    return float(measured[has_relevant].mean())


def _mean_recall(
    ranking: Any, codes: np.ndarray, sizes: np.ndarray, windows: np.ndarray, n_jobs: int | None
) -> float:
    windows = np.minimum(windows, len(codes))

    def recall(queries: np.ndarray, found: np.ndarray) -> np.ndarray:
        own = codes[queries]
        hits = codes[found] == own[:, None]
        hits &= np.arange(found.shape[1]) < windows[own][:, None]
        return hits.sum(axis=1) / sizes[own]

    return float(_over_queries(ranking, len(codes), int(windows.max()), recall, n_jobs).mean())


def first_found(ranking: Any, queries: np.ndarray, k: int) -> np.ndarray:
    """The first k others (m, k) that each query finds, from similarities or from lists of neighbours.

    Besides arrays, anything that gives the rows of its similarities by ``rows(queries)`` will do.
    """
    if hasattr(ranking, "rows"):
        return _others_of_similarities(ranking.rows(queries), queries)[:, :k]
    table = np.asarray(ranking)
    rows = table[queries]
    if table.dtype.kind in "iu":
        _check_lists(rows, len(table))
        found = _others_of_lists(rows, queries)
    else:
        found = _others_of_similarities(rows, queries)
    if found.shape[1] < k:
        raise InvalidValueError(
            f"ranking names {found.shape[1]} others for each query, but {k} are needed."
        )
    return found[:, :k]


def _over_queries(
    ranking: Any,
    n: int,
    length: int,
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray],
    n_jobs: int | None,
    whole: bool = True,
) -> np.ndarray:
    """A measure of each query, from the query and ``length - 1`` others in order.

    Lists may name fewer if they need not be ``whole``.
    """
    table = read_array(ranking, "ranking")
    if table.ndim != 2 or len(table) != n or (table.dtype.kind not in "iu" and table.shape[1] != n):
        raise InvalidValueError(
            f"ranking has shape {table.shape}, but labels name {n} items: give similarities (n, n) as "
            "floats, or neighbours (n, k) as integers."
        )
    if table.dtype.kind in "iu":
        _check_lists(table, n)
        others = table.shape[1] - bool((table == np.arange(n)[:, None]).any())
        if whole and others < length - 1:
            raise InvalidValueError(
                f"ranking names {others} other(s) for each query, but {length - 1} are needed: what lists "
                "leave out would count as not found."
            )
        order = _others_of_lists
    else:
        table = check_points(table, name="ranking")
        order = _others_of_similarities

    def task(span: tuple[int, int]) -> np.ndarray:
        queries = np.arange(*span)
        others = order(table[span[0] : span[1]], queries)[:, : length - 1]
        return measure(queries, np.hstack([queries[:, None], others]))

    spans = blocks(n, max(1, ENTRIES_PER_TASK // max(table.shape[1], 1)))
    return np.concatenate(map_threads(task, spans, n_jobs))


def _others_of_similarities(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    keys = -rows
    keys[np.arange(len(queries)), queries] = -np.inf
    return np.argsort(keys, axis=1, kind="stable")[:, 1:]


def _others_of_lists(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Lists without the query, which may be in them or not; a longer list gives up its last item."""
    own = rows == queries[:, None]
    if not own.any():
        return rows
    own[~own.any(axis=1), -1] = True
    return rows[~own].reshape(len(rows), -1)


def _check_lists(lists: np.ndarray, n: int) -> None:
    if lists.size and (lists.min() < 0 or lists.max() >= n):
        bad = lists.min() if lists.min() < 0 else lists.max()
        raise InvalidValueError(
            f"ranking holds the item {bad}, but labels name the items 0 to {n - 1}; an integer array is "
            "read as lists of neighbours, similarities must be floats."
        )
    ordered = np.sort(lists, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InvalidValueError(
            "ranking holds a list in which an item comes twice; each may come once."
        )


def classes(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Class of each item as a number, and the size of each class."""
    return label_codes(labels, "labels")
