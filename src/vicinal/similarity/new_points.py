"""Points in a smoothed similarity: distances of the fitted ones, and the first step of new ones to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._validation import require_memory
from vicinal.graphs.neighborhoods import distances_between, knn
from vicinal.neighbors import NeighborSearch
from vicinal.similarity.kernels import point_scales


@dataclass
class PointKernel:
    """The kernel of fitted points, to be extended to others.

    Attributes
    ----------
    points : ndarray (n, n_features) or None
        None if distances were given.
    scales : ndarray (n,)
        Of the fitted points.
    nearest : int
        Number of fitted points that a new one is compared with.
    """

    points: np.ndarray | None
    scales: np.ndarray
    nearest: int
    k: float
    n_neighbors: int
    width: str
    metric: Any
    n_jobs: int | None

    @classmethod
    def of(cls, points: np.ndarray | None, distances: Any, model: Any) -> PointKernel:
        """The kernel that a `SelfSmoothing` has made of distances."""
        n = distances.shape[0]
        scales = point_scales(distances, model.n_neighbors, model.width)
        # Sparse distances are those of the near points only.
        nearest = n if isinstance(distances, np.ndarray) else min(n, model.n_neighbors + 1)
        return cls(
            points,
            scales,
            nearest,
            model.k,
            model.n_neighbors,
            model.width,
            model.metric,
            model.n_jobs,
        )

    def first_step(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (m, n) of the first step of each new point, and its degree."""
        n = len(self.scales)
        if self.points is None:
            indices = np.argsort(X, axis=1, kind="stable")
            distances = np.take_along_axis(X, indices, axis=1)
        else:
            search = NeighborSearch(self.points, metric=self.metric, n_jobs=self.n_jobs)
            indices, distances = search.nearest(self.nearest, queries=X)
        scales = self.scales[indices] / 2 + self._own_scales(distances)[:, None] / 2
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            exponents = np.where(distances == 0, 0.0, np.square(distances / scales) / self.k)
            degrees = np.maximum(np.exp(-exponents).sum(axis=1), 1.0)
            # Relative to the nearest: a point far from everything still goes somewhere.
            relative = exponents - exponents.min(axis=1, keepdims=True)
            shares = np.exp(-np.nan_to_num(relative, nan=0.0))
        rows = np.zeros((len(indices), n))
        np.put_along_axis(rows, indices, shares / shares.sum(axis=1, keepdims=True), axis=1)
        return rows, degrees

    def _own_scales(self, distances: np.ndarray) -> np.ndarray:
        if self.width == "global":
            return np.full(len(distances), self.scales[0])
        k = max(1, min(self.n_neighbors, len(self.scales) - 1))
        # A point at a fitted one is that one, which is not its own neighbour.
        here = distances[:, 0] == 0
        first = (distances[:, :k] / k).sum(axis=1)
        second = (distances[:, : k + 1] / k).sum(axis=1)
        return np.where(here, second, first)


def point_distances(points: np.ndarray, model: Any, dense: bool) -> Any:
    """Distances of all pairs of points, or of near ones in a sparse matrix."""
    n = len(points)
    if not dense:
        k = min(model.n_neighbors, n - 1)
        graph = knn(points, k, metric=model.metric, n_jobs=model.n_jobs, verbose=model.verbose)
        return graph.to_scipy("lengths")
    remedy = "Give method='sparse', which holds near pairs only."
    require_memory(40.0 * n * n, f"The similarity of {n:,} points", remedy)
    return (
        distances_between(points, model.metric, model.n_jobs)(0, n) if n > 1 else np.zeros((1, 1))
    )


def first_step_of_similarities(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and degree of new items from their similarities to the fitted ones."""
    degrees = rows.sum(axis=1)
    if not (degrees > 0).all():
        raise ValueError(
            f"X[{int(np.argmin(degrees))}] is not similar to any fitted item, so there is no way to it."
        )
    return rows / degrees[:, None], degrees


def extended_rows(walk: Any, first: np.ndarray, degrees: np.ndarray, t: float) -> np.ndarray:
    """Rows of W_t of new points over their own entry.

    With w = d p the similarities of a new point, its row of W P^t is d p P^t, and its own entry is
    d p P^(t-1) D^-1 p' d. At a fitted point both are what they are there.
    """
    rows = walk.spread(first, t)
    if t < 1:
        return rows * degrees[:, None]
    inverse = np.divide(1.0, walk.sums, out=np.zeros_like(walk.sums), where=walk.sums > 0)
    own = (walk.spread(first, t - 1) * inverse * first).sum(axis=1)
    return rows / (degrees * own)[:, None]
