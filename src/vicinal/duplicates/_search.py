"""All pairs of distinct rows within a radius, from neighbour lists that are long enough for most rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.neighbors.search import NeighborSearch

# Rows whose lists may be too short, and are searched again, for thresholds above the one that is used.
MIN_EXTRA_ROWS, EXTRA_FRACTION = 10, 1e-3
# Mean number of neighbours within the largest radius that is searched.
EXTRA_NEIGHBORS = 4
# More pairs than this per row, or more than half of all pairs, are not a useful result.
PAIRS_PER_ROW, MIN_REJECTED_PAIRS = 100, 1000
# Rows searched exactly to measure the recall, and entries of a sample that is counted beforehand.
N_RECALL_ROWS, MAX_SAMPLED_ENTRIES = 500, 1 << 24


class Pairs(NamedTuple):
    """Pairs (i, j) of distinct rows with i < j, sorted by (distance, i, j), complete up to ``radius``."""

    pairs: np.ndarray
    distances: np.ndarray
    radius: float
    recall: float


class Lists(NamedTuple):
    """The search among some rows of a table, and the nearest other of these rows for each."""

    search: NeighborSearch
    table: Any
    rows: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    def pairs_within(self, threshold: float) -> Pairs:
        """Pairs within the threshold, and beyond it as far as the lists reach."""
        radius = max(threshold, self._free_radius())
        n, length = self.indices.shape
        near = self.distances <= radius
        # A full list may be too short, unless it contains all points.
        short = np.flatnonzero(near[:, -1]) if length < n - 1 else np.empty(0, np.int64)
        near[short] = False
        rows, columns = np.nonzero(near)
        i, j, distances = rows, self.indices[rows, columns], self.distances[rows, columns]
        if len(short):
            found = self._within(short, radius)
            i, j = np.append(i, found[0]), np.append(j, found[1])
            distances = np.append(distances, found[2])
        pairs, distances = _each_once(i, j, distances, n)
        recall = 1.0
        if self.search.recall_ < 1.0 or self.search.method_ == "ivf":
            recall = self._recall(pairs, radius)
        return Pairs(pairs, distances, radius, recall)

    def require_few_pairs(self, threshold: float, max_pairs: int | None) -> None:
        """Raise an error if the threshold gives too many pairs, estimated from a sample of rows."""
        n, length = self.indices.shape
        if max_pairs is None:
            max_pairs = max(MIN_REJECTED_PAIRS, min(n * (n - 1) // 4, PAIRS_PER_ROW * n))
        # Each pair is in at most two lists, so this many cannot be too many.
        if length == n - 1 or not (self.distances[:, -1] <= threshold).any():
            n_pairs = int((self.distances <= threshold).sum()) // 2
            kind = ""
        else:
            size = max(1, min(n, MAX_SAMPLED_ENTRIES // n))
            sample = np.linspace(0, n - 1, size).astype(np.int64)
            counts = np.diff(self.search.within(threshold, self.table[self.rows[sample]])[0]) - 1.0
            error = 3 * counts.std() / np.sqrt(size) if size < n else 0.0
            n_pairs, kind = int(max(0.0, counts.mean() - error) * n / 2), "about " * (size < n)
        if n_pairs > max_pairs:
            fraction = 2.0 * n_pairs / (n * (n - 1.0))
            raise InvalidValueError(
                f"threshold={threshold:g} accepts {kind}{n_pairs:,} pairs of the {n:,} distinct rows "
                f"({100 * fraction:.3g} % of all pairs), more than max_pairs={max_pairs:,}; use a smaller "
                "threshold, threshold='auto', or a larger max_pairs."
            )

    def _free_radius(self) -> float:
        """Radius up to which the lists contain almost all pairs anyway."""
        n, length = self.indices.shape
        entries = self.distances.ravel()
        wanted = min(EXTRA_NEIGHBORS * n, len(entries)) - 1
        radius = np.partition(entries, wanted)[wanted]
        if length < n - 1:
            allowed = min(n - 1, max(MIN_EXTRA_ROWS, int(EXTRA_FRACTION * n)))
            radius = min(radius, np.partition(self.distances[:, -1], allowed)[allowed])
        return float(radius)

    def _within(self, rows: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All points within the radius of some rows: row, point and distance of each."""
        if radius > 0:
            indptr, j, distances = self.search.within(radius, self.table[self.rows[rows]])
        else:  # a search needs a positive radius
            indptr, j, distances = self.search.within(
                np.finfo(np.float64).tiny, self.table[self.rows[rows]]
            )
        i = np.repeat(rows, np.diff(indptr))
        kept = (i != j) & (distances <= radius)
        return i[kept], j[kept], distances[kept]

    def _recall(self, pairs: np.ndarray, radius: float) -> float:
        """Fraction of the pairs of sampled rows that were found."""
        n = len(self.indices)
        sample = np.linspace(0, n - 1, min(n, N_RECALL_ROWS)).astype(np.int64)
        i, j, _ = self._within(sample, radius)
        wanted = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
        found = np.isin(wanted, pairs[:, 0] * n + pairs[:, 1])
        return float(found.mean()) if len(wanted) else 1.0


def _each_once(
    i: np.ndarray, j: np.ndarray, distances: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted pairs without repetition; the smaller of two distances that were rounded differently."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort([high, low, distances])
    key = (low * n + high)[order]
    first = np.sort(np.unique(key, return_index=True)[1])
    chosen = order[first]
    return np.column_stack([low[chosen], high[chosen]]), distances[chosen]
