"""What `SelfSmoothing` is given: points, distances or similarities, and the walk along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import validate_input
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import check_options
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._out_of_sample import PointKernel, point_distances
from vicinal.similarity.smoothing._walks import DenseWalk, SparseWalk
from vicinal.similarity.smoothing.kernel import WIDTHS, kernel_and_scales, smoothing_kernel
from vicinal.similarity.smoothing.operator import (
    check_self_similarity,
    check_similarity,
    check_steps,
)

METHODS = ("auto", "dense", "sparse")
# Up to here all pairs are held.
DENSE = 5_000


def check_parameters(model: Any) -> None:
    """Refuse bad parameters of a `SelfSmoothing` before any work."""
    check_options(model)
    if not (isinstance(model.t, str) and model.t == "auto"):
        if isinstance(model.t, str):
            raise InvalidValueError(f"t={model.t!r}, but a number >= 0 or 'auto' is needed.")
        check_steps(model.t)
    check_real(model.bandwidth, "bandwidth", low=0.0, open_low=True)
    check_count(model.n_neighbors, "n_neighbors")
    check_choice(model.width, "width", WIDTHS)
    check_choice(model.method, "method", METHODS)


def read_input(model: Any, X: Any) -> tuple[Any, bool, PointKernel | None]:
    """Similarities that X stands for, whether they are symmetric, and their kernel if they have one."""
    if model.metric == "similarity":
        given = validate_input(model, X, accept_sparse=True, dtype=None)
        return *check_similarity(given, "X"), None
    points = None
    if model.metric == "precomputed":
        distances = check_distances(validate_input(model, X, accept_sparse=True, dtype=None))
    else:
        points = validate_input(model, X, dtype=np.float64)
        distances = point_distances(points, model, _holds_all(model.method, len(points)))
    weights, scales = kernel_and_scales(distances, model.bandwidth, model.n_neighbors, model.width)
    return weights, True, PointKernel.of(points, distances, scales, model)


def fusion_kernel(model: Any) -> Callable[[Any], Any] | None:
    """What makes similarities of the sources of a fusion; None if they are similarities."""
    if not (isinstance(model.metric, str) and model.metric == "precomputed"):
        return None
    return lambda distances: smoothing_kernel(
        distances, model.bandwidth, n_neighbors=model.n_neighbors, width=model.width
    )


def as_dense_or_sparse(weights: Any, method: str) -> Any:
    """A similarity, full or sparse as the method and the number of items ask for."""
    if sparse.issparse(weights):
        return weights.toarray() if _holds_all(method, weights.shape[0]) else weights
    return sparse.csr_array(weights) if method == "sparse" else weights


def make_walk(weights: Any, symmetric: bool, n_jobs: int | None) -> DenseWalk | SparseWalk:
    """The walk along a similarity."""
    if not sparse.issparse(weights):
        return DenseWalk(weights, symmetric)
    walk = SparseWalk(weights, symmetric, n_jobs)
    # No number of steps leads away from them, and rows are computed only when they are asked for.
    check_self_similarity(walk.sums)
    return walk


def _holds_all(method: str, n: int) -> bool:
    return method == "dense" or (method == "auto" and n <= DENSE)
