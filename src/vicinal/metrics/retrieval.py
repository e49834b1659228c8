"""Retrieval: how many items of a query's class are among its first results.

All measures accept similarities or neighbour lists; with lists, no (n, n) array is needed. The query itself
always comes first, whether a list contains it or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidValueError
from vicinal.metrics.clustering import label_codes

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

ENTRIES_PER_TASK = 1 << 21


@entry
def bulls_eye(ranking: ArrayLike, labels: ArrayLike, *, n_jobs: NJobs = -1) -> float:
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
    return _mean_recall(ranking, codes, sizes, 2 * sizes)


@entry
def retrieval_rate(
    ranking: ArrayLike, labels: ArrayLike, window: int, *, n_jobs: NJobs = -1
) -> float:
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
    return _mean_recall(ranking, codes, sizes, np.full(len(sizes), window))


@entry
def mean_average_precision(ranking: ArrayLike, labels: ArrayLike, *, n_jobs: NJobs = -1) -> float:
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

    def precision(queries: np.ndarray, results: np.ndarray) -> np.ndarray:
        hits = codes[results[:, 1:]] == codes[queries, None]
        precisions = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
        return (precisions * hits).sum(axis=1) / np.maximum(sizes[codes[queries]] - 1, 1)

    precisions = _over_queries(ranking, len(codes), len(codes), precision, complete=False)
    return float(precisions[has_relevant].mean())


def _mean_recall(
    ranking: ArrayLike,
    codes: np.ndarray,
    sizes: np.ndarray,
    windows: np.ndarray,
) -> float:
    windows = np.minimum(windows, len(codes))

    def recall(queries: np.ndarray, results: np.ndarray) -> np.ndarray:
        query_classes = codes[queries]
        hits = codes[results] == query_classes[:, None]
        hits &= np.arange(results.shape[1]) < windows[query_classes][:, None]
        return hits.sum(axis=1) / sizes[query_classes]

    return float(_over_queries(ranking, len(codes), int(windows.max()), recall).mean())


def _over_queries(
    ranking: ArrayLike,
    n: int,
    length: int,
    measure: Callable[[np.ndarray, np.ndarray], np.ndarray],
    complete: bool = True,
) -> np.ndarray:
    """Measure of each query, from the query and its first ``length - 1`` results.

    Lists may be shorter if they need not be ``complete``.
    """
    table = read_array(ranking, "ranking")
    if table.ndim != 2 or len(table) != n or (table.dtype.kind not in "iu" and table.shape[1] != n):
        raise InvalidValueError(
            f"ranking has shape {table.shape}, but labels has {n} items: pass similarities (n, n) as "
            "floats, or neighbours (n, k) as integers."
        )
    if table.dtype.kind in "iu":
        _check_lists(table, n)
        n_others = table.shape[1] - bool((table == np.arange(n)[:, None]).any())
        if complete and n_others < length - 1:
            raise InvalidValueError(
                f"ranking contains {n_others} other(s) for each query, but {length - 1} are needed; "
                "missing items would count as not retrieved."
            )
        sort_results = _results_from_lists
    else:
        table = check_points(table, name="ranking")
        sort_results = _results_from_similarities

    def task(span: tuple[int, int]) -> np.ndarray:
        queries = np.arange(*span)
        results = sort_results(table[span[0] : span[1]], queries)[:, : length - 1]
        return measure(queries, np.hstack([queries[:, None], results]))

    spans = blocks(n, max(1, ENTRIES_PER_TASK // max(table.shape[1], 1)))
    return np.concatenate(map_threads(task, spans))


def _results_from_similarities(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    keys = -rows
    keys[np.arange(len(queries)), queries] = -np.inf
    return np.argsort(keys, axis=1, kind="stable")[:, 1:]


def _results_from_lists(rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Lists without the query; if only some contain it, the others drop their last item."""
    is_query = rows == queries[:, None]
    if not is_query.any():
        return rows
    is_query[~is_query.any(axis=1), -1] = True
    return rows[~is_query].reshape(len(rows), -1)


def _check_lists(lists: np.ndarray, n: int) -> None:
    if lists.size and (lists.min() < 0 or lists.max() >= n):
        invalid = lists.min() if lists.min() < 0 else lists.max()
        raise InvalidValueError(
            f"ranking contains item {invalid}, but items are 0 to {n - 1}; an integer array is "
            "interpreted as neighbour lists, similarities must be floats."
        )
    ordered = np.sort(lists, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise InvalidValueError(
            "ranking has a list that contains an item twice; each item may appear only once."
        )


def classes(labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Class index of each item, and the size of each class."""
    return label_codes(labels, "labels")
