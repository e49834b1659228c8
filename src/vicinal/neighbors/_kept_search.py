"""A search among fitted points that is built once, on first use."""

from __future__ import annotations

from typing import Any

from vicinal.neighbors.search import NeighborSearch


class KeptSearch:
    """Builds the `NeighborSearch` of its points when it is first called, and returns the same one afterwards.

    It is not pickled with its owner: an index takes less time to build than to load.

    Parameters
    ----------
    points : array or None
        The points, or None if there are none to search among.
    metric : str or callable, default="euclidean"
    """

    def __init__(self, points: Any, metric: Any = "euclidean") -> None:
        self.points, self.metric = points, metric
        self._built: tuple[int | None, NeighborSearch] | None = None

    def __call__(self, n_jobs: int | None = -1) -> NeighborSearch:
        built = self._built
        if built is None or built[0] != n_jobs:
            search = NeighborSearch(self.points, metric=self.metric, n_jobs=n_jobs)
            self._built = built = (n_jobs, search)
        return built[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "metric": self.metric, "_built": None}
