"""Spanning trees and their ensembles (MST, PMST, DMST of [3]).

The minimum spanning tree is a skeleton of the data: connected, and free of shortcuts because it uses
only short edges. It is also thin and sensitive to perturbations of the points. Ensembles add edges:
trees of perturbed data, or trees that may not share an edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.parallel import map_threads, n_threads
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.edge_lists import graph_from_edges_trusted
from vicinal.graphs._build.nearest_foreign import in_common_unit
from vicinal.graphs._build.spanning_trees import disjoint_trees, offset_tree, spanning_tree
from vicinal.graphs._build.tree_duplicates import Edges
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, MetricLike, NJobs, RandomStateLike

# Neighbours per point that are found before the search starts; more cost more than they save.
LIST_LENGTH = 6
# Below this size, compiling the offset-aware neighbour kernels costs more than it saves.
MIN_POINTS_FOR_OFFSET_LISTS = 2000
# Disjoint: an excluded pair, list entries of two points and the graph. Perturbed: an integer key, sorted
# together with those of all trees, most of which repeat an edge of another tree.
BYTES_PER_DISJOINT_EDGE, BYTES_PER_PERTURBED_EDGE = 150.0, 24.0


@checked
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
    n_threads(n_jobs)
    points = _check_input(X, measure, n_jobs, verbose)
    scale = check_real(offset_scale, "offset_scale", low=0.0, open_low=True)
    n = points.shape[0]
    weights = None if offsets is None else _check_offsets(offsets, measure, n)
    edges, lengths = tree_edges(points, measure, weights, scale, n_jobs=n_jobs, verbose=verbose)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


def tree_edges(
    points: np.ndarray | sparse.csr_array | ChunkedRows,
    metric: Metric,
    offsets: np.ndarray | None,
    scale: float = 1.0,
    *,
    n_jobs: int | None = -1,
    verbose: int = 0,
    prepared: Points | None = None,
) -> Edges:
    """Edges of the `mst` of checked points and their lengths.

    ``prepared`` holds the same points; with offsets, its k-d tree is used instead of building another.
    """
    n = points.shape[0]
    k = _list_length(n, LIST_LENGTH)
    title = "spanning tree" if verbose > 0 else None
    if isinstance(points, ChunkedRows):
        if offsets is None:
            return chunked_counterpart("spanning_tree")(points, k, n_jobs, verbose)
        scale, offsets = in_common_unit(chunked_counterpart("extent_of")(points), scale, offsets)
        edges = chunked_counterpart("offset_tree")(points, scale, offsets, n_jobs, verbose)
        return edges, chunked_counterpart("pair_lengths")(points, edges, n_jobs)
    if offsets is None:
        return spanning_tree(points, metric, k, n_jobs, title)
    k = k if n > MIN_POINTS_FOR_OFFSET_LISTS else 0
    edges = offset_tree(points, metric, scale, offsets, k, n_jobs, title, prepared)
    return edges, metric.pair_distances(points, edges)


@checked
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
    points = _check_input(X, measure, n_jobs, verbose)
    n, n_trees = points.shape[0], check_count(n_trees, "n_trees")
    n_threads(n_jobs)
    _check_enough_edges(n, n_trees)
    graph = max_disjoint_mst(points, n_trees, metric=metric, n_jobs=n_jobs, verbose=verbose)
    if graph.n_edges < n_trees * (n - 1):
        raise _too_many_trees(n_trees, graph)
    return graph


def max_disjoint_mst(
    points: np.ndarray | sparse.csr_array | ChunkedRows,
    n_trees: int,
    *,
    metric: MetricLike = "euclidean",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """`disjoint_mst` of checked points with as many trees as exist, at most ``n_trees``."""
    n, measure = points.shape[0], as_metric(metric)
    _require_memory(n, n_trees, BYTES_PER_DISJOINT_EDGE)
    k = _list_length(n, LIST_LENGTH + 2 * n_trees)
    if isinstance(points, ChunkedRows):
        build = chunked_counterpart("disjoint_trees")
        edges, lengths = build(points, n_trees, k, n_jobs, verbose)
    else:
        edges, lengths = disjoint_trees(points, measure, n_trees, k, n_jobs, verbose)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


@checked
def perturbed_mst(
    X: MatrixLike,
    n_trees: int = 20,
    *,
    noise: float = 0.4,
    n_neighbors: int = 5,
    noise_model: Literal["isotropic", "aligned"] = "isotropic",
    metric: MetricLike = "euclidean",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Perturbed minimum spanning trees (PMST): how often an edge is in the tree of perturbed points.

    Each replicate moves every point i by uniform, zero-mean, isotropic noise (from a ball). With d_i the
    mean distance of the point to its k nearest neighbours, r the ``noise`` and D features, the standard
    deviation along each axis is

        s_i = r d_i min(1, sqrt(2 / D)),

    which in the plane is r d_i, as in the paper. In higher dimensions, s_i = r d_i would make displacements
    grow as sqrt(D) and move points away from their neighbours; here the root mean square displacement is
    sqrt(2) r d_i for every D >= 2. With "manhattan", 2 / D replaces sqrt(2 / D).

    With more features than neighbours (D > k), Euclidean points move within the subspace spanned by the
    offsets to their neighbours, and its dimension replaces D. Noise in all of many directions would be almost
    orthogonal to every offset: all distances would grow alike, and all trees would be the same.

    On a curved sheet, isotropic noise also moves points across the sheet, towards other parts of it. With
    ``noise_model="aligned"``, a point moves by a random combination of the offsets to its neighbours, so the
    noise has the shape of the neighbourhood: long along the sheet, short across it. The root mean square
    displacement is sqrt(min(2, q)) r d_i, with q the participation ratio of the variances of the offsets.

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse if the metric is Euclidean or cosine, or a dask array, see `vicinal.scale`),
        or with ``metric="precomputed"`` a dense distance matrix.
    n_trees : int, default=20
        Number of perturbed replicates, T in the paper.
    noise : float, default=0.4
        Size of the noise, r in the paper, from 0 to 1.
    n_neighbors : int, default=5
        Number of neighbours that define the local scale d_i, and the offsets; fewer if there are fewer
        points.
    noise_model : {"isotropic", "aligned"}, default="isotropic"
        Shape of the noise: that of the paper, or that of the neighbourhood of each point, which leaves fewer
        shortcuts between the turns of a roll. "aligned" needs Euclidean points.
    metric : str or callable, default="euclidean"
        With "euclidean" and "manhattan" the points are perturbed. With other metrics there may be no
        points to move, so the distances are perturbed: uniformly, with standard deviation
        ``noise * sqrt(d_i^2 + d_j^2)``, as if both ends moved; negative values become 0. This needs
        (n, n) distance matrices.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the noise.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The graph does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Undirected; strengths are the fraction of trees that contain the edge (e_ij in the paper),
        lengths are distances between the original points.

    References
    ----------
    [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.

    Examples
    --------
    >>> from vicinal.graphs import mst, perturbed_mst
    >>> X = [[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [3.1, 0.2]]
    >>> graph = perturbed_mst(X, n_trees=50, n_neighbors=2, random_state=0)
    >>> bool(graph.strengths.sum() / 2 > 2.99)  # three edges per tree
    True
    >>> perturbed_mst(X, noise=0.0, n_neighbors=2).edges().tolist() == mst(X).edges().tolist()
    True
    """
    from vicinal.graphs._build.jitter import perturbed_replicates, seed_of

    measure = as_metric(metric)
    if is_chunked(X) and not measure.is_minkowski:
        raise InvalidTypeError(
            f"X is a dask Array, but metric={measure.name!r} perturbs the distances of all pairs; use "
            "'euclidean' or 'manhattan', or pass X.compute()."
        )
    points = _check_input(X, measure, n_jobs, verbose)
    n, n_trees = points.shape[0], check_count(n_trees, "n_trees")
    noise = check_real(noise, "noise", low=0.0, high=1.0)
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    is_aligned = check_choice(noise_model, "noise_model", ("isotropic", "aligned")) == "aligned"
    if is_aligned and not measure.is_euclidean:
        raise InvalidValueError(
            f"noise_model='aligned' moves points along Euclidean offsets, but metric={measure.name!r}; use "
            "metric='euclidean' or noise_model='isotropic'."
        )
    n_threads(n_jobs)
    _require_memory(n, n_trees, BYTES_PER_PERTURBED_EDGE)
    if n == 1:
        return Graph.from_edges(
            1, np.empty((0, 2), np.int64), [], points=points, metric=measure.name
        )
    k, length = min(n_neighbors, n - 1), _list_length(n, LIST_LENGTH)
    if isinstance(points, ChunkedRows):
        trees = chunked_counterpart("perturbed_trees")(
            points, n_trees, noise, k, length, seed_of(random_state), n_jobs, verbose, is_aligned
        )
        edges, strengths = _frequencies(trees, n)
        lengths = chunked_counterpart("pair_lengths")(points, edges, n_jobs)
        return graph_from_edges_trusted(n, edges, lengths, points, measure.name, strengths)
    replicates = perturbed_replicates(
        points, measure, n_trees, noise, k, random_state, n_jobs, is_aligned=is_aligned
    )

    def tree(replicate: int) -> np.ndarray:
        perturbed = replicates.make(replicate)
        edges, _ = spanning_tree(perturbed, replicates.metric, length, n_jobs=1)
        return np.sort(edges[:, 0] * n + edges[:, 1])

    trees = map_threads(
        tree, range(n_trees), n_jobs, progress="perturbed trees" if verbose > 0 else None
    )
    edges, strengths = _frequencies(trees, n)
    lengths = replicates.metric.pair_distances(replicates.original, edges)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name, strengths)


def _frequencies(trees: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of trees, each given as sorted numbers ``i * n + j``, and the fraction of trees with each."""
    # A stable sort detects the sorted runs and merges them.
    keys = np.sort(np.concatenate(trees), kind="stable")
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    return np.stack(np.divmod(keys[first], n), axis=1), counts / len(trees)


def _check_input(
    X: MatrixLike, metric: Metric, n_jobs: int | None, verbose: int
) -> np.ndarray | sparse.csr_array | ChunkedRows:
    if is_chunked(X) and not metric.is_precomputed:
        return chunked_counterpart("store_points")(X, metric.name, n_jobs, verbose)
    checked_input = metric.validate_points(X)
    if sparse.issparse(checked_input) and metric.is_precomputed:
        raise InvalidTypeError(
            "X is a sparse matrix, but spanning trees need the distances of all pairs: pass a dense "
            "matrix or the points."
        )
    return checked_input


def _list_length(n: int, n_neighbors: int) -> int:
    return min(n_neighbors, n - 1)


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


def _require_memory(n: int, n_trees: int, bytes_per_edge: float) -> None:
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
