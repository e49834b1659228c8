"""A graph drawn over its points: one line collection, so that 100,000 edges take about a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.validation import check_real, read_array
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._checks import check_graph
from vicinal.graphs.graph import Graph
from vicinal.plot._axes import (
    check_axes,
    check_colormap,
    check_drawable,
    check_positions,
    equal_scales,
)

REMEDY = "pass embedding=Z of shape (n_nodes, 2), for instance from sklearn.decomposition.PCA."


def graph(
    graph: Graph,
    points: Any = None,
    *,
    embedding: Any = None,
    values: Any = None,
    ax: Any = None,
    cmap: Any = "viridis",
    edge_cmap: Any = "Greys",
    edge_width: float = 0.8,
    point_size: float = 8.0,
) -> Any:
    """Draw a graph in two or three dimensions.

    Edges are coloured by their strength, the weakest at the bottom; where all strengths are the
    same there is one colour. A one-way edge of a directed graph is drawn as the half of the line
    next to its source, so that edges in both directions are whole lines.

    Parameters
    ----------
    graph : Graph
        What to draw.
    points : array of shape (n_nodes, 2 or 3), optional
        Where the nodes are; by default the points that the graph was built on.
    embedding : array of shape (n_nodes, 2 or 3), optional
        Positions to use in place of points that have more than three features.
    values : array of shape (n_nodes,), optional
        Numbers that colour the nodes: labels, a density, a coordinate.
    ax : matplotlib Axes, optional
        Where to draw, of 3-D projection for three-dimensional positions; by default a new figure.
    cmap, edge_cmap : str or matplotlib Colormap
        Colours of ``values`` and of strengths from 0 to 1.
    edge_width, point_size : float
        Line width and marker area in points.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import vicinal
    >>> square = [[0, 0], [0, 1], [1, 1], [1, 0]]
    >>> ring = vicinal.Graph.from_edges(4, [[0, 1], [1, 2], [2, 3], [3, 0]], lengths=[1] * 4)
    >>> ax = vicinal.plot.graph(ring, square)
    >>> len(ax.collections)
    2
    """
    positions = _positions(graph, points, embedding)
    edge_width = check_real(edge_width, "edge_width", low=0.0)
    point_size = check_real(point_size, "point_size", low=0.0)
    colors = None if values is None else _node_values(values, graph.n_nodes)
    cmap, edge_cmap = check_colormap(cmap), check_colormap(edge_cmap, "edge_cmap")
    ax = check_axes(ax, positions.shape[1])
    _draw_edges(ax, graph, positions, edge_cmap, edge_width)
    # scatter warns about a colour map when it has no values to map.
    mapped = {"color": "tab:blue"} if colors is None else {"c": colors, "cmap": cmap}
    ax.scatter(*positions.T, s=point_size, linewidths=0, zorder=2, **mapped)
    equal_scales(ax, positions)
    return ax


def listed_entries(graph: Graph) -> np.ndarray:
    """Mask of the stored entries that `Graph.edges` lists, in its order."""
    if graph.directed:
        return np.ones(len(graph.indices), dtype=bool)
    return np.repeat(np.arange(graph.n_nodes), graph.degrees) < graph.indices


def _positions(graph: Graph, points: Any, embedding: Any) -> np.ndarray:
    check_graph(graph)
    name = "points" if embedding is None else "embedding"
    given = points if embedding is None else embedding
    if given is None:
        if graph.points is None or graph.metric == "precomputed":
            raise InvalidValueError(
                "the graph was built without coordinates, so there is nowhere to draw it; "
                "pass points=X or an embedding of shape (n_nodes, 2)."
            )
        given = graph.points
    positions = check_positions(given, name, REMEDY)
    if len(positions) != graph.n_nodes:
        raise InvalidValueError(
            f"{name} has {len(positions)} rows, but the graph has {graph.n_nodes} nodes; "
            "pass one position a node."
        )
    return positions


def _node_values(values: Any, n_nodes: int) -> np.ndarray:
    array = read_array(values, "values")
    if array.shape != (n_nodes,) or array.dtype.kind not in "buif":
        raise InvalidValueError(
            f"values has shape {array.shape} and dtype {array.dtype}, but one number for each of "
            f"the {n_nodes} nodes is needed; numpy.unique(names, return_inverse=True)[1] turns "
            "names into numbers."
        )
    return check_drawable(array, "values")


def _draw_edges(
    ax: Any, graph: Graph, positions: np.ndarray, edge_cmap: Any, edge_width: float
) -> None:
    from matplotlib.collections import LineCollection
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    pairs, strengths = graph.edges(), graph.strengths[listed_entries(graph)]
    if len(pairs) == 0:
        return
    order = np.argsort(strengths, kind="stable")
    lines = positions[pairs[order]]
    if graph.directed:
        lines[:, 1] = lines.mean(axis=1)
    kind = LineCollection if positions.shape[1] == 2 else Line3DCollection
    collection = kind(lines, linewidths=edge_width, zorder=1)
    if strengths.min() == strengths.max():
        collection.set_color("0.45")
    else:
        collection.set(array=strengths[order], cmap=edge_cmap, clim=(0.0, 1.0))
    # One picture in place of 100,000 paths keeps a vector file small enough to open.
    collection.set_rasterized(len(pairs) > 20_000)
    ax.add_collection(collection)
