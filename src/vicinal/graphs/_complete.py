"""Graphs of all pairs: `complete`, and `gaussian` with affinities as strengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal.exceptions import InvalidTypeError
from vicinal.graphs._entries import Entries, index_dtype, unit_strengths
from vicinal.graphs.affinities import affinity, check_scale
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import (
        MatrixLike,
        MetricLike,
        NJobs,
        ScaleLike,
    )

ENTRIES_PER_TASK = 1 << 20


@entry
def complete(X: MatrixLike, *, metric: MetricLike = "euclidean", n_jobs: NJobs = -1) -> Graph:
    """Graph of all pairs.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points (sparse if the metric is Euclidean or cosine), or a distance matrix with
        ``metric="precomputed"``.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "cosine", any metric of scikit-learn, or "precomputed".
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    Graph
        Lengths are the distances, strengths are 1.

    Examples
    --------
    >>> from vicinal.graphs import complete
    >>> complete([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]).to_scipy().toarray().round(2)
    array([[0.  , 5.  , 1.  ],
           [5.  , 0.  , 4.24],
           [1.  , 4.24, 0.  ]])
    """
    measure = as_metric(metric)
    in_blocks = measure.is_precomputed or (measure.is_minkowski and not sparse.issparse(X))
    points = _check_all_pairs(X, measure, bytes_per_pair=12 if in_blocks else 32)
    n = points.shape[0]
    n_entries = n * (n - 1)
    distance_rows = measure.distance_rows(points)
    indices = np.empty(n_entries, dtype=index_dtype(n, n_entries))
    lengths = np.empty(n_entries)

    def fill(span: tuple[int, int]) -> None:
        rows = np.arange(*span)
        off_diagonal = np.ones((len(rows), n), dtype=bool)
        off_diagonal[np.arange(len(rows)), rows] = False
        part = slice(span[0] * (n - 1), span[1] * (n - 1))
        indices[part] = np.nonzero(off_diagonal)[1]
        lengths[part] = distance_rows(*span)[off_diagonal]

    map_threads(fill, blocks(n, max(1, ENTRIES_PER_TASK // n)))
    entries = Entries(np.arange(n + 1) * (n - 1), indices, lengths, unit_strengths(n_entries))
    return Graph._of_entries(entries, False, points, measure.name)


@entry
def gaussian(
    X: MatrixLike,
    scale: ScaleLike = "auto",
    *,
    metric: MetricLike = "euclidean",
    n_jobs: NJobs = -1,
) -> Graph:
    """Complete graph with Gaussian affinities as strengths.

    Its affinity matrix is ``affinity(kernel="binary")``, which returns the strengths.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points (sparse if the metric is Euclidean or cosine), or a distance matrix with
        ``metric="precomputed"``.
    scale : float, "auto" or "local", default="auto"
        Scale of the Gaussian, see `vicinal.graphs.edge_scale`.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "cosine", any metric of scikit-learn, or "precomputed".
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    Graph
        Lengths are the distances, strengths are the affinities.

    Examples
    --------
    >>> from vicinal.graphs import gaussian
    >>> gaussian([[0.0], [1.0], [2.0]], scale=1.0).to_scipy("strengths").toarray().round(3)
    array([[0.   , 0.607, 0.135],
           [0.607, 0.   , 0.607],
           [0.135, 0.607, 0.   ]])
    """
    check_scale(scale)
    points = _check_all_pairs(X, as_metric(metric), bytes_per_pair=28)
    graph = complete(points, metric=metric)
    entries = graph._csr._replace(strengths=affinity(graph, scale).data)
    return Graph._of_entries(entries, False, graph.points, graph.metric)


def _check_all_pairs(X: MatrixLike, metric: Metric, bytes_per_pair: int) -> Any:
    points = metric.validate_points(X)
    if metric.is_precomputed and sparse.issparse(points):
        raise InvalidTypeError(
            "X is a sparse matrix, but the complete graph needs the distance of every pair; "
            "Graph.from_scipy(X) uses the stored distances only."
        )
    n = points.shape[0]
    require_memory(
        float(bytes_per_pair) * n**2,
        f"The complete graph of {n:,} points",
        "Use knn(X), which keeps only nearest neighbours.",
    )
    return points
