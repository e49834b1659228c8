"""Spanning trees of a dask array: Borůvka's algorithm in memory, with a search by cells.

The state of the forest is in memory, about 130 bytes per point. In each round, the points that may have the
cheapest edge of their component search, in a few tasks per worker.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from vicinal._core.large import forget, large
from vicinal._core.memory import require_memory
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest
from vicinal.graphs._build._nearest_foreign_kernels import points_to_search
from vicinal.graphs._build.boruvka import spanning_edges
from vicinal.graphs._build.nearest_foreign import first_of_each
from vicinal.graphs._build.spanning_trees import successive_trees
from vicinal.graphs._build.tree_duplicates import Edges
from vicinal.scale._engine import Engine, current_engine, group_items
from vicinal.scale._foreign import Round, component_name, search_from_cells
from vicinal.scale._layout import Cells
from vicinal.scale._lists import fill_lists, load_lists
from vicinal.scale.stored_points import StoredPoints

# The first points of each component search first if there are at least this many open points per component.
SCOUTS = 64
# Forest, edges and the order of points; each entry of a neighbour list; each excluded edge.
BYTES_PER_POINT, BYTES_PER_NEIGHBOR, BYTES_PER_EXCLUDED_EDGE = 90.0, 12.0, 48.0


class ForeignNeighborCells:
    """Search by cells; points are numbered cell by cell, and by rows within a cell."""

    def __init__(
        self,
        cells: Cells,
        k: int,
        engine: Engine,
        scale: float = 1.0,
        offsets: np.ndarray | None = None,
    ) -> None:
        n = cells.n_points
        require_memory(
            (BYTES_PER_POINT + BYTES_PER_NEIGHBOR * k) * n,
            f"The spanning tree of {n:,} points",
            "Use a machine with more memory to start the work; its workers need no more.",
            in_files=True,
        )
        self.cells, self.engine = cells, engine
        self.starts = np.concatenate([[0], np.cumsum(cells.index.sizes)])
        index = np.int32 if n < 2**31 else np.int64
        self.order = np.concatenate([cells.rows(cell) for cell in range(len(cells))])
        self.lists, self.costs = large((n, k), index), large((n, k), np.float64)
        if k:
            self._load_lists(k)
        # Each run has a folder of its own: its files say nothing about other runs.
        name = f"tree-{uuid.uuid4().hex[:16]}"
        self.store = cells.store.folder({"n_points": n}, name)
        self._excluded: ExcludedEdges | None = None
        self._number = self._n_searches = 0
        self._scale, self._least = scale, np.empty(0)
        if offsets is not None:
            by_position = np.append(offsets[self.order], np.inf)
            self.store.save("offsets", by_position[:-1])
            # The cells without points get the offset of the next, which does no harm.
            self._least = np.minimum.reduceat(by_position, self.starts[:-1])
        largest = cells.searchable(int(np.argmax(cells.index.sizes)))
        self._use_trees = largest.tree_is_faster_among(n, k=max(1, min(k, len(largest) - 1)))

    def _load_lists(self, k: int) -> None:
        length = fill_lists(self.cells, k, self.engine)
        position = np.empty(len(self.order), self.lists.dtype)
        position[self.order] = np.arange(len(position))
        for cell in range(len(self.cells)):
            part = slice(self.starts[cell], self.starts[cell + 1])
            lists = load_lists(self.cells, cell, length)
            np.take(position, lists.rows[:, :k], out=self.lists[part], mode="clip")
            self.costs[part] = lists.costs[:, :k]
            forget(self.lists[part], self.costs[part])

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Largest size of a component that searches; the largest waits, or many if searches are slow."""
        if not self._use_trees:
            return max(1, int(np.median(sizes)))
        return int(sizes.max()) - int(sizes.min() < sizes.max())

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        queries = points_to_search(forest, limit).astype(np.int64)
        if not len(queries):
            return
        self.store.remove(component_name(self._number))
        self._number += 1
        self.store.save(component_name(self._number), forest.component)
        if excluded is not self._excluded:
            self._save_exclusions(excluded)
        # Points near other components first: their edges rule out most of the others.
        by_bound = queries[np.argsort(forest.lower_bound[queries], kind="stable")]
        if len(queries) > SCOUTS * len(np.unique(forest.component[queries])):
            scouts = np.sort(by_bound[first_of_each(forest.component[by_bound], SCOUTS)])
            self._search(scouts, forest)
            np.minimum.at(forest.best, *_edges_found(scouts, forest))
            queries = np.setdiff1d(queries, scouts, assume_unique=True)
            best = forest.best[forest.component[queries]]
            queries = queries[forest.lower_bound[queries] <= best]
        self._search(queries, forest)

    def _search(self, queries: np.ndarray, forest: Forest) -> None:
        """Search from ascending queries."""
        if not len(queries):
            return
        self._n_searches += 1
        has_exclusions = self._excluded is not None and len(self._excluded.indptr) > 0
        at = Round(
            self.store,
            self._number,
            self._n_searches,
            self.starts,
            has_exclusions,
            self._use_trees,
            self._scale,
            self._least,
        )
        self.store.save(at.name("open"), queries)
        self.store.save(at.name("best"), forest.best[forest.component[queries]])
        bounds = np.searchsorted(queries, self.starts)
        asking = np.flatnonzero(np.diff(bounds))
        parts = [(cell, int(bounds[cell]), int(bounds[cell + 1])) for cell in asking.tolist()]
        groups = group_items(np.diff(bounds)[asking], self.engine.n_workers)
        tasks = [[parts[i] for i in group] for group in groups]
        self.engine.run(
            search_from_cells, [(self.cells, parts, at) for parts in tasks], "spanning tree"
        )
        for parts in tasks:
            first, last = parts[0][1], parts[-1][2]
            positions, costs = self.store.load(at.result_name(first))
            found = queries[first:last]
            forest.nearest[found], forest.lower_bound[found] = positions, costs
            self.store.remove(at.result_name(first))
        self.store.remove(at.name("open"), at.name("best"))

    def _save_exclusions(self, excluded: ExcludedEdges) -> None:
        self._excluded = excluded
        if len(excluded.indptr):
            self.store.save("excluded-indptr", excluded.indptr)
            self.store.save("excluded-indices", excluded.indices)

    def close(self) -> None:
        """Delete the files of the run."""
        with suppress(OSError):  # what cannot be deleted is only left over
            self.store.delete()


def _edges_found(queries: np.ndarray, forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Components and costs of the queries that found a foreign point."""
    found = queries[forest.nearest[queries] >= 0]
    return forest.component[found], forest.lower_bound[found]


def spanning_tree(points: StoredPoints, k: int) -> Edges:
    """Edges (n - 1, 2) of the minimum spanning tree and their lengths; starts from lists of k neighbours."""
    with open_search(points.cells, k) as search:
        found = spanning_edges(search)
    return found.edges, points.cells.lengths(found.costs)


def offset_tree(points: StoredPoints, scale: float, offsets: np.ndarray) -> np.ndarray:
    """Edges of the tree with the smallest sum of ``scale * d^2 + b_i + b_j``, with d in the unit of cells."""
    with open_search(points.cells, 0, scale, offsets) as search:
        return spanning_edges(search).edges


def spanning_links(points: StoredPoints, components: np.ndarray) -> Edges:
    """Shortest edges that connect all components, and their lengths."""
    with open_search(points.cells, 0) as search:
        found = spanning_edges(search, labels=components)
    return found.edges, points.cells.lengths(found.costs)


def disjoint_trees(points: StoredPoints, n_trees: int, k: int) -> Edges:
    """Edges and lengths of disjoint trees, one after the other; fewer trees if there are no more."""
    require_memory(
        BYTES_PER_EXCLUDED_EDGE * n_trees * len(points),
        f"{n_trees:,} disjoint trees of {len(points):,} points",
        "Use fewer trees.",
    )
    with open_search(points.cells, k) as search:
        found = successive_trees(search, n_trees)
    return found.edges, points.cells.lengths(found.costs)


@contextmanager
def open_search(
    cells: Cells,
    k: int,
    scale: float = 1.0,
    offsets: np.ndarray | None = None,
) -> Iterator[ForeignNeighborCells]:
    """A search whose files are deleted at the end."""
    fill_lists(cells, k, current_engine())
    # The tree has a progress bar of its own, over all rounds.
    search = ForeignNeighborCells(cells, k, current_engine(), scale, offsets)
    try:
        yield search
    finally:
        search.close()
