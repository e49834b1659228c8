"""Entries of a sparse structure: sorting, merging and transposing them without numba.

An entry is a (row, column) pair with a length and a strength. Everything here returns fresh arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse


class Entries(NamedTuple):
    """A canonical CSR structure: columns strictly increase within a row."""

    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray
    strengths: np.ndarray


def index_dtype(n_nodes: int, n_entries: int) -> type[np.signedinteger]:
    """int32 as long as every node and every position fits, else int64."""
    return np.int32 if max(n_nodes, n_entries) <= np.iinfo(np.int32).max else np.int64


def rows_of(indptr: np.ndarray, dtype: type[np.signedinteger]) -> np.ndarray:
    """Row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=dtype), np.diff(indptr))


def stable_order(keys: np.ndarray, n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Stable order of integers in ``range(n_keys)`` and where each key's run begins.

    A matrix with one entry a row is transposed: scipy does that by a counting sort, in linear time.
    """
    m = len(keys)
    dtype = index_dtype(n_keys, m)
    tall = sparse.csr_array(
        (
            np.empty(m, dtype=np.bool_),
            keys.astype(dtype, copy=False),
            np.arange(m + 1, dtype=dtype),
        ),
        shape=(m, n_keys),
    )
    turned = tall.tocsc()
    return turned.indices, turned.indptr


def first_asymmetric(entries: Entries) -> tuple[int, int] | None:
    """A pair (i, j) whose entry is missing or different as (j, i); None when there is none."""
    n, m = len(entries.indptr) - 1, len(entries.indices)
    rows = rows_of(entries.indptr, index_dtype(n, m))
    order, _ = stable_order(entries.indices, n)
    turned_rows, turned_columns = entries.indices[order], rows[order]
    same = (turned_rows == rows) & (turned_columns == entries.indices)
    if same.all():
        same = entries.lengths[order] == entries.lengths
        same &= entries.strengths[order] == entries.strengths
    if same.all():
        return None
    # Both lists are sorted, so the smaller pair at the first difference is in only one of them.
    p = int(np.argmin(same))
    here = int(rows[p]), int(entries.indices[p])
    there = int(turned_rows[p]), int(turned_columns[p])
    return here if here <= there else there[::-1]


def merge(
    rows: np.ndarray,
    columns: np.ndarray,
    lengths: np.ndarray,
    strengths: np.ndarray,
    n_nodes: int,
    *,
    combine: np.ufunc = np.maximum,
) -> tuple[Entries, np.ndarray]:
    """Canonical structure of entries in any order, and how many were merged into each.

    Entries of one pair become one: the shortest length, and ``combine`` of the strengths.
    """
    by_row, indptr = stable_order(rows, n_nodes)
    sorter = sparse.csr_array((by_row, columns[by_row], indptr), shape=(n_nodes, n_nodes))
    sorter.sort_indices()
    order, columns = sorter.data, sorter.indices
    lengths, strengths = lengths[order], strengths[order]

    repeats = np.zeros(len(columns), dtype=bool)
    np.equal(columns[1:], columns[:-1], out=repeats[1:])
    repeats[indptr[:-1][np.diff(indptr) > 0]] = False
    if not repeats.any():
        return Entries(indptr, columns, lengths, strengths), np.ones(len(columns), dtype=np.intp)

    first = np.flatnonzero(~repeats)
    entries = Entries(
        np.searchsorted(first, indptr).astype(indptr.dtype),
        columns[first],
        np.minimum.reduceat(lengths, first),
        combine.reduceat(strengths, first),
    )
    return entries, np.diff(first, append=len(columns))


def keep_entries(entries: Entries, keep: np.ndarray) -> Entries:
    """The entries under a boolean mask."""
    before = np.zeros(len(keep) + 1, dtype=entries.indptr.dtype)
    np.cumsum(keep, out=before[1:])
    return Entries(
        before[entries.indptr],
        entries.indices[keep],
        entries.lengths[keep],
        entries.strengths[keep],
    )
