"""The nearest points of other components, for some points of a cell: the task of a round of a spanning tree.

Other cells are searched, the nearest first, for those points only that may find a better edge for their
component there. Costs and ties are those of the search in memory, so the spanning tree is the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vicinal.graphs._build._boruvka_kernels import ExcludedEdges
from vicinal.graphs._build._nearest_foreign_kernels import mark_uniform_nodes
from vicinal.graphs._build.boruvka import new_forest
from vicinal.graphs._build.nearest_foreign import ForeignNeighborProducts
from vicinal.neighbors._exact import Points
from vicinal.neighbors._kdtree import kernel_kind, tree_offsets
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, KDTree, Offsets
from vicinal.scale._foreign_kernels import finish_searches, next_foreign_cell, search_foreign
from vicinal.scale._layout import Cells, cell_name
from vicinal.scale._surroundings import surroundings
from vicinal.scale.store import Store

NO_ROW = np.iinfo(np.int64).max
# Cells whose components and rows a process keeps, about 400 kB and 300 kB each.
KEPT_CELLS = 64


class Queries(NamedTuple):
    """Points that search, and the best edge of each so far.

    Attributes
    ----------
    points : ndarray (n, D), float64
        The points.
    offsets : ndarray (n,)
        Their offsets; empty if there are none.
    labels : ndarray (n,)
        Component of each point.
    groups : ndarray (n,)
        The same components, numbered from 0.
    best : ndarray (n_groups,)
        Least known cost of an edge that leaves each component.
    positions, rows, costs : ndarray (n,)
        Nearest foreign point within the bounds: position among the points of all cells, row, and cost.
    skipped : ndarray (n,)
        Least cost of the foreign points that were not looked at.
    leaves : ndarray (n,)
        Leaf of each point in the k-d tree of its cell, ascending; all 0 without trees.
    """

    points: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    best: np.ndarray
    positions: np.ndarray
    rows: np.ndarray
    costs: np.ndarray
    skipped: np.ndarray
    leaves: np.ndarray


class Round(NamedTuple):
    """Files of one search of a round: what the driver tells the tasks of all cells.

    Attributes
    ----------
    store : Store
        Their folder.
    number : int
        Number of the round.
    search : int
        Number of the search, of which a round has one or two.
    starts : ndarray (n_cells + 1,)
        Position of the first point of each cell.
    has_exclusions : bool
        Whether some edges may not be used.
    use_trees : bool
        Whether to search by k-d trees, rather than by matrix products.
    scale : float
        Factor of squared distances, if there are offsets.
    least : ndarray (n_cells,)
        Smallest offset in each cell; empty if there are no offsets.
    """

    store: Store
    number: int
    search: int
    starts: np.ndarray
    has_exclusions: bool
    use_trees: bool
    scale: float
    least: np.ndarray

    def name(self, what: str) -> str:
        """Name of an array of this search; a delayed task of an earlier one cannot disturb it."""
        return f"{what}-{self.search:06d}"

    def result_name(self, first: int) -> str:
        """Name of the results of the task whose first open point has this number."""
        return self.name(f"nearest-{first:012d}")

    def components(self, cell: int) -> np.ndarray:
        """Component of each point of a cell."""
        first, last = int(self.starts[cell]), int(self.starts[cell + 1])
        return self.store.load(component_name(self.number), first, last)

    def offsets(self, cell: int) -> np.ndarray:
        """Offset of each point of a cell; empty if there are none."""
        if not len(self.least):
            return np.empty(0)
        return self.store.load("offsets", int(self.starts[cell]), int(self.starts[cell + 1]))

    def excluded(self, positions: np.ndarray) -> ExcludedEdges:
        """Positions that points may not be joined to."""
        if not self.has_exclusions:
            return ExcludedEdges(np.zeros(0, np.int64), np.zeros(0, np.int64))
        indptr = self.store.load("excluded-indptr")
        spans = np.stack([indptr[positions], indptr[positions + 1]], axis=1).tolist()
        known = self.store.load("excluded-indices")
        parts = [known[a:b] for a, b in spans]
        lengths = [b - a for a, b in spans]
        return ExcludedEdges(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([*parts, np.zeros(0, np.int64)]).astype(np.int64),
        )


def search_from_cells(cells: Cells, parts: list[tuple[int, int, int]], at: Round) -> None:
    """Task: find the nearest foreign points of the open points first ... last - 1 of consecutive cells.

    ``parts`` are the cells, each with its first and last point.
    """
    results = [_search_from_cell(cells, cell, at, *span) for cell, *span in parts]
    at.store.save(at.result_name(parts[0][1]), np.concatenate(results, axis=1))


def _search_from_cell(cells: Cells, cell: int, at: Round, first: int, last: int) -> np.ndarray:
    """Nearest foreign points of some open points of a cell, as rows of positions and costs."""
    positions = at.store.load(at.name("open"), first, last)
    order, leaves = _by_leaves(cells, cell, positions - at.starts[cell], at.use_trees)
    positions = positions[order]
    local = positions - at.starts[cell]
    labels = at.components(cell)[local]
    _, group_start, groups = np.unique(labels, return_index=True, return_inverse=True)
    n = len(positions)
    queries = Queries(
        cells.points(cell)[local].astype(np.float64),
        at.offsets(cell)[local] if len(at.least) else np.empty(0),
        labels,
        groups,
        at.store.load(at.name("best"), first, last)[order][group_start],
        np.full(n, -1, np.int64),
        np.full(n, NO_ROW),
        np.full(n, np.inf),
        np.full(n, np.inf),
        leaves,
    )
    _search_cells(cells, cell, at, queries, at.excluded(positions))
    finish_searches(queries)
    results = np.empty((2, n))
    results[:, order] = queries.positions, queries.costs
    return results


def _by_leaves(
    cells: Cells, cell: int, local: np.ndarray, use_trees: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Order of some points of a cell along its k-d tree, and the leaf of each in this order."""
    if not use_trees:
        return np.arange(len(local)), np.zeros(len(local), np.int64)
    tree = cells.searchable(cell).tree
    position = np.empty(len(tree.order), np.int64)
    position[tree.order] = np.arange(len(position))
    order = np.argsort(position[local], kind="stable")
    starts = tree.bounds[tree.n_leaves - 1 :, 0]
    return order, np.searchsorted(starts, position[local][order], side="right")


def _search_cells(
    cells: Cells, home: int, at: Round, queries: Queries, excluded: ExcludedEdges
) -> None:
    around, index, p = surroundings(cells, queries.points, home), cells.index, cells.power
    if len(at.least):
        bounds = at.scale * around.bounds + (queries.offsets.min() + at.least[around.order])
        by_bound = np.argsort(bounds, kind="stable")
        around = around._replace(order=around.order[by_bound], bounds=bounds[by_bound])
    asking, options = np.empty(len(queries.points), np.int64), (at.least, at.scale, p)
    position, count = next_foreign_cell(0, around, index, queries, *options, asking)
    while count:
        cell = int(around.order[position])
        _search_cell(cells, cell, at, queries, asking[:count], excluded)
        position, count = next_foreign_cell(position + 1, around, index, queries, *options, asking)


class CellComponents:
    """Components of the points of a cell in one round.

    Attributes
    ----------
    of_points : ndarray (n,)
        In the order of the cell.
    common : int
        The component of all points, or -1 if they differ.
    """

    def __init__(self, of_points: np.ndarray) -> None:
        self.of_points = of_points
        first = of_points[0]
        is_common = first == of_points[-1] and (of_points == first).all()
        self.common = int(first) if is_common else -1
        self._in_tree: tuple[np.ndarray, np.ndarray] | None = None

    def in_tree(self, tree: KDTree) -> tuple[np.ndarray, np.ndarray]:
        """Components in the order of the cell's k-d tree, and of its nodes (-1 where they differ)."""
        if self._in_tree is None:
            ordered, uniform = self.of_points[tree.order], np.empty(len(tree.bounds), np.int64)
            mark_uniform_nodes(tree, ordered, uniform)
            self._in_tree = ordered, uniform
        return self._in_tree


@lru_cache(maxsize=KEPT_CELLS)
def _components_of_cell(path: str, number: int, first: int, last: int) -> CellComponents:
    # The tasks of a round ask the same cells. Copied, because each map of a part of a file takes more memory.
    return CellComponents(np.array(Store(path).load(component_name(number), first, last)))


@lru_cache(maxsize=KEPT_CELLS)
def _rows_of_cell(path: str, cell: int) -> np.ndarray:
    # The rows of a cell never change, and tasks ask the same cells in every round.
    return np.array(Store(path).load(cell_name(cell, "rows")))


def component_name(number: int) -> str:
    """Name of the components of all points in a round."""
    return f"component-{number:06d}"


def _search_cell(
    cells: Cells,
    cell: int,
    at: Round,
    queries: Queries,
    asking: np.ndarray,
    excluded: ExcludedEdges,
) -> None:
    path, first, last = at.store.path, int(at.starts[cell]), int(at.starts[cell + 1])
    labels = _components_of_cell(path, at.number, first, last)
    if labels.common >= 0:
        asking = asking[queries.labels[asking] != labels.common]
        if not len(asking):
            return
    other, rows = cells.searchable(cell), _rows_of_cell(cells.store.path, cell)
    own_offsets = at.offsets(cell)
    if not at.use_trees:
        offsets = NO_OFFSETS
        if len(own_offsets):
            joined = np.concatenate([own_offsets, queries.offsets[asking]])
            offsets = Offsets(at.scale, joined, np.array([joined.min()]))
        _search_by_products(
            other, offsets, labels.of_points, rows, first, queries, asking, excluded
        )
        return
    tree = other.tree
    ordered, uniform = labels.in_tree(tree)
    offsets = tree_offsets(tree, at.scale, own_offsets) if len(own_offsets) else NO_OFFSETS
    kind = kernel_kind(tree, other.p, offsets)
    search_foreign(tree, kind, offsets, ordered, uniform, rows, first, asking, queries, excluded)


def _search_by_products(
    other: Points,
    offsets: Offsets,
    labels: np.ndarray,
    rows: np.ndarray,
    first: int,
    queries: Queries,
    asking: np.ndarray,
    excluded: ExcludedEdges,
) -> None:
    """`search_foreign` where a k-d tree would visit most points."""
    n, m = len(other), len(asking)
    points = np.concatenate([other.X.astype(np.float64), queries.points[asking]])
    # Ascending rows, as the search breaks ties by position.
    forest = new_forest(n + m, np.concatenate([labels, queries.labels[asking]]))
    limits = np.nextafter(np.minimum(queries.best[queries.groups], queries.costs)[asking], np.inf)
    forest.lower_bound[n:] = limits
    forbidden = _local_exclusions(excluded, asking, first, n)
    ForeignNeighborProducts(points, 0, offsets=offsets).search_among(
        n, np.arange(n, n + m), forest, forbidden
    )
    found, costs = forest.nearest[n:].astype(np.int64), forest.lower_bound[n:]
    # Nothing within the limit was found, so that everything in the cell costs more.
    missed = asking[found < 0]
    queries.skipped[missed] = np.minimum(queries.skipped[missed], limits[found < 0])
    asking, costs, found = asking[found >= 0], costs[found >= 0], found[found >= 0]
    better = (costs < queries.costs[asking]) | (rows[found] < queries.rows[asking])
    asking, costs, found = asking[better], costs[better], found[better]
    queries.positions[asking], queries.rows[asking] = first + found, rows[found]
    queries.costs[asking] = costs
    np.minimum.at(queries.best, queries.groups[asking], costs)


def _local_exclusions(
    excluded: ExcludedEdges, asking: np.ndarray, first: int, n: int
) -> ExcludedEdges:
    """Exclusions of n points of a cell, which have none here, followed by asking queries."""
    if not len(excluded.indptr):
        return excluded
    spans = [(int(excluded.indptr[q]), int(excluded.indptr[q + 1])) for q in asking]
    lists = [excluded.indices[a:b] - first for a, b in spans]
    lists = [targets[(targets >= 0) & (targets < n)] for targets in lists]
    counts = np.concatenate([np.zeros(n + 1, np.int64), [len(targets) for targets in lists]])
    return ExcludedEdges(np.cumsum(counts), np.concatenate(lists))
