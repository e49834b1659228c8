"""Contextual distances of a dask array: local, given the neighbour lists.

The task of a cell loads the points of its contexts, most of which are its own, and calls the function that
computes contextual distances in memory.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.scalar_checks import check_count
from vicinal.graphs._contributions import distances_in_contexts
from vicinal.scale._engine import current_engine
from vicinal.scale._layout import Cells, cell_name
from vicinal.scale._lists import fill_lists, load_lists
from vicinal.scale._search import by_chunks, parts_of_rows, read_indices
from vicinal.scale.stored_points import store_points

if TYPE_CHECKING:
    from vicinal._core.types import DescriptorLike


def contextual_distance(
    X: Any,
    n_neighbors: int,
    descriptor: DescriptorLike,
    epsilon: float | None,
) -> tuple[Any, Any]:
    """Contexts and contextual distances as dask arrays in the chunks of X."""
    points = store_points(X, "euclidean")
    cells, n = points.cells, len(points)
    k = check_count(n_neighbors, "n_neighbors", high=n - 1, remedy=f"X has {n} point(s).")
    engine = current_engine()
    length = fill_lists(cells, k, engine)
    name = _name(k, descriptor, epsilon)
    tasks = [(cells, cell, length, k, descriptor, epsilon, name) for cell in range(len(cells))]
    engine.run(_measure_cell, tasks, "contextual distances")
    indices = by_chunks(read_indices, points.chunks, np.int64, (cells, length, k), k + 1)
    distances = by_chunks(_read, points.chunks, np.float64, (cells, name, k), k + 1)
    return indices, distances


def _name(k: int, descriptor: DescriptorLike, epsilon: float | None) -> str:
    # What a function computes is not known, so its results are not reused.
    key = (k, uuid.uuid4().hex if callable(descriptor) else descriptor, epsilon)
    return f"contexts-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"


def _measure_cell(
    cells: Cells,
    cell: int,
    length: int,
    k: int,
    descriptor: DescriptorLike,
    epsilon: float | None,
    name: str,
) -> None:
    """Task: contextual distances in the contexts of the points of a cell."""
    target = cell_name(cell, name)
    if cells.store.is_whole(target):
        return
    contexts = np.column_stack([cells.rows(cell), load_lists(cells, cell, length).rows[:, :k]])
    distances = np.empty(contexts.shape)
    if len(contexts):
        rows, local = np.unique(contexts, return_inverse=True)
        data = load_rows(cells, rows, cell)
        local = np.ascontiguousarray(local.reshape(contexts.shape))
        distances = distances_in_contexts(data, local, descriptor, epsilon=epsilon)
    cells.store.save(target, distances)


def load_rows(cells: Cells, rows: np.ndarray, home: int) -> np.ndarray:
    """Points of ascending rows in the unit of X; most of them are in the cell ``home``.

    A last point, which is in no context, has the largest coordinates of all points: it tells the magnitude of
    the data.
    """
    index = cells.index
    data = np.empty((len(rows) + 1, index.low.shape[1]))
    full = index.sizes > 0
    data[-1] = np.maximum(np.abs(index.low[full]), np.abs(index.high[full])).max(axis=0)
    missing = np.arange(len(rows))
    others = [cell for cell in range(len(cells)) if cell != home]
    for cell in [home, *others]:
        known = cells.rows(cell)
        if not len(missing) or not len(known):
            continue
        at = np.minimum(np.searchsorted(known, rows[missing]), len(known) - 1)
        found = known[at] == rows[missing]
        data[missing[found]] = cells.points(cell)[at[found]]
        missing = missing[~found]
    return data / cells.factor


def _read(cells: Cells, name: str, k: int, first: int, last: int) -> np.ndarray:
    """Contextual distances of a range of rows."""
    distances = np.empty((last - first, k + 1))
    for cell, start, stop, rows in parts_of_rows(cells, first, last):
        distances[rows] = cells.store.load(cell_name(cell, name), start, stop)
    return distances
