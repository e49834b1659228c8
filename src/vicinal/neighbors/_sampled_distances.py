"""Distances to small random samples of points: large for outliers, even if these form groups."""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.neighbors._sampling_kernels import mean_nearest

SAMPLE_SIZE: int = 16
N_SAMPLES: int = 100
# In small tables, one in this many rows is drawn, so that groups of outliers, a few percent of the rows, are
# absent from most samples.
MIN_ROWS_PER_DRAW = 16
BLOCK = 1024


class SampledDistances:
    """Mean over samples of the Euclidean distance from a point to the nearest member that is not at it.

    Parameters
    ----------
    points : ndarray (n, n_features)
        Rows to draw from. They are sorted first, so their order does not matter.
    rng : Generator
    size : int
        Rows per sample; fewer in small tables, but at least 2.
    n_samples : int
    """

    def __init__(
        self,
        points: np.ndarray,
        rng: np.random.Generator,
        size: int = SAMPLE_SIZE,
        n_samples: int = N_SAMPLES,
    ) -> None:
        order = np.lexsort(points.T[::-1])
        ranks = draw_ranks(len(points), rng, size, n_samples)
        self._set_samples(np.ascontiguousarray(points[order[ranks]]))

    @classmethod
    def from_samples(cls, samples: np.ndarray) -> SampledDistances:
        """Distances to samples (n_samples, size, n_features) that have been drawn."""
        distances = cls.__new__(cls)
        distances._set_samples(samples)
        return distances

    def _set_samples(self, samples: np.ndarray) -> None:
        self.samples = samples
        self._columns = np.ascontiguousarray(samples.transpose(0, 2, 1))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Distances of points, of those that were drawn from or of others."""
        points = np.ascontiguousarray(points)
        distances = np.empty(len(points))
        map_threads(
            lambda part: mean_nearest(points, self._columns, *part, distances),
            blocks(len(points), BLOCK),
        )
        return distances


def draw_ranks(
    n: int, rng: np.random.Generator, size: int = SAMPLE_SIZE, n_samples: int = N_SAMPLES
) -> np.ndarray:
    """Ranks (n_samples, size) of drawn rows in the lexicographic order of n rows."""
    size = min(size, max(n // MIN_ROWS_PER_DRAW, 2), n)
    return np.array([rng.choice(n, size, replace=False) for _ in range(n_samples)])
