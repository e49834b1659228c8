"""Approximate neighbour lists by cells, and an estimate of the work of exact ones.

Cells are searched only if their lower bound is within ``reach`` times the current distance to the last
neighbour, so a missed neighbour is farther than ``reach`` times the distance to the last one found. The reach
is the smallest whose recall on a sample of points suffices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.warn import LongWork, warn_if_long
from vicinal.scale._engine import Engine
from vicinal.scale._layout import Cells
from vicinal.scale._lists import (
    cells_asked,
    fill_lists,
    list_cells,
    neighbors_of_queries,
)

N_SAMPLES = 256
# Cells, and points of each, whose work is estimated.
N_CELLS_OF_WORK, N_SAMPLES_OF_CELL = 16, 8
REACHES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# With fewer cells, exact lists take little more time.
MIN_CELLS, MIN_CELLS_TO_ESTIMATE = 4, 32


class Approximate(NamedTuple):
    """Names of lists on the store, and their recall on a sample."""

    label: str
    recall: float


def fill_approximate(
    cells: Cells, k: int, target: float, seed: int, engine: Engine
) -> Approximate | None:
    """Compute lists with a target recall, unless the store has them; None if exact ones are as fast."""
    if len(cells) < MIN_CELLS:
        return None
    store, name = cells.store, f"reach-{k}-{target:g}-{seed}"
    if not store.is_whole(name):
        store.save(name, _choose_reach(cells, k, target, seed, engine))
    reach, recall = store.load(name).tolist()
    if reach >= 1.0:
        return None
    label = f"{k}-reach-{reach:g}"
    list_cells(cells, k, engine, reach, label)
    return Approximate(label, recall)


def _choose_reach(
    cells: Cells, k: int, target: float, seed: int, engine: Engine
) -> tuple[float, float]:
    """Smallest reach whose recall on a sample exceeds the target by two standard errors, and its recall."""
    sample = _sample(cells, N_SAMPLES, seed)
    known = _distances(cells, sample, k, 1.0, engine)
    low, high, recall = 0, len(REACHES), 1.0
    while low < high:
        middle = (low + high) // 2
        found = _distances(cells, sample, k, REACHES[middle], engine)
        # Compared by cost, so that any of several tied neighbours counts.
        recalls = (found <= known[:, -1:]).mean(axis=1)
        margin = 2 * float(recalls.std()) / np.sqrt(len(recalls))
        if recalls.mean() - margin >= target:
            high, recall = middle, float(recalls.mean())
        else:
            low = middle + 1
    return (REACHES[low], recall) if low < len(REACHES) else (1.0, 1.0)


def _sample(cells: Cells, size: int, seed: int) -> list[tuple[int, np.ndarray]]:
    """Points drawn from all cells: for each cell, their positions in it."""
    starts = np.concatenate([[0], np.cumsum(cells.index.sizes)])
    n = int(starts[-1])
    chosen = np.sort(np.random.default_rng(seed).choice(n, min(size, n), replace=False))
    cell = np.searchsorted(starts, chosen, side="right") - 1
    return [(int(c), chosen[cell == c] - starts[c]) for c in np.unique(cell)]


def _distances(
    cells: Cells, sample: list[tuple[int, np.ndarray]], k: int, reach: float, engine: Engine
) -> np.ndarray:
    tasks = [(cells, cell, positions, k, reach) for cell, positions in sample]
    return np.concatenate(engine.run(_search_sample, tasks, "recall on a sample"))


def _search_sample(
    cells: Cells, cell: int, positions: np.ndarray, k: int, reach: float
) -> np.ndarray:
    """Task: costs of the nearest other points of some points of a cell."""
    points, rows = cells.points(cell)[positions], cells.rows(cell)[positions]
    found = neighbors_of_queries(cells, points, k + 1, reach)
    is_self = found.rows == rows[:, None]
    # Among many duplicates, a point may not be in its own list; then the last entry is left out.
    is_self[:, -1] |= ~is_self.any(axis=1)
    return found.costs[~is_self].reshape(len(points), k)


def fill_exact(cells: Cells, k: int, n_workers: int, engine: Engine) -> int:
    """`fill_lists`, with a warning beforehand if it will take minutes or longer."""
    if len(cells) >= MIN_CELLS_TO_ESTIMATE and not cells.store.is_whole("list-lengths"):
        n_pairs, seconds = estimate_work(cells, k, engine)
        work = LongWork(
            f"the exact search compares about {n_pairs:.1e} pairs of points, which",
            "method='approximate', fewer columns (for instance by PCA) or more workers are faster",
        )
        warn_if_long(seconds / n_workers, work)
    return fill_lists(cells, k, engine)


def estimate_work(cells: Cells, k: int, engine: Engine) -> tuple[float, float]:
    """Number of pairs that an exact search compares, and its CPU time in seconds, from a sample."""
    # A few cells, because each has to be prepared for searches; the processes that do it keep them.
    full = np.flatnonzero(cells.index.sizes)
    chosen = full[np.linspace(0, len(full) - 1, min(len(full), N_CELLS_OF_WORK)).astype(np.int64)]
    tasks = [(cells, cell, k) for cell in chosen.tolist()]
    work = np.array(engine.run(_work_of_cell, tasks, "work of a sample"))
    n_pairs, seconds = work.sum(axis=0) * cells.n_points / cells.index.sizes[chosen].sum()
    return float(n_pairs), float(seconds)


def _work_of_cell(cells: Cells, cell: int, k: int) -> tuple[float, float]:
    """Task: pairs that the points of a cell compare, and seconds, from some of the points."""
    sizes = cells.index.sizes
    size = int(sizes[cell])
    positions = np.linspace(0, size - 1, min(size, N_SAMPLES_OF_CELL)).astype(np.int64)
    asked = cells_asked(cells, cell, positions, min(k, size - 1))
    n_pairs = float((asked * sizes).sum()) * size / len(positions)
    return n_pairs, n_pairs * cells.searchable(cell).seconds_per_pair(k)
