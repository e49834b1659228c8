"""The one interface to neighbours, whatever the points, the metric and the road to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.options import checked
from vicinal._core.parallel import n_threads
from vicinal._core.sparse import checked_csr
from vicinal._core.validation import (
    check_choice,
    check_count,
    check_distances,
    check_points,
    check_real,
    require_memory,
)
from vicinal.exceptions import InvalidTypeError, InvalidValueError

METHODS = ("auto", "exact", "approximate")
SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
# From here on a search may take long enough for a progress bar.
LONG = 5_000
# Indices and distances, as found and as returned.
BYTES_PER_NEIGHBOR = 32.0
# Bytes that are always free; to ask the system takes longer than a search for a single query.
SMALL = 2**20


class NeighborSearch:
    """Neighbours of points, exact unless asked otherwise; build once, ask often.

    Parameters
    ----------
    X : array (n, D), distance matrix (n, n), or a pair (indices, distances)
        Points, also sparse ones if the metric is Euclidean or cosine; with ``metric="precomputed"`` their
        distances, dense or sparse (in a sparse matrix a stored zero is a distance and a missing entry is
        not a neighbour); or neighbours found elsewhere, a row a point.
    metric : str or callable
        "euclidean", "cosine", "manhattan", "precomputed", or anything else that
        `sklearn.metrics.pairwise_distances` takes.
    method : {"auto", "exact", "approximate"}
        "auto" and "exact" give the exact neighbours; whether a k-d tree or blocked matrix products
        find them is decided by counting what the tree would visit. "approximate" may miss some.
    recall : float
        Share of the true neighbours that an approximate search has to find.
    random_state : int, Generator or None
        Seed of the approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. Results do not depend on it.
    verbose : int
        Above 0, long searches show a progress bar.

    Attributes
    ----------
    method_ : str or None
        What the last search used: "kdtree", "blocked", "direct", "sparse", "pairwise", "precomputed",
        "given", "ivf" or "pynndescent".
    recall_ : float
        1.0, or what an approximate search reached on a sample.
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

    @checked
    def __init__(
        self,
        X: Any,
        *,
        metric: Any = "euclidean",
        method: str = "auto",
        recall: float = 0.99,
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        check_choice(method, "method", METHODS)
        check_real(recall, "recall", low=0.0, high=1.0, open_low=True)
        n_threads(n_jobs)
        if isinstance(metric, str):
            metric = SYNONYMS.get(metric, metric)
        self.metric, self.verbose = metric, verbose
        self._backend = _choose_backend(X, metric, method, recall, random_state, n_jobs)

    @property
    def n_points(self) -> int:
        return len(self._backend)

    @property
    def method_(self) -> str | None:
        return self._backend.method

    @property
    def recall_(self) -> float:
        return getattr(self._backend, "recall", 1.0)

    def nearest(self, n_neighbors: int, queries: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest points, sorted by (distance, index).

        Parameters
        ----------
        n_neighbors : int
            Number of neighbours; the point itself does not count.
        queries : array (m, D), optional
            New points; with ``metric="precomputed"`` their distances (m, n) to the points. By
            default the neighbours of the points themselves are found.

        Returns
        -------
        indices, distances : ndarray
            Of shape (n, k + 1), the point itself first; or (m, k) for queries.
        """
        n = len(self._backend)
        if queries is not None:
            n_neighbors = check_count(
                n_neighbors, "n_neighbors", high=n, remedy=f"X has {n} point(s)."
            )
            asked = self._check_queries(queries)
            _require_lists(asked.shape[0], n_neighbors)
            return self._backend.nearest_to(asked, n_neighbors, self._progress(asked.shape[0]))
        n_neighbors = check_neighbors(
            n_neighbors, n, f"X has {n} points, and a point is not its own neighbour."
        )
        _require_lists(n, n_neighbors)
        others, lengths = self._backend.nearest_others(n_neighbors, self._progress(n))
        indices, distances = (
            np.empty((n, n_neighbors + 1), np.int64),
            np.empty((n, n_neighbors + 1)),
        )
        indices[:, 0], distances[:, 0] = np.arange(n), 0.0
        indices[:, 1:], distances[:, 1:] = others, lengths
        return indices, distances

    def within(
        self, radius: float, queries: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All points at a distance of at most ``radius``, always exact.

        Returns
        -------
        indptr, indices, distances : ndarray
            Row i of the lists is ``indices[indptr[i]:indptr[i + 1]]``, sorted by index. Without
            queries a point is not in its own list.
        """
        radius = check_real(radius, "radius", low=0.0, open_low=True)
        asked = None if queries is None else self._check_queries(queries)
        n = len(self._backend) if asked is None else asked.shape[0]
        return self._backend.within(radius, asked, self._progress(n))

    def _progress(self, n_rows: int) -> str | None:
        return "neighbours" if self.verbose > 0 and n_rows >= LONG else None

    def _check_queries(self, queries: Any) -> Any:
        if self.metric == "precomputed":
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
                f"{known}; give queries with the same features."
            )
        return queries


def check_neighbors(n_neighbors: Any, n: int, remedy: str) -> int:
    """`k` as a number of neighbours that each of n points can have."""
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    if n == 1:
        raise InvalidValueError(
            f"n_neighbors={n_neighbors}, but X has 1 point, which has no neighbours; give more points."
        )
    return check_count(n_neighbors, "n_neighbors", high=n - 1, remedy=remedy)


def _require_lists(n_rows: int, n_neighbors: int) -> None:
    n_bytes = BYTES_PER_NEIGHBOR * n_rows * n_neighbors
    if n_bytes < SMALL:
        return
    require_memory(
        n_bytes,
        f"The lists of n_neighbors={n_neighbors} neighbours of {n_rows:,} points",
        "Ask for fewer neighbours, or for those of fewer points at a time.",
    )


def _choose_backend(
    X: Any, metric: Any, method: str, recall: float, random_state: Any, n_jobs: int | None
) -> Any:
    if isinstance(X, tuple) and len(X) == 2 and all(np.ndim(part) == 2 for part in X):
        from vicinal.neighbors._precomputed import Neighbors

        return Neighbors(X)
    if metric == "precomputed":
        from vicinal.neighbors._pairwise import Distances
        from vicinal.neighbors._precomputed import SparseDistances

        matrix = check_distances(X)
        if sparse.issparse(matrix):
            return SparseDistances(matrix)
        return Distances(matrix, n_jobs)
    if sparse.issparse(X):
        return _sparse_road(X, metric, method, n_jobs)
    points = check_points(X, dtype=None)
    if method == "approximate" and metric in ("euclidean", "cosine"):
        from vicinal.neighbors._approximate import ClusteredPoints

        return ClusteredPoints(points, metric, recall, random_state, n_jobs)
    exact = _exact_backend(points, metric, n_jobs)
    if method == "approximate":
        from vicinal.neighbors._pynndescent import DescentPoints

        return DescentPoints(exact, metric, recall, random_state, n_jobs)
    return exact


def _sparse_road(X: Any, metric: Any, method: str, n_jobs: int | None) -> Any:
    from vicinal.neighbors._sparse_points import METRICS, SparsePoints, check_sparse_points

    if metric not in METRICS or method == "approximate":
        raise InvalidTypeError(
            f"X is a sparse matrix, but metric={metric!r} with method={method!r} needs dense points: pass "
            "X.toarray(), take metric='euclidean' or 'cosine' and an exact search, or give "
            "metric='precomputed' if X holds distances."
        )
    return SparsePoints(check_sparse_points(X), metric, n_jobs)


def _exact_backend(points: np.ndarray, metric: Any, n_jobs: int | None) -> Any:
    if metric in ("euclidean", "cosine", "manhattan"):
        from vicinal.neighbors._exact import Points

        return Points(points, metric, n_jobs)
    from vicinal.neighbors._pairwise import OtherMetric

    return OtherMetric(points, metric, n_jobs)


def _check_query_distances(queries: Any, road: Any) -> Any:
    if sparse.issparse(queries) != sparse.issparse(road.matrix):
        raise InvalidTypeError(
            "queries and X must both be dense or both be sparse when metric='precomputed'."
        )
    if sparse.issparse(queries):
        rows = checked_csr(queries, "queries", np.float64).copy()
        rows.sum_duplicates()
        values = rows.data
    else:
        rows = values = check_points(queries, name="queries")
    if rows.shape[1] != len(road):
        raise InvalidValueError(
            f"queries have shape {rows.shape}, but with metric='precomputed' a row must hold the "
            f"distances to all {len(road)} points of X."
        )
    if values.size and not values.min() >= 0:
        raise InvalidValueError(
            "queries hold negative or undefined distances, but they must be >= 0."
        )
    return rows
