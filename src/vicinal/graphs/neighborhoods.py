"""Neighbourhood graphs: `knn`, `epsilon_ball`, and the complete graph with or without weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_choice, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build._edge_kernels import is_symmetric
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES, merge_duplicates, with_duplicates
from vicinal.graphs._build.duplicates import find_duplicates, many_duplicates
from vicinal.graphs._build.neighbor_lists import check_not_mutual_and_directed
from vicinal.graphs._entries import Entries, index_dtype
from vicinal.graphs.affinities import affinity, check_scale
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import Metric, as_metric
from vicinal.neighbors.search import check_neighbors

if TYPE_CHECKING:
    from vicinal._core.types import (
        MatrixLike,
        MetricLike,
        NJobs,
        RandomStateLike,
        ScaleLike,
        SearchMethod,
    )

ENTRIES_PER_TASK = 1 << 20
# Lists as found and as sorted, and up to two entries of the graph.
BYTES_PER_NEIGHBOR = 72.0
REMEDY = "A point has one neighbour less than there are points: ask for fewer, or use complete(X)."


@checked
def knn(
    X: Any,
    n_neighbors: int = 10,
    *,
    mutual: bool = False,
    directed: bool = False,
    metric: MetricLike = "euclidean",
    method: SearchMethod = "auto",
    recall: float = 0.99,
    duplicates: str = "merge",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Graph of the k nearest neighbours: i ~ j if j is one of the k nearest of i, or i of j.

    Parameters
    ----------
    X : array of shape (n, n_features), pair (indices, distances) or NeighborSearch
        Points, also sparse ones if the metric is Euclidean or cosine; distances of all pairs with
        ``metric="precomputed"``; ready neighbour lists, nearest
        first; or a search, whose own settings then hold. Only a graph of points or of distances
        can `connect` without being given them.
    n_neighbors : int, default=10
        Number of neighbours, the point itself not counted. Of two at the same distance the one
        with the smaller number is nearer.
    mutual : bool, default=False
        Connect two points only if each is among the k nearest of the other.
    directed : bool, default=False
        Keep the direction, from each point to its k nearest.
    metric : str, default="euclidean"
        "euclidean", "manhattan", "cosine", any metric of scikit-learn, or "precomputed".
    method : {"auto", "exact", "approximate"}, default="auto"
        How to search, as for `NeighborSearch`.
    recall : float, default=0.99
        Share of true neighbours that an approximate search has to find.
    duplicates : {"merge", "keep"}, default="merge"
        What to do where a row has nothing but duplicates among its neighbours, so that it would be cut off
        from all other points. "merge" then counts distinct points: each row is connected with one row
        of the k nearest distinct points, equal rows with different ones in turn, and with k of its
        duplicates. "keep" counts rows, as everywhere else. Directed graphs, ready lists, searches and
        matrices of distances always count rows.
    random_state : int, Generator or None
        Seed of an approximate search.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph

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
    kind: dict[str, Any] = {"mutual": mutual, "directed": directed, "n_jobs": n_jobs}
    if isinstance(X, tuple):
        if len(X) != 2:
            raise InvalidValueError(
                f"X is a tuple of {len(X)}, but a pair (indices, distances) is needed."
            )
        return Graph.from_kneighbors(*X, n_neighbors, metric=metric, **kind)
    points = None
    if not isinstance(X, NeighborSearch):
        points = X
        X = NeighborSearch(
            X,
            metric=metric,
            method=method,
            recall=recall,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    n_neighbors = check_neighbors(n_neighbors, X.n_points, REMEDY)
    require_memory(
        BYTES_PER_NEIGHBOR * X.n_points * n_neighbors,
        f"The graph of n_neighbors={n_neighbors} neighbours of {X.n_points:,} points",
        "Ask for fewer neighbours.",
    )
    graph = Graph.from_kneighbors(*X.nearest(n_neighbors), points=points, metric=X.metric, **kind)
    mergeable = points is not None and not as_metric(metric).is_precomputed and not directed
    if duplicates == "keep" or not mergeable or not _has_cut_off_rows(graph):
        return graph
    table = _checked_table(points)
    rows = find_duplicates(table)
    n_distinct = len(rows.representative)
    if n_distinct in (1, table.shape[0]):
        return graph
    between = knn(
        table[rows.representative],
        min(n_neighbors, n_distinct - 1),
        metric=metric,
        method=method,
        recall=recall,
        duplicates="keep",
        random_state=random_state,
        verbose=verbose,
        **kind,
    )
    return merge_duplicates(between, rows, points, max(1, n_neighbors // 2))


def _checked_table(X: Any) -> Any:
    return check_sparse_points(X) if sparse.issparse(X) else check_points(X, dtype=None)


def _has_cut_off_rows(graph: Graph) -> bool:
    """Whether all neighbours of some row are at the distance 0."""
    connected = graph.degrees > 0
    longest = np.maximum.reduceat(graph.lengths, graph.indptr[:-1][connected])
    return bool((longest == 0).any())


@checked
def epsilon_ball(
    X: Any,
    radius: float,
    *,
    metric: MetricLike = "euclidean",
    duplicates: str = "keep",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Graph of all pairs at a distance of at most ``radius``.

    Parameters
    ----------
    X : array of shape (n, n_features) or NeighborSearch
        Points; distances of all pairs with ``metric="precomputed"``; or a search, whose own
        settings then hold.
    radius : float
        Largest distance of an edge, > 0. The quantiles of ``knn(X).lengths`` are a guide.
    duplicates : {"keep", "merge"}, default="keep"
        As for `gabriel`. Searches and matrices of distances always keep duplicates.
    metric, n_jobs, verbose :
        As for `knn`.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from vicinal.graphs import epsilon_ball
    >>> epsilon_ball([[0.0], [1.0], [3.0], [7.0]], radius=2.0).edges()
    array([[0, 1],
           [1, 2]])
    """
    radius = check_real(
        radius, "radius", low=0, open_low=True, remedy="Lengths of knn(X) show what is usual."
    )
    if isinstance(X, tuple):
        raise InvalidTypeError(
            "X is a pair (indices, distances), but lists of a fixed length need not reach as far "
            "as the radius; pass the points or a NeighborSearch."
        )
    check_choice(duplicates, "duplicates", DUPLICATE_MODES)
    points = None
    if not isinstance(X, NeighborSearch):
        points = X
        if not as_metric(metric).is_precomputed:
            table = _checked_table(X)
            # Only these metrics give all duplicates bit-identical distances, so that one stands for all.
            exact = as_metric(metric).is_minkowski
            rows = find_duplicates(table) if duplicates == "merge" else None
            if rows is None and exact and not sparse.issparse(table):
                rows = many_duplicates(table)
            if rows is not None:
                search = NeighborSearch(
                    table[rows.representative], metric=metric, n_jobs=n_jobs, verbose=verbose
                )
                return with_duplicates(_ball(search, radius, None), rows, points, duplicates)
        X = NeighborSearch(X, metric=metric, n_jobs=n_jobs, verbose=verbose)
    return _ball(X, radius, points)


def _ball(search: NeighborSearch, radius: float, points: Any) -> Graph:
    """All pairs within the radius of a search."""
    indptr, indices, lengths = search.within(radius)
    # Here and not in the graph, so that the lists are gone before there are strengths.
    indices = indices.astype(index_dtype(search.n_points, len(indices)), copy=False)
    # Products of matrices may round d(i, j) and d(j, i) differently, one of them over the radius.
    asymmetric = not is_symmetric(indptr, indices, lengths)
    entries = Entries(indptr, indices, lengths, np.ones(len(lengths)))
    graph = Graph._trusted(entries, asymmetric, points, search.metric)
    return graph.symmetrize("union") if asymmetric else graph


@checked
def complete(X: MatrixLike, *, metric: MetricLike = "euclidean", n_jobs: NJobs = -1) -> Graph:
    """Graph of all pairs.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, or distances of all pairs with ``metric="precomputed"``.
    metric, n_jobs :
        As for `knn`.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from vicinal.graphs import complete
    >>> complete([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]).to_scipy().toarray().round(2)
    array([[0.  , 5.  , 1.  ],
           [5.  , 0.  , 4.24],
           [1.  , 4.24, 0.  ]])
    """
    measure = as_metric(metric)
    in_blocks = measure.is_minkowski or measure.is_precomputed
    points = _check_all_pairs(X, measure, bytes_per_pair=20 if in_blocks else 34)
    n = len(points)
    n_entries = n * (n - 1)
    rows_at = measure.distance_rows(points, n_jobs)
    indices = np.empty(n_entries, dtype=index_dtype(n, n_entries))
    lengths = np.empty(n_entries)

    def fill(span: tuple[int, int]) -> None:
        own = np.arange(*span)
        other = np.ones((len(own), n), dtype=bool)
        other[np.arange(len(own)), own] = False
        part = slice(span[0] * (n - 1), span[1] * (n - 1))
        indices[part] = np.nonzero(other)[1]
        lengths[part] = rows_at(*span)[other]

    map_threads(fill, blocks(n, max(1, ENTRIES_PER_TASK // n)), n_jobs)
    entries = Entries(np.arange(n + 1) * (n - 1), indices, lengths, np.ones(n_entries))
    return Graph._trusted(entries, False, points, measure.name)


@checked
def gaussian(
    X: MatrixLike,
    scale: ScaleLike = "auto",
    *,
    metric: MetricLike = "euclidean",
    n_jobs: NJobs = -1,
) -> Graph:
    """Complete graph with Gaussian affinities as strengths.

    Its affinity matrix is ``affinity(kernel="binary")``, which leaves the strengths as they are.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, or distances of all pairs with ``metric="precomputed"``.
    scale : float, "auto" or "local", default="auto"
        Scale of the Gaussian, as for `vicinal.similarity.edge_scale`.
    metric, n_jobs :
        As for `knn`.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from vicinal.graphs import gaussian
    >>> gaussian([[0.0], [1.0], [2.0]], scale=1.0).to_scipy("strengths").toarray().round(3)
    array([[0.   , 0.607, 0.135],
           [0.607, 0.   , 0.607],
           [0.135, 0.607, 0.   ]])
    """
    check_scale(scale)
    points = _check_all_pairs(X, as_metric(metric), bytes_per_pair=36)
    graph = complete(points, metric=metric, n_jobs=n_jobs)
    entries = graph._csr._replace(strengths=affinity(graph, scale).data)
    return Graph._trusted(entries, False, graph.points, graph.metric)


def _check_all_pairs(X: Any, metric: Metric, bytes_per_pair: int) -> np.ndarray:
    points = metric.validate(X)
    if sparse.issparse(points):
        raise InvalidTypeError(
            "X is a sparse matrix, but the complete graph needs the distance of every pair; "
            "Graph.from_scipy(X) takes the stored ones."
        )
    require_memory(
        float(bytes_per_pair) * len(points) ** 2,
        f"The complete graph of {len(points):,} points",
        "Use knn(X), which keeps the near pairs only.",
    )
    return points
