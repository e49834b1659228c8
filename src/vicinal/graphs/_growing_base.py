"""What graphs that grow share: points, their insertion and removal, and when to build again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MetricLike, NJobs

# If more than this fraction of the points is new, building the graph again is faster.
MAX_NEW_FRACTION = 0.01
METRICS = ("euclidean", "manhattan", "cosine")
# Arrays have room for this fraction of further points.
GROWTH = 0.25
ROW_NUMBERS_NEEDED = "rows must be row numbers: an int or a list of int."


class GrowingGraph(ABC):
    """Base of growing graphs: points are stored at once, and the graph follows when it is needed."""

    _prepared: np.ndarray

    @checked
    def __init__(self, X: ArrayLike, metric: MetricLike, n_jobs: NJobs) -> None:
        self.metric, self.n_jobs = as_metric(metric).name, n_jobs
        if self.metric not in METRICS:
            raise InvalidValueError(
                f"metric={metric!r}, but growing graphs need one of {', '.join(map(repr, METRICS))}."
            )
        self._points = _check(X, "X")
        self._n, self._n_done = len(self._points), 0
        self._factor = 1.0

    def __len__(self) -> int:
        return self._n

    @property
    def points(self) -> np.ndarray:
        """All points, in the order of insertion."""
        return self._points[: self._n]

    @property
    def graph(self) -> Graph:
        """The graph of all points: the same as if it had been built at once."""
        self._update()
        return self._graph()

    def insert(self, X: ArrayLike) -> np.ndarray:
        """Insert points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points. They are numbered after the present ones.

        Returns
        -------
        ndarray of int of shape (m,)
            Row numbers of the new points.
        """
        new = _check(X, "X")
        if new.shape[1] != self._points.shape[1]:
            raise InvalidValueError(
                f"X has {new.shape[1]} feature(s), but the graph has points with {self._points.shape[1]}."
            )
        # Rejects zero vectors with cosine distances, and points so far away that squares overflow.
        prepared = Points(new, self.metric, 1)
        first, self._n = self._n, self._n + len(new)
        self._points = with_room(self._points, self._n, np.result_type(self._points, new))
        self._points[first : self._n] = new
        if prepared.factor != self._factor:
            self._n_done = 0
        if self._n_done > 0:
            dtype = np.result_type(self._prepared, prepared.X)
            self._prepared = with_room(self._prepared, self._n, dtype)
            self._prepared[first : self._n] = prepared.X
        return np.arange(first, self._n)

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Insert points, as scikit-learn names it.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.
        y : None
            Ignored.

        Returns
        -------
        self
            The graph with the new points.
        """
        self.insert(X)
        return self

    def remove(self, rows: ArrayLike) -> Self:
        """Remove points; the others keep their order and are numbered without gaps.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers of the points, each once.

        Returns
        -------
        self
            The graph without the points.
        """
        removed = check_rows(rows, self._n, self._min_points())
        self._update()
        kept = np.delete(np.arange(self._n), removed)
        number = np.full(self._n, -1)
        number[kept] = np.arange(len(kept))
        self._points, self._prepared = self.points[kept], self._prepared[kept]
        self._n = self._n_done = len(kept)
        self._drop(kept, number)
        return self

    def _update(self) -> None:
        """Bring the graph up to date, point by point or at once."""
        n_new = self._n - self._n_done
        if n_new == 0:
            return
        if self._n_done == 0 or n_new > MAX_NEW_FRACTION * self._n:
            prepared = Points(self.points, self.metric, self.n_jobs)
            self._prepared, self._factor = prepared.X, prepared.factor
            self._build()
        else:
            self._grow()
        self._n_done = self._n

    def _lengths(self, costs: np.ndarray) -> np.ndarray:
        """Lengths in the metric, from costs of prepared points."""
        metric = as_metric(self.metric)
        prepared = Points.prepared(self._prepared[:1], metric, self._factor, 1)
        return prepared.in_metric(costs if self._power == 1 else np.sqrt(costs))

    @property
    def _power(self) -> int:
        return as_metric(self.metric).power

    def _min_points(self) -> int:
        return 1

    @abstractmethod
    def _build(self) -> None:
        """Build the graph of all points."""

    @abstractmethod
    def _grow(self) -> None:
        """Add the points from ``_n_done`` on."""

    @abstractmethod
    def _drop(self, kept: np.ndarray, number: np.ndarray) -> None:
        """Keep some points, given by their former rows; ``number`` maps all rows to new ones, or to -1."""

    @abstractmethod
    def _graph(self) -> Graph:
        """The graph, which is up to date."""


def _check(X: Any, name: str) -> np.ndarray:
    if sparse.issparse(X):
        raise InvalidTypeError(
            f"{name} is sparse, but growing graphs need dense points; pass {name}.toarray()."
        )
    return check_points(X, name=name, dtype=None)


def check_rows(rows: Any, n: int, min_points: int) -> np.ndarray:
    """Row numbers to remove, each once, such that at least ``min_points`` are left."""
    try:
        numbers = np.atleast_1d(np.asarray(rows))
    except ValueError as error:  # ragged
        raise InvalidTypeError(ROW_NUMBERS_NEEDED) from error
    if numbers.size == 0:
        return np.empty(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InvalidTypeError(ROW_NUMBERS_NEEDED)
    if numbers.min() < 0 or numbers.max() >= n:
        raise InvalidValueError(
            f"rows contains {numbers.min()} to {numbers.max()}, but there are rows 0 to {n - 1}."
        )
    if len(np.unique(numbers)) < len(numbers):
        raise InvalidValueError("rows contains a row number more than once; pass each once.")
    if n - len(numbers) < min_points:
        raise InvalidValueError(
            f"removing {len(numbers)} of {n} points leaves fewer than {min_points}; keep more."
        )
    return np.asarray(numbers, np.int64)


def with_room(array: np.ndarray, n: int, dtype: Any = None) -> np.ndarray:
    """The array, with at least n entries along the first axis, and of this type."""
    dtype = array.dtype if dtype is None else dtype
    if len(array) >= n and array.dtype == dtype:
        return array
    larger = np.empty((n + int(GROWTH * n), *array.shape[1:]), dtype)
    larger[: len(array)] = array
    return larger
