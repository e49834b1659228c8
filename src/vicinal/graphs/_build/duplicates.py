"""Rows that equal others: which they are, and the one row that represents each set of them.

Everything that treats duplicates asks here: trees, neighbours, balls and empty regions, perceptual methods,
rankings and reports.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

# A sample of rows shows whether there are many duplicates: at least this many rows, and one in this many.
SAMPLE, STRIDE = 1000, 64
# With a larger fraction of distinct rows, duplicates take less time than finding them.
MOSTLY_DISTINCT = 0.9
# Rows of more columns are compared by their bytes, without sorting.
WIDE = 64


class Duplicates(NamedTuple):
    """Sets of equal rows.

    Attributes
    ----------
    representative : ndarray of int
        First row of each set, ascending.
    group : ndarray of int (n,)
        Set of each row.
    """

    representative: np.ndarray
    group: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of rows in each set."""
        return np.bincount(self.group, minlength=len(self.representative))

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows by set, ascending in each, and where each set starts."""
        counts = self.counts
        return np.argsort(self.group, kind="stable"), np.cumsum(counts) - counts

    def rank_within_group(self) -> np.ndarray:
        """How many equal rows come before each row."""
        members, start = self.members()
        rank = np.empty(len(members), np.int64)
        rank[members] = np.arange(len(members)) - start[self.group[members]]
        return rank


def many_duplicates(*columns: np.ndarray) -> Duplicates | None:
    """Sets of rows that are equal in all columns; None where most rows have no duplicate."""
    step = max(1, min(STRIDE, len(columns[0]) // SAMPLE))
    # Adding 0 makes negative zeros positive, so that equal rows have equal bytes.
    sample = np.column_stack([some[::step] for some in columns]) + 0.0
    if len({row.tobytes() for row in sample}) > MOSTLY_DISTINCT * len(sample):
        return None
    return find_duplicates(np.column_stack(columns))


def find_duplicates(X: np.ndarray | sparse.csr_array) -> Duplicates:
    """All sets of equal rows, in the order of their first rows."""
    if sparse.issparse(X):
        return _find_in_sparse(X)
    n = len(X)
    if X.shape[1] > WIDE:
        return _by_bytes(X)
    ascending = np.sort(X[:, 0])
    if (ascending[1:] != ascending[:-1]).all():  # one column is enough to distinguish all rows
        return Duplicates(np.arange(n), np.arange(n))
    order = np.lexsort(X.T)
    new = np.ones(n, dtype=bool)
    new[1:] = (X[order[1:]] != X[order[:-1]]).any(axis=1)
    number = np.empty(n, np.int64)
    number[order] = np.cumsum(new) - 1
    # The sort is stable, so the first of each set is its smallest row.
    first = order[new]
    by_row = np.argsort(first)
    rank = np.empty_like(by_row)
    rank[by_row] = np.arange(len(by_row))
    return Duplicates(first[by_row], rank[number])


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
