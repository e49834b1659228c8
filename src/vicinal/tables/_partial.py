"""Distances of rows with missing values, over the columns that both rows have.

The distance is that of the columns present in both rows, scaled up by the weight of all columns over the
weight of those. It comes from matrix products over blocks of rows, so memory stays proportional to the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors import NeighborSearch

# Distances that a block holds at once.
BLOCK_ENTRIES = 4_000_000


class PartialDistance:
    """Distance of two encoded rows, in which NaN marks missing values.

    Parameters
    ----------
    weights : ndarray (n_columns,)
        Weight of each column; coordinates are already scaled by it.
    column_of : ndarray of int (n_coordinates,)
        Column that each coordinate belongs to.
    nominal : ndarray of bool (n_columns,)
        Categorical columns, which have one coordinate per category.
    power : {1, 2}
        2 for Euclidean, 1 for Gower distances.
    """

    def __init__(
        self, weights: np.ndarray, column_of: np.ndarray, nominal: np.ndarray, power: int
    ) -> None:
        self.weights, self.column_of, self.power = weights, column_of, power
        self.nominal = nominal
        self.first = np.searchsorted(column_of, np.arange(len(weights)))

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        """Distance of two rows; infinite if no column is present in both."""
        return float(self.matrix(np.asarray(a)[None], np.asarray(b)[None])[0, 0])

    def matrix(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """All distances between the rows of two tables."""
        require_memory(
            24.0 * len(A) * len(B),
            f"the distances of {len(A):,} and {len(B):,} rows",
            "Use nearest, or pass fewer rows at a time.",
        )
        return self._root(self._powers(A, self._prepare(B)))

    def nearest(
        self, queries: np.ndarray, rows: np.ndarray, k: int, n_jobs: int | None = -1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances (m, k) of the nearest rows of each query, nearest first."""
        if not np.isnan(queries).any() and not np.isnan(rows).any():
            metric = "euclidean" if self.power == 2 else "manhattan"
            return NeighborSearch(rows, metric=metric, n_jobs=n_jobs).nearest(k, queries=queries)
        prepared = self._prepare(rows)

        def task(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            powers = self._powers(queries[span[0] : span[1]], prepared)
            near = np.argpartition(powers, k - 1, axis=1)[:, :k] if k < len(rows) else None
            near = np.broadcast_to(np.arange(len(rows)), powers.shape) if near is None else near
            near = np.sort(near, axis=1)  # so that ties go to the earlier row
            nearest_powers = np.take_along_axis(powers, near, axis=1)
            order = np.argsort(nearest_powers, axis=1, kind="stable")
            near = np.take_along_axis(near, order, axis=1)
            return near, self._root(np.take_along_axis(nearest_powers, order, axis=1))

        with one_blas_thread():
            size = max(BLOCK_ENTRIES // max(len(rows), 1), 1)
            parts = map_threads(task, blocks(len(queries), size), n_jobs)
        indices = np.concatenate([part[0] for part in parts])
        return indices, np.concatenate([part[1] for part in parts])

    def _root(self, powers: np.ndarray) -> np.ndarray:
        return np.sqrt(powers) if self.power == 2 else powers

    def _prepare(self, rows: np.ndarray) -> dict[str, Any]:
        """What the products with a block need of all rows."""
        known = ~np.isnan(rows)
        values = np.where(known, rows, 0.0)
        return {
            "values": values,
            "known": known.astype(np.float64),
            "squares": values**2,
            "columns": known[:, self.first].astype(np.float64),
            "complete": bool(known.all()),
        }

    def _powers(self, block: np.ndarray, rows: dict[str, Any]) -> np.ndarray:
        """Squared or absolute differences, summed over shared columns and scaled to all of them."""
        mine = self._prepare(block)
        sums = self._squares(mine, rows) if self.power == 2 else self._absolutes(mine, rows)
        if mine["complete"] and rows["complete"]:
            return sums
        shared = (mine["columns"] * self.weights) @ rows["columns"].T
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = sums * (self.weights.sum() / shared)
        return np.where(shared > 0, scaled, np.inf)

    def _squares(self, mine: dict[str, Any], rows: dict[str, Any]) -> np.ndarray:
        sums = mine["squares"] @ rows["known"].T
        sums += mine["known"] @ rows["squares"].T
        sums -= 2.0 * (mine["values"] @ rows["values"].T)
        return np.maximum(sums, 0.0)

    def _absolutes(self, mine: dict[str, Any], rows: dict[str, Any]) -> np.ndarray:
        sums = np.zeros((len(mine["values"]), len(rows["values"])))
        of_category = self.nominal[self.column_of]
        for j in np.flatnonzero(~of_category):
            difference = np.abs(mine["values"][:, j, None] - rows["values"][:, j])
            sums += difference * (mine["known"][:, j, None] * rows["known"][:, j])
        if of_category.any():
            # Two rows differ in twice the size of a category, or not at all.
            cut = {name: rows[name][:, of_category] for name in ("values", "known")}
            own = {name: mine[name][:, of_category] for name in ("values", "known")}
            size = np.maximum(own["values"].max(axis=0), cut["values"].max(axis=0))
            size = np.where(size > 0, size, 1.0)
            sums += own["values"] @ cut["known"].T + own["known"] @ cut["values"].T
            sums -= 2.0 * (own["values"] / size) @ cut["values"].T
        return np.maximum(sums, 0.0)
