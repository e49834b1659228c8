"""Cells of points on a store: what every task needs to know, and how their files are called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np

from vicinal._core.memory import free_memory, require_memory
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._exact import Points
from vicinal.neighbors._kdtree import build_kdtree, kdtree_from_order
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors.metric import as_metric
from vicinal.scale._cells import CellIndex, SplitTree
from vicinal.scale.store import Store

# Memory of a task relative to the points of its cell: a k-d tree, another cell, and lists.
BYTES_PER_CELL_BYTE = 8.0


@dataclass(frozen=True)
class Cells:
    """Cells on a store; small enough to be sent with every task.

    Attributes
    ----------
    store : Store
        Folder of the cells and of everything computed from them.
    n_points : int
        Number of points in all cells.
    metric : str
        "euclidean", "manhattan" or "cosine".
    factor : float
        Power of two that brings points into a range in which squares neither overflow nor underflow.
    """

    store: Store
    n_points: int
    metric: str
    factor: float

    def __len__(self) -> int:
        return len(self.index.sizes)

    @property
    def index(self) -> CellIndex:
        return _load_layout(self.store.path)[1]

    @property
    def tree(self) -> SplitTree:
        return _load_layout(self.store.path)[0]

    @property
    def power(self) -> int:
        """1 if costs are distances (Manhattan), 2 if they are squared distances."""
        return as_metric(self.metric).power

    def rows(self, cell: int) -> np.ndarray:
        """Rows of a cell, ascending."""
        return load_rows(self.store, cell_name(cell, "rows"), self.n_points)

    def points(self, cell: int) -> np.ndarray:
        """Points of a cell, in the unit of the store."""
        return self.store.load(cell_name(cell, "points"))

    def searchable(self, cell: int) -> Points:
        """Points of a cell, to be searched with one thread; processes keep the most recent ones."""
        return _RECENT.get((self.store.path, cell), lambda: self._load(cell))

    def _load(self, cell: int) -> Points:
        points = self.points(cell)
        require_memory(
            BYTES_PER_CELL_BYTE * points.nbytes,
            f"Searching a cell of {len(points):,} points",
            "Use smaller cells, with vicinal.scale.config(cell_size=...), or workers with more memory.",
        )
        cell_points = StoredCell.prepared(points, as_metric(self.metric), self.factor)
        cell_points.store, cell_points.name = self.store, cell_name(cell, "tree")
        return cell_points

    def prepare(self, X: np.ndarray, name: str) -> np.ndarray:
        """Points in the unit of the store."""
        return self._as_points(X[:0])._prepare(X, name)

    def lengths(self, costs: np.ndarray) -> np.ndarray:
        """Distances in the metric, from costs between points in the unit of the store."""
        return self._as_points(np.empty((0, 1))).in_metric(
            costs if self.power == 1 else np.sqrt(costs)
        )

    def _as_points(self, prepared: np.ndarray) -> Points:
        return Points.prepared(prepared, as_metric(self.metric), self.factor)


class StoredCell(Points):
    """Points of a cell; the order of its k-d tree is on the store, so that one process builds the tree.

    Attributes
    ----------
    store, name : Store and str
        Where the order is.
    """

    store: Store
    name: str

    @property
    def tree(self) -> KDTree:
        """The k-d tree, read or built when it is first needed."""
        if self._tree is None:
            # Building takes less time than a request to remote storage.
            is_local = self.store.local_folder is not None
            if is_local and self.store.is_whole(self.name):
                order = load_rows(self.store, self.name, len(self.X))
                self._tree = kdtree_from_order(self.X, order)
            else:
                self._tree = build_kdtree(self.X)
                # Searches need no new files if the store is finished and read-only.
                with suppress(OSError):
                    if is_local:
                        self.store.save(self.name, self._tree.order.astype(np.int32))
        return self._tree


class _RecentPoints:
    """The most recently used cells with their k-d trees, up to a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self._lock = max_bytes, Lock()
        self._kept: OrderedDict[tuple[str, int], Points] = OrderedDict()
        self._n_bytes = 0

    def get(self, key: tuple[str, int], load: Callable[[], Points]) -> Points:
        with self._lock:
            points = self._kept.pop(key, None)
            self._n_bytes -= 0 if points is None else _bytes_of(points)
        limit = self.max_bytes
        if points is None:
            points = load()
            free = free_memory()
            limit = limit if free is None else min(limit, free // 8)
        with self._lock:
            # Another thread may have loaded the same points.
            self._n_bytes += _bytes_of(points) if key not in self._kept else 0
            self._kept[key] = points
            # Something is always kept, because the caller holds it anyway.
            while len(self._kept) > 1 and self._n_bytes > limit:
                self._n_bytes -= _bytes_of(self._kept.popitem(last=False)[1])
        return points


def _bytes_of(points: Points) -> int:
    # A tree takes at most three times the bytes of points in single precision.
    return 4 * points.X.nbytes


_RECENT = _RecentPoints(2**28)


@lru_cache(maxsize=16)
def _load_layout(path: str) -> tuple[SplitTree, CellIndex]:
    # The files of a store never change, so each process reads them once.
    store = Store(path)
    tree, index = load_tree(store), CellIndex(*_load_parts(store, CellIndex))
    known = (index.paths >= -1) & (index.paths < len(tree.children))
    _require(bool(known.all()), store, "CellIndex-paths")
    return tree, index


def load_tree(store: Store) -> SplitTree:
    """The tree that divides points into cells."""
    tree = SplitTree(*_load_parts(store, SplitTree))
    n, children = len(tree.children), tree.children
    # Nodes below a node come after it, so that every descent ends.
    is_below = (children < 0) | (children > np.arange(n)[:, None])
    known = (children >= -1 - n) & (children < n)
    _require(bool((is_below & known).all()), store, "SplitTree-children")
    return tree


def load_rows(
    store: Store, name: str, n: int, first: int = 0, last: int | None = None, *, low: int = 0
) -> np.ndarray:
    """Numbers of rows, from ``low`` to n - 1: kernels read and write at these places without a check."""
    rows = store.load(name, first, last)
    _require(rows.dtype.kind == "i", store, name)
    _require(not rows.size or bool(rows.min() >= low and rows.max() < n), store, name)
    return rows


def _require(is_possible: bool, store: Store, name: str) -> None:
    if not is_possible:
        raise InvalidValueError(
            f"{name} in {store!r} names rows that do not exist, so that another program wrote it; delete the "
            "folder and run again."
        )


def _load_parts(store: Store, kind: type[SplitTree] | type[CellIndex]) -> list[np.ndarray]:
    return [store.load(f"{kind.__name__}-{field}") for field in kind._fields]


def save_parts(store: Store, parts: SplitTree | CellIndex) -> None:
    """Write the arrays of a tree or an index."""
    for field, values in parts._asdict().items():
        store.save(f"{type(parts).__name__}-{field}", values)


def cell_name(cell: int, what: str) -> str:
    """Name of an array of a cell."""
    return f"cell-{cell:06d}-{what}"
