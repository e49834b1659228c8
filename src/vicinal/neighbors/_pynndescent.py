"""Approximate neighbours under other metrics, by pynndescent, with their recall measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.parallel import n_cores_used
from vicinal.exceptions import InvalidValueError, MissingDependencyError
from vicinal.neighbors._pairwise import PairwisePoints
from vicinal.neighbors._radius import Rows

N_SAMPLES, N_TRIES = 200, 3


class DescentPoints:
    """Approximate neighbour lists; queries and radius searches use the exact backend."""

    def __init__(
        self, exact: Any, metric: Any, recall: float, random_state: Any, n_jobs: int | None
    ) -> None:
        try:
            import pynndescent
        except ImportError as error:
            raise MissingDependencyError(
                f"metric={metric!r} with method='approximate' needs pynndescent: "
                'pip install "vicinal[ann]", or use method="exact".'
            ) from error
        known = pynndescent.distances.named_distances
        if isinstance(metric, str) and metric not in known:
            raise InvalidValueError(
                f"metric={metric!r} has no approximate search; use method='exact', or one of "
                f"{', '.join(sorted(known))}."
            )
        self.exact, self.X, self.metric, self.target_recall = exact, exact.X, metric, recall
        self.rng = np.random.default_rng(random_state)
        self.n_jobs, self.recall = n_jobs, 1.0
        self.method: str | None = None

    def __len__(self) -> int:
        return len(self.X)

    def nearest_others(self, k: int, progress: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point, approximately; exactly if the recall is not reached."""
        from pynndescent import NNDescent

        n = len(self.X)
        rows = np.sort(self.rng.choice(n, min(n, N_SAMPLES), replace=False))
        true = self.exact.nearest_to(self.X[rows], k, None)[1]
        width = k + 16
        for _ in range(N_TRIES):
            if width >= n:
                break
            index = NNDescent(
                self.X,
                metric=self.metric,
                n_neighbors=width,
                random_state=int(self.rng.integers(2**31)),
                n_jobs=n_cores_used(self.n_jobs),
            )
            lists = _without_self(index.neighbor_graph, k)
            if (lists >= 0).all():
                # Compared by distance, so that any of several tied neighbours counts.
                measured = np.column_stack(
                    [np.zeros(len(rows)), self._measure(rows, lists[rows])[1]]
                )
                self.recall = float((measured[:, :k] <= true[:, -1:] * (1 + 1e-12)).mean())
                if self.recall >= self.target_recall:
                    self.method = "pynndescent"
                    return self._measure(np.arange(n), lists)
            width *= 2
        self.recall = 1.0
        exact = self.exact.nearest_others(k, progress)
        self.method = self.exact.method
        return exact

    def _measure(self, rows: np.ndarray, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Measure lists in double precision, and sort them; pynndescent uses single precision."""
        lengths = PairwisePoints(self.X, self.metric, self.n_jobs).lengths_of(rows, lists)
        order = np.lexsort((lists, lengths), axis=1)
        return np.take_along_axis(lists, order, axis=1), np.take_along_axis(lengths, order, axis=1)

    def nearest_to(
        self, queries: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, exact."""
        lists = self.exact.nearest_to(queries, k, progress)
        self.method, self.recall = self.exact.method, 1.0
        return lists

    def within(self, radius: float, queries: np.ndarray | None, progress: str | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        lists = self.exact.within(radius, queries, progress)
        self.method, self.recall = self.exact.method, 1.0
        return lists


def _without_self(lists: tuple[np.ndarray, np.ndarray], k: int) -> np.ndarray:
    """The first k entries of each row by (distance, index), without the point itself."""
    indices, distances = lists
    distances = np.where(indices == np.arange(len(indices))[:, None], np.inf, distances)
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(indices, order, axis=1).astype(np.int64)
