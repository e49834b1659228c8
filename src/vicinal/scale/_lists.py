"""Exact neighbour lists by cells: the same bits as a search in memory.

The lists of a cell start from its own points. Other cells follow, the nearest first, and are searched for
those points only whose list they may improve, by bounds on the distance to a box and to the planes between
the two cells. Lists are merged by (cost, row), the order of every exact search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.neighbors._brute_kernels import measure_lists
from vicinal.neighbors._exact import Points
from vicinal.neighbors._kdtree import kernel_kind, nearest_in_tree_order
from vicinal.scale._cell_kernels import (
    find_open,
    find_queries,
    merge_lists,
    next_cell,
    search_tree,
)
from vicinal.scale._engine import Engine
from vicinal.scale._layout import Cells, cell_name, load_rows
from vicinal.scale._surroundings import ranges_beyond, surroundings


class Lists(NamedTuple):
    """Neighbours of some points: rows and costs, sorted by (cost, row); -1 and inf where there are none."""

    rows: np.ndarray
    costs: np.ndarray


def fill_lists(cells: Cells, k: int, engine: Engine) -> int:
    """Compute lists of k neighbours unless the store has these or longer ones; returns their length."""
    if k == 0:
        return 0
    store = cells.store
    known = store.load("list-lengths").tolist() if store.is_whole("list-lengths") else []
    length = min((length for length in known if length >= k), default=k)
    if length not in known or not _are_whole(cells, length):
        list_cells(cells, length, engine, 1.0, str(length))
    if length not in known:
        store.save("list-lengths", [*known, length])
    return length


def _are_whole(cells: Cells, length: int) -> bool:
    """Whether no list is missing or damaged; remote storage verifies its files itself."""
    return cells.store.local_folder is None or all(
        cells.store.is_whole(*_list_names(cell, length)) for cell in range(len(cells))
    )


def list_cells(cells: Cells, k: int, engine: Engine, reach: float, label: str) -> None:
    """Write the lists of all cells under a label, approximate ones if the reach is below 1."""
    # The largest cells first, so that no worker is left with one of them at the end.
    order = np.argsort(-cells.index.sizes, kind="stable").tolist()
    engine.run(_list_cell, [(cells, cell, k, reach, label) for cell in order], "neighbours")


def load_lists(
    cells: Cells, cell: int, length: int | str, first: int = 0, last: int | None = None
) -> Lists:
    """Lists of some points of a cell."""
    rows, costs = _list_names(cell, length)
    return Lists(
        load_rows(cells.store, rows, cells.n_points, first, last, low=-1),
        cells.store.load(costs, first, last),
    )


def _list_names(cell: int, length: int | str) -> list[str]:
    return [cell_name(cell, f"lists-{length}-{what}") for what in Lists._fields]


def _list_cell(cells: Cells, cell: int, k: int, reach: float, label: str) -> None:
    """Task: write the lists of a cell."""
    names = _list_names(cell, label)
    if cells.store.is_whole(*names):
        return
    rows, costs = neighbors_in_cell(cells, cell, k, reach)
    index = np.int32 if cells.n_points < 2**31 else np.int64
    cells.store.save(names[0], rows.astype(index))
    cells.store.save(names[1], costs)


def neighbors_in_cell(cells: Cells, cell: int, k: int, reach: float = 1.0) -> Lists:
    """The k nearest other points of each point of a cell; approximately if the reach is below 1."""
    rows, own = cells.rows(cell), cells.searchable(cell)
    lists = _empty_lists(len(rows), k)
    width, order = min(k, len(rows) - 1), None
    if width > 0:
        ids, lists.costs[:, :width] = _others(own, width)
        lists.rows[:, :width] = rows[ids]
        order = own.tree.order if own.tree_is_faster(width) else None
    _improve(cells, own.X, lists, cell, reach, order)
    return lists


def neighbors_of_queries(cells: Cells, queries: np.ndarray, k: int, reach: float = 1.0) -> Lists:
    """The k stored points nearest to each query, which is in the unit of the store."""
    lists = _empty_lists(len(queries), k)
    home = cells.tree.cells_of(queries, 0)
    for cell in np.unique(home).tolist():
        members = np.flatnonzero(home == cell)
        points, part = queries[members], _empty_lists(len(members), k)
        if cells.index.sizes[cell]:
            _search_cell(cells, cell, points, np.arange(len(members)), part)
        _improve(cells, points, part, cell, reach)
        lists.rows[members], lists.costs[members] = part
    return lists


def cells_asked(cells: Cells, cell: int, positions: np.ndarray, k: int) -> np.ndarray:
    """How many of some points of a cell search each cell, estimated from their neighbours in their own."""
    own, asked = cells.searchable(cell), np.zeros(len(cells), np.int64)
    points = own.X[positions]
    lists = _empty_lists(len(points), 1)
    if k > 0:
        found = own.prepared_to(points, min(len(own), k + 1))
        lists.costs[:, 0] = _costs(points, own, *found)[:, -1]
    around, index, p = surroundings(cells, points, cell), cells.index, cells.power
    buffer = np.empty(len(points), np.int64)
    for other in around.order.tolist():
        asked[other] = find_queries(points, around, index, other, *lists, 1.0, p, buffer)
    asked[cell] = len(points)
    return asked


def _improve(
    cells: Cells,
    points: np.ndarray,
    lists: Lists,
    home: int,
    reach: float,
    order: np.ndarray | None = None,
) -> None:
    """Search the other cells that may improve the lists of points in the region of a cell.

    With a reach below 1, only those that may improve them by so much. ``order`` is one in which successive
    points are near each other, and find much of what they read in the cache of the processor.
    """
    if not len(points):
        return
    around, index, p = surroundings(cells, points, home), cells.index, cells.power
    shrink = reach**p
    is_open = np.empty(len(points), np.bool_)
    beyond = ranges_beyond(index, home, around.n_shared)
    find_open(around, beyond, lists.costs, shrink, p, is_open)
    open_points = np.flatnonzero(is_open) if order is None else order[is_open[order]]
    # Few points are open: copies of them are read faster than parts of all points.
    points, part = points[open_points], Lists(lists.rows[open_points], lists.costs[open_points])
    others = around.order != home
    around = around._replace(
        order=around.order[others],
        bounds=around.bounds[others],
        coords=around.coords[open_points],
    )
    queries = np.empty(len(points), np.int64)
    at, count = next_cell(0, points, around, index, *part, shrink, p, queries)
    while count:
        _search_cell(cells, int(around.order[at]), points, queries[:count], part)
        at, count = next_cell(at + 1, points, around, index, *part, shrink, p, queries)
    lists.rows[open_points], lists.costs[open_points] = part


def _search_cell(
    cells: Cells, cell: int, points: np.ndarray, queries: np.ndarray, lists: Lists
) -> None:
    """Improve the lists of some points by the points of a cell."""
    other, other_rows = cells.searchable(cell), cells.rows(cell)
    k = min(lists.rows.shape[1], len(other))
    if other.tree_is_faster(k):
        kind = kernel_kind(other.tree, other.p)
        search_tree(other.tree, kind, points, queries, other_rows, lists.rows, lists.costs)
        return
    asking = points[queries]
    found = other.prepared_to(asking, k)
    rows, costs = other_rows[found[0]], _costs(asking, other, *found)
    merge_lists(queries, rows, costs, lists.rows, lists.costs)


def _others(own: Points, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other points of each point of a cell, and their costs."""
    if not own.tree_is_faster(k):
        ids, lengths = own.prepared_others(k)
        return ids, _costs(own.X, own, ids, lengths)
    ids, costs = np.empty((len(own), k), np.int64), np.empty((len(own), k))
    nearest_in_tree_order(own.tree, ids, costs, p=own.p, original=True)
    return ids, costs


def _costs(queries: np.ndarray, other: Points, ids: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Costs of the listed points: Manhattan distances, or squares before they are rooted and rounded."""
    if other.p == 1:
        return lengths
    costs = np.empty(ids.shape)
    measure_lists(queries, other.X, 0, ids, costs)
    return costs


def _empty_lists(n: int, k: int) -> Lists:
    return Lists(np.full((n, k), -1, np.int64), np.full((n, k), np.inf))
