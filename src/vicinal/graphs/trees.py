"""The minimum spanning tree, and trees that do not share an edge (MST and DMST of [3]).

The minimum spanning tree is a skeleton of the data: connected, and free of shortcuts because it uses
only short edges. It is also thin and sensitive to perturbations of the points. Ensembles add edges:
trees that may not share an edge, or the trees of perturbed points (`vicinal.graphs.perturbed_trees`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.edge_lists import graph_from_edges_trusted
from vicinal.graphs._build.nearest_foreign import in_common_unit
from vicinal.graphs._build.spanning_trees import disjoint_trees, offset_tree, spanning_tree
from vicinal.graphs._build.tree_duplicates import Edges
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike, NJobs

# Neighbours per point that are found before the search starts; more cost more than they save.
LIST_LENGTH = 6
# Below this size, compiling the offset-aware neighbour kernels costs more than it saves.
MIN_POINTS_FOR_OFFSET_LISTS = 2000
# Of disjoint trees: an excluded pair, list entries of two points and the graph.
BYTES_PER_EDGE = 150.0


@entry
def mst(
    X: MatrixLike,
    *,
    metric: MetricLike = "euclidean",
    offsets: ArrayLike | None = None,
    offset_scale: float = 1.0,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Minimum spanning tree: connects all points with the smallest sum of edge lengths.

    Exact in any dimension, without a distance matrix. Ties are broken by row numbers, so the tree is
    unique; duplicates are connected by edges of length 0.

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse if the metric is Euclidean or cosine, or a dask array, see `vicinal.scale`),
        or with ``metric="precomputed"`` a dense distance matrix.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "manhattan", "precomputed", or another scikit-learn metric.
    offsets : array of shape (n,), optional
        Offset b_i of each point: the tree then minimises the sum of
        ``offset_scale * d^2 + b_i + b_j``, for Euclidean or precomputed distances d. Edge lengths
        remain the distances.
    offset_scale : float, default=1.0
        Factor of the squared distance if there are offsets, > 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The tree does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Undirected, n - 1 edges.

    Examples
    --------
    >>> from vicinal.graphs import mst
    >>> mst([[0.0], [5.0], [1.0], [7.0]]).edges()
    array([[0, 2],
           [1, 2],
           [1, 3]])
    """
    measure = as_metric(metric)
    points = check_tree_input(X, measure)
    scale = check_real(offset_scale, "offset_scale", low=0.0, open_low=True)
    n = points.shape[0]
    weights = None if offsets is None else _check_offsets(offsets, measure, n)
    edges, lengths = tree_edges(points, measure, weights, scale)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


def tree_edges(
    points: np.ndarray | sparse.csr_array | ChunkedRows,
    metric: Metric,
    offsets: np.ndarray | None,
    scale: float = 1.0,
    *,
    prepared: Points | None = None,
) -> Edges:
    """Edges of the `mst` of checked points and their lengths.

    ``prepared`` holds the same points; with offsets, its k-d tree is used instead of building another.
    """
    n = points.shape[0]
    k = min(LIST_LENGTH, n - 1)
    if isinstance(points, ChunkedRows):
        if offsets is None:
            return chunked_counterpart("spanning_tree")(points, k)
        scale, offsets = in_common_unit(chunked_counterpart("extent_of")(points), scale, offsets)
        edges = chunked_counterpart("offset_tree")(points, scale, offsets)
        return edges, chunked_counterpart("pair_lengths")(points, edges)
    if offsets is None:
        return spanning_tree(points, metric, k)
    k = k if n > MIN_POINTS_FOR_OFFSET_LISTS else 0
    edges = offset_tree(points, metric, scale, offsets, k, prepared)
    return edges, metric.pair_distances(points, edges)


@entry
def disjoint_mst(
    X: MatrixLike,
    n_trees: int = 4,
    *,
    metric: MetricLike = "euclidean",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Disjoint minimum spanning trees (DMST): each tree avoids the edges of the earlier ones.

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse if the metric is Euclidean or cosine, or a dask array, see `vicinal.scale`),
        or with ``metric="precomputed"`` a dense distance matrix.
    n_trees : int, default=4
        Number of trees, t in the paper.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "manhattan", "precomputed", or another scikit-learn metric.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The graph does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Undirected, ``n_trees * (n - 1)`` edges of strength 1.

    Raises
    ------
    ValueError
        If the remaining edges do not connect the points; the message gives the possible number of trees.

    References
    ----------
    [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.

    Examples
    --------
    >>> from vicinal.graphs import disjoint_mst, mst
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.1], [1.2, 1.3], [2.5, 0.4]]
    >>> disjoint_mst(X, n_trees=2)
    Graph(5 nodes, 8 edges, undirected, 1 component, 0 isolates)
    >>> mst(X) <= disjoint_mst(X, n_trees=2)
    True
    """
    measure = as_metric(metric)
    points = check_tree_input(X, measure)
    n, n_trees = points.shape[0], check_count(n_trees, "n_trees")
    _check_enough_edges(n, n_trees)
    graph = max_disjoint_mst(points, n_trees, metric=metric)
    if graph.n_edges < n_trees * (n - 1):
        raise _too_many_trees(n_trees, graph)
    return graph


def max_disjoint_mst(
    points: np.ndarray | sparse.csr_array | ChunkedRows,
    n_trees: int,
    *,
    metric: MetricLike = "euclidean",
    lists: np.ndarray | None = None,
) -> Graph:
    """`disjoint_mst` of checked points with as many trees as exist, at most ``n_trees``.

    ``lists`` are nearest neighbours of every point, if they are known; a search for as many is saved.
    """
    n, measure = points.shape[0], as_metric(metric)
    require_tree_memory(n, n_trees, BYTES_PER_EDGE)
    k = min(LIST_LENGTH + 2 * n_trees, n - 1)
    if isinstance(points, ChunkedRows):
        build = chunked_counterpart("disjoint_trees")
        edges, lengths = build(points, n_trees, k)
    else:
        if lists is not None and lists.shape[1] < k:
            lists = None
        edges, lengths = disjoint_trees(points, measure, n_trees, k, lists)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


def check_tree_input(X: MatrixLike, metric: Metric) -> np.ndarray | sparse.csr_array | ChunkedRows:
    if is_chunked(X) and not metric.is_precomputed:
        return chunked_counterpart("store_points")(X, metric.name)
    checked_input = metric.validate_points(X)
    if sparse.issparse(checked_input) and metric.is_precomputed:
        raise InvalidTypeError(
            "X is a sparse matrix, but spanning trees need the distances of all pairs: pass a dense "
            "matrix or the points."
        )
    return checked_input


def _check_offsets(offsets: ArrayLike, metric: Metric, n: int) -> np.ndarray:
    if not (metric.is_euclidean or metric.is_precomputed):
        raise InvalidValueError(
            f"offsets are given with metric={metric.name!r}, but they need 'euclidean' or 'precomputed'; "
            "pass the distance matrix with metric='precomputed'."
        )
    checked_offsets = check_points(read_array(offsets, "offsets").reshape(-1, 1), name="offsets")[
        :, 0
    ]
    if len(checked_offsets) != n:
        raise InvalidValueError(
            f"offsets has {len(checked_offsets)} values, but X has {n} points; one per point is needed."
        )
    return checked_offsets


def _check_enough_edges(n: int, n_trees: int) -> None:
    # t disjoint trees hold t (n - 1) of the n (n - 1) / 2 edges.
    if n > 1 and 2 * n_trees > n:
        raise InvalidValueError(
            f"n_trees={n_trees}, but {n} points have at most {n // 2} disjoint spanning tree(s); "
            f"use n_trees={n // 2} or fewer."
        )


def require_tree_memory(n: int, n_trees: int, bytes_per_edge: float) -> None:
    require_memory(
        bytes_per_edge * n * n_trees,
        f"{n_trees:,} trees of {n:,} points",
        "Use fewer trees.",
    )


def _too_many_trees(n_trees: int, graph: Graph) -> ValueError:
    n, n_found = graph.n_nodes, graph.n_edges // (graph.n_nodes - 1)
    message = f"n_trees={n_trees}, but only {n_found} tree(s) were found"
    is_tied = graph.lengths.min() == graph.lengths.max()
    if n_found == 1 and graph.degrees.max() == n - 1 and is_tied:
        return InvalidValueError(
            f"{message}: all distances tie, and ties are broken by row numbers, so the first tree "
            f"is a star that uses every edge of row {int(graph.degrees.argmax())}. Jitter the "
            "points, drop duplicates, or use n_trees=1."
        )
    return InvalidValueError(
        f"{message}: the remaining edges no longer connect the {n} points. Use "
        f"n_trees={n_found}, or, if many distances tie, jitter the points or drop duplicates."
    )
