"""Approximate neighbours whose recall is measured before the work is done.

Points are grouped by k-means, and each point is compared with the groups whose centres are nearest to it:
group after group, by one matrix product with all points of a block that ask for the group. How many groups
that takes is read off a sample: the exact neighbours of some points tell in which groups they lie, and so
which share of them is found for any number of groups.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np

from vicinal._parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors import brute
from vicinal.neighbors._brute_kernels import measure_lists, scan
from vicinal.neighbors.brute import Frame, Placed
from vicinal.neighbors.points import Points

# Below this many points the exact search is as fast.
WORTH_IT = 10_000
N_SAMPLES, N_ITERATIONS, SAMPLES_A_GROUP = 500, 6, 32
# A pair inside groups costs this many times a pair of the exact search, which shares each product.
COST_OF_PAIR = 2.2
# Queries that a task works on; enough of them ask for the same group to make products pay.
QUERIES, COLUMNS = 8192, 4096


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
            self.X, self.X, groups.placed, groups.order, k, n_groups,
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
        placed = brute.place(asked, groups.frame, self.n_jobs)
        labels = nearest_centre(placed.points, groups.centres, self.n_jobs)
        found = groups.join(
            asked, X, placed, np.argsort(labels, kind="stable"), k, n_groups,
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
        true = groups.true_neighbors(rows, k + 1, self.n_jobs)
        # Rank of each true neighbour's group among those of its point; the point is no neighbour.
        around = groups.nearest(groups.placed.points[rows], len(groups.centres))
        ranks = np.argsort(around, axis=1)
        ranks = np.take_along_axis(ranks, groups.labels[true], axis=1)
        n_groups, recall = _enough_groups(ranks, true != rows[:, None], self.wanted)
        compared = groups.sizes[around[:, :n_groups]].sum(axis=1).mean()
        if compared * COST_OF_PAIR > n:
            return 0
        self.method, self.recall = "ivf", recall
        return n_groups


def _enough_groups(ranks: np.ndarray, counts: np.ndarray, wanted: float) -> tuple[int, float]:
    """Smallest number of groups that finds the wanted share of neighbours, and the share it finds.

    ``ranks`` are those of the groups that hold each point's true neighbours, as far as it ``counts``.
    """
    for n_groups in range(1, ranks.max() + 1):
        found = ((ranks < n_groups) & counts).sum(axis=1) / counts.sum(axis=1)
        # The sample has an error of its own: one standard deviation is kept in reserve.
        if found.mean() - found.std() / np.sqrt(len(found)) >= wanted:
            return n_groups, float(found.mean())
    return int(ranks.max()) + 1, 1.0


class Groups:
    """Points grouped by k-means."""

    def __init__(self, X: np.ndarray, random: np.random.Generator, n_jobs: int | None) -> None:
        # The first time, kernels compile for seconds: time enough while k-means does without them.
        Thread(target=_load_kernels, args=(X,)).start()
        self.frame: Frame = brute.find_frame(X)
        self.placed: Placed = brute.place(X, self.frame, n_jobs)
        n_groups = int(2.5 * np.sqrt(len(X)))
        self.centres = find_centres(self.placed.points, n_groups, random, n_jobs)
        self.labels = nearest_centre(self.placed.points, self.centres, n_jobs)
        self.order = np.argsort(self.labels, kind="stable")
        self.sizes = np.bincount(self.labels, minlength=n_groups)
        self.ends = np.cumsum(self.sizes)

    def true_neighbors(self, rows: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
        """The k points nearest to each of some points, up to single precision."""
        half = self.placed.half.astype(np.float32)

        def select(span: tuple[int, int]) -> np.ndarray:
            asked = self.placed.points[rows[span[0] : span[1]]]
            order = np.argpartition(half - asked @ self.placed.points.T, k - 1, axis=1)
            return order[:, :k].copy()  # a view would keep a row of all points alive

        with one_blas_thread():
            return np.concatenate(map_threads(select, blocks(len(rows), 32), n_jobs))

    def nearest(self, points: np.ndarray, n_groups: int) -> np.ndarray:
        """The ``n_groups`` groups whose centres are nearest to each point, nearest first."""
        keys = brute.half_squares(self.centres).astype(np.float32) - points @ self.centres.T
        if n_groups == len(self.centres):
            return np.argsort(keys, axis=1, kind="stable")
        return np.argpartition(keys, n_groups - 1, axis=1)[:, :n_groups]

    def join(
        self,
        queries: np.ndarray,
        X: np.ndarray,
        asked: Placed,
        order: np.ndarray,
        k: int,
        n_groups: int,
        *,
        own: bool,
        n_jobs: int | None,
        progress: str | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of the queries, worked off in an ``order`` that keeps near ones together."""
        n = len(queries)
        indices, squares = np.empty((n, k), np.int64), np.empty((n, k))

        def search(span: tuple[int, int]) -> None:
            rows = order[span[0] : span[1]]
            names = rows if own else np.full(len(rows), -1)
            lists = brute.new_lists(len(rows), k, asked.half[rows], names.astype(np.int32))
            self._offer_groups(asked.points[rows], n_groups, lists)
            found, costs = _nearest_candidates(queries[rows], X, lists[3], k)
            indices[rows], squares[rows] = found, costs
            short = rows[found[:, -1] < 0]
            brute.search_completely(
                queries, X, self.frame, self.placed, short, indices, squares, own
            )

        with one_blas_thread():
            spans = blocks(n, min(QUERIES, max(1024, n // 16)))
            map_threads(search, spans, n_jobs, progress=progress)
        return indices, np.sqrt(squares, out=squares)

    def _offer_groups(self, points: np.ndarray, n_groups: int, lists: brute.Lists) -> None:
        """Offer to each point's list the members of the groups nearest to it."""
        # Two bytes a number: numpy sorts these by radix.
        wanted = self.nearest(points, n_groups).astype(np.uint16).ravel()
        asking = np.argsort(wanted, kind="stable") // n_groups
        ends = np.cumsum(np.bincount(wanted, minlength=len(self.sizes)))
        for group in np.unique(wanted):
            at = asking[ends[group - 1] if group else 0 : ends[group]]
            first, last = self.ends[group] - self.sizes[group], self.ends[group]
            for c in range(first, last, COLUMNS):
                near = self.order[c : min(c + COLUMNS, last)]
                members = self.placed.points[near].T
                side = brute.silent_lists(self.placed.half[near], near.astype(np.int32))
                for a, b in blocks(len(at), brute.STRIP_ROWS):
                    scan(points[at[a:b]] @ members, at[a:b], lists, side)


def _load_kernels(X: np.ndarray) -> None:
    """Compile, or read from the cache, what `Groups.join` runs."""
    half, names = np.zeros(1), np.zeros(1, np.int32)
    lists, side = brute.new_lists(1, 1, half, names), brute.silent_lists(half, names)
    scan(np.zeros((1, 1), np.float32), np.zeros(1, np.int64), lists, side)
    measure_lists(X[:1], X[:1], 0, lists[3], np.empty(lists[3].shape))


def _nearest_candidates(
    queries: np.ndarray, X: np.ndarray, candidates: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The best k of each query's candidates and their squared distances."""
    squares = np.empty(candidates.shape)
    measure_lists(queries, X, 0, candidates, squares)
    order = np.lexsort((candidates, squares), axis=1)[:, :k]
    return (
        np.take_along_axis(candidates, order, axis=1),
        np.take_along_axis(squares, order, axis=1),
    )


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
