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

from vicinal.neighbors import brute
from vicinal.neighbors.axes import (
    RIVALS,
    draw_sample,
    leading_axes,
    nearest_keys,
    share_listed,
)
from vicinal.neighbors.groups import Groups, list_length, load_kernels, nearest_centre
from vicinal.neighbors.points import Points

# Below this many points the exact search is as fast.
WORTH_IT = 10_000
# Of the neighbours that may be missed, axes may lose this share.
LOST_BY_AXES = 1 / 6
# A pair inside groups costs this many times a pair of the exact search, which shares each product.
COST_OF_PAIR = 2.2


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
        groups, n_groups = self._groups_to_probe(k)
        if groups is None:
            return super().nearest_others(k, progress)
        found = groups.join(
            self.X, self.X, groups.points, groups.labels, k, n_groups,
            own=True, n_jobs=self.n_jobs, progress=progress,
        )  # fmt: skip
        return found[0], self.in_metric(found[1])

    def nearest_to(
        self, queries: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, most of them."""
        groups, n_groups = self._groups_to_probe(k)
        if groups is None:
            return super().nearest_to(queries, k, progress)
        X, asked = self._alike(self._prepare(queries, "queries"))
        points = groups.turn(brute.place(asked, groups.frame, self.n_jobs).points)
        labels = nearest_centre(points, groups.centres, self.n_jobs)
        found = groups.join(
            asked, X, points, labels, k, n_groups, own=False, n_jobs=self.n_jobs, progress=progress
        )  # fmt: skip
        return found[0], self.in_metric(found[1])

    def _groups_to_probe(self, k: int) -> tuple[Groups | None, int]:
        """Groups, and how many reach the recall; none when the exact search is no slower."""
        n, length, self.recall = len(self.X), list_length(k), 1.0
        if n < WORTH_IT or k > n // 20:
            return None, 0
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

        if self._groups is None:
            allowed = LOST_BY_AXES * (1 - self.wanted)
            axes = leading_axes(points, half, sample, k, length, allowed, self.random)
            turned = points if axes is None else points @ axes.T
            kept = kept_along(turned)
            # Beside rivals that are all alike, copies of one point, any axes look good.
            if axes is not None and 1 - kept.mean() > 2 * allowed:
                axes, turned = None, points
                kept = kept_along(turned)
            self._groups = Groups(frame, placed, axes, turned, self.random, self.n_jobs)
        else:
            kept = kept_along(self._groups.points)
        groups = self._groups
        # In the order of their groups, as `Groups.probes` wants them.
        labels = groups.labels[sample.rows]
        order = np.argsort(labels, kind="stable")
        kept, labels, own = kept[order], labels[order], groups.points[sample.rows[order]]
        wanted = groups.labels[sample.near[order, :k]]
        n_groups, found = 0, np.zeros(1)
        # The sample has an error of its own: two standard deviations are kept in reserve.
        while found.mean() - 2 * found.std() / np.sqrt(len(found)) < self.wanted:
            n_groups += max(1, n_groups // 8)
            if n_groups > len(groups.centres):
                return None, 0
            probed = groups.probes(own, labels, n_groups)
            found = kept * (wanted[:, :, None] == probed[:, None, :]).any(axis=2).mean(axis=1)
        if groups.sizes[probed].sum(axis=1).mean() * COST_OF_PAIR > n:
            return None, 0
        self.method, self.recall = "ivf", float(found.mean())
        return groups, n_groups
