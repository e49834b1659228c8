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
from vicinal.neighbors._brute_kernels import measure_lists, offer
from vicinal.neighbors.brute import Frame, Placed
from vicinal.neighbors.points import Points

# Below this many points the exact search is as fast.
WORTH_IT = 10_000
N_SAMPLES, N_ITERATIONS, SAMPLES_A_GROUP = 250, 4, 24
# A pair inside groups costs this many times a pair of the exact search, which shares each product.
COST_OF_PAIR = 2.2
# Groups around that of a point, for each one that it probes: its nearest ones are among them.
WIDER = 4
# Queries that a task works on; enough of them ask for the same group to make products pay.
QUERIES, COLUMNS = 16384, 4096


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
        placed = brute.place(asked, groups.frame, self.n_jobs)
        labels = nearest_centre(placed.points, groups.centres, self.n_jobs)
        found = groups.join(
            asked, X, placed, labels, k, n_groups, own=False, n_jobs=self.n_jobs, progress=progress
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
        rows = rows[np.argsort(groups.labels[rows], kind="stable")]
        wanted = groups.labels[groups.true_neighbors(rows, k, self.n_jobs)]
        points, labels = groups.placed.points[rows], groups.labels[rows]
        n_groups, found = 0, np.zeros(1)
        # The sample has an error of its own: one standard deviation is kept in reserve.
        while found.mean() - found.std() / np.sqrt(len(found)) < self.wanted:
            n_groups += max(1, n_groups // 8)
            if n_groups > len(groups.centres):
                return 0
            probed = groups.probes(points, labels, n_groups)
            found = (wanted[:, :, None] == probed[:, None, :]).any(axis=2).mean(axis=1)
        if groups.sizes[probed].sum(axis=1).mean() * COST_OF_PAIR > n:
            return 0
        self.method, self.recall = "ivf", float(found.mean())
        return n_groups


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
        self.half = brute.half_squares(self.centres).astype(np.float32)
        self.around = np.argsort(self.half - self.centres @ self.centres.T, axis=1, kind="stable")

    def true_neighbors(self, rows: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
        """The k points nearest to each of some points, up to single precision."""
        half, names = (
            self.placed.half.astype(np.float32),
            np.arange(len(self.labels), dtype=np.int32),
        )

        def select(span: tuple[int, int]) -> np.ndarray:
            own = rows[span[0] : span[1]]
            asked, positions = self.placed.points[own], np.arange(len(own))
            reach, keys, ids = _new_lists(len(own), k)
            for a, b in blocks(len(names), COLUMNS):
                products = asked @ self.placed.points[a:b].T
                offer(products, positions, half[a:b], names[a:b], own, reach, keys, ids)
            return ids

        with one_blas_thread():
            return np.concatenate(map_threads(select, blocks(len(rows), 64), n_jobs))

    def probes(self, points: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
        """The ``n_groups`` groups whose centres are nearest to each point, in any order.

        Looked for among those around the point's own group. Points come in the order of their ``labels``.
        """
        n_around = min(WIDER * n_groups + 16, len(self.centres))
        probed = np.empty((len(points), n_groups), np.uint16)
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        for a, b in zip(starts, [*starts[1:], len(labels)], strict=True):
            near = self.around[labels[a], :n_around]
            keys = self.half[near] - points[a:b] @ self.centres[near].T
            if n_groups < n_around:
                near = near[np.argpartition(keys, n_groups - 1, axis=1)[:, :n_groups]]
            probed[a:b] = near
        return probed

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
        """Neighbours of the queries, whose nearest centres are ``labels``."""
        n, order = len(queries), np.argsort(labels, kind="stable")
        indices, squares = np.empty((n, k), np.int64), np.empty((n, k))

        def search(span: tuple[int, int]) -> None:
            rows = order[span[0] : span[1]]
            points = asked.points[rows]
            probed = self.probes(points, labels[rows], n_groups)
            candidates = self._candidates(
                points, probed, rows if own else np.full(len(rows), -1), k
            )
            found, costs = _nearest_candidates(queries[rows], X, candidates, k)
            indices[rows], squares[rows] = found, costs
            short = rows[found[:, -1] < 0]
            brute.search_completely(
                queries, X, self.frame, self.placed, short, indices, squares, own
            )

        with one_blas_thread():
            spans = blocks(n, min(QUERIES, max(1024, n // 8)))
            map_threads(search, spans, n_jobs, progress=progress)
        return indices, np.sqrt(squares, out=squares)

    def _candidates(
        self, points: np.ndarray, probed: np.ndarray, own: np.ndarray, k: int
    ) -> np.ndarray:
        """A few more than k near points for each point, from the groups that it probes."""
        # Rounding in single precision may swap neighbours, hence the few more.
        reach, keys, ids = _new_lists(len(points), k + max(8, k // 4))
        # Two bytes a number: numpy sorts these by radix.
        asking = np.argsort(probed, axis=None, kind="stable") // probed.shape[1]
        ends = np.cumsum(np.bincount(probed.ravel(), minlength=len(self.sizes)))
        for group in np.unique(probed):
            at = asking[ends[group - 1] if group else 0 : ends[group]]
            first, last = self.ends[group] - self.sizes[group], self.ends[group]
            for c in range(first, last, COLUMNS):
                near = self.order[c : min(c + COLUMNS, last)]
                members, names = self.placed.points[near].T, near.astype(np.int32)
                half = self.placed.half[near].astype(np.float32)
                for a, b in blocks(len(at), brute.STRIP_ROWS):
                    products = points[at[a:b]] @ members
                    offer(products, at[a:b], half, names, own, reach, keys, ids)
        return ids


def _new_lists(n: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Empty lists of candidates: the reach of each, keys and names."""
    return (
        np.full(n, np.inf, np.float32),
        np.full((n, length), np.inf, np.float32),
        np.full((n, length), -1, np.int32),
    )


def _load_kernels(X: np.ndarray) -> None:
    """Compile, or read from the cache, what `Groups.join` runs."""
    own, (reach, keys, ids) = np.zeros(1, np.int64), _new_lists(1, 1)
    offer(keys, own, reach, ids[0], own, reach, keys, ids)
    measure_lists(X[:1], X[:1], 0, ids, np.empty(ids.shape))


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
        # Large blocks: between two of them a thread may wait for the one that compiles.
        map_threads(assign, blocks(len(points), 4096), n_jobs)
    return labels
