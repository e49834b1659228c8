"""Spanning trees and their ensembles (MST, PMST, DMST of [3]).

The minimum spanning tree is a skeleton of the data: connected, and free of shortcuts, because it uses
short edges only. It is also thin and moves with every disturbance of the points. Ensembles flesh it
out: trees of jittered copies of the data, or trees that may not share an edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.parallel import map_threads, n_threads
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.edge_lists import graph_from_edges_trusted
from vicinal.graphs._build.spanning_trees import disjoint_trees, offset_tree, spanning_tree
from vicinal.graphs._build.tree_duplicates import Edges
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric, as_metric

# Neighbours a point knows before it has to search; more settle more, but cost more than they save.
LIST_LENGTH = 6
# With offsets, lists have kernels of their own, and so few points are found in less time than these compile.
FEW = 2000
# What each edge takes: as a pair that later trees may not use, in lists of two neighbours and in the graph;
# or as a number, sorted with those of all trees, most of which name an edge that other trees have too.
BYTES_PER_DISJOINT_EDGE, BYTES_PER_PERTURBED_EDGE = 150.0, 24.0


@checked
def mst(
    X: Any,
    *,
    metric: Any = "euclidean",
    offsets: Any = None,
    offset_scale: float = 1.0,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Graph:
    """Minimum spanning tree: connects all points with the smallest sum of edge lengths.

    Exact in any dimension, without the matrix of distances. Edges of the same length are taken in
    the order of their row numbers, so the tree is unique; duplicates are joined by edges of length 0.

    Parameters
    ----------
    X : array (n, D), or distance matrix (n, n)
        Points, or with ``metric="precomputed"`` a dense matrix of distances.
    metric : str or callable
        "euclidean", "cosine", "manhattan", "precomputed", or another scikit-learn metric.
    offsets : array (n,), optional
        A weight a point: the tree then minimises the sum of ``offset_scale * d^2 + b_i + b_j``,
        for Euclidean or precomputed distances. Lengths remain the distances d.
    offset_scale : float
        Factor of the squared distance when there are offsets, > 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The tree does not depend on it.
    verbose : int
        Above 0, long work shows a progress bar.

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
    points = _check_input(X, measure)
    n_threads(n_jobs)
    scale = check_real(offset_scale, "offset_scale", low=0.0, open_low=True)
    n = len(points)
    weights = None if offsets is None else _check_offsets(offsets, measure, n)
    edges, lengths = tree_edges(points, measure, weights, scale, n_jobs=n_jobs, verbose=verbose)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


def tree_edges(
    points: np.ndarray,
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
    k = _list_length(points, LIST_LENGTH)
    title = "spanning tree" if verbose > 0 else None
    if offsets is None:
        return spanning_tree(points, metric, k, n_jobs, title)
    k = k if len(points) > FEW else 0
    edges = offset_tree(points, metric, scale, offsets, k, n_jobs, title, prepared)
    return edges, metric.pair_distances(points, edges)


@checked
def disjoint_mst(
    X: Any,
    n_trees: int = 4,
    *,
    metric: Any = "euclidean",
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Graph:
    """Disjoint minimum spanning trees (DMST): each tree may not use the edges of the earlier ones.

    Parameters
    ----------
    X : array (n, D), or distance matrix (n, n)
        Points, or with ``metric="precomputed"`` a dense matrix of distances.
    n_trees : int
        Number of trees, t in the paper.
    metric, n_jobs, verbose
        As for `mst`.

    Returns
    -------
    Graph
        Undirected, ``n_trees * (n - 1)`` edges of strength 1.

    Raises
    ------
    ValueError
        When the edges left over do not connect the points; the message says how many trees there are.

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
    points = _check_input(X, measure)
    n, n_trees = len(points), check_count(n_trees, "n_trees")
    n_threads(n_jobs)
    _check_enough_edges(n, n_trees)
    graph = max_disjoint_mst(points, n_trees, metric=metric, n_jobs=n_jobs, verbose=verbose)
    if graph.n_edges < n_trees * (n - 1):
        raise _too_many_trees(n_trees, graph)
    return graph


def max_disjoint_mst(
    points: np.ndarray,
    n_trees: int,
    *,
    metric: Any = "euclidean",
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Graph:
    """`disjoint_mst` of checked points with as many trees as exist, at most ``n_trees``."""
    n, measure = len(points), as_metric(metric)
    _require_trees(n, n_trees, BYTES_PER_DISJOINT_EDGE)
    k = _list_length(points, LIST_LENGTH + 2 * n_trees)
    edges, lengths = disjoint_trees(points, measure, n_trees, k, n_jobs, verbose)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name)


@checked
def perturbed_mst(
    X: Any,
    n_trees: int = 20,
    *,
    noise: float = 0.4,
    n_neighbors: int = 5,
    metric: Any = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Graph:
    """Perturbed minimum spanning trees (PMST): how often an edge is in the tree of jittered points.

    Each copy of the data moves every point i by uniform, zero-mean, isotropic noise (from a ball). With d_i
    the point's mean distance to its k nearest neighbours, r the ``noise`` and D columns, its standard
    deviation along each axis is

        s_i = r d_i min(1, sqrt(2 / D)),

    which in the plane is r d_i, as in the paper. In more columns s_i = r d_i would lengthen displacements
    as sqrt(D), and a point would leave its neighbours: here the root mean square displacement is
    sqrt(2) r d_i for every D >= 2. With "manhattan" 2 / D takes the place of sqrt(2 / D).

    Parameters
    ----------
    X : array (n, D), or distance matrix (n, n)
        Points, or with ``metric="precomputed"`` a dense matrix of distances.
    n_trees : int
        Number of jittered copies, T in the paper.
    noise : float
        Size of the noise, r in the paper, from 0 to 1.
    n_neighbors : int
        Number of neighbours that set the local scale d_i; fewer when there are fewer points.
    metric : str or callable
        With "euclidean" and "manhattan" the points are jittered. With all others there may be no
        points to move, so the distances are: uniformly, with standard deviation
        ``noise * sqrt(d_i^2 + d_j^2)``, which is what moving both ends does to a distance; those
        that would fall below 0 become 0. This holds matrices of n^2 distances.
    random_state : int, Generator, RandomState or None
        Seed of the noise.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The graph does not depend on it.
    verbose : int
        Above 0, long work shows a progress bar.

    Returns
    -------
    Graph
        Undirected; strengths are the share of trees that hold the edge (e_ij in the paper), lengths
        the distances between the original points.

    References
    ----------
    [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.

    Examples
    --------
    >>> from vicinal.graphs import mst, perturbed_mst
    >>> X = [[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [3.1, 0.2]]
    >>> graph = perturbed_mst(X, n_trees=50, n_neighbors=2, random_state=0)
    >>> bool(graph.strengths.sum() / 2 > 2.99)  # three edges a tree
    True
    >>> perturbed_mst(X, noise=0.0, n_neighbors=2).edges().tolist() == mst(X).edges().tolist()
    True
    """
    from vicinal.graphs._build.jitter import jittered_copies

    measure = as_metric(metric)
    points = _check_input(X, measure)
    n, n_trees = len(points), check_count(n_trees, "n_trees")
    noise = check_real(noise, "noise", low=0.0, high=1.0)
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    n_threads(n_jobs)
    _require_trees(n, n_trees, BYTES_PER_PERTURBED_EDGE)
    if n == 1:
        return Graph.from_edges(
            1, np.empty((0, 2), np.int64), [], points=points, metric=measure.name
        )
    copies = jittered_copies(
        points, measure, n_trees, noise, min(n_neighbors, n - 1), random_state, n_jobs
    )
    length = _list_length(points, LIST_LENGTH)

    def tree(copy: int) -> np.ndarray:
        edges, _ = spanning_tree(copies.make(copy), copies.metric, length, n_jobs=1)
        return np.sort(edges[:, 0] * n + edges[:, 1])

    trees = map_threads(
        tree, range(n_trees), n_jobs, progress="perturbed trees" if verbose > 0 else None
    )
    # Merging sorted runs: a stable sort finds and uses them.
    keys = np.sort(np.concatenate(trees), kind="stable")
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    edges = np.stack(np.divmod(keys[first], n), axis=1)
    lengths = copies.metric.pair_distances(copies.original, edges)
    return graph_from_edges_trusted(
        n, edges, lengths, points, measure.name, strengths=counts / n_trees
    )


def _check_input(X: Any, metric: Metric) -> np.ndarray:
    checked_input = metric.validate(X)
    if not isinstance(checked_input, np.ndarray):
        raise InvalidTypeError(
            "X is a sparse matrix, but spanning trees need the distances of all pairs: pass a dense "
            "matrix, or the points themselves."
        )
    return checked_input


def _list_length(points: np.ndarray, wanted: int) -> int:
    return min(wanted, len(points) - 1)


def _check_offsets(offsets: Any, metric: Metric, n: int) -> np.ndarray:
    if not (metric.is_euclidean or metric.is_precomputed):
        raise InvalidValueError(
            f"offsets are given with metric={metric.name!r}, but they need 'euclidean' or 'precomputed'; "
            "pass the matrix of distances with metric='precomputed'."
        )
    weights = check_points(read_array(offsets, "offsets").reshape(-1, 1), name="offsets")[:, 0]
    if len(weights) != n:
        raise InvalidValueError(
            f"offsets has {len(weights)} values, but X has {n} points: give one a point."
        )
    return weights


def _check_enough_edges(n: int, n_trees: int) -> None:
    # t disjoint trees hold t (n - 1) of the n (n - 1) / 2 edges.
    if n > 1 and 2 * n_trees > n:
        raise InvalidValueError(
            f"n_trees={n_trees}, but {n} points have at most {n // 2} disjoint spanning tree(s); "
            f"use n_trees={n // 2} or fewer."
        )


def _require_trees(n: int, n_trees: int, bytes_an_edge: float) -> None:
    require_memory(
        bytes_an_edge * n * n_trees,
        f"{n_trees:,} trees of {n:,} points",
        "Ask for fewer trees.",
    )


def _too_many_trees(n_trees: int, found: Graph) -> ValueError:
    n, trees = found.n_nodes, found.n_edges // (found.n_nodes - 1)
    message = f"n_trees={n_trees}, but only {trees} tree(s) were found, one after the other"
    if trees == 1 and found.degrees.max() == n - 1 and found.lengths.min() == found.lengths.max():
        return InvalidValueError(
            f"{message}: the distances tie, and edges of the same length are taken in the order of "
            "their row numbers, so the first tree is a star that uses every edge of row "
            f"{int(found.degrees.argmax())}. Jitter the points, drop duplicates, or use n_trees=1."
        )
    return InvalidValueError(
        f"{message}: the edges that they leave no longer connect the {n} points. Use "
        f"n_trees={trees}, or, where many distances tie, jitter the points or drop duplicates."
    )
