"""Perturbed spanning trees of a dask array: each cell moves its own points."""

from __future__ import annotations

import uuid

import numpy as np

from vicinal._core.parallel import progress_bar
from vicinal.graphs._build.boruvka import spanning_edges
from vicinal.graphs._build.jitter import perturbed_points, replicate_seeds
from vicinal.graphs._build.neighbor_span import axis_fraction, perturb_in_span
from vicinal.neighbors.metric import as_metric
from vicinal.scale._contexts import load_rows
from vicinal.scale._engine import Engine, current_engine
from vicinal.scale._layout import Cells, save_parts
from vicinal.scale._lists import fill_lists, load_lists
from vicinal.scale._trees import open_search
from vicinal.scale.store import Store
from vicinal.scale.stored_points import StoredPoints, index_of, write_cell


def perturbed_trees(
    points: StoredPoints,
    n_trees: int,
    noise: float,
    k: int,
    length: int,
    seed: int,
    is_aligned: bool = False,
) -> list[np.ndarray]:
    """Edges of the spanning tree of each replicate, as sorted numbers ``i * n + j``.

    The noise of a point depends on its mean distance to k neighbours; trees start from lists of ``length``.
    """
    cells, engine, n = points.cells, current_engine(), len(points)
    stored = fill_lists(cells, k, engine)
    trees = []
    with progress_bar(n_trees, "perturbed trees") as bar:
        for tree_seed in replicate_seeds(seed, n_trees):
            replicate = _replicate(cells, k, stored, noise, tree_seed, is_aligned, current_engine())
            try:
                with open_search(replicate, length) as search:
                    edges = spanning_edges(search).edges
            finally:
                replicate.store.delete()
            trees.append(np.sort(edges[:, 0] * n + edges[:, 1]))
            bar.update()
    return trees


def pair_lengths(points: StoredPoints, edges: np.ndarray) -> np.ndarray:
    """Lengths of sorted edges between the original points."""
    cells, engine = points.cells, current_engine()
    cell_of = np.empty(len(points), np.int64)
    for cell in range(len(cells)):
        cell_of[cells.rows(cell)] = cell
    home = cell_of[edges[:, 0]]
    order = np.argsort(home, kind="stable")
    bounds = np.searchsorted(home[order], np.arange(len(cells) + 1))
    parts = [order[bounds[cell] : bounds[cell + 1]] for cell in range(len(cells))]
    tasks = [(cells, cell, edges[part]) for cell, part in enumerate(parts)]
    lengths = np.empty(len(edges))
    for part, values in zip(parts, engine.run(_measure_pairs, tasks, "lengths"), strict=True):
        lengths[part] = values
    return lengths


def _replicate(
    cells: Cells,
    k: int,
    length: int,
    noise: float,
    seed: np.uint64,
    is_aligned: bool,
    engine: Engine,
) -> Cells:
    """The same cells with perturbed points."""
    store = cells.store.folder({"seed": int(seed)}, f"replicate-{uuid.uuid4().hex[:16]}")
    save_parts(store, cells.tree)
    tasks = [(cells, cell, store, k, length, noise, seed, is_aligned) for cell in range(len(cells))]
    engine.run(_perturb_cell, tasks, "perturbed points")
    save_parts(store, index_of(store, cells.index.paths))
    return Cells(store, cells.n_points, cells.metric, cells.factor)


def _perturb_cell(
    cells: Cells,
    cell: int,
    store: Store,
    k: int,
    length: int,
    noise: float,
    seed: np.uint64,
    is_aligned: bool,
) -> None:
    """Task: move the points of a cell."""
    rows, X = cells.rows(cell), cells.points(cell) / cells.factor
    lists = load_lists(cells, cell, length)
    spread = noise * cells.lengths(lists.costs[:, :k]).mean(axis=1)
    if is_aligned or (as_metric(cells.metric).is_euclidean and X.shape[1] > k):
        needed, neighbors = np.unique(lists.rows[:, :k], return_inverse=True)
        points = load_rows(cells, needed, cell)
        neighbors = neighbors.reshape(len(rows), k)
        moved = perturb_in_span(X, points, neighbors, spread, seed, rows, is_aligned=is_aligned)
    else:
        spread *= float(axis_fraction(X.shape[1], cells.power))
        moved = perturbed_points(X, spread, seed, rows)
    moved *= cells.factor
    write_cell(store, cells.tree, cell, cells.index.paths[cell], moved, rows)


def _measure_pairs(cells: Cells, cell: int, edges: np.ndarray) -> np.ndarray:
    """Task: distances between the points of pairs, of which the first is in a cell."""
    if not len(edges):
        return np.empty(0)
    rows, local = np.unique(edges, return_inverse=True)
    X = load_rows(cells, rows, cell)
    return as_metric(cells.metric).pair_distances(X, local.reshape(edges.shape))
