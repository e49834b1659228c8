"""Approximate neighbours whose recall is measured before the work is done.

Points are grouped by k-means, and all points of a group are compared at once, by one matrix product,
with the groups around theirs. How many groups that takes is read off a sample: the exact neighbours of
some points tell in which group each of them lies, and so which share is found for any number of groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors import brute
from vicinal.neighbors._brute_kernels import refine
from vicinal.neighbors.brute import Frame, Placed
from vicinal.neighbors.points import Points

# Below this many points the exact search is as fast.
WORTH_IT = 10_000
N_SAMPLES, N_ITERATIONS, SAMPLES_A_GROUP = 500, 6, 32
# A pair inside groups costs this many times a pair of the exact search, which shares each product.
COST_OF_PAIR = 3.0


class ClusteredPoints(Points):
    """Points in groups; falls back to the exact search where that is no slower."""

    def __init__(
        self, X: np.ndarray, metric: str, recall: float, random_state: Any, n_jobs: int | None
    ) -> None:
        super().__init__(X, metric, n_jobs)
        self.wanted, self.recall = recall, 1.0
        self.random = np.random.default_rng(random_state)
        self._groups: Groups | None = None

    def nearest_others(self, k: int, progress: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest others of every point, most of them."""
        n_groups = self._groups_to_probe(k)
        if not n_groups:
            return super().nearest_others(k, progress)
        groups = self.groups
        found = groups.join(
            self.X, self.X, groups.placed, groups.labels, k, n_groups,
            own=True, n_jobs=self.n_jobs, progress=progress,
        )  # fmt: skip
        return found[0], self.in_metric(found[1])

    def nearest_to(
        self, queries: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, most of them."""
        n_groups = self._groups_to_probe(k)
        if not n_groups:
            return super().nearest_to(queries, k, progress)
        X, asked = self._alike(self._prepare(queries, "queries"))
        groups = self.groups
        placed = brute.place(asked, groups.frame)
        labels = nearest_centre(placed.points, groups.centres, self.n_jobs)
        found = groups.join(
            asked, X, placed, labels, k, n_groups,
            own=False, n_jobs=self.n_jobs, progress=progress,
        )  # fmt: skip
        return found[0], self.in_metric(found[1])

    @property
    def groups(self) -> Groups:
        """The groups, found when they are first needed."""
        if self._groups is None:
            self._groups = Groups(self.X, self.random, self.n_jobs)
        return self._groups

    def _groups_to_probe(self, k: int) -> int:
        """Number of groups that reach the recall; 0 when the exact search is no slower."""
        n, self.recall = len(self.X), 1.0
        if n < WORTH_IT or k > n // 20:
            return 0
        groups = self.groups
        rows = np.sort(self.random.choice(n, min(n, N_SAMPLES), replace=False))
        true = brute.nearest_to(self.X, self.X[rows], k + 1, n_jobs=self.n_jobs)[0]
        # Rank of each true neighbour's group around the group of its point; the point is no neighbour.
        ranks = groups.ranks[groups.labels[rows][:, None], groups.labels[true]]
        ranks = np.sort(ranks[true != rows[:, None]])
        share = np.arange(1, len(ranks) + 1) / len(ranks)
        # Neighbours of one point are found or missed together: allow for the sample's own error.
        error = 2 * np.sqrt(self.wanted * (1 - self.wanted) / len(rows))
        at = min(np.searchsorted(share, min(self.wanted + error / 2, 1.0)), len(ranks) - 1)
        n_groups = int(ranks[at]) + 1
        compared = float(np.dot(groups.sizes, groups.points_in_reach(n_groups)))
        if compared * COST_OF_PAIR > float(n) * n:
            return 0
        self.method = "ivf"
        self.recall = float(np.searchsorted(ranks, n_groups) / len(ranks))
        return n_groups


class Groups:
    """Points grouped by k-means, and the other groups of each group in order of distance."""

    def __init__(self, X: np.ndarray, random: np.random.Generator, n_jobs: int | None) -> None:
        self.frame: Frame = brute.find_frame(X)
        self.placed: Placed = brute.place(X, self.frame)
        n_groups = int(2.5 * np.sqrt(len(X)))
        self.centres = find_centres(self.placed.points, n_groups, random, n_jobs)
        self.labels = nearest_centre(self.placed.points, self.centres, n_jobs)
        self.order = np.argsort(self.labels, kind="stable")
        self.sizes = np.bincount(self.labels, minlength=n_groups)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        half = brute.half_squares(self.centres)
        distances = half[:, None] + half - self.centres @ self.centres.T
        np.fill_diagonal(distances, -1.0)
        self.around = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
        self.ranks = np.empty_like(self.around)
        np.put_along_axis(
            self.ranks, self.around, np.arange(n_groups, dtype=np.int32)[None, :], axis=1
        )

    def points_in_reach(self, n_groups: int) -> np.ndarray:
        """Number of points in the ``n_groups`` groups around each group."""
        return np.asarray(self.sizes[self.around[:, :n_groups]].sum(axis=1))

    def members(self, group: int, n_groups: int, at_least: int) -> np.ndarray:
        """Points of the groups around ``group``, of more groups if they hold too few."""
        held = np.cumsum(self.sizes[self.around[group]])
        n_groups = max(n_groups, int(np.searchsorted(held, at_least)) + 1)
        around = self.around[group, :n_groups]
        return np.concatenate([self.order[self.starts[g] : self.starts[g + 1]] for g in around])

    def join(
        self,
        queries: np.ndarray,
        X: np.ndarray,
        asked: Placed,
        labels: np.ndarray,
        k: int,
        n_groups: int,
        *,
        own: bool,
        n_jobs: int | None,
        progress: str | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of the queries, all queries of a group together."""
        indices, squares = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        by_group = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=len(self.sizes)))

        def search(group: int) -> None:
            rows = by_group[ends[group - 1] if group else 0 : ends[group]]
            if len(rows):
                near = self.members(group, n_groups, k + 1)
                indices[rows], squares[rows] = self._compare(queries, X, asked, rows, near, k, own)

        with one_blas_thread():
            map_threads(search, range(len(self.sizes)), n_jobs, progress=progress)
        return indices, np.sqrt(squares, out=squares)

    def _compare(
        self,
        queries: np.ndarray,
        X: np.ndarray,
        asked: Placed,
        rows: np.ndarray,
        near: np.ndarray,
        k: int,
        own: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        names = rows if own else np.full(len(rows), -1)
        row_half = asked.half[rows]
        lists = brute.new_lists(len(rows), k, row_half, names.astype(np.int32))
        columns = brute.silent_lists(self.placed.half[near], near.astype(np.int32))
        brute.multiply(
            asked.points[rows], (0, len(rows)), (0, len(near)), lists, columns,
            both=False, other=self.placed.points[near],
        )  # fmt: skip
        indices, squares = np.empty((len(rows), k), np.int64), np.empty((len(rows), k))
        certain = np.empty(len(rows), np.bool_)
        refine(
            queries[rows], X, row_half, self.frame.scale, 2.0**-24, False, lists[2], lists[3], 0,
            indices, squares, certain,
        )  # fmt: skip
        return indices, squares


def find_centres(
    points: np.ndarray, n_groups: int, random: np.random.Generator, n_jobs: int | None
) -> np.ndarray:
    """Centres of groups by a few rounds of k-means on a sample."""
    size = min(len(points), SAMPLES_A_GROUP * n_groups)
    sample = points[np.sort(random.choice(len(points), size, replace=False))]
    centres = sample[random.choice(size, n_groups, replace=False)]
    for _ in range(N_ITERATIONS):
        labels = nearest_centre(sample, centres, n_jobs)
        order = np.argsort(labels, kind="stable")
        filled, starts = np.unique(labels[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        # A group that lost all its points keeps its centre.
        centres[filled] = sums / np.diff(np.append(starts, size))[:, None]
    return centres


def nearest_centre(points: np.ndarray, centres: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Number of the centre nearest to each point."""
    half = brute.half_squares(centres).astype(np.float32)
    labels = np.empty(len(points), np.int64)

    def assign(span: tuple[int, int]) -> None:
        a, b = span
        products = points[a:b] @ centres.T
        products -= half
        labels[a:b] = products.argmax(axis=1)

    with one_blas_thread():
        map_threads(assign, blocks(len(points), 1024), n_jobs)
    return labels
