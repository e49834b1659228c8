"""Duplicate rows: groups of equal rows, each with one representative.

Used wherever duplicates matter: trees, neighbours, balls and empty regions, perceptual methods, rankings
and reports.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.chunked import ChunkedRows
from vicinal._core.lazy import chunked_counterpart

# A sample of rows shows whether there are many duplicates: one row in MAX_STRIDE, but at least this many.
MIN_SAMPLE, MAX_STRIDE = 1000, 64
# Above this fraction of distinct rows, finding duplicates costs more than it saves.
MAX_DISTINCT_FRACTION = 0.9
# Wider rows are compared by their bytes instead of being sorted.
MAX_COLUMNS_TO_SORT = 64


class Duplicates(NamedTuple):
    """Groups of equal rows.

    Attributes
    ----------
    representative : ndarray of int
        First row of each group, ascending.
    group : ndarray of int (n,)
        Group of each row.
    """

    representative: np.ndarray
    group: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of rows in each group."""
        return np.bincount(self.group, minlength=len(self.representative))

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows sorted by group, ascending in each, and the start of each group."""
        counts = self.counts
        return np.argsort(self.group, kind="stable"), np.cumsum(counts) - counts

    def rank_within_group(self) -> np.ndarray:
        """Number of equal rows before each row."""
        members, start = self.members()
        rank = np.empty(len(members), np.int64)
        rank[members] = np.arange(len(members)) - start[self.group[members]]
        return rank


def many_duplicates(*columns: np.ndarray) -> Duplicates | None:
    """Groups of rows that are equal in all columns; None if most rows have no duplicate."""
    step = max(1, min(MAX_STRIDE, len(columns[0]) // MIN_SAMPLE))
    # Adding 0 makes negative zeros positive, so that equal rows have equal bytes.
    sample = np.column_stack([column[::step] for column in columns]) + 0.0
    if len({row.tobytes() for row in sample}) > MAX_DISTINCT_FRACTION * len(sample):
        return None
    return find_duplicates(np.column_stack(columns))


def find_duplicates(X: np.ndarray | sparse.csr_array | ChunkedRows) -> Duplicates:
    """All groups of equal rows, in the order of their first rows."""
    if isinstance(X, ChunkedRows):
        return chunked_counterpart("find_duplicates")(X)
    if sparse.issparse(X):
        return _find_in_sparse(X)
    n = len(X)
    if X.shape[1] > MAX_COLUMNS_TO_SORT:
        return _by_bytes(X)
    ascending = np.sort(X[:, 0])
    if (ascending[1:] != ascending[:-1]).all():  # one column is enough to distinguish all rows
        return Duplicates(np.arange(n), np.arange(n))
    order = np.lexsort(X.T)
    is_first = np.ones(n, dtype=bool)
    is_first[1:] = (X[order[1:]] != X[order[:-1]]).any(axis=1)
    sorted_group = np.empty(n, np.int64)
    sorted_group[order] = np.cumsum(is_first) - 1
    # The sort is stable, so the first of each group is its smallest row.
    first = order[is_first]
    by_row = np.argsort(first)
    rank = np.empty_like(by_row)
    rank[by_row] = np.arange(len(by_row))
    return Duplicates(first[by_row], rank[sorted_group])


def _find_in_sparse(X: sparse.csr_array) -> Duplicates:
    """`find_duplicates` of a sparse matrix in canonical form."""
    stored = sparse.csr_array(X, copy=True)
    stored.eliminate_zeros()
    seen: dict[bytes, int] = {}
    first: list[int] = []
    group = np.empty(X.shape[0], np.int64)
    for i, (a, b) in enumerate(pairwise(stored.indptr.tolist())):
        key = stored.indices[a:b].tobytes() + stored.data[a:b].tobytes()
        if key not in seen:
            seen[key] = len(first)
            first.append(i)
        group[i] = seen[key]
    return Duplicates(np.array(first), group)


def _by_bytes(X: np.ndarray) -> Duplicates:
    first: dict[bytes, int] = {}
    # Adding 0 makes negative zeros positive.
    group = np.array([first.setdefault((row + 0.0).tobytes(), len(first)) for row in X], np.int64)
    return Duplicates(np.unique(group, return_index=True)[1], group)
