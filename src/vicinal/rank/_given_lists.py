"""Neighbour lists and search results of other indexes, checked and in the form that ranking needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NeighborArrays


def without_self(indices: np.ndarray, distances: np.ndarray) -> NeighborArrays:
    """Lists without each item itself; where a duplicate displaced it, without the last entry."""
    n, k = indices.shape
    own = indices == np.arange(n)[:, None]
    if not own.any() or k == 1:
        return indices, distances
    dropped = np.where(own.any(axis=1), own.argmax(axis=1), k - 1)
    kept = np.arange(k) != dropped[:, None]
    return indices[kept].reshape(n, k - 1), distances[kept].reshape(n, k - 1)


def check_results(
    indices: ArrayLike, distances: ArrayLike, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Results of a search index: ids within the gallery, each once per query, with distances."""
    ids, lengths = np.asarray(indices), np.asarray(distances, np.float64)
    if ids.shape != lengths.shape or ids.dtype.kind not in "iu" or ids.shape[1] == 0:
        raise InvalidValueError(
            f"queries are a pair of shapes {ids.shape} and {lengths.shape}, but integer ids and distances of "
            "the same shape (m, n_found) are needed."
        )
    if ids.min() < 0 or ids.max() >= n:
        raise InvalidValueError(
            f"queries contain ids from {ids.min()} to {ids.max()}, but the gallery has items 0 to {n - 1}; "
            "drop results that the index did not find."
        )
    if not (lengths >= 0).all():
        raise InvalidValueError(
            "queries contain negative or undefined distances; convert similarities to distances first."
        )
    ordered = np.sort(ids, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise InvalidValueError(
            f"queries[{int(repeated.argmax())}] contains an id more than once; drop repeated results."
        )
    order = np.argsort(lengths, axis=1, kind="stable")
    return np.take_along_axis(ids, order, 1), np.take_along_axis(lengths, order, 1)
