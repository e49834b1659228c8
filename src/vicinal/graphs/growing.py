"""`GrowingKNN` and `GrowingMST`: exact graphs of points that are inserted and removed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from vicinal._core.array_checks import check_points
from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_choice
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build._growing_kernels import (
    add_to_lists,
    add_to_tree,
    fill_lists,
    measure_entries,
)
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES
from vicinal.graphs._build.edge_lists import graph_from_edges_trusted
from vicinal.graphs._build.neighbor_lists import check_not_mutual_and_directed
from vicinal.graphs._build.spanning_trees import spanning_links
from vicinal.graphs.graph import Graph
from vicinal.graphs.neighborhoods import has_isolated_duplicates, knn
from vicinal.graphs.trees import tree_edges
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import check_neighbors

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, DuplicateMode, MetricLike, NJobs

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
        self._points = _with_room(self._points, self._n, np.result_type(self._points, new))
        self._points[first : self._n] = new
        if prepared.factor != self._factor:
            self._n_done = 0
        if self._n_done > 0:
            dtype = np.result_type(self._prepared, prepared.X)
            self._prepared = _with_room(self._prepared, self._n, dtype)
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


class GrowingKNN(GrowingGraph):
    """Graph of nearest neighbours that points can be inserted into and removed from.

    The graph is exactly that of `vicinal.graphs.knn` on all points. Inserting a point compares it with all
    others, so its cost is that of one row of the distance matrix, instead of a new search for all.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        First points, more than ``n_neighbors``.
    n_neighbors : int, default=10
        Number of neighbours, not counting the point itself.
    mutual : bool, default=False
        As for `vicinal.graphs.knn`.
    directed : bool, default=False
        As for `vicinal.graphs.knn`.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Metric.
    duplicates : {"merge", "keep"}, default="merge"
        As for `vicinal.graphs.knn`. If all neighbours of some row are duplicates of it, "merge" builds the
        graph at once.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The graph does not depend on it.

    Attributes
    ----------
    graph : Graph
        The graph of all points.
    points : ndarray of shape (n, n_features)
        All points.

    Examples
    --------
    >>> from vicinal.graphs import GrowingKNN, knn
    >>> growing = GrowingKNN([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> growing.insert([[2.9]])
    array([3])
    >>> growing.graph == knn([[0.0], [1.0], [3.0], [2.9]], n_neighbors=1)
    True
    """

    @checked
    def __init__(
        self,
        X: ArrayLike,
        n_neighbors: int = 10,
        *,
        mutual: bool = False,
        directed: bool = False,
        metric: MetricLike = "euclidean",
        duplicates: DuplicateMode = "merge",
        n_jobs: NJobs = -1,
    ) -> None:
        super().__init__(X, metric, n_jobs)
        check_not_mutual_and_directed(mutual, directed)
        check_choice(duplicates, "duplicates", DUPLICATE_MODES)
        self.n_neighbors = check_neighbors(n_neighbors, self._n, "Start with more points.")
        self.mutual, self.directed = mutual, directed
        self.duplicates = duplicates
        self._update()

    @property
    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the nearest neighbours, each of shape (n, n_neighbors)."""
        self._update()
        return self._ids[: self._n].copy(), self._lengths(self._costs[: self._n])

    def _min_points(self) -> int:
        return self.n_neighbors + 1

    def _build(self) -> None:
        search = NeighborSearch(self.points, metric=self.metric, method="exact", n_jobs=self.n_jobs)
        self._ids = np.ascontiguousarray(search.nearest(self.n_neighbors)[0][:, 1:], np.int64)
        self._costs = np.empty(self._ids.shape)
        measure_entries(self._prepared, self._power, self._ids, self._costs)

    def _grow(self) -> None:
        self._ids, self._costs = _with_room(self._ids, self._n), _with_room(self._costs, self._n)
        for new in range(self._n_done, self._n):
            add_to_lists(self._prepared, self._power, new, self._ids, self._costs)

    def _drop(self, kept: np.ndarray, number: np.ndarray) -> None:
        self._ids, self._costs = number[self._ids[kept]], self._costs[kept]
        rows = np.flatnonzero((self._ids < 0).any(axis=1))
        if len(rows) > MAX_NEW_FRACTION * len(kept):
            self._build()
        else:
            fill_lists(self._prepared, self._power, rows, self._ids, self._costs)

    def _graph(self) -> Graph:
        options: dict[str, Any] = {"mutual": self.mutual, "directed": self.directed}
        points = self.points.copy()
        indices, distances = self.neighbors
        graph = Graph.from_kneighbors(
            indices, distances, points=points, metric=self.metric, n_jobs=self.n_jobs, **options
        )
        if self.directed or self.duplicates == "keep" or not has_isolated_duplicates(graph):
            return graph
        return knn(
            points,
            self.n_neighbors,
            metric=self.metric,
            method="exact",
            n_jobs=self.n_jobs,
            **options,
        )


class GrowingMST(GrowingGraph):
    """Minimum spanning tree that points can be inserted into and removed from.

    The tree is exactly that of `vicinal.graphs.mst` on all points. Inserting a point takes time linear in
    the number of points.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        First points.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Metric.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The tree does not depend on it.

    Attributes
    ----------
    graph : Graph
        The tree of all points.
    points : ndarray of shape (n, n_features)
        All points.

    References
    ----------
    Chin and Houck, "Algorithms for updating minimal spanning trees", Journal of Computer and System
    Sciences 1978.

    Examples
    --------
    >>> from vicinal.graphs import GrowingMST
    >>> tree = GrowingMST([[0.0], [5.0]])
    >>> tree.insert([[2.0]])
    array([2])
    >>> tree.graph.edges()
    array([[0, 2],
           [1, 2]])
    """

    _parent: np.ndarray
    _costs: np.ndarray

    def __init__(
        self, X: ArrayLike, *, metric: MetricLike = "euclidean", n_jobs: NJobs = -1
    ) -> None:
        super().__init__(X, metric, n_jobs)
        self._update()

    def _build(self) -> None:
        edges, _ = tree_edges(self.points, as_metric(self.metric), None, n_jobs=self.n_jobs)
        self._root(edges)

    def _grow(self) -> None:
        self._parent = _with_room(self._parent, self._n)
        self._costs = _with_room(self._costs, self._n)
        scratch = np.empty(self._n, np.int32), np.empty(self._n, np.int32), np.empty(self._n)
        for new in range(self._n_done, self._n):
            add_to_tree(self._prepared, self._power, new, self._parent, self._costs, *scratch)

    def _drop(self, kept: np.ndarray, number: np.ndarray) -> None:
        edges = number[self._edges(len(number))]
        # Edges between points that stay are in the new tree too.
        edges = edges[(edges >= 0).all(axis=1)]
        forest = _adjacency(edges, len(kept))
        n_components, components = connected_components(forest, directed=False)
        if n_components > 1:
            links, _ = spanning_links(self.points, as_metric(self.metric), components, self.n_jobs)
            edges = np.concatenate([edges, links])
        self._root(edges)

    def _root(self, edges: np.ndarray) -> None:
        """Store the tree by the parent of each point, and the costs of these edges."""
        tree = _adjacency(edges, self._n)
        parent = breadth_first_order(tree, 0, directed=False)[1].astype(np.int32)
        self._parent = np.where(parent < 0, -1, parent)
        costs = np.zeros((self._n, 1))
        ends = np.maximum(self._parent, 0)[:, None]
        measure_entries(self._prepared, self._power, ends, costs)
        self._costs = costs[:, 0]

    def _edges(self, n: int) -> np.ndarray:
        """Edges (n - 1, 2) from points to their parents."""
        points = np.flatnonzero(self._parent[:n] >= 0)
        return np.column_stack([points, self._parent[points]])

    def _graph(self) -> Graph:
        edges = self._edges(self._n)
        lengths = self._lengths(self._costs[edges[:, 0]])
        edges = np.sort(edges, axis=1)
        return graph_from_edges_trusted(self._n, edges, lengths, self.points.copy(), self.metric)


def _adjacency(edges: np.ndarray, n: int) -> sparse.csr_array:
    ones = np.ones(len(edges), np.int8)
    return sparse.csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))


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


def _with_room(array: np.ndarray, n: int, dtype: Any = None) -> np.ndarray:
    """The array, with at least n entries along the first axis, and of this type."""
    dtype = array.dtype if dtype is None else dtype
    if len(array) >= n and array.dtype == dtype:
        return array
    larger = np.empty((n + int(GROWTH * n), *array.shape[1:]), dtype)
    larger[: len(array)] = array
    return larger
