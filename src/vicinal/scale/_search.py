"""Nearest neighbours of a dask array, behind the interface of `NeighborSearch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.large import forget, large
from vicinal._core.options import seed_from
from vicinal._core.parallel import blocks, serial
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.neighbor_lists import SortedLists
from vicinal.graphs._entries import index_dtype
from vicinal.neighbors.metric import Metric
from vicinal.scale._approximate import fill_approximate, fill_exact
from vicinal.scale._engine import current_engine
from vicinal.scale._layout import Cells
from vicinal.scale._lists import load_lists, neighbors_of_queries
from vicinal.scale.stored_points import store_points

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike

# Queries that are searched at a time.
QUERIES_PER_BLOCK = 1 << 14
# Entries of lists that are gathered at a time.
ENTRIES_PER_BLOCK = 1 << 22


class StoredSearch:
    """Search among stored points; the lists of all of them may be approximate."""

    method = "cells"

    def __init__(
        self,
        X: Any,
        metric: Metric,
        method: str,
        recall: float,
        random_state: RandomStateLike,
    ) -> None:
        self.is_approximate, self.target_recall, self.recall = method == "approximate", recall, 1.0
        self.seed = seed_from(random_state) if self.is_approximate else 0
        self.X = store_points(X, metric.name)

    def __len__(self) -> int:
        return len(self.X)

    def sorted_lists(self, k: int) -> SortedLists:
        """The k nearest neighbours of every point in memory, sorted by index, with their distances."""
        cells, length, n = self.X.cells, self._fill(k), len(self)
        neighbors, lengths = large((n, k), index_dtype(n, n)), large((n, k), np.float64)
        # In the order of rows, because the arrays may be in files.
        for a, b in blocks(n, max(1, ENTRIES_PER_BLOCK // k)):
            for cell, start, stop, rows in parts_of_rows(cells, a, b):
                lists = load_lists(cells, cell, length, start, stop)
                order = np.argsort(lists.rows[:, :k], axis=1)
                neighbors[a + rows] = np.take_along_axis(lists.rows, order, axis=1)
                lengths[a + rows] = cells.lengths(np.take_along_axis(lists.costs, order, axis=1))
            forget(neighbors[a:b], lengths[a:b])
        return SortedLists(neighbors, lengths, np.full(n, k))

    def lists(self, k: int) -> tuple[Any, Any]:
        """The k nearest neighbours of every point, itself first, as dask arrays in the chunks of X."""
        cells, length = self.X.cells, self._fill(k)
        indices, distances = (
            by_chunks(read, self.X.chunks, dtype, (cells, length, k), k + 1)
            for read, dtype in ((read_indices, np.int64), (read_distances, np.float64))
        )
        return indices, distances

    def nearest_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query."""
        return nearest_stored(self.X.cells, queries, k)

    def nearest_to_chunks(self, queries: Any, k: int) -> tuple[Any, Any]:
        """The k points nearest to each row of a dask array, as dask arrays in its chunks."""
        if queries.ndim != 2 or queries.shape[1] != self.X.shape[1]:
            raise InvalidValueError(
                f"queries have shape {queries.shape}, but the points of the search have "
                f"{self.X.shape[1]} feature(s); pass queries with the same features."
            )
        queries = getattr(queries, "array", queries).rechunk({1: -1})
        options = {"chunks": (queries.chunks[0], (k,)), "cells": self.X.cells, "k": k}
        indices, distances = (
            queries.map_blocks(_nearest_part, part=part, dtype=dtype, **options)
            for part, dtype in ((0, np.int64), (1, np.float64))
        )
        return indices, distances

    def within(self, *args: Any) -> NoReturn:
        """Rejected: the number of neighbours within a radius is not bounded."""
        raise InvalidTypeError(
            "X is a dask Array, for which only nearest neighbours are found, not all points within a "
            "radius; pass X.compute() if it fits into memory."
        )

    def _fill(self, k: int) -> int | str:
        engine, cells = current_engine(), self.X.cells
        self.recall = 1.0
        if self.is_approximate:
            lists = fill_approximate(cells, k, self.target_recall, self.seed, engine)
            if lists is not None:
                self.recall = lists.recall
                return lists.label
        return fill_exact(cells, k, engine.n_workers, engine)


def nearest_stored(cells: Cells, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k stored points nearest to each query: rows and distances."""
    prepared = cells.prepare(queries, "queries")
    rows, costs = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
    for a, b in blocks(len(queries), QUERIES_PER_BLOCK):
        rows[a:b], costs[a:b] = neighbors_of_queries(cells, prepared[a:b], k)
    return rows, cells.lengths(costs)


def _nearest_part(block: np.ndarray, cells: Cells, k: int, part: int) -> np.ndarray:
    queries = check_points(block, name="queries", dtype=None)
    return serial(nearest_stored)(cells, queries, k)[part]


def read_indices(cells: Cells, length: int | str, k: int, first: int, last: int) -> np.ndarray:
    """Neighbours of a range of rows, themselves first."""
    found = np.empty((last - first, k + 1), np.int64)
    found[:, 0] = np.arange(first, last)
    for cell, start, stop, rows in parts_of_rows(cells, first, last):
        found[rows, 1:] = load_lists(cells, cell, length, start, stop).rows[:, :k]
    return found


def read_distances(cells: Cells, length: int | str, k: int, first: int, last: int) -> np.ndarray:
    """Distances of the neighbours of a range of rows."""
    costs = np.zeros((last - first, k + 1))
    for cell, start, stop, rows in parts_of_rows(cells, first, last):
        costs[rows, 1:] = load_lists(cells, cell, length, start, stop).costs[:, :k]
    return cells.lengths(costs)


def parts_of_rows(cells: Cells, first: int, last: int) -> Any:
    """Cells with points in a range of rows: the part of the cell, and its rows relative to the first."""
    for cell in range(len(cells)):
        rows = cells.rows(cell)
        start, stop = np.searchsorted(rows, [first, last]).tolist()
        if start < stop:
            yield cell, start, stop, rows[start:stop] - first


def by_chunks(
    read: Callable[..., np.ndarray],
    chunks: tuple[int, ...],
    dtype: Any,
    arguments: tuple[Any, ...],
    n_columns: int,
) -> Any:
    """A dask array whose chunks are read when they are needed."""
    import dask.array as da
    from dask import delayed

    ends = np.cumsum(chunks).tolist()
    parts = [
        da.from_delayed(
            delayed(serial(read))(*arguments, end - size, end), shape=(size, n_columns), dtype=dtype
        )
        for size, end in zip(chunks, ends, strict=True)
    ]
    return da.concatenate(parts)
