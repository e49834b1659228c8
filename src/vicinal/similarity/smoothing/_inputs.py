"""Input of `SelfSmoothing`: points, distances or similarities, and the random walk along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import validate_input
from vicinal._core.chunked import ChunkedRows, is_chunked, validate_chunks
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import check_options
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.graphs.neighborhoods import knn
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric
from vicinal.similarity.smoothing._auto_t import MAX_FACTOR, rate_factor
from vicinal.similarity.smoothing._out_of_sample import (
    PointKernel,
    holds_similarities,
    is_pairwise,
    point_distances,
)
from vicinal.similarity.smoothing._walks import DenseWalk, SparseWalk
from vicinal.similarity.smoothing.kernel import WIDTHS, kernel_and_scales, kernel_of, plain_width
from vicinal.similarity.smoothing.operator import (
    check_self_similarity,
    check_similarity,
    check_steps,
)

METHODS = ("auto", "dense", "sparse")
# Up to this size, "auto" stores all pairs.
DENSE_MAX_ITEMS = 5_000


def check_parameters(model: Any) -> None:
    """Check the parameters of a `SelfSmoothing`."""
    check_options(model)
    if not (isinstance(model.t, str) and model.t == "auto"):
        if isinstance(model.t, str):
            raise InvalidValueError(f"t={model.t!r}, but a number >= 0 or 'auto' is needed.")
        check_steps(model.t)
    check_real(model.bandwidth, "bandwidth", low=0.0, open_low=True)
    check_count(model.n_neighbors, "n_neighbors")
    check_choice(model.width, "width", WIDTHS)
    if model.n_clusters is not None:
        check_count(model.n_clusters, "n_clusters")
    check_choice(model.method, "method", METHODS)


class Similarities(NamedTuple):
    """What `SelfSmoothing` smooths.

    Attributes
    ----------
    weights : ndarray or csr_array (n, n)
        Similarities.
    symmetric : bool
        Whether they are.
    kernel : PointKernel or None
        What computed them; None if they were given.
    rate_factor : float or None
        Typical factor between the rates at which walks leave the items, see `rate_factor`; None if no
        number of steps is chosen for retrieval.
    """

    weights: Any
    symmetric: bool
    kernel: PointKernel | None
    rate_factor: float | None


def read_input(model: Any, X: Any) -> Similarities:
    """Similarities computed from X; those of plain distances if the items have no common clock."""
    points = None
    if is_chunked(X):
        graph = _graph_of_chunks(model, validate_chunks(model, X))
        points, distances = graph.points, graph.to_scipy("lengths")
    elif holds_similarities(model.metric):
        matrix = validate_input(model, X, accept_sparse=True, dtype=None)
        weights, symmetric = check_similarity(matrix, "X")
        return Similarities(weights, symmetric, None, _rate_factor(model, weights))
    elif as_metric(model.metric).is_precomputed:
        distances = check_distances(validate_input(model, X, accept_sparse=True, dtype=None))
    else:
        accepted = "csr" if as_metric(model.metric).accepts_sparse else False
        points = validate_input(model, X, accept_sparse=accepted, dtype=np.float64)
        if sparse.issparse(points):
            points = check_sparse_points(points)
        distances = point_distances(points, model, _stores_all_pairs(model.method, points.shape[0]))
    weights, scales = kernel_and_scales(
        distances, float(model.bandwidth), model.n_neighbors, model.width
    )
    kernel = PointKernel.of(points, distances, scales, model)
    factor = _rate_factor(model, weights)
    if factor is not None and factor > MAX_FACTOR:
        scale, bandwidth = plain_width(distances, scales, kernel.bandwidth)
        kernel = kernel.with_one_scale(scale, bandwidth)
        weights = kernel_of(distances, kernel.scales, bandwidth)
    return Similarities(weights, True, kernel, factor)


def _rate_factor(model: Any, weights: Any) -> float | None:
    is_chosen = isinstance(model.t, str) and model.n_clusters is None
    return rate_factor(weights) if is_chosen else None


def _graph_of_chunks(model: Any, points: ChunkedRows) -> Graph:
    if is_pairwise(model.metric) or model.method == "dense":
        raise InvalidValueError(
            f"X is a dask Array, but metric={model.metric!r} with method={model.method!r} needs all pairs in "
            "memory; pass points with method='sparse', or X.compute()."
        )
    k = min(model.n_neighbors, len(points) - 1)
    return knn(points, k, metric=model.metric, n_jobs=model.n_jobs, verbose=model.verbose)


def fusion_kernel(model: Any) -> Callable[[Any], tuple[Any, PointKernel]] | None:
    """Function from distances to similarities and their kernel; None if sources are similarities."""
    if not as_metric(model.metric).is_precomputed:
        return None

    def kernel(distances: Any) -> tuple[Any, PointKernel]:
        weights, scales = kernel_and_scales(
            distances, float(model.bandwidth), model.n_neighbors, model.width
        )
        return weights, PointKernel.of(None, distances, scales, model)

    return kernel


def as_dense_or_sparse(weights: Any, method: str) -> Any:
    """A similarity as a dense or sparse matrix, depending on the method and the number of items."""
    if sparse.issparse(weights):
        return weights.toarray() if _stores_all_pairs(method, weights.shape[0]) else weights
    return sparse.csr_array(weights) if method == "sparse" else weights


def make_walk(weights: Any, symmetric: bool, n_jobs: int | None) -> DenseWalk | SparseWalk:
    """The random walk along a similarity."""
    if not sparse.issparse(weights):
        return DenseWalk(weights, symmetric)
    walk = SparseWalk(weights, symmetric, n_jobs)
    # Items without any similarity keep none after any number of steps. Rows are computed only on demand, so
    # raise now.
    check_self_similarity(walk.sums)
    return walk


def _stores_all_pairs(method: str, n: int) -> bool:
    return method == "dense" or (method == "auto" and n <= DENSE_MAX_ITEMS)
