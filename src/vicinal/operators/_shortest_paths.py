"""Shortest paths from many nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Number of sources per search. More sources share more of the work, but they are farther apart, and then
# they share less.
LANES = 32
# Sources are searched together if there are at most this many nodes per source, so that they are close.
MAX_NODES_PER_SOURCE = 8
SOURCES_PER_TASK = 4
TILE_SIZE = 512


@entry
def shortest_paths(
    graph: Graph, sources: ArrayLike | None = None, *, n_jobs: NJobs = -1, verbose: int = 0
) -> np.ndarray:
    """Compute the lengths of the shortest paths from some or all nodes to every node.

    Parameters
    ----------
    graph : Graph
        The length of a path is the sum of its edge lengths; an edge of length 0 is an edge. Edges of a
        directed graph are followed in their direction.
    sources : array of int, optional
        Start nodes; all nodes by default.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, a progress bar is shown.

    Returns
    -------
    ndarray of shape (n_sources, n_nodes)
        Infinite where there is no path. For all nodes of an undirected graph, the result is exactly
        symmetric: of the sums along a path from either end, the smaller one is used.

    Examples
    --------
    >>> from vicinal import Graph
    >>> from vicinal.operators import shortest_paths
    >>> graph = Graph.from_edges(4, [[0, 1], [1, 2], [0, 2]], lengths=[1.0, 2.0, 9.0])
    >>> shortest_paths(graph, [0])
    array([[ 0.,  1.,  3., inf]])
    """
    if not isinstance(graph, Graph):
        raise InvalidTypeError(
            f"graph is a {type(graph).__name__}, but a vicinal.Graph is needed; "
            "Graph.from_scipy converts a sparse matrix of lengths."
        )
    n = graph.n_nodes
    starts = np.arange(n) if sources is None else _check_sources(sources, n)
    require_memory(
        8.0 * len(starts) * n,
        f"the shortest paths from {len(starts):,} to {n:,} nodes",
        "Use fewer sources, or n_landmarks in Isomap.",
    )
    paths = np.empty((len(starts), n))
    _search(graph, starts, paths)
    if sources is None and not graph.directed:
        _make_symmetric(paths)
    return paths


def landmark_nodes(graph: Graph, n_landmarks: int) -> np.ndarray:
    """Select landmarks by farthest-point sampling: each is the farthest node from all previous ones.

    The first is the farthest from node 0. Ties are broken by node number, so the result is deterministic. A
    component without landmarks is infinitely far and comes first.
    """
    from vicinal.operators._shortest_path_kernels import spread_landmarks

    n_landmarks = check_count(n_landmarks, "n_landmarks", high=graph.n_nodes)
    landmarks = np.empty(n_landmarks, dtype=np.int64)
    spread_landmarks(graph.indptr, graph.indices, graph.lengths, landmarks)
    return landmarks


def _search(graph: Graph, starts: np.ndarray, paths: np.ndarray) -> None:
    from vicinal.operators._shortest_path_kernels import from_each, from_patch, nearby_order

    n = graph.n_nodes
    original_nodes = np.arange(n)
    if len(starts) >= LANES:
        # Renumber the nodes so that neighbours in the graph are close in memory.
        original_nodes = nearby_order(graph.indptr, graph.indices, graph.lengths, LANES)
        graph = graph.subgraph(original_nodes)
    new_number = np.empty(n, dtype=np.int64)
    new_number[original_nodes] = np.arange(n)
    nodes = new_number[starts]
    edges = (graph.indptr, graph.indices, graph.lengths)
    if len(starts) >= LANES and len(starts) * MAX_NODES_PER_SOURCE >= n:
        rows = np.argsort(nodes, kind="stable")
        patches = [rows[start:stop] for start, stop in blocks(len(rows), LANES)]
        map_threads(
            lambda rows: from_patch(*edges, nodes[rows], original_nodes, rows, paths),
            patches,
            title="shortest paths",
        )
    else:
        map_threads(
            lambda block: from_each(*edges, nodes, original_nodes, *block, paths),
            blocks(len(nodes), SOURCES_PER_TASK),
            title="shortest paths",
        )


def _make_symmetric(paths: np.ndarray) -> None:
    from vicinal.operators._shortest_path_kernels import symmetrize_paths

    tiles = blocks(len(paths), TILE_SIZE)
    map_threads(
        lambda tile: symmetrize_paths(paths, *tile[0], tile[1]),
        [(rows, columns) for rows in tiles for columns in tiles if rows <= columns],
    )


def _check_sources(sources: Any, n_nodes: int) -> np.ndarray:
    array = read_array(sources, "sources")
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"sources has shape {array.shape} and dtype {array.dtype}, but a list of node numbers "
            "is needed."
        )
    if array.min() < 0 or array.max() >= n_nodes:
        raise InvalidValueError(
            f"sources are from {array.min()} to {array.max()}, but nodes are numbered from 0 to "
            f"{n_nodes - 1}."
        )
    return array.astype(np.int64)
