"""Set algebra of graphs: each function is a method or an operator of `Graph`.

Two graphs can be combined when they have the same nodes and are both directed or both undirected.
Where both have an edge but measured it differently (an approximate search, say), the shorter
length is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.options import checked
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._entries import Entries, keep_entries, merge, rows_of
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
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


def symmetrize(graph: Graph, how: str = "union") -> Graph:
    """Undirected graph of a directed one.

    Parameters
    ----------
    how : {"union", "intersection", "mean"}, default="union"
        "union" keeps a pair that has an edge in some direction, with the larger strength;
        "intersection" keeps a pair that has both, with the smaller strength; "mean" keeps what
        the union keeps, with the mean of both strengths, where a missing edge counts as 0. The
        length is the shorter one.

    Returns
    -------
    Graph
        An undirected graph is returned as it is.

    Examples
    --------
    >>> from vicinal import Graph
    >>> arrow = Graph.from_edges(2, [[0, 1]], lengths=[3.0], directed=True)
    >>> arrow.symmetrize("mean").strengths
    array([0.5, 0.5])
    """
    check_choice(how, "how", ("union", "intersection", "mean"))
    if not graph.directed:
        return graph
    combine = {"union": np.maximum, "intersection": np.minimum, "mean": np.add}[how]
    rows = _rows(graph)
    entries, counts = merge(
        np.concatenate([rows, graph.indices]),
        np.concatenate([graph.indices, rows]),
        np.tile(graph.lengths, 2),
        np.tile(graph.strengths, 2),
        graph.n_nodes,
        combine=combine,
    )
    if how == "intersection":
        entries = keep_entries(entries, counts == 2)
    elif how == "mean":
        entries = entries._replace(strengths=entries.strengths / 2)
    return type(graph)._trusted(
        entries,
        False,
        graph.points,
        graph.metric,
        graph.metadata,
        graph.strengths_are_affinities,
    )


def subgraph(graph: Graph, nodes: Any) -> Graph:
    """Graph of some of the nodes and the edges between them.

    Parameters
    ----------
    nodes : array of int or of bool
        Numbers of the nodes, in the order they shall have, or a mask over all nodes.

    Examples
    --------
    >>> from vicinal import Graph
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 2.0, 3.0])
    >>> path.subgraph([3, 2]).lengths
    array([3., 3.])
    """
    chosen = _check_nodes(nodes, graph.n_nodes)
    renumbered = np.full(graph.n_nodes, -1, dtype=graph.indices.dtype)
    renumbered[chosen] = np.arange(len(chosen))
    rows, columns = renumbered[_rows(graph)], renumbered[graph.indices]
    keep = (rows >= 0) & (columns >= 0)
    entries, _ = merge(
        rows[keep], columns[keep], graph.lengths[keep], graph.strengths[keep], len(chosen)
    )
    points = graph.points
    if points is not None:
        points = points[chosen]
        if as_metric(graph.metric).is_precomputed:
            points = points[:, chosen]
    return type(graph)._trusted(entries, graph.directed, points, graph.metric)


@checked
def connect(graph: Graph, X: Any = None, n_links: int = 1, *, n_jobs: int | None = -1) -> Graph:
    """Graph in one piece: the shortest links that join the components are added, at strength 1.

    Parameters
    ----------
    X : array of shape (n_nodes, n_features), optional
        Points (or distances, if the graph's metric is "precomputed") to measure links with; by
        default those the graph was built on.
    n_links : int, default=1
        Number of links, the shortest ones, between two components that are joined.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    Graph
        The same graph if it is in one piece already. A directed one gets links both ways.

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
    X = graph.points if X is None else X
    points = None if X is None else _check_origin(graph, X)
    if graph.n_components <= 1:
        return graph
    if points is None:
        raise InvalidValueError(
            "X=None, but this graph does not know the points it was built on; "
            "pass them, as graph.connect(X)."
        )
    from vicinal.graphs._build.connect import shortest_bridges

    links, lengths = shortest_bridges(points, graph.metric, graph.components, n_links, n_jobs)
    source, target = np.concatenate([links, links[:, ::-1]]).astype(graph.indices.dtype).T
    entries, _ = merge(
        np.concatenate([_rows(graph), source]),
        np.concatenate([graph.indices, target]),
        np.concatenate([graph.lengths, lengths, lengths]),
        np.concatenate([graph.strengths, np.ones(len(source))]),
        graph.n_nodes,
    )
    return type(graph)._trusted(entries, graph.directed, points, graph.metric)


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
    return type(graph)._trusted(entries, directed, graph.points, graph.metric)


def _check_comparable(graph: Graph, other: Any) -> None:
    if not isinstance(other, type(graph)):
        raise InvalidTypeError(
            f"a Graph can be combined with a Graph, not with {type(other).__name__}."
        )
    if graph.n_nodes != other.n_nodes:
        raise InvalidValueError(
            f"one graph has {graph.n_nodes} nodes and the other {other.n_nodes}, but graphs are "
            "combined over the same nodes; take a subgraph of the larger one."
        )
    if graph.directed != other.directed:
        raise InvalidValueError(
            "one graph is directed and the other is not; call symmetrize() on the directed one."
        )


def _check_nodes(nodes: Any, n_nodes: int) -> np.ndarray:
    chosen = np.asarray(nodes)
    if chosen.size == 0 and chosen.dtype.kind != "b":
        return np.empty(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise InvalidTypeError(
            f"nodes has shape {chosen.shape} and dtype {chosen.dtype}, but node numbers or a mask "
            "are needed."
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != n_nodes:
            raise InvalidValueError(f"nodes is a mask of {len(chosen)} values for {n_nodes} nodes.")
        return np.flatnonzero(chosen)
    if chosen.min() < 0 or chosen.max() >= n_nodes:
        raise InvalidValueError(
            f"nodes runs from {chosen.min()} to {chosen.max()}, but there are 0 to {n_nodes - 1}."
        )
    if len(np.unique(chosen)) < len(chosen):
        raise InvalidValueError("nodes names a node twice; numpy.unique(nodes) names each once.")
    return chosen


def _check_origin(graph: Graph, X: Any) -> np.ndarray | sparse.csr_array:
    metric = as_metric(graph.metric)
    if sparse.issparse(X) and not metric.is_precomputed:
        points = check_sparse_points(X)
    else:
        points = metric.validate(X)
    if points.shape[0] != graph.n_nodes:
        raise InvalidValueError(
            f"X has {points.shape[0]} rows, but the graph has {graph.n_nodes} nodes."
        )
    return points
