"""Set algebra of graphs: each function is a method or an operator of `Graph`.

Two graphs can be combined if they have the same nodes and are both directed or both undirected.
If they give an edge different lengths (after an approximate search, for example), the shorter one is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._entries import Entries, keep_entries, merge, rows_of
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, NJobs
    from vicinal.graphs.graph import Graph


def union(graph: Graph, other: Graph) -> Graph:
    """Edges of either graph, each with its larger strength."""
    entries, _ = _combined(graph, other, np.maximum)
    return _like(graph, entries, graph.directed)


def intersection(graph: Graph, other: Graph) -> Graph:
    """Edges that both graphs have, each with its smaller strength."""
    return _like(graph, _common(graph, other), graph.directed)


def is_within(graph: Graph, other: Graph) -> bool:
    """Whether ``other`` has every edge of ``graph``, whatever their lengths and strengths."""
    return len(_common(graph, other).indices) == len(graph.indices)


def is_strictly_within(graph: Graph, other: Graph) -> bool:
    """Whether ``other`` has every edge of ``graph`` and more."""
    return is_within(graph, other) and graph.n_edges < other.n_edges


def symmetrize(self: Graph, how: Literal["union", "intersection", "mean"] = "union") -> Graph:
    """Make a directed graph undirected.

    Parameters
    ----------
    how : {"union", "intersection", "mean"}, default="union"
        "union" keeps a pair with an edge in either direction, with the larger strength;
        "intersection" keeps a pair with edges in both directions, with the smaller strength; "mean"
        keeps the same pairs as "union", with the mean of both strengths, where a missing edge counts
        as 0. The length is always the shorter one.

    Returns
    -------
    Graph
        Undirected; the same graph if it already is.

    Examples
    --------
    >>> from vicinal import Graph
    >>> arrow = Graph.from_edges(2, [[0, 1]], lengths=[3.0], directed=True)
    >>> arrow.symmetrize("mean").strengths
    array([0.5, 0.5])
    """
    check_choice(how, "how", ("union", "intersection", "mean"))
    if not self.directed:
        return self
    combine = {"union": np.maximum, "intersection": np.minimum, "mean": np.add}[how]
    rows = _rows(self)
    entries, counts = merge(
        np.concatenate([rows, self.indices]),
        np.concatenate([self.indices, rows]),
        np.tile(self.lengths, 2),
        np.tile(self.strengths, 2),
        self.n_nodes,
        combine=combine,
    )
    if how == "intersection":
        entries = keep_entries(entries, counts == 2)
    elif how == "mean":
        entries = entries._replace(strengths=entries.strengths / 2)
    return type(self)._of_entries(
        entries,
        False,
        self.points,
        self.metric,
        self.metadata,
        self.strengths_are_affinities,
    )


def subgraph(self: Graph, nodes: ArrayLike) -> Graph:
    """Restrict the graph to some nodes and the edges between them.

    Parameters
    ----------
    nodes : array of int or of bool
        Node numbers, in the order of the new graph, or a mask over all nodes.

    Returns
    -------
    Graph
        Nodes are renumbered from 0.

    Examples
    --------
    >>> from vicinal import Graph
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 2.0, 3.0])
    >>> path.subgraph([3, 2]).lengths
    array([3., 3.])
    """
    chosen = _check_nodes(nodes, self.n_nodes)
    new_number = np.full(self.n_nodes, -1, dtype=self.indices.dtype)
    new_number[chosen] = np.arange(len(chosen))
    rows, columns = new_number[_rows(self)], new_number[self.indices]
    keep = (rows >= 0) & (columns >= 0)
    entries, _ = merge(
        rows[keep], columns[keep], self.lengths[keep], self.strengths[keep], len(chosen)
    )
    points = self.points
    if points is not None:
        points = points[chosen]
        if as_metric(self.metric).is_precomputed:
            points = points[:, chosen]
    return type(self)._of_entries(entries, self.directed, points, self.metric)


@entry
def connect(
    self: Graph, X: MatrixLike | None = None, n_links: int = 1, *, n_jobs: NJobs = -1
) -> Graph:
    """Add the shortest edges that connect all components, with strength 1.

    Parameters
    ----------
    X : array of shape (n_nodes, n_features), optional
        Points (or distances, if the graph's metric is "precomputed") that give the lengths of the new
        edges; by default those the graph was built on.
    n_links : int, default=1
        Number of edges, the shortest ones, between two components that are connected directly.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    Graph
        The same graph if it is already connected. A directed graph gets edges in both directions.

    Examples
    --------
    >>> from vicinal import Graph
    >>> pairs = Graph.from_edges(4, [[0, 1], [2, 3]], lengths=[1.0, 1.0])
    >>> pairs.connect([[0.0], [1.0], [5.0], [6.0]]).edges()
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """
    n_links = check_count(n_links, "n_links")
    X = self.points if X is None else X
    if isinstance(X, ChunkedRows) and n_links > 1 and self.n_components > 1:
        X = X.gather(f"Connecting the graph with n_links={n_links}", "Use n_links=1.")
    points = None if X is None else _check_points(self, X)
    if self.n_components <= 1:
        return self
    if points is None:
        raise InvalidValueError(
            "X=None, but this graph does not store the points it was built on; "
            "pass them: graph.connect(X)."
        )
    from vicinal.graphs._build.connect import shortest_bridges

    links, lengths = shortest_bridges(points, self.metric, self.components, n_links)
    lengths = lengths.astype(self.lengths.dtype, copy=False)
    source, target = np.concatenate([links, links[:, ::-1]]).astype(self.indices.dtype).T
    entries, _ = merge(
        np.concatenate([_rows(self), source]),
        np.concatenate([self.indices, target]),
        np.concatenate([self.lengths, lengths, lengths]),
        np.concatenate([self.strengths, np.ones(len(source))]),
        self.n_nodes,
    )
    kept = self.points if isinstance(self.points, ChunkedRows) else points
    return type(self)._of_entries(entries, self.directed, kept, self.metric)


def _combined(graph: Graph, other: Graph, combine: np.ufunc) -> tuple[Entries, np.ndarray]:
    _check_comparable(graph, other)
    return merge(
        np.concatenate([_rows(graph), _rows(other)]),
        np.concatenate([graph.indices, other.indices]),
        np.concatenate([graph.lengths, other.lengths]),
        np.concatenate([graph.strengths, other.strengths]),
        graph.n_nodes,
        combine=combine,
    )


def _common(graph: Graph, other: Graph) -> Entries:
    entries, counts = _combined(graph, other, np.minimum)
    return keep_entries(entries, counts == 2)


def _rows(graph: Graph) -> np.ndarray:
    return rows_of(graph.indptr, graph.indices.dtype.type)


def _like(graph: Graph, entries: Entries, directed: bool) -> Graph:
    return type(graph)._of_entries(entries, directed, graph.points, graph.metric)


def _check_comparable(graph: Graph, other: object) -> None:
    if not isinstance(other, type(graph)):
        raise InvalidTypeError(
            f"a Graph can only be combined with another Graph, not with {type(other).__name__}."
        )
    if graph.n_nodes != other.n_nodes:
        raise InvalidValueError(
            f"one graph has {graph.n_nodes} nodes and the other {other.n_nodes}, but combined "
            "graphs need the same nodes; take a subgraph of the larger one."
        )
    if graph.directed != other.directed:
        raise InvalidValueError(
            "one graph is directed and the other is not; call symmetrize() on the directed one."
        )


def _check_nodes(nodes: ArrayLike, n_nodes: int) -> np.ndarray:
    chosen = read_array(nodes, "nodes")
    if chosen.size == 0 and chosen.dtype.kind != "b":
        return np.empty(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise InvalidTypeError(
            f"nodes has shape {chosen.shape} and dtype {chosen.dtype}, but integer node numbers "
            "or a boolean mask are needed."
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != n_nodes:
            raise InvalidValueError(
                f"nodes is a mask of {len(chosen)} values, but the graph has {n_nodes} nodes."
            )
        return np.flatnonzero(chosen)
    if chosen.min() < 0 or chosen.max() >= n_nodes:
        raise InvalidValueError(
            f"nodes runs from {chosen.min()} to {chosen.max()}, but nodes are 0 to {n_nodes - 1}."
        )
    if len(np.unique(chosen)) < len(chosen):
        raise InvalidValueError(
            "nodes contains a node twice; numpy.unique(nodes) removes repetitions."
        )
    return chosen


def _check_points(graph: Graph, X: MatrixLike) -> np.ndarray | sparse.csr_array | ChunkedRows:
    metric = as_metric(graph.metric)
    points: np.ndarray | sparse.csr_array | ChunkedRows
    if is_chunked(X):
        points = X if isinstance(X, ChunkedRows) else ChunkedRows(X)
    elif sparse.issparse(X) and not metric.is_precomputed:
        points = check_sparse_points(X)
    else:
        points = metric.validate(X)
    if points.shape[0] != graph.n_nodes:
        raise InvalidValueError(
            f"X has {points.shape[0]} rows, but the graph has {graph.n_nodes} nodes."
        )
    return points
