"""Contributions of the members of a context to its structure, and the distances that follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors.metric import EUCLIDEAN, Metric

if TYPE_CHECKING:
    pass

# Fills rows first ... last - 1 of the result: (first, last, out).
RowFiller = Callable[[int, int, np.ndarray], None]
ROWS_PER_TASK = 1 << 10
# Entries of the dense points of a few contexts, if the points are sparse.
DENSE_ENTRIES = 1 << 18
# Smaller coordinates are scaled up by 2**TINY_EXPONENT, because their squares and quotients underflow.
TINY, TINY_EXPONENT = 1e-290, 1000


def distances_in_contexts(
    data: np.ndarray | sparse.csr_array,
    contexts: np.ndarray,
    descriptor: str | Callable[..., Any],
    *,
    epsilon: float | None = None,
    metric: Metric = EUCLIDEAN,
    n_features: int | None = None,
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
    elif k < 2:
        remedy = f"The descriptor {descriptor!r} needs contexts of 3 points or more."
        check_count(k, "n_neighbors", low=2, remedy=remedy)
    out = np.empty(contexts.shape)
    kernel: RowFiller
    if sparse.issparse(data):
        kernel = _sparse_kernel(data, contexts, str(descriptor), epsilon)
    else:
        n_features = data.shape[1] if metric.is_euclidean else n_features
        kernel = _kernel(data, contexts, str(descriptor), metric, epsilon, n_features)
    map_threads(
        lambda rows: kernel(*rows, out),
        blocks(len(contexts), ROWS_PER_TASK),
        title="contextual distances",
    )
    if not math.isfinite(out.max(initial=0.0)):  # also if one is NaN
        raise InvalidValueError(
            "contextual distances overflow: squares of values in X are not finite; scale X down."
        )
    return out


def coding_scratch(n_members: int, n_features: int) -> tuple[np.ndarray, ...]:
    """Memory for the coding lengths of contexts of a given size."""
    size = min(n_features, n_members - 1)
    return (
        np.empty((n_members - 1, n_features)),
        np.empty((n_members, n_features)),
        np.empty(n_features),
        np.empty(n_members),
        np.empty((size, size)),
        np.empty((size, size)),
        np.empty((3, size)),
    )


def default_epsilon(n_features: int, n_neighbors: int) -> float:
    """Distortion of coding lengths that [1] uses."""
    return math.sqrt(10.0 * n_features / n_neighbors)


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
    if n_features is None:
        raise InvalidValueError(
            "n_features=None, but coding lengths need the dimension of the space, which "
            f"metric={metric.name!r} does not determine; pass n_features."
        )
    dim = n_features
    if epsilon is None:
        epsilon = default_epsilon(dim, indices.shape[1] - 1)
    if metric.is_euclidean:
        by_features = data.shape[1] < indices.shape[1] - 1
        fill = (
            kernels.coding_lengths_by_features if by_features else kernels.coding_lengths_by_members
        )

        def coding_length(*rows: Any) -> None:
            # A separate kernel, compiled only where it is needed: if points are spread widely.
            scratch = coding_scratch(indices.shape[1], data.shape[1])
            if fill(data, indices, dim, epsilon, scratch, *rows):
                kernels.coding_length_literal(data, indices, dim, epsilon, *rows)

        return coding_length
    products = data if metric.is_gram else _inner_products(data)
    return lambda *rows: kernels.coding_length_products(products, indices, dim, epsilon, *rows)


def _sparse_kernel(
    points: sparse.csr_array, contexts: np.ndarray, descriptor: str, epsilon: float | None
) -> RowFiller:
    """`_kernel` for sparse points: a few contexts at a time as dense points, without columns of zeros."""
    entries_per_context = contexts.shape[1] * max(1, points.nnz // points.shape[0])
    n_contexts = max(1, DENSE_ENTRIES // entries_per_context**2)

    def fill(first: int, last: int, out: np.ndarray) -> None:
        for start in range(first, last, n_contexts):
            rows = slice(start, min(start + n_contexts, last))
            members, positions = np.unique(contexts[rows], return_inverse=True)
            block = points[members]
            columns = np.unique(block.indices)
            # One column of zeros if there are no others.
            dense = block[:, columns].toarray() if len(columns) else np.zeros((len(members), 1))
            local = positions.reshape(contexts[rows].shape)
            kernel = _kernel(dense, local, descriptor, EUCLIDEAN, epsilon, points.shape[1])
            kernel(0, len(local), out[rows])

    return fill


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
    points: np.ndarray | sparse.csr_array, indices: np.ndarray, descriptor: Callable[..., Any]
) -> np.ndarray:
    """Formulas (1) and (2), evaluated literally for any descriptor."""
    out = np.empty(indices.shape)
    for i, context in enumerate(indices):
        members = points[context].toarray() if sparse.issparse(points) else points[context]
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
