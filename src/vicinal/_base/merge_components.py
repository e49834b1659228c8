"""Merging of connected components if a graph has more of them than clusters are requested."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs.graph import Graph


def merge_components(graph: Graph | None, components: np.ndarray, n_clusters: int) -> np.ndarray:
    """Merge the nearest components until ``n_clusters`` remain.

    Components are merged in the order of the shortest edges between them (single linkage).

    Parameters
    ----------
    graph : Graph or None
        Graph of the components; its points are needed to find the nearest ones.
    components : ndarray of int (n,)
        Component of each point.
    n_clusters : int
        Number of clusters to keep.

    Returns
    -------
    ndarray of int (n,)
        Label of each point.
    """
    n_components = int(components.max()) + 1
    if graph is None or graph.points is None:
        raise InvalidValueError(
            f"there are {n_components} components, more than n_clusters={n_clusters}, and without "
            "points the nearest ones cannot be merged; increase n_clusters, connect the graph, or build it "
            "on points."
        )
    links, lengths = shortest_bridges(graph.points, graph.metric, components, 1)
    # Ties in the order of rows, whatever the order of the search.
    shortest = np.lexsort((links[:, 1], links[:, 0], lengths))[: n_components - n_clusters]
    merged = sparse.coo_array(
        (np.ones(len(shortest)), components[links[shortest]].T), shape=(n_components,) * 2
    )
    return connected_components(merged, directed=False)[1][components]
