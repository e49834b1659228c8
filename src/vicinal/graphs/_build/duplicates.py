"""Duplicate rows: groups of equal rows, each with one representative.

Used wherever duplicates matter: trees, neighbours, balls and empty regions, perceptual methods, rankings
and reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.chunked import ChunkedRows
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.parallel import blocks

# A sample of rows shows whether there are many duplicates: one row in MAX_STRIDE, but at least this many.
MIN_SAMPLE, MAX_STRIDE = 1000, 64
# Above this fraction of distinct rows, finding duplicates costs more than it saves.
MAX_DISTINCT_FRACTION = 0.9
# Wider rows are compared by hashes, and rows are hashed this many at a time.
MAX_COLUMNS_TO_SORT, ROWS_PER_BLOCK = 64, 1024
# Bytes of the hash of a row: two of 10^12 different rows have the same one with a probability below 1e-14.
HASH_BYTES = 16


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
    if X.shape[1] > MAX_COLUMNS_TO_SORT:
        return group_by_hash(hash_rows(X))
    ascending = np.sort(X[:, 0])
    if (ascending[1:] != ascending[:-1]).all():  # one column is enough to distinguish all rows
        return Duplicates(np.arange(len(X)), np.arange(len(X)))
    return _by_sorting(X)


def hash_rows(X: np.ndarray) -> np.ndarray:
    """Hashes of dense rows, as rows of bytes: equal for equal values."""
    # Adding 0 makes negative zeros positive.
    spans = blocks(len(X), ROWS_PER_BLOCK)
    return _hashes(row.tobytes() for a, b in spans for row in X[a:b] + 0.0)


def group_by_hash(hashes: np.ndarray) -> Duplicates:
    """Groups of rows with the same hash."""
    return _by_sorting(np.ascontiguousarray(hashes).view(np.uint64))


def _hashes(rows: Iterable[bytes]) -> np.ndarray:
    digests = (hashlib.blake2b(row, digest_size=HASH_BYTES).digest() for row in rows)
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, HASH_BYTES)


def _by_sorting(X: np.ndarray) -> Duplicates:
    n, order = len(X), np.lexsort(X.T)
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
    spans = pairwise(stored.indptr.tolist())
    rows = (stored.indices[a:b].tobytes() + stored.data[a:b].tobytes() for a, b in spans)
    return group_by_hash(_hashes(rows))
