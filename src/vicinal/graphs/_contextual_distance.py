"""Contextual distance: how differently two points matter to the structure of a context.

The context S_i of a point is the point and its k nearest neighbours. A descriptor f tells its structure;
what a member adds to it is delta_j = |f(S_i) - f(S_i without j)| (formula 1 of [1]), and
the contextual distance from i to its neighbour j is |delta_i - delta_j| (formula 2). It is not
symmetric: j may see i in another context, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

DESCRIPTORS = ("trivial", "centroid", "coding_length")
ROWS_PER_TASK = 1 << 10
# Below, squares and quotients of numbers vanish; they are taken 2**EXPONENT times larger.
TINY, EXPONENT = 1e-290, 1000


@checked
def contextual_distance(
    X: Any,
    n_neighbors: int = 10,
    *,
    descriptor: str | Callable[..., Any] = "coding_length",
    epsilon: float | None = None,
    neighbors: Any = None,
    metric: str = "euclidean",
    n_features: int | None = None,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Contextual distances of each point to its k nearest neighbours.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points; a matrix of all distances or of all inner products (n, n) if ``metric`` says so.
    n_neighbors : int, default=10
        Number of neighbours in a context; not used if ``neighbors`` are given.
    descriptor : {"coding_length", "centroid", "trivial"} or callable, default="coding_length"
        "coding_length" counts the bits that code a context (formula 13); it needs k >= 2 and depends on
        the units of the data through ``epsilon``. "centroid" is the mean of a context. "trivial" needs
        k = 1 and gives the Euclidean distance. A callable takes the points of a context, an array
        (m, n_features), the point itself first if it is not left out, and returns a number or a vector.
    epsilon : float, optional
        Distortion that coding may have, sqrt(10 n_features / k) by default.
    neighbors : array of int of shape (n, k) or (n, k + 1), or pair (indices, distances), optional
        Neighbours to use instead of the nearest; the point itself may stand first.
    metric : {"euclidean", "precomputed", "gram"}, default="euclidean"
        What X holds: points, distances, or inner products. Distances tell inner products around the
        mean of all points, so coding lengths are then those of the centred points.
    n_features : int, optional
        Dimension of the space for coding lengths of distances or inner products, which do not tell it.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    indices : ndarray of int of shape (n, k + 1)
        The context of each point, itself first.
    distances : ndarray of shape (n, k + 1)
        Contextual distances to its members, 0 to itself.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    Three points (1) lie nearer to the end of a line of points (0) than the line's other end does; in the
    context of all points they are the farthest:

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
    data = _check_data(X, metric, descriptor)
    indices = _contexts(data, n_neighbors, neighbors, metric, n_jobs, verbose)
    return indices, distances_in_contexts(
        data,
        indices,
        descriptor,
        epsilon=epsilon,
        metric=metric,
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
    metric: str = "euclidean",
    n_features: int | None = None,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> np.ndarray:
    """Contextual distances, in each row of ``contexts``, from its first member to all members.

    Parameters are those of `contextual_distance`; the data are checked already.
    """
    k = contexts.shape[1] - 1
    if epsilon is not None:
        epsilon = check_real(epsilon, "epsilon", low=0.0, open_low=True)
    if callable(descriptor):
        return _by_definition(data, contexts, descriptor)
    if descriptor == "trivial":
        check_count(
            k, "n_neighbors", high=1, remedy="The trivial descriptor is defined for one neighbour."
        )
        if metric != "euclidean":
            return _given_lengths(data, contexts, metric)
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
            "contextual distances overflow: X holds values whose squares are not finite; scale it down."
        )
    return out


def _check_data(X: Any, metric: str, descriptor: Any) -> np.ndarray:
    if metric == "euclidean":
        return check_points(X)
    if callable(descriptor):
        raise InvalidValueError(f"metric={metric!r}, but a callable descriptor needs points.")
    if sparse.issparse(X):
        raise InvalidTypeError(f"X is sparse, but metric={metric!r} needs the values of all pairs.")
    if metric == "precomputed":
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
    data: np.ndarray, k: int, neighbors: Any, metric: str, n_jobs: int | None, verbose: int
) -> np.ndarray:
    """Members of each point's context, the point itself first."""
    if neighbors is not None:
        return _given_contexts(neighbors, len(data))
    k = check_count(k, "n_neighbors", high=len(data) - 1, remedy=f"X has {len(data)} point(s).")
    if metric == "gram":
        squares = np.diagonal(data)
        distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * data, 0.0))
        np.fill_diagonal(distances, 0.0)
        data, metric = distances, "precomputed"
    search = NeighborSearch(data, metric=metric, n_jobs=n_jobs, verbose=verbose)
    return search.nearest(k)[0]


def _given_contexts(neighbors: Any, n: int) -> np.ndarray:
    pair = isinstance(neighbors, tuple) and len(neighbors) == 2
    indices = read_array(neighbors[0] if pair else neighbors, "neighbors")
    if indices.ndim != 2 or len(indices) != n or indices.dtype.kind not in "iu":
        raise InvalidValueError(
            f"neighbors has shape {indices.shape} and dtype {indices.dtype}, but a row of point numbers "
            f"for each of the {n} points is needed."
        )
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise InvalidValueError(
            f"neighbors holds {indices.min()} to {indices.max()}, but points are 0 to {n - 1}."
        )
    own = np.arange(n)
    if not (indices[:, :1] == own[:, None]).all():
        indices = np.column_stack([own, indices])
    # A copy: it is returned, and what the caller does with it must not change the lists.
    indices = np.array(indices, dtype=np.int64, order="C")
    ordered = np.sort(indices, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        row = int(np.argmax(twice))
        raise InvalidValueError(
            f"neighbors[{row}] names a point twice; a context holds each member once, and the point "
            "itself only in the first place."
        )
    return indices


def _kernel(
    data: np.ndarray,
    indices: np.ndarray,
    descriptor: str,
    metric: str,
    epsilon: float | None,
    n_features: int | None,
) -> Callable[..., Any]:
    """Function that fills rows of the result."""
    from vicinal.graphs import _contextual_kernels as kernels

    if descriptor == "trivial":
        return lambda *rows: kernels.euclidean_rows(data, indices, *rows)
    if descriptor == "centroid":
        if metric == "euclidean":
            if np.abs(data).max() > TINY:
                return lambda *rows: kernels.centroid_rows(data, indices, *rows)
            # A power of two changes no digit, and ratios of denormal numbers become ordinary ones.
            larger = np.ldexp(data, EXPONENT)

            def in_other_unit(first: int, last: int, out: np.ndarray) -> None:
                kernels.centroid_rows(larger, indices, first, last, out)
                out[first:last] = np.ldexp(out[first:last], -EXPONENT)

            return in_other_unit
        products = data if metric == "gram" else _inner_products(data)
        return lambda *rows: kernels.centroid_products(products, indices, *rows)
    if metric == "euclidean":
        dim = data.shape[1]
    elif n_features is None:
        raise InvalidValueError(
            f"n_features=None, but coding lengths need the dimension, which metric={metric!r} does not "
            "tell; give n_features."
        )
    else:
        dim = n_features
    if epsilon is None:
        epsilon = float(np.sqrt(10.0 * dim / (indices.shape[1] - 1)))
    if metric == "euclidean":

        def count(*rows: Any) -> None:
            # Apart, so that it is compiled only where it is needed: where points spread far.
            if kernels.coding_length_rows(data, indices, epsilon, *rows):
                kernels.coding_length_literal(data, indices, epsilon, *rows)

        return count
    products = data if metric == "gram" else _inner_products(data)
    return lambda *rows: kernels.coding_length_products(products, indices, dim, epsilon, *rows)


def _inner_products(distances: np.ndarray) -> np.ndarray:
    """Inner products of the points around their mean, from all distances."""
    # Squares that overflow are refused with the result.
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.square(distances)
        means = products.mean(axis=0)
        products -= means[:, None]
        products -= means[None] - means.mean()
    products *= -0.5
    return products


def _given_lengths(data: np.ndarray, indices: np.ndarray, metric: str) -> np.ndarray:
    """Distances between the two points of each context, from all distances or inner products."""
    own, other = indices.T
    lengths = data[own, other]
    if metric == "gram":
        lengths = np.sqrt(np.maximum(data[own, own] + data[other, other] - 2 * lengths, 0.0))
    return np.column_stack([np.zeros(len(own)), lengths])


def _by_definition(
    points: np.ndarray, indices: np.ndarray, descriptor: Callable[..., Any]
) -> np.ndarray:
    """Formulas (1) and (2) as they stand, for a descriptor of which nothing is known."""
    out = np.empty(indices.shape)
    for i, context in enumerate(indices):
        members = points[context]
        # A copy, as the others are: a descriptor may sort or centre what it is given.
        whole = _described(descriptor, members.copy(), None)
        for j in range(len(context)):
            left = _described(descriptor, np.delete(members, j, axis=0), whole.shape)
            out[i, j] = np.linalg.norm(np.atleast_1d(whole - left))
    return np.abs(out - out[:, :1])


def _described(
    descriptor: Callable[..., Any], members: np.ndarray, shape: tuple[int, ...] | None
) -> np.ndarray:
    value = np.asarray(real_array(descriptor(members), "descriptor(X)"), dtype=np.float64)
    if value.ndim > 1 or (shape is not None and value.shape != shape):
        raise InvalidValueError(
            f"descriptor returned an array of shape {value.shape}"
            + (f" after one of shape {shape}" if shape is not None else "")
            + "; a number, or a vector of one length, is needed."
        )
    if not np.isfinite(value).all():
        raise InvalidValueError(
            f"descriptor returned {value} for {len(members)} points, but finite values are needed."
        )
    return value
