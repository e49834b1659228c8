"""`GrowingKNN` and `GrowingMST`: exact graphs of points that are inserted and removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_choice
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
from vicinal.graphs._growing_base import MAX_NEW_FRACTION, GrowingGraph, with_room
from vicinal.graphs.graph import Graph
from vicinal.graphs.neighborhoods import has_isolated_duplicates, knn
from vicinal.graphs.trees import tree_edges
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import check_neighbors

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, DuplicateMode, MetricLike, NJobs


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
        self._ids, self._costs = with_room(self._ids, self._n), with_room(self._costs, self._n)
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
        self._parent = with_room(self._parent, self._n)
        self._costs = with_room(self._costs, self._n)
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
