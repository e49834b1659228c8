"""Neighbourhood graphs: `knn` and `epsilon_ball`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.chunked import ChunkedRows
from vicinal._core.large import forget
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import check_choice, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build._edge_kernels import is_symmetric
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES, merge_duplicates, with_duplicates
from vicinal.graphs._build.duplicates import find_duplicates, many_duplicates
from vicinal.graphs._build.neighbor_lists import check_not_mutual_and_directed, entries_of_lists
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import check_neighbors

if TYPE_CHECKING:
    from vicinal._core.types import (
        DuplicateMode,
        MatrixLike,
        MetricLike,
        NeighborArrays,
        NJobs,
        RandomStateLike,
        SearchMethod,
    )

# Neighbour lists before and after sorting, and up to two entries of the graph.
BYTES_PER_NEIGHBOR = 72.0
# The lists of dask arrays are on a store: one copy, positions, and up to two entries of the graph.
BYTES_PER_STORED_NEIGHBOR = 40.0
# Rows whose neighbours are looked at together.
ROWS_PER_BLOCK = 1 << 17
# Neighbours that are searched first for the smallest number that connects a graph.
FIRST_LIST_LENGTH = 16
REMEDY = "A point has at most n - 1 neighbours: use fewer, or complete(X)."


@entry
def knn(
    X: MatrixLike | NeighborArrays | NeighborSearch,
    n_neighbors: int = 10,
    *,
    mutual: bool = False,
    directed: bool = False,
    metric: MetricLike = "euclidean",
    method: SearchMethod = "auto",
    recall: float = 0.99,
    duplicates: DuplicateMode = "merge",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Graph of k nearest neighbours: i ~ j if j is among the k nearest of i, or i among those of j.

    Parameters
    ----------
    X : array of shape (n, n_features), pair (indices, distances) or NeighborSearch
        Points (may be sparse if the metric is Euclidean or cosine, or a dask array, see `vicinal.scale`);
        a distance matrix with ``metric="precomputed"``; precomputed neighbour lists, nearest first; or a
        search, whose own settings are used. Graphs of neighbour lists or searches do not store the points, so
        `Graph.connect` needs them as an argument.
    n_neighbors : int, default=10
        Number of neighbours, not counting the point itself. Ties are broken by the smaller index.
    mutual : bool, default=False
        Connect two points only if each is among the k nearest neighbours of the other.
    directed : bool, default=False
        Return a directed graph, with edges from each point to its k nearest neighbours.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "cosine", any metric of scikit-learn, or "precomputed".
    method : {"auto", "exact", "approximate"}, default="auto"
        Search method, see `vicinal.neighbors.NeighborSearch`.
    recall : float, default=0.99
        Fraction of true neighbours that an approximate search has to find.
    duplicates : {"merge", "keep"}, default="merge"
        Treatment of duplicates if all neighbours of some row are duplicates of it, which would cut it
        off from all other points. "merge" then counts distinct points: each row is connected to one
        row of each of the k nearest distinct points, different ones for equal rows, and to k of its
        duplicates. "keep" counts rows. Directed graphs, neighbour lists, searches and distance
        matrices always count rows.
    random_state : int, Generator, RandomState or None, default=None
        Seed of an approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Lengths are the distances.

    Examples
    --------
    >>> from vicinal.graphs import knn
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> knn(X, n_neighbors=1).edges()
    array([[0, 1],
           [1, 2],
           [2, 3]])
    >>> knn(X, n_neighbors=1, mutual=True).edges()
    array([[0, 1]])
    """
    check_not_mutual_and_directed(mutual, directed)
    check_choice(duplicates, "duplicates", DUPLICATE_MODES)
    options: dict[str, Any] = {"mutual": mutual, "directed": directed}
    if isinstance(X, tuple):
        if len(X) != 2:
            raise InvalidValueError(
                f"X is a tuple of length {len(X)}, but a pair (indices, distances) is needed."
            )
        indices, distances = X
        return Graph.from_kneighbors(indices, distances, n_neighbors, metric=metric, **options)
    points: MatrixLike | None = None
    if isinstance(X, NeighborSearch):
        search = X
    else:
        points = X
        search = NeighborSearch(
            X,
            metric=metric,
            method=method,
            recall=recall,
            random_state=random_state,
        )
        if search._is_chunked:
            points = search._backend.X
    n_neighbors = check_neighbors(n_neighbors, search.n_points, REMEDY)
    per_neighbor = BYTES_PER_STORED_NEIGHBOR if search._is_chunked else BYTES_PER_NEIGHBOR
    require_memory(
        per_neighbor * search.n_points * n_neighbors,
        f"The graph of n_neighbors={n_neighbors} neighbours of {search.n_points:,} points",
        "Use fewer neighbours.",
        in_files=search._is_chunked,
    )
    if search._is_chunked:
        lists = search._backend.sorted_lists(n_neighbors)
        entries = entries_of_lists(lists, mutual, directed)
        graph = Graph._of_entries(entries, directed, points, search.metric)
    else:
        graph = Graph.from_kneighbors(
            *search.nearest(n_neighbors), points=points, metric=search.metric, **options
        )
    if points is None or directed or as_metric(metric).is_precomputed or duplicates == "keep":
        return graph
    if not _has_isolated_duplicates(graph):
        return graph
    checked_points = _check_dense_or_sparse(points)
    rows = find_duplicates(checked_points)
    n_distinct = len(rows.representative)
    if n_distinct in (1, checked_points.shape[0]):
        return graph
    distinct = knn(
        checked_points[rows.representative],
        min(n_neighbors, n_distinct - 1),
        metric=metric,
        method=method,
        recall=recall,
        duplicates="keep",
        random_state=random_state,
        **options,
    )
    return merge_duplicates(distinct, rows, points, max(1, n_neighbors // 2))


def _check_dense_or_sparse(X: MatrixLike | ChunkedRows) -> Any:
    if isinstance(X, ChunkedRows):
        return X
    return check_sparse_points(X) if sparse.issparse(X) else check_points(X, dtype=None)


def _has_isolated_duplicates(graph: Graph) -> bool:
    """Whether all neighbours of some row are at distance 0."""
    starts = graph.indptr[:-1][graph.degrees > 0]
    for a, b in blocks(len(starts), ROWS_PER_BLOCK):
        part = graph.lengths[starts[a] : starts[b] if b < len(starts) else None]
        if not np.maximum.reduceat(part, starts[a:b] - starts[a]).all():
            return True
        forget(part)
    return False


@entry
def connecting_neighbors(
    X: MatrixLike, *, metric: MetricLike = "euclidean", n_jobs: NJobs = -1, verbose: int = 0
) -> int:
    """Smallest number of neighbours for which the graph `knn` is connected.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, at least 2, as for `knn`; a distance matrix with ``metric="precomputed"``.
    metric : str or callable, default="euclidean"
        Metric, as for `knn`.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    int
        The number, between 1 and n - 1. A single outlier far from all others does not increase it, but a
        small group of m outliers does, to at least m.

    Examples
    --------
    >>> from vicinal.graphs import connecting_neighbors, knn
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> connecting_neighbors(X)
    3
    >>> knn(X, 3).n_components, knn(X, 2).n_components
    (1, 2)
    """
    search = NeighborSearch(X, metric=metric, method="exact")
    n = search.n_points
    if n < 2:
        raise InvalidValueError(f"X has {n} point(s), but a graph needs at least 2.")
    points = None if as_metric(metric).is_precomputed else X

    def is_connected(k: int) -> bool:
        if points is None:
            return knn(search, k).n_components == 1
        return knn(points, k, metric=metric, method="exact").n_components == 1

    lists = search.nearest(min(FIRST_LIST_LENGTH, n - 1))
    high = lists[0].shape[1] - 1
    while high < n - 1 and Graph.from_kneighbors(*lists).n_components > 1:
        high = min(2 * high, n - 1)
        lists = search.nearest(high)
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if Graph.from_kneighbors(*lists, middle).n_components == 1:
            high = middle
        else:
            low = middle
    # Lists count rows, but the graph counts distinct points where duplicates would be cut off.
    while high > 1 and is_connected(high - 1):
        high -= 1
    return high


@entry
def epsilon_ball(
    X: MatrixLike | NeighborSearch,
    radius: float,
    *,
    metric: MetricLike = "euclidean",
    duplicates: DuplicateMode = "keep",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Graph of all pairs within a distance of at most ``radius``.

    Parameters
    ----------
    X : array of shape (n, n_features) or NeighborSearch
        Points; a distance matrix with ``metric="precomputed"``; or a search, whose own settings are
        used.
    radius : float
        Largest length of an edge, > 0. The quantiles of ``knn(X).lengths`` are a guide.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "cosine", any metric of scikit-learn, or "precomputed".
    duplicates : {"keep", "merge"}, default="keep"
        "keep" treats every row as a point. "merge" treats equal rows as one point and connects them
        sparsely, see `gabriel`. Searches and distance matrices always keep duplicates.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Lengths are the distances.

    Examples
    --------
    >>> from vicinal.graphs import epsilon_ball
    >>> epsilon_ball([[0.0], [1.0], [3.0], [7.0]], radius=2.0).edges()
    array([[0, 1],
           [1, 2]])
    """
    radius = check_real(
        radius, "radius", low=0, open_low=True, remedy="knn(X).lengths shows typical distances."
    )
    if isinstance(X, tuple):
        raise InvalidTypeError(
            "X is a pair (indices, distances), but neighbour lists of fixed length may not reach the "
            "radius; pass the points or a NeighborSearch."
        )
    check_choice(duplicates, "duplicates", DUPLICATE_MODES)
    if isinstance(X, NeighborSearch):
        return _ball(X, radius, None)
    measure = as_metric(metric)
    if not measure.is_precomputed:
        points = _check_dense_or_sparse(X)
        rows = find_duplicates(points) if duplicates == "merge" else None
        # Only these metrics give duplicates bit-identical distances, so that one can represent all.
        if rows is None and measure.is_minkowski and not sparse.issparse(points):
            rows = many_duplicates(points)
        if rows is not None:
            search = NeighborSearch(points[rows.representative], metric=metric)
            return with_duplicates(_ball(search, radius, None), rows, X, duplicates)
    search = NeighborSearch(X, metric=metric)
    return _ball(search, radius, X)


def _ball(search: NeighborSearch, radius: float, points: MatrixLike | None) -> Graph:
    """Graph of all pairs of a search within the radius."""
    indptr, indices, lengths = search.within(radius)
    # Converted here so that the wider indices are freed before the strengths are allocated.
    indices = indices.astype(index_dtype(search.n_points, len(indices)), copy=False)
    # Matrix products may round d(i, j) and d(j, i) differently, one of them beyond the radius.
    asymmetric = not is_symmetric(indptr, indices, lengths)
    entries = Entries(indptr, indices, lengths, unit_strengths(len(lengths)))
    graph = Graph._of_entries(entries, asymmetric, points, search.metric)
    return graph.symmetrize("union") if asymmetric else graph
