"""`NeighborSearch`: one interface for all inputs, metrics and backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.matrix_checks import check_distances
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.pickles import Stamped
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import (
        ArrayLike,
        MatrixLike,
        MetricLike,
        NeighborArrays,
        NJobs,
        RandomStateLike,
        SearchMethod,
    )

METHODS = ("auto", "exact", "approximate")
# Indices and distances, in the backend and in the result.
BYTES_PER_NEIGHBOR = 32.0
# Below this size memory is not checked: that takes longer than the search for one query.
UNCHECKED_BYTES = 2**20


class NeighborSearch(Stamped):
    """Nearest-neighbour search, exact by default: built once, queried many times.

    Parameters
    ----------
    X : array (n, n_features), distance matrix (n, n), or a pair (indices, distances)
        Points, also sparse if the metric is Euclidean or cosine, or a dask array (see `vicinal.scale`);
        distances, dense or sparse, with ``metric="precomputed"``; or neighbours from another library, one
        row per point. In a sparse matrix of distances, a stored zero is a distance and a missing entry is
        not a neighbour.
    metric : str or callable, default="euclidean"
        "euclidean" ("l2"), "manhattan" ("l1", "cityblock"), "cosine", "precomputed", or any other metric of
        `sklearn.metrics.pairwise_distances`.
    method : {"auto", "exact", "approximate"}, default="auto"
        "auto" and "exact" return the exact neighbours, by a k-d tree or by blocked matrix products,
        whichever is faster. "approximate", for Euclidean and cosine distances, may miss some; its cosine
        distances between more than 2^27 coordinates in single precision are accurate to single precision.
    recall : float, default=0.99
        Fraction of the true neighbours that an approximate search must find.
    random_state : int, Generator or None, default=None
        Seed of the approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        If positive, long searches show a progress bar.

    Attributes
    ----------
    method_ : str or None
        Backend of the last search: "kdtree", "blocked", "direct", "sparse", "pairwise", "precomputed",
        "given", "ivf", or "cells" for dask arrays.
    recall_ : float
        Recall of the last search: 1.0 if exact, otherwise as measured on a sample.
    n_points : int
        Number of points searched.

    Examples
    --------
    >>> from vicinal.neighbors import NeighborSearch
    >>> search = NeighborSearch([[0.0], [1.0], [3.0]])
    >>> indices, distances = search.nearest(1)
    >>> indices
    array([[0, 1],
           [1, 0],
           [2, 1]])
    >>> distances
    array([[0., 1.],
           [0., 1.],
           [0., 2.]])
    >>> search.nearest(1, queries=[[2.5]])
    (array([[2]]), array([[0.5]]))
    """

    @entry
    def __init__(
        self,
        X: MatrixLike | tuple[ArrayLike, ArrayLike],
        *,
        metric: MetricLike = "euclidean",
        method: SearchMethod = "auto",
        recall: float = 0.99,
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        check_choice(method, "method", METHODS)
        check_real(recall, "recall", low=0.0, high=1.0, open_low=True)
        self._metric, self.n_jobs, self.verbose = as_metric(metric), n_jobs, verbose
        self._backend = _choose_backend(X, self._metric, method, recall, random_state)

    @property
    def metric(self) -> MetricLike:
        return self._metric.name

    @property
    def n_points(self) -> int:
        return len(self._backend)

    @property
    def method_(self) -> str | None:
        return self._backend.method

    @property
    def recall_(self) -> float:
        return getattr(self._backend, "recall", 1.0)

    @entry
    def nearest(self, n_neighbors: int, queries: MatrixLike | None = None) -> NeighborArrays:
        """Find the nearest points, sorted by (distance, index).

        Parameters
        ----------
        n_neighbors : int
            Number of neighbours; the point itself does not count.
        queries : array (m, n_features), optional
            New points; with ``metric="precomputed"`` their distances (m, n) to the points. The
            default finds the neighbours of the points themselves.

        Returns
        -------
        indices : ndarray of int of shape (n, n_neighbors + 1), or (m, n_neighbors) for queries
            Neighbours of each row; without queries, the point itself comes first.
        distances : ndarray of the same shape
            Distances to them. If the points or queries are a dask array, so are the results.
        """
        n = len(self._backend)
        if queries is not None:
            n_neighbors = check_count(
                n_neighbors, "n_neighbors", high=n, remedy=f"X has {n} point(s)."
            )
            if self._is_chunked and is_chunked(queries):
                return self._backend.nearest_to_chunks(queries, n_neighbors)
            targets = self._check_queries(queries)
            _require_lists(targets.shape[0], n_neighbors)
            return self._backend.nearest_to(targets, n_neighbors)
        if self._is_chunked:
            return self._backend.lists(_check_others(n_neighbors, n))
        others, lengths = nearest_others(self, n_neighbors)
        n_neighbors = others.shape[1]
        indices, distances = (
            np.empty((n, n_neighbors + 1), np.int64),
            np.empty((n, n_neighbors + 1)),
        )
        indices[:, 0], distances[:, 0] = np.arange(n), 0.0
        indices[:, 1:], distances[:, 1:] = others, lengths
        return indices, distances

    @entry
    def within(
        self, radius: float, queries: MatrixLike | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find all points within a radius; always exact.

        Parameters
        ----------
        radius : float
            Largest distance of a neighbour, > 0.
        queries : array (m, n_features), optional
            New points, as for `nearest`.

        Returns
        -------
        indptr : ndarray of int
            Row i of the result is ``indices[indptr[i]:indptr[i + 1]]``.
        indices : ndarray of int
            Neighbours, sorted by index in each row. Without queries, a point is not its own neighbour.
        distances : ndarray of float
            Distances to them.
        """
        radius = check_real(radius, "radius", low=0.0, open_low=True)
        targets = None if queries is None else self._check_queries(queries)
        return self._backend.within(radius, targets)

    @property
    def _is_chunked(self) -> bool:
        return isinstance(getattr(self._backend, "X", None), ChunkedRows)

    def _check_queries(self, queries: Any) -> Any:
        if self._metric.is_precomputed:
            return _check_query_distances(queries, self._backend)
        if isinstance(getattr(self._backend, "X", None), sparse.csr_array):
            from vicinal.neighbors._sparse_points import check_sparse_points

            if not sparse.issparse(queries):
                queries = sparse.csr_array(check_points(queries, name="queries"))
            queries = check_sparse_points(queries, "queries")
        else:
            queries = check_points(queries, name="queries", dtype=None)
        known = getattr(self._backend, "X", queries).shape[1]
        if queries.shape[1] != known:
            raise InvalidValueError(
                f"queries have {queries.shape[1]} feature(s), but the points of the search have "
                f"{known}; pass queries with the same features."
            )
        return queries


def nearest_others(search: NeighborSearch, n_neighbors: int) -> NeighborArrays:
    """Like `NeighborSearch.nearest`, but without the points themselves in the first column.

    Many rows take half the memory, because the lists of the backend are not copied.
    """
    n = search.n_points
    n_neighbors = _check_others(n_neighbors, n)
    _require_lists(n, n_neighbors)
    lists: NeighborArrays = search._backend.nearest_others(n_neighbors)
    return lists


def _check_others(n_neighbors: Any, n: int) -> int:
    return check_neighbors(
        n_neighbors, n, f"X has {n} points, and a point is not its own neighbour."
    )


def check_neighbors(n_neighbors: Any, n: int, remedy: str) -> int:
    """`n_neighbors` as an int below the number of points."""
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    if n == 1:
        raise InvalidValueError(
            f"n_neighbors={n_neighbors}, but X has 1 point, which has no neighbours; pass more points."
        )
    return check_count(n_neighbors, "n_neighbors", high=n - 1, remedy=remedy)


def _require_lists(n_rows: int, n_neighbors: int) -> None:
    n_bytes = BYTES_PER_NEIGHBOR * n_rows * n_neighbors
    if n_bytes < UNCHECKED_BYTES:
        return
    require_memory(
        n_bytes,
        f"The list of n_neighbors={n_neighbors} neighbours of {n_rows:,} points",
        "Use fewer neighbours, or fewer queries at a time.",
    )


def _choose_backend(
    X: Any,
    metric: Metric,
    method: str,
    recall: float,
    random_state: RandomStateLike,
) -> Any:
    if is_chunked(X):
        return chunked_counterpart("StoredSearch")(X, metric, method, recall, random_state)
    if isinstance(X, tuple) and len(X) == 2 and all(np.ndim(part) == 2 for part in X):
        from vicinal.neighbors._precomputed import Neighbors

        return Neighbors(X)
    if metric.is_precomputed:
        from vicinal.neighbors._pairwise import Distances
        from vicinal.neighbors._precomputed import SparseDistances

        matrix = check_distances(X)
        if sparse.issparse(matrix):
            return SparseDistances(matrix)
        return Distances(matrix)
    if sparse.issparse(X):
        return _sparse_backend(X, metric, method)
    points = check_points(X, dtype=None)
    if method != "approximate":
        return _exact_backend(points, metric)
    if not (metric.is_compiled and metric.power == 2):
        raise InvalidValueError(
            f"metric={metric.name!r} has no approximate search, only 'euclidean' and 'cosine' have; use "
            "method='exact', or pass the neighbours that another library finds, as a pair (indices, "
            "distances)."
        )
    from vicinal.neighbors._approximate import ClusteredPoints

    return ClusteredPoints(points, metric, recall, random_state)


def _sparse_backend(X: Any, metric: Metric, method: str) -> Any:
    from vicinal.neighbors._sparse_points import SparsePoints, check_sparse_points

    if not metric.accepts_sparse or method == "approximate":
        raise InvalidTypeError(
            f"X is a sparse matrix, but metric={metric.name!r} with method={method!r} needs dense points: "
            "pass X.toarray(), use metric='euclidean' or 'cosine' with an exact search, or "
            "metric='precomputed' if X contains distances."
        )
    return SparsePoints(check_sparse_points(X), metric)


def _exact_backend(points: np.ndarray, metric: Metric) -> Any:
    if metric.is_compiled:
        from vicinal.neighbors._exact import Points

        return Points(points, metric)
    from vicinal.neighbors._pairwise import PairwisePoints

    return PairwisePoints(points, metric)


def _check_query_distances(queries: Any, backend: Any) -> Any:
    if sparse.issparse(queries) != sparse.issparse(backend.matrix):
        raise InvalidTypeError(
            "queries and X must both be dense or both be sparse if metric='precomputed'."
        )
    if sparse.issparse(queries):
        rows = checked_csr(queries, "queries", np.float64).copy()
        rows.sum_duplicates()
        values = rows.data
    else:
        rows = values = check_points(queries, name="queries")
    if rows.shape[1] != len(backend):
        raise InvalidValueError(
            f"queries have shape {rows.shape}, but with metric='precomputed' each row must hold the "
            f"distances to all {len(backend)} points of X."
        )
    if values.size and not values.min() >= 0:
        raise InvalidValueError(
            "queries contain negative or undefined distances, but distances must be >= 0."
        )
    return rows
