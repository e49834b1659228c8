"""Search in rows of a distance matrix that is given, or computed in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal._core.warn import LongWork
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._brute_kernels import smallest
from vicinal.neighbors._radius import Rows, in_blocks, rows_of
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike

# Distances that a task keeps in memory.
BLOCK_ENTRIES = 2_000_000
# Rounding may make a distance negative by this fraction of the largest.
ROUNDING = 1e-9
# Neighbour lists measured per call: enough to amortise the call, few enough to avoid unneeded pairs.
LISTS_PER_CALL = 32
SLOW_SEARCH = LongWork("the search under this metric", "metric='euclidean' has an index")


class Table:
    """A table of distances from queries to points, reached through ``rows(first, last)``."""

    def __init__(
        self,
        rows: Callable[[int, int], np.ndarray],
        n_rows: int,
        n_columns: int,
    ) -> None:
        self.rows, self.n_rows, self.n_columns = rows, n_rows, n_columns
        self.size = max(1, BLOCK_ENTRIES // n_columns)

    def nearest(self, k: int, *, exclude_self: bool) -> tuple[np.ndarray, np.ndarray]:
        """The k smallest entries of each row; ``exclude_self`` skips the diagonal."""
        indices, distances = np.empty((self.n_rows, k), np.int64), np.empty((self.n_rows, k))

        def select(span: tuple[int, int]) -> None:
            a, b = span
            smallest(self.rows(a, b), _diagonal(a, b, exclude_self), indices[a:b], distances[a:b])

        map_threads(
            select,
            blocks(self.n_rows, self.size),
            title="neighbours",
            long_work=SLOW_SEARCH,
        )
        return indices, distances

    def within(self, radius: float, *, exclude_self: bool) -> Rows:
        """The entries of each row that are at most ``radius``."""

        def search(span: tuple[int, int]) -> Rows:
            return rows_of(self.rows(*span), radius, _diagonal(*span, exclude_self))

        return in_blocks(search, self.n_rows, self.size)


class Distances:
    """A given square distance matrix."""

    method = "precomputed"

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return len(self.matrix)

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        return self._table(self.matrix).nearest(k, exclude_self=True)

    def nearest_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, a row of distances to the points."""
        return self._table(queries).nearest(k, exclude_self=False)

    def within(self, radius: float, queries: np.ndarray | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        exclude_self = queries is None
        targets = self.matrix if queries is None else queries
        return self._table(targets).within(radius, exclude_self=exclude_self)

    def _table(self, matrix: np.ndarray) -> Table:
        return Table(lambda a, b: matrix[a:b], len(matrix), matrix.shape[1])


class PairwisePoints:
    """Points under any metric of scikit-learn, or a callable."""

    method = "pairwise"

    def __init__(self, X: np.ndarray, metric: MetricLike | Metric) -> None:
        self.metric = as_metric(metric).name
        self.X = self._prepare(X)
        # Parameters that depend on the data are computed once, not per block.
        self.params: dict[str, Any] = {}
        if self.metric == "seuclidean":
            self.params["V"] = np.var(X, axis=0, ddof=1)
        elif self.metric == "mahalanobis":
            self.params["VI"] = _inverse_covariance(X)
        try:
            self.distances(self.X[:1])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidValueError(
                f"metric={self.metric!r} could not be evaluated on X ({error}); use 'euclidean', "
                "'cosine', 'manhattan', 'precomputed', another name that "
                "sklearn.metrics.pairwise_distances knows, or a callable of two points."
            ) from error

    def __len__(self) -> int:
        return len(self.X)

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        return self._table(self.X).nearest(k, exclude_self=True)

    def nearest_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query."""
        return self._table(self._prepare(queries)).nearest(k, exclude_self=False)

    def within(self, radius: float, queries: np.ndarray | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        targets = self.X if queries is None else self._prepare(queries)
        return self._table(targets).within(radius, exclude_self=queries is None)

    def _prepare(self, X: np.ndarray) -> np.ndarray:
        from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

        return X.astype(bool) if self.metric in PAIRWISE_BOOLEAN_FUNCTIONS else X

    def _table(self, queries: np.ndarray) -> Table:
        return Table(lambda a, b: self.distances(queries[a:b]), len(queries), len(self.X))

    def lengths_of(self, rows: np.ndarray, lists: np.ndarray) -> np.ndarray:
        """Distances from some points to the points in their lists."""
        lengths = np.empty(lists.shape)
        for a, b in blocks(len(rows), LISTS_PER_CALL):
            near, position = np.unique(lists[a:b], return_inverse=True)
            block = self.distances(self.X[rows[a:b]], self.X[near])
            lengths[a:b] = np.take_along_axis(block, position.reshape(lists[a:b].shape), axis=1)
        return lengths

    def distances(self, queries: np.ndarray, points: np.ndarray | None = None) -> np.ndarray:
        """Distances of all queries to all points, or to the given ones."""
        from sklearn.metrics import pairwise_distances

        points = self.X if points is None else points
        with warnings.catch_warnings():
            # Divisions by zero become NaN, which is reported below.
            warnings.simplefilter("ignore", RuntimeWarning)
            block = pairwise_distances(queries, points, metric=self.metric, **self.params)
        if not np.isfinite(block).all():
            j = int(np.argwhere(~np.isfinite(block))[0, 1])
            raise InvalidValueError(
                f"metric={self.metric!r} gives a distance that is not a finite number, for instance to "
                f"row {j} of X; drop such rows or choose a metric that is defined for them."
            )
        smallest_distance = block.min()
        # Named metrics fall below 0 by rounding only, if at all.
        if callable(self.metric) and smallest_distance < -ROUNDING * block.max(
            initial=-smallest_distance
        ):
            j = int(np.unravel_index(np.argmin(block), block.shape)[1])
            raise InvalidValueError(
                f"metric={self.metric!r} gives the distance {smallest_distance:g} to row {j} of X, but "
                "distances must be >= 0; use the absolute value, or another metric."
            )
        return np.maximum(block, 0.0, dtype=np.float64)


def _inverse_covariance(X: np.ndarray) -> np.ndarray:
    """Inverse covariance of the columns, computed from correlations so that units do not matter."""
    dependent = InvalidValueError(
        "metric='mahalanobis' needs columns that are linearly independent, but those of X "
        f"(shape {X.shape}) are constant, collinear or too many for the number of points; drop some, "
        "or use sklearn.decomposition.PCA(whiten=True) and metric='euclidean'."
    )
    if len(X) <= X.shape[1]:
        raise dependent
    with np.errstate(all="ignore"):
        covariance = np.atleast_2d(np.cov(X.T))
        std = np.sqrt(np.diagonal(covariance))
        units = np.outer(std, std)
        correlation = covariance / units
    finite = np.isfinite(correlation).all()
    if not finite or np.linalg.cond(correlation) > 1 / np.finfo(np.float64).eps:
        raise dependent
    return np.linalg.inv(correlation).T / units


def _diagonal(a: int, b: int, exclude_self: bool) -> np.ndarray:
    return np.arange(a, b) if exclude_self else np.full(b - a, -1)
