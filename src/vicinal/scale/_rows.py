"""Statistics of all rows of a dask array, computed block by block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from vicinal._core.affine_rescaling import AffineRescaling, rescaling_of, typical_rows
from vicinal._core.array_checks import check_extent
from vicinal._core.chunked import ChunkedRows
from vicinal.scale._engine import current_engine
from vicinal.scale._scan import as_points, check_all_finite, combine, scan_block
from vicinal.scale.stored_points import block_sizes, check_array, starts_of


class CheckedRows:
    """Finite rows of a dask array, and functions of all of them.

    Parameters
    ----------
    rows : ChunkedRows
        The rows.
    n_jobs : int or None
        Number of threads, if there is no cluster.
    """

    def __init__(self, rows: ChunkedRows) -> None:
        check_array(rows.array)
        self.blocks = rows.array.rechunk({0: block_sizes(rows.array), 1: -1})
        self.engine = current_engine()
        starts = starts_of(self.blocks.chunks[0])
        tasks = [(int(start), len(rows)) for start in starts[:-1]]
        scan = combine(self.engine.run_on_blocks(scan_block, self.blocks, tasks, "reading X"))
        check_all_finite(scan, starts_of(rows.chunks))
        self.extent = np.stack([scan.low, scan.high])
        check_extent(self.extent, "X")

    def __len__(self) -> int:
        return len(self.blocks)

    def map(self, function: Callable[[np.ndarray], np.ndarray], title: str) -> np.ndarray:
        """Results of a function of each block, joined in memory."""
        tasks = [(function,)] * self.blocks.numblocks[0]
        return np.concatenate(self.engine.run_on_blocks(_apply, self.blocks, tasks, title))

    def rescaling(self) -> AffineRescaling:
        """The rescaling of `fit_rescaling`."""
        return rescaling_of(self._load(typical_rows(len(self))), self.extent)

    def rows_at_ranks(self, ranks: np.ndarray) -> np.ndarray:
        """Rows with these numbers in the lexicographic order of all rows.

        One column is in memory at a time, and the second only if the first has ties.
        """
        n, n_columns = self.blocks.shape
        order = np.arange(n)
        # Rows of a segment are equal in all columns so far.
        starts, stops = np.zeros(1, np.int64), np.full(1, n)
        for c in range(n_columns):
            column = self.map(partial(_column, c=c), "sorting X")
            new_starts, new_stops = [starts[:0]], [stops[:0]]
            for a, b in zip(starts.tolist(), stops.tolist(), strict=True):
                part = order[a:b]
                part = order[a:b] = part[np.argsort(column[part], kind="stable")]
                cuts = np.flatnonzero(np.diff(column[part])) + 1 + a
                new_starts.append(np.concatenate([[a], cuts]))
                new_stops.append(np.concatenate([cuts, [b]]))
            starts, stops = np.concatenate(new_starts), np.concatenate(new_stops)
            segment = np.searchsorted(starts, ranks.ravel(), side="right") - 1
            asked = np.unique(segment[(segment >= 0) & (ranks.ravel() < stops[segment])])
            asked = asked[stops[asked] - starts[asked] > 1]
            if not len(asked):
                break
            starts, stops = starts[asked], stops[asked]
        chosen, inverse = np.unique(order[ranks.ravel()], return_inverse=True)
        return self._load(chosen)[inverse.ravel()].reshape(*ranks.shape, n_columns)

    def _load(self, rows: np.ndarray) -> np.ndarray:
        """Some rows, ascending."""
        starts = starts_of(self.blocks.chunks[0])
        cuts = np.searchsorted(rows, starts)
        tasks = [
            (rows[cuts[i] : cuts[i + 1]] - starts[i],) for i in range(self.blocks.numblocks[0])
        ]
        return np.concatenate(self.engine.run_on_blocks(_take, self.blocks, tasks, "sample of X"))


def _column(block: np.ndarray, c: int) -> np.ndarray:
    return block[:, c]


def _apply(block: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return function(as_points(block).astype(np.float64, copy=False))


def _take(block: Any, rows: np.ndarray) -> np.ndarray:
    return as_points(block)[rows].astype(np.float64)
