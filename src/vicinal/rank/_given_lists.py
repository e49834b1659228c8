"""Neighbour lists and search results of other indexes, checked and in the form that ranking needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import read_array, real_array
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._precomputed import check_row_numbers

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NeighborArrays


def without_self(indices: np.ndarray, distances: np.ndarray) -> NeighborArrays:
    """Lists by distance, without each item itself; where a duplicate displaced it, without the last entry."""
    n, k = indices.shape
    indices, distances = _by_distance(indices, distances)
    own = indices == np.arange(n)[:, None]
    if not own.any() or k == 1:
        return indices, distances
    is_farthest = own[:, -1] & (distances[:, 0] < distances[:, -1])
    if k > 2 and is_farthest.sum() > own[:, 0].sum():
        raise InvalidValueError(
            "X lists most items as the farthest of their own neighbours, so its second array seems to "
            "contain similarities; convert them to distances, for instance 1 - similarity for cosines."
        )
    dropped = np.where(own.any(axis=1), own.argmax(axis=1), k - 1)
    kept = np.arange(k) != dropped[:, None]
    return indices[kept].reshape(n, k - 1), distances[kept].reshape(n, k - 1)


def is_table(values: Any) -> bool:
    """Whether values have rows, possibly of different lengths."""
    try:
        return np.ndim(values) == 2
    except ValueError:
        return True


def check_results(
    indices: ArrayLike, distances: ArrayLike, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Results of a search index: ids within the gallery, each once per query, with distances."""
    ids = read_array(indices, "queries[0]")
    lengths = real_array(distances, "queries[1]").astype(np.float64)
    check_row_numbers(ids, "queries")
    if ids.shape != lengths.shape or ids.dtype.kind not in "iu" or ids.size == 0:
        raise InvalidValueError(
            f"queries are a pair of shapes {ids.shape} and {lengths.shape}, but integer ids and distances of "
            "the same shape (m, n_found) are needed."
        )
    if ids.min() < 0 or ids.max() >= n:
        raise InvalidValueError(
            f"queries contain ids from {ids.min()} to {ids.max()}, but the gallery has items 0 to {n - 1}; "
            "drop results that the index did not find."
        )
    if not ((lengths >= 0) & np.isfinite(lengths)).all():
        raise InvalidValueError(
            "queries contain distances that are negative, NaN or infinite; convert similarities to "
            "distances, and drop results that the index did not find."
        )
    ordered = np.sort(ids, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise InvalidValueError(
            f"queries[{int(repeated.argmax())}] contains an id more than once; drop repeated results."
        )
    return _by_distance(ids, lengths)


def _by_distance(ids: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists sorted by distance; equal distances stay in their order."""
    if (distances[:, 1:] >= distances[:, :-1]).all():
        return ids, distances
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(ids, order, 1), np.take_along_axis(distances, order, 1)
