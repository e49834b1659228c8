"""First pass over the blocks of an input: checks, extent, digest and a sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._core.array_checks import as_floats, real_array
from vicinal.exceptions import InvalidValueError
from vicinal.scale._cell_kernels import choose_rows, digest_rows
from vicinal.scale._cells import column_range


class Scan(NamedTuple):
    """What one block, or all of them, contain.

    Attributes
    ----------
    low, high : ndarray (D,)
        Range of each column.
    digest : int
        Sum of the hashes of all rows, which does not depend on the blocks.
    zero_row : int
        First row of zeros, or -1.
    n_invalid : int
        Number of values that are NaN or infinite.
    invalid : tuple of int
        Row and column of the first of them.
    rows, sample : ndarray
        Sampled rows and their points.
    """

    low: np.ndarray
    high: np.ndarray
    digest: int
    zero_row: int
    n_invalid: int
    invalid: tuple[int, int]
    rows: np.ndarray
    sample: np.ndarray


def as_points(block: Any) -> np.ndarray:
    """A block of rows as C-contiguous float32 if it is single precision, otherwise float64."""
    array = real_array(block, "a chunk of X")
    if array.ndim != 2:
        raise InvalidValueError(
            f"a chunk of X has shape {array.shape}, but rows of points are needed."
        )
    return as_floats(array, np.float32 if array.dtype == np.float32 else np.float64)


def scan_block(block: Any, first: int, stride: int) -> Scan:
    """Scan rows that start at ``first``, and sample about one row in ``stride``."""
    points = as_points(block)
    finite = np.isfinite(points)
    n_invalid = int(points.size - np.count_nonzero(finite))
    position = (0, 0)
    if n_invalid:
        i, j = np.argwhere(~finite)[0]
        position = first + int(i), int(j)
    bits = points.view(np.uint32 if points.dtype == np.float32 else np.uint64)
    chosen = np.zeros(len(points), np.bool_)
    choose_rows(first, stride, chosen)
    zero = np.flatnonzero(~points.any(axis=1))
    return Scan(
        *column_range(points),
        int(digest_rows(bits, first)),
        first + int(zero[0]) if len(zero) else -1,
        n_invalid,
        position,
        first + np.flatnonzero(chosen),
        points[chosen],
    )


def combine(scans: list[Scan]) -> Scan:
    """The scan of all blocks together."""
    invalid = next((scan.invalid for scan in scans if scan.n_invalid), (0, 0))
    return Scan(
        np.min([scan.low for scan in scans], axis=0),
        np.max([scan.high for scan in scans], axis=0),
        sum(scan.digest for scan in scans) % 2**64,
        next((scan.zero_row for scan in scans if scan.zero_row >= 0), -1),
        sum(scan.n_invalid for scan in scans),
        invalid,
        np.concatenate([scan.rows for scan in scans]),
        np.concatenate([scan.sample for scan in scans]),
    )


def check_all_finite(scan: Scan, chunk_starts: np.ndarray) -> None:
    """Reject NaN and infinite values, naming the chunk and the row of the first one."""
    if not scan.n_invalid:
        return
    row, column = scan.invalid
    chunk = int(np.searchsorted(chunk_starts, row, side="right")) - 1
    raise InvalidValueError(
        f"X contains {scan.n_invalid} value(s) that are NaN or infinite, the first at [{row}, {column}], "
        f"which is row {row - int(chunk_starts[chunk])} of chunk {chunk}; impute them, or drop their rows."
    )


def check_no_zero_rows(scan: Scan) -> None:
    """Reject rows of zeros, which have no cosine distances."""
    if scan.zero_row >= 0:
        raise InvalidValueError(
            f"metric='cosine', but row {scan.zero_row} of X is a zero vector, which has no direction; drop "
            "such rows or use metric='euclidean'."
        )
