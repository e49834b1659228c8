"""Graph plots, drawn as one line collection: 100,000 edges take about a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._checks import check_graph
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import as_metric
from vicinal.plot._axes import (
    check_axes,
    check_colormap,
    check_drawable,
    check_positions,
    equal_scales,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from vicinal._core.types import ArrayLike

REMEDY = "pass embedding=Z of shape (n_nodes, 2), e.g. from sklearn.decomposition.PCA."


def graph(
    graph: Graph,
    points: ArrayLike | None = None,
    *,
    embedding: ArrayLike | None = None,
    values: ArrayLike | None = None,
    ax: Axes | None = None,
    cmap: str | Colormap = "viridis",
    edge_cmap: str | Colormap = "Greys",
    edge_width: float = 0.8,
    point_size: float = 8.0,
) -> Axes:
    """Plot a graph in two or three dimensions.

    Edges are coloured by strength, with stronger edges on top; if all strengths are equal, they have one
    colour. A directed edge is drawn as the half of the line next to its source, so that edges in both
    directions form whole lines.

    Parameters
    ----------
    graph : Graph
        Graph to plot.
    points : array of shape (n_nodes, 2 or 3), optional
        Positions of the nodes; by default the points the graph was built from.
    embedding : array of shape (n_nodes, 2 or 3), optional
        Positions to use if the points have more than three features.
    values : array of shape (n_nodes,), optional
        Numbers that colour the nodes, such as labels, densities or a coordinate.
    ax : matplotlib Axes, optional
        Axes to draw in, with 3-D projection for three-dimensional positions; by default a new figure.
    cmap : str or matplotlib Colormap, default="viridis"
        Colours of ``values``.
    edge_cmap : str or matplotlib Colormap, default="Greys"
        Colours of edge strengths from 0 to 1.
    edge_width : float, default=0.8
        Line width in points.
    point_size : float, default=8.0
        Marker area in points.

    Returns
    -------
    matplotlib Axes
        Axes with the plot.

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
    node_colormap, edge_colormap = check_colormap(cmap), check_colormap(edge_cmap, "edge_cmap")
    axes: Any = check_axes(ax, positions.shape[1])
    _draw_edges(axes, graph, positions, edge_colormap, edge_width)
    # scatter warns if it gets a colormap without values.
    color_options = (
        {"color": "tab:blue"} if colors is None else {"c": colors, "cmap": node_colormap}
    )
    axes.scatter(*positions.T, s=point_size, linewidths=0, zorder=2, **color_options)
    equal_scales(axes, positions)
    return axes


def listed_entries(graph: Graph) -> np.ndarray:
    """Mask of the stored entries that `Graph.edges` lists, in its order."""
    if graph.directed:
        return np.ones(len(graph.indices), dtype=bool)
    return np.repeat(np.arange(graph.n_nodes), graph.degrees) < graph.indices


def _positions(graph: Graph, points: ArrayLike | None, embedding: ArrayLike | None) -> np.ndarray:
    check_graph(graph)
    name = "points" if embedding is None else "embedding"
    given = points if embedding is None else embedding
    if given is None:
        if graph.points is None or as_metric(graph.metric).is_precomputed:
            raise InvalidValueError(
                "the graph was built without coordinates, so its nodes have no positions; "
                "pass points=X or an embedding of shape (n_nodes, 2)."
            )
        given = graph.points
    positions = check_positions(given, name, REMEDY)
    if len(positions) != graph.n_nodes:
        raise InvalidValueError(
            f"{name} has {len(positions)} rows, but the graph has {graph.n_nodes} nodes; "
            "pass one position per node."
        )
    return positions


def _node_values(values: ArrayLike, n_nodes: int) -> np.ndarray:
    array = read_array(values, "values")
    if array.shape != (n_nodes,) or array.dtype.kind not in "buif":
        raise InvalidValueError(
            f"values has shape {array.shape} and dtype {array.dtype}, but one number for each of "
            f"the {n_nodes} nodes is needed; convert names to numbers with "
            "numpy.unique(names, return_inverse=True)[1]."
        )
    return check_drawable(array, "values")


def _draw_edges(
    ax: Axes, graph: Graph, positions: np.ndarray, edge_cmap: Colormap, edge_width: float
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
    # Rasterised, so that vector files stay small.
    collection.set_rasterized(len(pairs) > 20_000)
    ax.add_collection(collection)
