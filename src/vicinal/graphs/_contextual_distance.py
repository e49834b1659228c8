"""Contextual distance: how differently two points matter to the structure of a context.

The context S_i of a point is the point and its k nearest neighbours. A descriptor f describes its
structure. The contribution of a member is delta_j = |f(S_i) - f(S_i without j)| (formula 1 of [1]), and the
contextual distance from i to its neighbour j is |delta_i - delta_j| (formula 2). It is not symmetric: i may
play another role in the context of j, or not belong to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points, read_array
from vicinal._core.chunked import is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal._core.symmetry import first_asymmetric_row, rounding_tolerance, symmetrize_in_place
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._contributions import distances_in_contexts
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._directions import as_directions
from vicinal.neighbors.metric import EUCLIDEAN, PRECOMPUTED, Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import (
        ArrayLike,
        ContextMetric,
        DescriptorLike,
        MatrixLike,
        NeighborArrays,
        NJobs,
    )


DESCRIPTORS = ("trivial", "centroid", "coding_length")


@entry
def contextual_distance(
    X: MatrixLike,
    n_neighbors: int = 10,
    *,
    descriptor: DescriptorLike = "coding_length",
    epsilon: float | None = None,
    neighbors: ArrayLike | NeighborArrays | None = None,
    metric: ContextMetric = "euclidean",
    n_features: int | None = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> NeighborArrays:
    """Contextual distances from each point to its k nearest neighbours.

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse), or a dense matrix of distances or inner products, depending on ``metric``.
        For a dask array of points, the results are dask arrays in its chunks.
    n_neighbors : int, default=10
        Number of neighbours k in a context; ignored if ``neighbors`` are given.
    descriptor : {"coding_length", "centroid", "trivial"} or callable, default="coding_length"
        "coding_length" is the number of bits that encode a context (formula 13); it needs k >= 2 and
        depends on the units of the data through ``epsilon``. "centroid" is the mean of a context.
        "trivial" needs k = 1 and gives the Euclidean distance. A callable takes the points of a
        context, an array (m, n_features) with the point itself first unless it is left out, and
        returns a number or a vector.
    epsilon : float, optional
        Allowed distortion of the coding; sqrt(10 n_features / k) by default.
    neighbors : array of int of shape (n, k) or (n, k + 1), or pair (indices, distances), optional
        Neighbours to use instead of the nearest ones; the point itself may come first.
    metric : {"euclidean", "cosine", "precomputed", "gram"}, default="euclidean"
        Content of X: points, points of which only the directions count (scaled to length 1, so that nearest
        neighbours are those by cosine distances), distances, or inner products. Distances determine inner
        products around the mean of all points, so coding lengths are then those of the centred points.
    n_features : int, optional
        Dimension of the space; required for coding lengths from distances or inner products.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    indices : ndarray of int of shape (n, k + 1)
        Context of each point, itself first.
    distances : ndarray of shape (n, k + 1)
        Contextual distances to the members, 0 to itself.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    Three points (1) are closer to one end of a line of points (0) than the other end is; in the context of
    all points they are the farthest:

    >>> import numpy as np
    >>> from vicinal import contextual_distance
    >>> from vicinal.datasets import two_clusters
    >>> X, labels = two_clusters()
    >>> indices, distances = contextual_distance(X, n_neighbors=9)
    >>> labels[indices[3]]
    array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> distances[3].round(2)
    array([0.  , 0.23, 0.18, 0.07, 0.4 , 0.4 , 0.47, 0.04, 0.15, 0.23])
    """
    check_choice(metric, "metric", ("euclidean", "cosine", "precomputed", "gram"))
    if not callable(descriptor):
        check_choice(descriptor, "descriptor", DESCRIPTORS)
    if n_features is not None:
        n_features = check_count(n_features, "n_features")
    measure = as_metric(metric)
    if measure.is_cosine:
        X, measure = directions_of(X), EUCLIDEAN
    if is_chunked(X) and measure.is_euclidean and neighbors is None:
        return chunked_counterpart("contextual_distance")(X, n_neighbors, descriptor, epsilon)
    data = _check_data(X, measure, descriptor)
    indices = _contexts(data, n_neighbors, neighbors, measure)
    return indices, distances_in_contexts(
        data,
        indices,
        descriptor,
        epsilon=epsilon,
        metric=measure,
        n_features=n_features,
    )


def directions_of(X: MatrixLike) -> np.ndarray | sparse.csr_array:
    """Points in memory, scaled to length 1."""
    if is_chunked(X):
        raise InvalidValueError(
            "metric='cosine', but X is a dask Array; scale its rows to length 1 and use metric='euclidean'."
        )
    return as_directions(EUCLIDEAN.validate_points(X))


def _check_data(
    X: MatrixLike, metric: Metric, descriptor: DescriptorLike
) -> np.ndarray | sparse.csr_array:
    if metric.is_euclidean:
        return metric.validate_points(X)
    if callable(descriptor):
        raise InvalidValueError(f"metric={metric.name!r}, but a callable descriptor needs points.")
    if sparse.issparse(X):
        raise InvalidTypeError(
            f"X is sparse, but metric={metric.name!r} needs a dense matrix of all pairs."
        )
    if metric.is_precomputed:
        return check_distances(X)
    products = check_points(X)
    if products.shape[0] == products.shape[1]:
        if first_asymmetric_row(products) is None:
            return products
        slack = rounding_tolerance(np.asarray(X).dtype) * float(np.abs(products).max())
        if first_asymmetric_row(products, slack) is None:
            products = products.copy()
            symmetrize_in_place(products)
            return products
    raise InvalidValueError(
        f"X of shape {products.shape} is not a symmetric matrix of inner products, which "
        "metric='gram' needs."
    )


def _contexts(
    data: np.ndarray | sparse.csr_array,
    k: int,
    neighbors: Any,
    metric: Metric,
) -> np.ndarray:
    """Members of the context of each point, itself first."""
    n = data.shape[0]
    if neighbors is not None:
        return _contexts_from_neighbors(neighbors, n)
    k = check_count(k, "n_neighbors", high=n - 1, remedy=f"X has {n} point(s).")
    if metric.is_gram:
        squares = np.diagonal(data)
        distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * data, 0.0))
        np.fill_diagonal(distances, 0.0)
        data, metric = distances, PRECOMPUTED
    search = NeighborSearch(data, metric=metric.name)
    return search.nearest(k)[0]


def _contexts_from_neighbors(neighbors: Any, n: int) -> np.ndarray:
    is_pair = isinstance(neighbors, tuple) and len(neighbors) == 2
    indices = read_array(neighbors[0] if is_pair else neighbors, "neighbors")
    if indices.ndim != 2 or len(indices) != n or indices.dtype.kind not in "iu":
        raise InvalidValueError(
            f"neighbors has shape {indices.shape} and dtype {indices.dtype}, but a row of point indices "
            f"for each of the {n} points is needed."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise InvalidValueError(
            f"neighbors contains {indices.min()} to {indices.max()}, but points are 0 to {n - 1}."
        )
    points = np.arange(n)
    if not (indices[:, :1] == points[:, None]).all():
        indices = np.column_stack([points, indices])
    # A copy: it is returned, and changes to it must not affect the given lists.
    indices = np.array(indices, dtype=np.int64, order="C")
    ordered = np.sort(indices, axis=1)
    has_repeats = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if has_repeats.any():
        row = int(np.argmax(has_repeats))
        raise InvalidValueError(
            f"neighbors[{row}] contains a point twice; each member must appear once, and the point "
            "itself only in the first column."
        )
    return indices
