"""Approximate neighbours whose recall is measured before the work is done.

Points are grouped by k-means, and each point is compared with the groups whose centres are nearest to it,
along the leading principal axes. How many axes and groups that takes is read off a sample: the exact
neighbours of some points tell in which groups they lie and whether the axes still rank them first, and so
which share of them is found.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np

from vicinal._core.parallel import one_blas_thread
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._exact import Points
from vicinal.neighbors._ivf import Groups, list_length, load_kernels, nearest_centre
from vicinal.neighbors._projection import (
    N_SAMPLES,
    RIVALS,
    Sample,
    draw_sample,
    leading_axes,
    nearest_keys,
    share_listed,
)
from vicinal.neighbors.metric import Metric

# Below this many points the exact search is as fast.
WORTH_IT = 10_000
# Of the neighbours that may be missed, axes may lose this share.
LOST_BY_AXES = 1 / 6
# A pair inside groups costs this many times a pair of the exact search, which shares each product.
COST_OF_PAIR = 6.0
# Queries for each one whose exact neighbours tell the recall; with fewer, that takes all the time saved.
QUERIES_PER_SAMPLE = 6
# Queries begin with so many groups; beyond so many times the extent of the points single precision, in which
# groups are searched, has no digits left to tell them apart.
FEWEST, FAR = 4, 100.0


class ClusteredPoints(Points):
    """Points in groups; falls back to the exact search where that is no slower."""

    def __init__(
        self, X: np.ndarray, metric: Metric, recall: float, random_state: Any, n_jobs: int | None
    ) -> None:
        super().__init__(X, metric, n_jobs)
        self.wanted, self.recall = recall, 1.0
        self.random = np.random.default_rng(random_state)
        self._groups: Groups | None = None

    def nearest_others(self, k: int, progress: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest others of every point, most of them."""
        # Products are small here: more threads would wait for each other longer than they work.
        with one_blas_thread():
            groups, n_groups = self._groups_to_probe(k)
        if groups is None:
            return super().nearest_others(k, progress)
        found = groups.join(
            self.X, self.X, groups.points, groups.labels, k, n_groups,
            exclude_self=True, n_jobs=self.n_jobs, progress=progress,
        )  # fmt: skip
        return found[0], self.in_metric(found[1])

    def nearest_to(
        self, queries: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, most of them."""
        asked, found = self._prepare(queries, "queries"), None
        if len(queries) > QUERIES_PER_SAMPLE * N_SAMPLES and self._may_pay(k):
            with one_blas_thread():
                groups = self._groups or self._sampled_points(k)[0]
                found = self._ask_groups(groups, *self._same_dtype(asked), k, progress)
        if found is None:
            self.recall = 1.0
            return super().nearest_to(queries, k, progress)
        return found[0], self.in_metric(found[1])

    def _ask_groups(
        self, groups: Groups, X: np.ndarray, asked: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Neighbours of queries from as many groups as reach the recall, if that is worth it."""
        if brute.size_in_frame(asked, groups.frame) > FAR:
            return None
        points = groups.turn(brute.place(asked, groups.frame, self.n_jobs).points)
        labels = nearest_centre(points, groups.centres, self.n_jobs)
        some = self.random.choice(len(asked), N_SAMPLES, replace=False)
        some = some[np.argsort(labels[some], kind="stable")]
        true = brute.nearest_to(X, asked[some], k, n_jobs=self.n_jobs)[1]
        n_groups, found = FEWEST, np.zeros(1)
        while True:
            probed = groups.probes(points[some], labels[some], min(n_groups, len(groups.centres)))
            if _too_dear(groups, probed):
                return None
            lists = groups.join(
                asked[some], X, points[some], labels[some], k, probed.shape[1],
                exclude_self=False, n_jobs=self.n_jobs, progress=None,
            )  # fmt: skip
            # Told by distances: which of many equal points is found makes no difference.
            found = (lists[1] <= true[:, -1:]).mean(axis=1)
            if self._is_enough(found):
                break
            n_groups += n_groups // 2
        self.method, self.recall = "ivf", float(found.mean())
        return groups.join(
            asked, X, points, labels, k, probed.shape[1],
            exclude_self=False, n_jobs=self.n_jobs, progress=progress,
        )  # fmt: skip

    def _may_pay(self, k: int) -> bool:
        return len(self.X) >= WORTH_IT and k <= len(self.X) // 20

    def _is_enough(self, found: np.ndarray) -> bool:
        """Whether the shares found by a sample show the recall that is wanted.

        The sample has an error of its own: two standard deviations are kept in reserve.
        """
        return bool(found.mean() - 2 * found.std() / np.sqrt(len(found)) >= self.wanted)

    def _groups_to_probe(self, k: int) -> tuple[Groups | None, int]:
        """Groups, and how many reach the recall; none when the exact search is no slower."""
        self.recall = 1.0
        if not self._may_pay(k):
            return None, 0
        groups, sample, kept = self._sampled_points(k)
        # In the order of their groups, as `Groups.probes` wants them.
        labels = groups.labels[sample.rows]
        order = np.argsort(labels, kind="stable")
        kept, labels, own = kept[order], labels[order], groups.points[sample.rows[order]]
        wanted = groups.labels[sample.near[order, :k]]
        n_groups, found = 0, np.zeros(1)
        while not self._is_enough(found):
            n_groups += max(1, n_groups // 8)
            if n_groups > len(groups.centres):
                return None, 0
            probed = groups.probes(own, labels, n_groups)
            found = kept * (wanted[:, :, None] == probed[:, None, :]).any(axis=2).mean(axis=1)
        if _too_dear(groups, probed):
            return None, 0
        self.method, self.recall = "ivf", float(found.mean())
        return groups, n_groups

    def _sampled_points(self, k: int) -> tuple[Groups, Sample, np.ndarray]:
        """Groups, made once, a sample of points, and the share of their k neighbours that the axes keep."""
        length = list_length(k)
        if self._groups is None:
            frame = brute.find_frame(self.X)
            placed = brute.place(self.X, frame, self.n_jobs)
            # The first time, kernels compile for a second: time enough while numpy works.
            Thread(target=load_kernels, args=(self.X,)).start()
        else:
            placed = self._groups.placed
        points, half = placed.points, placed.half.astype(np.float32)
        sample = draw_sample(points, half, RIVALS * length, self.random, self.n_jobs)

        def kept_along(turned: np.ndarray) -> np.ndarray:
            listed = nearest_keys(turned, half, sample.rows, length, self.n_jobs)
            return share_listed(self.X, sample, listed, k)

        if self._groups is not None:
            return self._groups, sample, kept_along(self._groups.points)
        allowed = LOST_BY_AXES * (1 - self.wanted)
        axes = leading_axes(points, half, sample, k, length, allowed, self.random)
        turned = points if axes is None else points @ axes.T
        kept = kept_along(turned)
        # Beside rivals that are all alike, copies of one point, any axes look good.
        if axes is not None and 1 - kept.mean() > 2 * allowed:
            axes, turned = None, points
            kept = kept_along(turned)
        self._groups = Groups(frame, placed, axes, turned, self.random, self.n_jobs)
        return self._groups, sample, kept


def _too_dear(groups: Groups, probed: np.ndarray) -> bool:
    """Whether the exact search is no slower than comparisons with the groups ``probed`` by a sample."""
    n_pairs = groups.sizes[probed].sum(axis=1).mean()
    return bool(n_pairs * COST_OF_PAIR > len(groups.points))
