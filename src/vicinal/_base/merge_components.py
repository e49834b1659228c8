"""Components as clusters: what to do when a graph falls into more pieces than are wanted."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs.graph import Graph


def merge_components(
    graph: Graph | None, components: np.ndarray, n_clusters: int, n_jobs: int | None = -1
) -> np.ndarray:
    """Labels after joining the nearest components until ``n_clusters`` are left.

    Components are joined in the order of the shortest links between them (single linkage).

    Parameters
    ----------
    graph : Graph or None
        Where the components come from; its points tell which of them are near.
    components : ndarray of int (n,)
        Component of each point.
    n_clusters : int
        How many to leave.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ndarray of int (n,)
    """
    n_components = int(components.max()) + 1
    if graph is None or graph.points is None:
        raise InvalidValueError(
            f"there are {n_components} components, more than n_clusters={n_clusters}, and without "
            "points nothing tells which of them are near each other; ask for more clusters, "
            "connect the graph, or build it on points."
        )
    links, lengths = shortest_bridges(graph.points, graph.metric, components, 1, n_jobs)
    shortest = np.argsort(lengths, kind="stable")[: n_components - n_clusters]
    joined = sparse.coo_array(
        (np.ones(len(shortest)), components[links[shortest]].T), shape=(n_components,) * 2
    )
    return connected_components(joined, directed=False)[1][components]
