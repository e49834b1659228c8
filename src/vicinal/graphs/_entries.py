"""Entries of a sparse structure: sort, merge and transpose them without numba.

An entry is a (row, column) pair with a length and a strength. All functions return new arrays.
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


def unit_strengths(n_entries: int) -> np.ndarray:
    """Strengths that are all 1: a read-only view of one number, whatever their length."""
    return np.broadcast_to(np.float64(1.0), (n_entries,))


def lean_strengths(strengths: np.ndarray) -> np.ndarray:
    """The same strengths, without memory of their own if all are 1."""
    is_lean = strengths.strides == (0,) or bool((strengths == 1.0).all())
    return unit_strengths(len(strengths)) if is_lean else strengths


def index_dtype(n_nodes: int, n_entries: int) -> type[np.signedinteger]:
    """int32 if every node and every position fits, otherwise int64."""
    return np.int32 if max(n_nodes, n_entries) <= np.iinfo(np.int32).max else np.int64


def rows_of(indptr: np.ndarray, dtype: type[np.signedinteger]) -> np.ndarray:
    """Row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=dtype), np.diff(indptr))


def stable_order(keys: np.ndarray, n_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Stable order of integers in ``range(n_keys)``, and the start of each key's run.

    Transposes a matrix with one entry per row, which scipy does by a counting sort in linear time.
    """
    m = len(keys)
    dtype = index_dtype(n_keys, m)
    matrix = sparse.csr_array(
        (
            np.empty(m, dtype=np.bool_),
            keys.astype(dtype, copy=False),
            np.arange(m + 1, dtype=dtype),
        ),
        shape=(m, n_keys),
    )
    transposed = matrix.tocsc()
    return transposed.indices, transposed.indptr


def first_asymmetric(entries: Entries) -> tuple[int, int] | None:
    """A pair (i, j) whose entry (j, i) is missing or different; None if the structure is symmetric."""
    n, m = len(entries.indptr) - 1, len(entries.indices)
    rows = rows_of(entries.indptr, index_dtype(n, m))
    order, _ = stable_order(entries.indices, n)
    transposed_rows, transposed_columns = entries.indices[order], rows[order]
    same = (transposed_rows == rows) & (transposed_columns == entries.indices)
    if same.all():
        same = entries.lengths[order] == entries.lengths
        same &= entries.strengths[order] == entries.strengths
    if same.all():
        return None
    # Both lists are sorted, so the smaller pair at the first difference is in only one of them.
    p = int(np.argmin(same))
    pair = int(rows[p]), int(entries.indices[p])
    transposed_pair = int(transposed_rows[p]), int(transposed_columns[p])
    return pair if pair <= transposed_pair else transposed_pair[::-1]


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

    Entries of the same pair become one, with the shortest length and ``combine`` of the strengths.
    """
    by_row, indptr = stable_order(rows, n_nodes)
    sorter = sparse.csr_array((by_row, columns[by_row], indptr), shape=(n_nodes, n_nodes))
    sorter.sort_indices()
    order, columns = sorter.data, sorter.indices
    lengths, strengths = lengths[order], strengths[order]

    is_repeat = np.zeros(len(columns), dtype=bool)
    np.equal(columns[1:], columns[:-1], out=is_repeat[1:])
    is_repeat[indptr[:-1][np.diff(indptr) > 0]] = False
    if not is_repeat.any():
        return Entries(indptr, columns, lengths, strengths), np.ones(len(columns), dtype=np.intp)

    first = np.flatnonzero(~is_repeat)
    entries = Entries(
        np.searchsorted(first, indptr).astype(indptr.dtype),
        columns[first],
        np.minimum.reduceat(lengths, first),
        combine.reduceat(strengths, first),
    )
    return entries, np.diff(first, append=len(columns))


def keep_entries(entries: Entries, keep: np.ndarray) -> Entries:
    """The entries under a boolean mask."""
    positions = np.zeros(len(keep) + 1, dtype=entries.indptr.dtype)
    np.cumsum(keep, out=positions[1:])
    return Entries(
        positions[entries.indptr],
        entries.indices[keep],
        entries.lengths[keep],
        entries.strengths[keep],
    )
