"""Validation of the index arrays of sparse matrices.

scipy does not check the values of index arrays, and compiled code that uses an invalid index reads and
writes out of bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal.exceptions import InvalidValueError

REMEDY = "its index arrays are inconsistent; build it again, for instance from a coo_array."


def checked_csr(matrix: Any, name: str, dtype: Any = None) -> sparse.csr_array:
    """Convert a sparse matrix of any format to a `csr_array` with valid index arrays.

    The result may share arrays with the input, so they must not be modified.
    """
    check_indices(matrix, name)
    csr = sparse.csr_array(matrix, dtype=dtype)
    # The indices of these formats can only be checked after the conversion.
    if matrix.format in ("dia", "dok", "lil"):
        check_indices(csr, name)
    # scipy allows unused capacity after the last entry.
    n_stored = int(csr.indptr[-1])
    if n_stored < len(csr.indices):
        arrays = csr.data[:n_stored], csr.indices[:n_stored], csr.indptr
        csr = sparse.csr_array(arrays, shape=csr.shape)
    return csr


def check_indices(matrix: Any, name: str) -> None:
    """Reject a sparse matrix whose index arrays do not fit its shape."""
    if len(matrix.shape) != 2:
        raise InvalidValueError(
            f"{name} has shape {matrix.shape}, but a matrix with rows and columns is needed."
        )
    if matrix.format == "coo":
        for axis, (coordinates, size) in enumerate(
            zip((matrix.row, matrix.col), matrix.shape, strict=True)
        ):
            if len(coordinates) != len(matrix.data):
                raise _malformed(
                    name, f"{len(coordinates)} coordinates for {len(matrix.data)} values"
                )
            _check_range(coordinates, size, ("row", "column")[axis], name)
    elif matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix, name)
    elif matrix.format == "lil":
        _check_lists(matrix, name)


def _check_compressed(matrix: Any, name: str) -> None:
    block_height, block_width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    n_rows, n_columns = matrix.shape[0] // block_height, matrix.shape[1] // block_width
    by_rows = matrix.format != "csc"
    n_outer, n_inner = (n_rows, n_columns) if by_rows else (n_columns, n_rows)
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.dtype.kind not in "iu":
        raise _malformed(name, "index pointers that are not a flat array of integers")
    if len(indptr) != n_outer + 1:
        raise _malformed(name, f"{len(indptr)} index pointers where {n_outer + 1} are needed")
    if len(indices) != len(matrix.data):
        raise _malformed(name, f"{len(indices)} indices for {len(matrix.data)} values")
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise _malformed(
            name,
            f"index pointers that do not increase from 0 to at most {len(indices)}, the number of indices",
        )
    _check_range(indices[: indptr[-1]], n_inner, "column" if by_rows else "row", name)


def _check_lists(matrix: Any, name: str) -> None:
    lengths = [len(row) for row in matrix.rows]
    if len(lengths) != matrix.shape[0] or lengths != [len(row) for row in matrix.data]:
        raise _malformed(name, "rows with different numbers of columns and values")


def _check_range(indices: np.ndarray, size: int, axis: str, name: str) -> None:
    if indices.dtype.kind not in "iu":
        raise _malformed(name, f"{axis} indices of dtype {indices.dtype}")
    if not indices.size:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        raise _malformed(
            name, f"the {axis} index {low if low < 0 else high}, but there are {size} {axis}s"
        )


def _malformed(name: str, what: str) -> ValueError:
    return InvalidValueError(f"{name} is a malformed sparse matrix: it has {what}; {REMEDY}")
