"""A neighbour search that is built on first use and then reused."""

from __future__ import annotations

from typing import Any

from vicinal.neighbors.search import NeighborSearch


class CachedSearch:
    """Builds the `NeighborSearch` of its points at the first call, and returns the same one afterwards.

    The index is not pickled, because building it is faster than loading it.

    Parameters
    ----------
    points : array or None
        Points to search, if there are any.
    metric : str or callable, default="euclidean"
        Metric of the search.
    """

    def __init__(self, points: Any, metric: Any = "euclidean") -> None:
        self.points, self.metric = points, metric
        self._built: NeighborSearch | None = None

    def __call__(self) -> NeighborSearch:
        if self._built is None:
            self._built = NeighborSearch(self.points, metric=self.metric)
        return self._built

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "metric": self.metric, "_built": None}
