"""Exact search among sparse rows: Euclidean and cosine distances, without a dense copy of the table.

Sparse matrix products give squared distances up to a known rounding error. Possible neighbours are then
measured from row differences, summed in feature order as for dense points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_extent, not_real
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.rescale import safe_factor
from vicinal._core.sparse import checked_csr
from vicinal._core.warn import LongWork
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._precomputed import first_in_rows
from vicinal.neighbors._radius import Rows, in_blocks
from vicinal.neighbors._zero_vectors import largest_magnitudes
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike

# Products, and stored values of measured rows, that a task keeps in memory.
BLOCK_ENTRIES, MEASURED_ENTRIES = 2_000_000, 1 << 21
SLOW_SEARCH = LongWork(
    "the exact search among sparse points",
    "reduce them to dense points, for instance by TruncatedSVD",
)


class SparsePoints:
    """Points in the rows of a sparse matrix."""

    method = "sparse"

    def __init__(self, X: sparse.csr_array, metric: MetricLike | Metric) -> None:
        self.metric = as_metric(metric)
        self.factor = 1.0 if self.metric.is_cosine else safe_factor(X.data)
        self.X = self._prepare(X, "X")
        self.squares = _row_squares(self.X)
        self.columns = sparse.csr_array(self.X.T)
        self.size = max(1, BLOCK_ENTRIES // max(1, len(self)))
        # Rounding of a product, a sum over the features of a row, relative to the squares.
        longest = int(np.diff(self.X.indptr).max(initial=0))
        self.rounding = 4.0 * (longest + 4) * np.finfo(np.float64).eps

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        return self._nearest(self.X, k, True)

    def nearest_to(self, queries: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query."""
        return self._nearest(self._prepare(queries, "queries"), k, False)

    def within(self, radius: float, queries: sparse.csr_array | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        targets = self.X if queries is None else self._prepare(queries, "queries")
        reach = 2.0 * radius if self.metric.is_cosine else (radius * self.factor) ** 2

        def search(span: tuple[int, int]) -> Rows:
            squares, tolerance = self._squares_in(targets, span, exclude_self=queries is None)
            rows, ids = np.nonzero(squares <= reach * (1.0 + 1e-12) + tolerance)
            distances = self.in_metric(self.pair_squares(targets, rows + span[0], ids))
            near = distances <= radius
            indptr = np.searchsorted(rows[near], np.arange(span[1] - span[0] + 1))
            return indptr, ids[near], distances[near]

        return in_blocks(search, targets.shape[0], self.size)

    def _nearest(
        self, targets: sparse.csr_array, k: int, exclude_self: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        n = targets.shape[0]
        indices, distances = np.empty((n, k), np.int64), np.empty((n, k))

        def search(span: tuple[int, int]) -> None:
            a, b = span
            squares, tolerance = self._squares_in(targets, span, exclude_self=exclude_self)
            last = np.partition(squares, k - 1, axis=1)[:, k - 1, None]
            rows, ids = np.nonzero(squares <= last + 2.0 * tolerance)
            lengths = self.in_metric(self.pair_squares(targets, rows + a, ids))
            indices[a:b], distances[a:b] = first_in_rows(rows, ids, lengths, b - a, k)

        map_threads(search, blocks(n, self.size), title="neighbours", long_work=SLOW_SEARCH)
        return indices, distances

    def _squares_in(
        self, targets: sparse.csr_array, span: tuple[int, int], *, exclude_self: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        squares, tolerance = self.approximate_squares(targets[slice(*span)])
        if exclude_self:
            squares[np.arange(len(squares)), np.arange(*span)] = np.inf
        return squares, tolerance

    def approximate_squares(self, rows: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances of rows to all points, and a bound on their rounding error in each row."""
        norms = _row_squares(rows)[:, None]
        squares = (rows @ self.columns).toarray()
        squares *= -2.0
        squares += self.squares
        squares += norms
        return squares, self.rounding * (norms + self.squares.max(initial=0.0))

    def pair_squares(
        self, targets: sparse.csr_array, rows: np.ndarray, ids: np.ndarray
    ) -> np.ndarray:
        """Squared distances of pairs, from the differences of their rows."""
        squares = np.empty(len(rows))
        stored = self.X.nnz + targets.nnz
        per_pair = max(1, stored // max(1, len(self) + targets.shape[0]))
        for a, b in blocks(len(rows), max(1, MEASURED_ENTRIES // per_pair)):
            squares[a:b] = _row_squares(targets[rows[a:b]] - self.X[ids[a:b]])
        return squares

    def in_metric(self, squares: np.ndarray) -> np.ndarray:
        """Distances in the metric, from squared distances between prepared rows."""
        return squares / 2 if self.metric.is_cosine else np.sqrt(squares) / self.factor

    def _prepare(self, X: sparse.csr_array, name: str) -> sparse.csr_array:
        if not self.metric.is_cosine:
            return X if self.factor == 1.0 else X * self.factor
        largest = largest_magnitudes(X, name)
        scaled = _divide_rows(X, largest)
        return _divide_rows(scaled, np.sqrt(_row_squares(scaled)))


def check_sparse_points(X: Any, name: str = "X") -> sparse.csr_array:
    """Convert X to a finite `csr_array` of float64 in canonical form; the input is never changed."""
    if X.dtype.kind not in "buif":
        raise not_real(name, X.dtype)
    csr = checked_csr(X, name, np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not np.isfinite(csr.data).all():
        n_invalid = int((~np.isfinite(csr.data)).sum())
        raise InvalidValueError(
            f"{name} contains {n_invalid} value(s) that are NaN or infinite; impute them (for instance with "
            "sklearn.impute.SimpleImputer) or drop them."
        )
    if csr.shape[0] < 1 or csr.shape[1] < 1:
        raise InvalidValueError(
            f"{name} has shape {csr.shape}, but 1 point and 1 feature are needed."
        )
    check_extent(csr, name)
    return csr


def _row_squares(rows: sparse.csr_array) -> np.ndarray:
    squared = sparse.csr_array((np.square(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    return squared @ np.ones(rows.shape[1])


def _divide_rows(rows: sparse.csr_array, divisors: np.ndarray) -> sparse.csr_array:
    data = rows.data / np.repeat(divisors, np.diff(rows.indptr))
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
