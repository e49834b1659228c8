"""Search for the nearest point outside a component among sparse points.

Sparse products give costs up to a known rounding error; what they cannot rule out is measured, with the same
bits as for dense points.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest
from vicinal.graphs._build._nearest_foreign_kernels import points_to_search, search_rows
from vicinal.graphs._build.nearest_foreign import SLOW_TREE, ForeignNeighborRows
from vicinal.neighbors._sparse_points import SparsePoints


class ForeignNeighborSparse(ForeignNeighborRows):
    """Search among sparse points; with offsets b, costs are ``scale * d^2 + b_i + b_j``.

    Neighbour lists of length k are built only without offsets.
    """

    def __init__(
        self,
        points: SparsePoints,
        k: int,
        *,
        scale: float = 1.0,
        offsets: np.ndarray | None = None,
        n_jobs: int | None = -1,
        progress: str | None = None,
    ) -> None:
        n = len(points)
        self.points, self.scale, self.offsets, self.n_jobs = points, scale, offsets, n_jobs
        self.order = np.arange(n)
        self.lists, self.costs = np.empty((n, 0), np.int64), np.empty((n, 0))
        if k and offsets is None:
            self.lists = points.nearest_others(k, progress)[0]
            pairs = np.repeat(self.order, k), self.lists.ravel()
            self.costs = points.pair_squares(points.X, *pairs).reshape(n, k)

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        queries = points_to_search(forest, limit)

        def search(span: tuple[int, int]) -> None:
            rows = queries[slice(*span)]
            costs, tolerance = self._approximate_costs(rows)
            costs[forest.component[rows][:, None] == forest.component] = np.inf
            for row, i in enumerate(rows if len(excluded.indptr) else ()):
                costs[row, excluded.indices[excluded.indptr[i] : excluded.indptr[i + 1]]] = np.inf
            nearest = costs.min(axis=1, keepdims=True)
            at, others = np.nonzero((costs <= nearest + 2.0 * tolerance) & np.isfinite(costs))
            costs[:] = np.inf
            costs[at, others] = self._exact_costs(rows[at], others)
            search_rows(costs, rows, forest, excluded)

        spans = blocks(len(queries), self.points.size)
        map_threads(search, spans, self.n_jobs, long_work=SLOW_TREE)

    def _approximate_costs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of rows to all points, and a bound on their rounding error in each row."""
        costs, tolerance = self.points.approximate_squares(self.points.X[rows])
        if self.offsets is not None:
            costs *= self.scale
            costs += self.offsets[rows, None] + self.offsets
            largest = np.abs(costs).max(axis=1, keepdims=True) + np.abs(self.offsets).max()
            tolerance = self.scale * tolerance + 1e-15 * largest
        return costs, tolerance

    def _exact_costs(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        squares = self.points.pair_squares(self.points.X, rows, others)
        if self.offsets is None:
            return squares
        return self.scale * squares + (self.offsets[rows] + self.offsets[others])
