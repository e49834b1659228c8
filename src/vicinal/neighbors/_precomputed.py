"""Search in precomputed neighbours: a sparse distance matrix, or neighbour lists from another library."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.neighbors._radius import Rows


class SparseDistances:
    """A sparse distance matrix: a stored zero is a distance, a missing entry is not a neighbour."""

    method = "precomputed"

    def __init__(self, matrix: sparse.csr_array) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        return _first_k(*_entries(self.matrix, exclude_self=True), len(self), k)

    def nearest_to(self, queries: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, a row of distances to the points."""
        return _first_k(*_entries(queries, exclude_self=False), queries.shape[0], k)

    def within(self, radius: float, queries: sparse.csr_array | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        targets = self.matrix if queries is None else queries
        rows, ids, distances = _entries(targets, exclude_self=queries is None)
        near = distances <= radius
        indptr = np.searchsorted(rows[near], np.arange(targets.shape[0] + 1))
        return indptr, ids[near], distances[near]


class Neighbors:
    """Neighbours from another library: a pair (indices, distances) with one row per point."""

    method = "given"

    def __init__(self, pair: tuple[Any, Any]) -> None:
        indices, distances = _check_pair(pair)
        n, width = indices.shape
        rows = np.repeat(np.arange(n), width)
        other = (indices != np.arange(n)[:, None]).ravel()
        self.n = n
        self.entries = rows[other], indices.ravel()[other], distances.ravel()[other]

    def __len__(self) -> int:
        return self.n

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        return _first_k(*self.entries, self.n, k)

    def nearest_to(self, queries: Any, k: int) -> Any:
        """Raise an error, because the points are not known."""
        raise InvalidValueError(
            "queries were given, but X is a pair (indices, distances) without points; build the search on "
            "the points instead."
        )

    def within(self, radius: float, queries: Any) -> Any:
        """Raise an error, because lists may end before the radius is reached."""
        raise InvalidValueError(
            f"radius={radius:g}, but X is a pair (indices, distances) whose lists may end before the "
            "radius is reached; build the search on the points or on their distances instead."
        )


def _entries(matrix: sparse.csr_array, exclude_self: bool) -> Rows:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    ids, distances = matrix.indices.astype(np.int64), matrix.data
    if exclude_self:
        other = ids != rows
        rows, ids, distances = rows[other], ids[other], distances[other]
    return rows, ids, distances


def _first_k(
    rows: np.ndarray, ids: np.ndarray, distances: np.ndarray, n: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first k entries of each row by (distance, index)."""
    counts = np.bincount(rows, minlength=n)
    short = int(np.argmin(counts))
    if not counts[short]:
        raise InvalidValueError(
            f"n_neighbors={k}, but row {short} of X contains no distance to another point; "
            "store some, or drop the point."
        )
    if counts[short] < k:
        raise InvalidValueError(
            f"n_neighbors={k}, but row {short} of X contains only {counts[short]} neighbour(s); use at "
            f"most n_neighbors={counts[short]}, or store more neighbours."
        )
    return first_in_rows(rows, ids, distances, n, k)


def first_in_rows(
    rows: np.ndarray, ids: np.ndarray, distances: np.ndarray, n: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first k entries of each row by (distance, index), where each row has as many."""
    counts = np.bincount(rows, minlength=n)
    order = np.lexsort((ids, distances, rows))
    start = np.cumsum(counts) - counts
    chosen = order[start[:, None] + np.arange(k)]
    return ids[chosen], distances[chosen]


def check_row_numbers(ids: np.ndarray, name: str) -> None:
    """Reject ids that are texts or other objects, as vector databases use them."""
    if ids.dtype.kind in "OUSV":
        raise InvalidTypeError(
            f"{name} contains ids such as {str(ids.flat[0])[:40]!r}, but row numbers (integers) are needed; "
            "look them up, for instance in {id: row for row, id in enumerate(ids)}."
        )


def _check_pair(pair: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = read_array(pair[0], "X[0]"), read_array(pair[1], "X[1]")
    if indices.ndim != 2 or indices.shape != distances.shape or indices.size == 0:
        raise InvalidValueError(
            f"X is a pair with indices of shape {indices.shape} and distances of shape "
            f"{distances.shape}, but both need the same shape (n_points, n_neighbors)."
        )
    check_row_numbers(indices, "X")
    if indices.dtype.kind not in "iu" or distances.dtype.kind not in "iuf":
        raise InvalidTypeError(
            f"X is a pair with indices of dtype {indices.dtype} and distances of dtype "
            f"{distances.dtype}, but integers and real numbers are needed, in this order; "
            "scikit-learn's kneighbors returns them in the opposite order."
        )
    n = len(indices)
    if indices.min() < 0 or indices.max() >= n:
        raise InvalidValueError(
            f"X contains the index {indices.min() if indices.min() < 0 else indices.max()}, but with "
            f"{n} rows indices must be from 0 to {n - 1}; drop columns with missing neighbours."
        )
    distances = distances.astype(np.float64)
    if not np.isfinite(distances).all() or distances.min() < 0:
        raise InvalidValueError(
            "X contains distances that are negative, NaN or infinite; drop these neighbours."
        )
    ordered = np.sort(indices, axis=1)
    repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(repeated):
        raise InvalidValueError(
            f"row {repeated[0]} of X lists a neighbour twice; each neighbour may be listed once."
        )
    return indices.astype(np.int64), distances
