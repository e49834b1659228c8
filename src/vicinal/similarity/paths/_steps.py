"""Steps of path-based similarities: between any two points, or along the edges of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.rescale import safe_factor
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs._build.nearest_foreign import in_common_unit
from vicinal.graphs.graph import Graph
from vicinal.graphs.trees import tree_edges
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._exact import Points, prepared_points
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike


class Candidates(NamedTuple):
    """Edges (m, 2), their lengths, and -log of their strengths."""

    edges: np.ndarray
    lengths: np.ndarray
    resistance: np.ndarray


@dataclass
class PointSteps:
    """Steps between any two points. All lengths are in units of ``unit``.

    One search with one k-d tree serves the neighbours, the spanning trees and the bridges.
    """

    points: np.ndarray | ChunkedRows
    metric: Metric
    unit: float

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def original_points(self) -> np.ndarray | ChunkedRows:
        """The points, or distances, in the units of the input."""
        if isinstance(self.points, ChunkedRows):
            return self.points
        return self.points if self.unit == 1 else self.points * self.unit

    @cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(self.points, metric=self.metric.name)

    @property
    def _prepared(self) -> Points | None:
        return prepared_points(self._search)

    def nearest(self, k: int) -> tuple[np.ndarray | None, np.ndarray]:
        """Nearest neighbours of each point, and the squared distances to them."""
        k = min(k, self.n - 1)
        if k < 1:
            return None, np.zeros((self.n, 1))
        indices, distances = self._search.nearest(k)
        if isinstance(self.points, ChunkedRows):
            # Its distances are in the unit of the input.
            indices, distances = self.points.load(indices), self.points.load(distances) / self.unit
        return indices[:, 1:], np.square(distances[:, 1:])

    def candidates(self, offsets: np.ndarray | None) -> Candidates:
        """Edges that contain all best paths if a step costs d^2 + b_i + b_j."""
        return self._plain_tree if offsets is None else self._tree(offsets)

    @cached_property
    def _plain_tree(self) -> Candidates:
        return self._tree(None)

    def _tree(self, offsets: np.ndarray | None) -> Candidates:
        if isinstance(self.points, ChunkedRows):
            edges, lengths = self._tree_of_chunks(self.points, offsets)
        else:
            edges, lengths = self._tree_of_points(offsets)
        # This order breaks ties between equal heights.
        edges = np.sort(edges, axis=1)
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        return Candidates(edges[order], lengths[order], np.zeros(len(edges)))

    def _tree_of_chunks(
        self, points: ChunkedRows, offsets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        if offsets is None:
            edges, lengths = tree_edges(points, self.metric, None)
            return edges, lengths / self.unit
        # Points on a store and offsets have the same unit.
        extent = chunked_counterpart("extent_of")(points) / self.unit
        scale, weights = in_common_unit(extent, 1.0, offsets)
        edges = chunked_counterpart("offset_tree")(points, scale, weights)
        lengths = chunked_counterpart("pair_lengths")(points, edges)
        return edges, lengths / self.unit

    def _tree_of_points(self, offsets: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        return tree_edges(
            self.points,
            self.metric,
            offsets,
            prepared=None if offsets is None else self._prepared,
        )

    def bridges(self, components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shortest edges that connect the components, and their lengths."""
        links, lengths = shortest_bridges(self.points, self.metric, components, 1, self._prepared)
        return links, lengths / self.unit if isinstance(self.points, ChunkedRows) else lengths


@dataclass
class GraphSteps:
    """Steps along the edges of an undirected graph. All lengths are in units of ``unit``."""

    graph: Graph
    unit: float

    @property
    def n(self) -> int:
        return self.graph.n_nodes

    @property
    def metric(self) -> Metric:
        return as_metric(self.graph.metric)

    @property
    def original_points(self) -> Any:
        """The points of the graph; None if it has none."""
        return self.graph.points

    def nearest(self, k: int) -> tuple[None, np.ndarray]:
        """Squared lengths of the k shortest edges of each node, infinite where it has fewer."""
        k = min(k, self.n - 1)
        if k < 1:
            return None, np.zeros((self.n, 1))
        graph = self.graph
        squares = np.full((self.n, k), np.inf)
        rows = np.repeat(np.arange(self.n), graph.degrees)
        order = np.lexsort((graph.lengths, rows))
        rank = np.arange(len(rows)) - np.repeat(graph.indptr[:-1], graph.degrees)
        near = rank < k
        shortest = graph.lengths[order][near].astype(np.float64, copy=False)
        squares[rows[near], rank[near]] = np.square(shortest / self.unit)
        squares[graph.degrees == 0] = 0.0  # no step leads there, so the weight does not matter
        return None, squares

    def candidates(self, offsets: np.ndarray | None) -> Candidates:
        """All edges of positive strength, whatever the offsets."""
        graph = self.graph
        once = np.repeat(np.arange(self.n), graph.degrees) < graph.indices
        edges, lengths, strengths = graph.edges(), graph.lengths[once], graph.strengths[once]
        positive = strengths > 0
        lengths = lengths[positive].astype(np.float64, copy=False)
        return Candidates(edges[positive], lengths / self.unit, -np.log(strengths[positive]))


def make_steps(X: ArrayLike | Graph, metric: str) -> PointSteps | GraphSteps:
    """Steps between the points or distances X, or along the edges of the graph X."""
    if isinstance(X, Graph):
        return _graph_steps(X)
    measure = as_metric(metric)
    if is_chunked(X) and not measure.is_precomputed:
        stored = chunked_counterpart("store_points")(X, measure.name)
        return PointSteps(stored, measure, 1 / stored.cells.factor)
    points = measure.validate(X)
    if not isinstance(points, np.ndarray):
        raise InvalidTypeError(
            "X is a sparse matrix of distances, but path_similarity needs a dense one or a graph; "
            "Graph.from_scipy(X) makes a graph, whose edges are then the only steps."
        )
    unit = 1 / safe_factor(points)
    return PointSteps(points if unit == 1 else points / unit, measure, unit)


def _graph_steps(graph: Graph) -> GraphSteps:
    if graph.directed:
        raise InvalidValueError(
            "X is a directed graph, but path_similarity needs an undirected one; use "
            "X.symmetrize('union'), 'mean' or 'intersection'."
        )
    if graph.n_nodes == 0:
        raise InvalidValueError("X is a graph without nodes, but at least one is needed.")
    return GraphSteps(graph, 1 / safe_factor(graph.lengths))
