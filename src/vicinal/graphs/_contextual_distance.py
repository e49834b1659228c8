"""Contextual distance: how differently two points matter to the structure of a context.

The context S_i of a point is the point and its k nearest neighbours. A descriptor f describes its
structure. The contribution of a member is delta_j = |f(S_i) - f(S_i without j)| (formula 1 of [1]), and the
contextual distance from i to its neighbour j is |delta_i - delta_j| (formula 2). It is not symmetric: i may
play another role in the context of j, or not belong to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points, read_array, real_array
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.symmetry import first_asymmetric_row, rounding_tolerance, symmetrize_in_place
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.neighbors import NeighborSearch
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

# Fills rows first ... last - 1 of the result: (first, last, out).
RowFiller = Callable[[int, int, np.ndarray], None]

DESCRIPTORS = ("trivial", "centroid", "coding_length")
ROWS_PER_TASK = 1 << 10
# Smaller coordinates are scaled up by 2**TINY_EXPONENT, because their squares and quotients underflow.
TINY, TINY_EXPONENT = 1e-290, 1000


@checked
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
        Points, or a matrix of distances or inner products, depending on ``metric``.
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
    metric : {"euclidean", "precomputed", "gram"}, default="euclidean"
        Content of X: points, distances, or inner products. Distances determine inner products around
        the mean of all points, so coding lengths are then those of the centred points.
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
    check_choice(metric, "metric", ("euclidean", "precomputed", "gram"))
    if not callable(descriptor):
        check_choice(descriptor, "descriptor", DESCRIPTORS)
    if n_features is not None:
        n_features = check_count(n_features, "n_features")
    measure = as_metric(metric)
    data = _check_data(X, measure, descriptor)
    indices = _contexts(data, n_neighbors, neighbors, measure, n_jobs, verbose)
    return indices, distances_in_contexts(
        data,
        indices,
        descriptor,
        epsilon=epsilon,
        metric=measure,
        n_features=n_features,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def distances_in_contexts(
    data: np.ndarray,
    contexts: np.ndarray,
    descriptor: str | Callable[..., Any],
    *,
    epsilon: float | None = None,
    metric: Metric = EUCLIDEAN,
    n_features: int | None = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> np.ndarray:
    """Contextual distances from the first member of each context (row) to all its members.

    Parameters are those of `contextual_distance`; the data must be checked already.
    """
    k = contexts.shape[1] - 1
    if epsilon is not None:
        epsilon = check_real(epsilon, "epsilon", low=0.0, open_low=True)
    if callable(descriptor):
        return _by_definition(data, contexts, descriptor)
    if descriptor == "trivial":
        check_count(
            k,
            "n_neighbors",
            high=1,
            remedy="The trivial descriptor is defined for one neighbour only.",
        )
        if not metric.is_euclidean:
            return _pair_lengths(data, contexts, metric)
    else:
        remedy = f"The descriptor {descriptor!r} needs contexts of 3 points or more."
        check_count(k, "n_neighbors", low=2, remedy=remedy)
    out = np.empty(contexts.shape)
    kernel = _kernel(data, contexts, str(descriptor), metric, epsilon, n_features)
    map_threads(
        lambda rows: kernel(*rows, out),
        blocks(len(contexts), ROWS_PER_TASK),
        n_jobs,
        progress="contextual distances" if verbose > 0 else None,
    )
    if not np.isfinite(out).all():
        raise InvalidValueError(
            "contextual distances overflow: squares of values in X are not finite; scale X down."
        )
    return out


def _check_data(X: MatrixLike, metric: Metric, descriptor: DescriptorLike) -> np.ndarray:
    if metric.is_euclidean:
        return check_points(X)
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
    data: np.ndarray, k: int, neighbors: Any, metric: Metric, n_jobs: int | None, verbose: int
) -> np.ndarray:
    """Members of the context of each point, itself first."""
    if neighbors is not None:
        return _contexts_from_neighbors(neighbors, len(data))
    k = check_count(k, "n_neighbors", high=len(data) - 1, remedy=f"X has {len(data)} point(s).")
    if metric.is_gram:
        squares = np.diagonal(data)
        distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * data, 0.0))
        np.fill_diagonal(distances, 0.0)
        data, metric = distances, PRECOMPUTED
    search = NeighborSearch(data, metric=metric.name, n_jobs=n_jobs, verbose=verbose)
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


def _kernel(
    data: np.ndarray,
    indices: np.ndarray,
    descriptor: str,
    metric: Metric,
    epsilon: float | None,
    n_features: int | None,
) -> RowFiller:
    """Function that fills rows of the result, for a named descriptor."""
    from vicinal.graphs import _contextual_kernels as kernels

    if descriptor == "trivial":
        return lambda *rows: kernels.euclidean_rows(data, indices, *rows)
    if descriptor == "centroid":
        if metric.is_euclidean:
            return _centroid_kernel(data, indices)
        products = data if metric.is_gram else _inner_products(data)
        return lambda *rows: kernels.centroid_products(products, indices, *rows)
    if metric.is_euclidean:
        dim = data.shape[1]
    elif n_features is None:
        raise InvalidValueError(
            "n_features=None, but coding lengths need the dimension of the space, which "
            f"metric={metric.name!r} does not determine; pass n_features."
        )
    else:
        dim = n_features
    if epsilon is None:
        epsilon = float(np.sqrt(10.0 * dim / (indices.shape[1] - 1)))
    if metric.is_euclidean:

        def coding_length(*rows: Any) -> None:
            # A separate kernel, compiled only where it is needed: if points are spread widely.
            if kernels.coding_length_rows(data, indices, epsilon, *rows):
                kernels.coding_length_literal(data, indices, epsilon, *rows)

        return coding_length
    products = data if metric.is_gram else _inner_products(data)
    return lambda *rows: kernels.coding_length_products(products, indices, dim, epsilon, *rows)


def _centroid_kernel(points: np.ndarray, indices: np.ndarray) -> RowFiller:
    from vicinal.graphs._contextual_kernels import centroid_rows

    if np.abs(points).max() > TINY:
        return lambda *rows: centroid_rows(points, indices, *rows)
    # Scaling by a power of two is exact, and makes subnormal numbers ordinary ones.
    scaled = np.ldexp(points, TINY_EXPONENT)

    def fill(first: int, last: int, out: np.ndarray) -> None:
        centroid_rows(scaled, indices, first, last, out)
        out[first:last] = np.ldexp(out[first:last], -TINY_EXPONENT)

    return fill


def _inner_products(distances: np.ndarray) -> np.ndarray:
    """Inner products of the centred points, from the distance matrix."""
    # Overflowing squares are rejected later, with the result.
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.square(distances)
        means = products.mean(axis=0)
        products -= means[:, None]
        products -= means[None] - means.mean()
    products *= -0.5
    return products


def _pair_lengths(data: np.ndarray, indices: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances between the two points of each context, from distances or inner products."""
    i, j = indices.T
    lengths = data[i, j]
    if metric.is_gram:
        lengths = np.sqrt(np.maximum(data[i, i] + data[j, j] - 2 * lengths, 0.0))
    return np.column_stack([np.zeros(len(i)), lengths])


def _by_definition(
    points: np.ndarray, indices: np.ndarray, descriptor: Callable[..., Any]
) -> np.ndarray:
    """Formulas (1) and (2), evaluated literally for any descriptor."""
    out = np.empty(indices.shape)
    for i, context in enumerate(indices):
        members = points[context]
        # A copy, like the others: a descriptor may modify its argument.
        whole = _describe(descriptor, members.copy(), None)
        for j in range(len(context)):
            reduced = _describe(descriptor, np.delete(members, j, axis=0), whole.shape)
            out[i, j] = np.linalg.norm(np.atleast_1d(whole - reduced))
    return np.abs(out - out[:, :1])


def _describe(
    descriptor: Callable[..., Any], members: np.ndarray, shape: tuple[int, ...] | None
) -> np.ndarray:
    value = np.asarray(real_array(descriptor(members), "descriptor(X)"), dtype=np.float64)
    if value.ndim > 1 or (shape is not None and value.shape != shape):
        raise InvalidValueError(
            f"descriptor returned an array of shape {value.shape}"
            + (f" after one of shape {shape}" if shape is not None else "")
            + "; a number or a vector of fixed length is needed."
        )
    if not np.isfinite(value).all():
        raise InvalidValueError(
            f"descriptor returned {value} for {len(members)} points, but finite values are needed."
        )
    return value
