"""Empty-region graphs: `gabriel`, `relative_neighborhood` and `beta_skeleton`.

Two points are connected if no third point lies in the open region that they span. The regions grow
with beta, so larger values give fewer edges: beta = 1 is the Gabriel graph, beta = 2 the relative
neighbourhood graph. There is no scale to choose, and up to beta = 2 every graph contains a minimum
spanning tree.

Unless they are merged, duplicates follow the definition: a duplicate of an end lies on the boundary of the
region and never blocks. So duplicates are connected to each other by edges of length 0, and a neighbour of
one of them is a neighbour of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_real
from vicinal.exceptions import InvalidTypeError
from vicinal.graphs._build.duplicate_edges import DUPLICATE_MODES, with_duplicates
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs._build.empty_region_edges import matrix_edges, point_edges
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import Points
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, DuplicateMode, MetricLike, NJobs

MAX_BETA = 1e9


@entry
def gabriel(
    X: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    duplicates: DuplicateMode = "keep",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Gabriel graph: i ~ j if no other point lies inside the ball with the segment i j as diameter.

    Exact in any dimension. In high dimension the graph has very many edges.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, or a distance matrix with ``metric="precomputed"``.
    metric : str or callable, default="euclidean"
        "euclidean", "precomputed", or any metric of scikit-learn. All but "euclidean" use the
        distance matrix, where "inside the ball" means d(i, w)^2 + d(j, w)^2 < d(i, j)^2.
    duplicates : {"keep", "merge"}, default="keep"
        "keep" treats every row as a point, as in the definition: duplicates are connected to each
        other at length 0 and have the same other neighbours. Many duplicates give very many edges.
        "merge" treats equal rows as one point and connects each of them to one row of every
        neighbouring point and to its next duplicate: a sparse subgraph with the same components and
        the same shortest paths. Rows of a distance matrix are never merged.
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
    >>> from vicinal.graphs import gabriel
    >>> gabriel([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 3.0]]).edges()
    array([[0, 2],
           [1, 2],
           [2, 3]])
    """
    return _graph(X, 1.0, metric, duplicates)


@entry
def relative_neighborhood(
    X: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    duplicates: DuplicateMode = "keep",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Relative neighbourhood graph: i ~ j if no other point is closer to both than they are to each other.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, or a distance matrix with ``metric="precomputed"``.
    metric : str or callable, default="euclidean"
        "euclidean", "precomputed", or any metric of scikit-learn; all but "euclidean" use the
        distance matrix, see `gabriel`.
    duplicates : {"keep", "merge"}, default="keep"
        "keep" treats every row as a point; "merge" connects equal rows sparsely, see `gabriel`.
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
    >>> from vicinal.graphs import relative_neighborhood
    >>> relative_neighborhood([[0.0, 0.0], [2.0, 0.0], [1.0, 1.5], [1.0, 3.0]]).edges()
    array([[0, 2],
           [1, 2],
           [2, 3]])
    """
    return _graph(X, 2.0, metric, duplicates)


@entry
def beta_skeleton(
    X: ArrayLike,
    beta: float,
    *,
    metric: MetricLike = "euclidean",
    duplicates: DuplicateMode = "keep",
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Beta-skeleton: i ~ j if the region that beta defines contains no other point.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, or a distance matrix with ``metric="precomputed"``.
    beta : float
        For beta >= 1 the region is the lune, the intersection of two balls of radius beta d / 2
        centred on the line through i and j, each touching one end. For 0 < beta < 1 it is the
        intersection of all balls of radius d / (2 beta) through both ends: the positions from which i
        and j appear at an angle above pi - arcsin(beta). Larger beta gives fewer edges; near 0 almost
        all pairs are edges.
    metric : str or callable, default="euclidean"
        "euclidean", "precomputed", or any metric of scikit-learn; all but "euclidean" use the
        distance matrix, see `gabriel`.
    duplicates : {"keep", "merge"}, default="keep"
        "keep" treats every row as a point; "merge" connects equal rows sparsely, see `gabriel`.
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
    >>> from vicinal.graphs import beta_skeleton
    >>> X = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.9], [1.0, 3.0]]
    >>> [beta_skeleton(X, beta).n_edges for beta in (0.5, 1.0, 3.0)]
    [6, 3, 3]
    """
    beta = check_real(
        beta,
        "beta",
        low=0.0,
        high=MAX_BETA,
        open_low=True,
        remedy="1 is the Gabriel graph, 2 the relative neighbourhood graph.",
    )
    return _graph(X, beta, metric, duplicates)


def _graph(
    X: ArrayLike,
    beta: float,
    metric: MetricLike,
    duplicates: DuplicateMode,
) -> Graph:
    check_choice(duplicates, "duplicates", DUPLICATE_MODES)
    measure = as_metric(metric)
    if measure.is_precomputed:
        return _graph_of_rows(_check_dense(X), beta, measure)
    points = check_points(X)
    # Rows whose squared distance underflows count as equal.
    scaled = Points(points, measure).X if measure.is_euclidean else points
    rows = find_duplicates(scaled)
    distinct = _graph_of_rows(points[rows.representative], beta, measure)
    return with_duplicates(distinct, rows, points, duplicates)


def _graph_of_rows(points: np.ndarray, beta: float, metric: Metric) -> Graph:
    from vicinal.graphs._build.edge_lists import graph_from_edges_trusted

    if metric.is_euclidean:
        edges, lengths = point_edges(points, beta)
    else:
        edges, lengths = matrix_edges(metric.distance_matrix(points), beta)
    return graph_from_edges_trusted(len(points), edges, lengths, points, metric.name)


def _check_dense(X: ArrayLike) -> np.ndarray:
    matrix = check_distances(X)
    if sparse.issparse(matrix):
        raise InvalidTypeError(
            "X is a sparse matrix, but empty-region graphs need the distances of all pairs; "
            "pass a dense matrix or the points."
        )
    return matrix
