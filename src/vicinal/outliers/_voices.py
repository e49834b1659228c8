"""Three distances of a row, and one score.

- **global**: the expected distance to the nearest member of a small random sample. A small sample
  represents dense and sparse regions, but rarely holds a member of a small group, so even outliers near
  each other stand out.
- **local**: the distance to the 20 nearest rows, relative to that of these rows (Breunig et al. 2000).
- **shape**: the distance to the centre, in units of the spread along each direction (see `fit_shape`).

Each becomes a standardised logarithm, z: minus the median, in units of the typical deviation above
it, which is where outliers are. Averaged over M independent directions, in each of which an
outlier is inflated alike, a distance has a ratio of signal to noise of the order of sqrt(M), which is the
best weight of its z. Plain distances see the effective number of directions of the spectrum of the data,
whitened distances that of the spectrum after whitening, in which directions that could not be estimated,
and so were shrunk, hardly count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.parallel import blocks
from vicinal._core.types import MetricLike
from vicinal.neighbors._sampled_distances import SampledDistances, draw_ranks
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import NeighborSearch
from vicinal.outliers._shape import Shape, fit_shape, n_directions

VOICES = ("global", "local", "shape")
# Neighbours of the local voice, as is usual for local outlier factors.
N_NEIGHBORS = 20
# In a clean reference there are no groups of outliers: the nearest of a fifth of the rows is on average
# the fifth neighbour.
CLEAN_FRACTION = 0.2
# A voice whose logarithms vary less says the same of all rows.
SILENT = 1e-9
BLOCK = 256
# Row numbers, distances, and whether each row is one of the reference.
Neighbors = tuple[np.ndarray, np.ndarray, np.ndarray]


class Sampling(NamedTuple):
    """Small random samples of the reference, as row numbers (n_samples, size), and distances to them if
    Euclidean."""

    ranks: np.ndarray
    euclidean: SampledDistances | None


class Voices:
    """Scores of rows relative to a reference; those at a row of the reference are scored as that row.

    Parameters
    ----------
    reference : ndarray
        Points (n, n_features), in an order that does not depend on that of the data; or distances (n, n)
        if the metric is precomputed. There, and in all methods, columns are those of the reference.
    rng : Generator
    metric : str or callable
    is_clean : bool
        Whether the reference has no outliers.
    n_jobs : int or None

    Attributes
    ----------
    weights : ndarray (3,)
        Weights of the voices; their squares sum to 1. A silent voice has 0.
    scores : ndarray (n,)
        Scores of the reference, each compared with the others.
    """

    def __init__(
        self,
        reference: np.ndarray,
        rng: np.random.Generator,
        *,
        metric: MetricLike = "euclidean",
        is_clean: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.metric, self.is_clean, self.n_jobs = as_metric(metric), is_clean, n_jobs
        self._rescaling = None if self.metric.is_precomputed else fit_rescaling(reference)
        self.points = self._placed(reference)
        self._search = NeighborSearch(self.points, metric=self.metric.name, n_jobs=n_jobs)
        self.k = min(N_NEIGHBORS, len(reference) - 1)
        self._samples = None if is_clean else self._draw(rng)
        self.shape: Shape | None = None
        if self._rescaling is not None:
            self.shape = fit_shape(self._rescaling.transform(reference))
        found = self._neighbors(self.points)
        self._fit_local(*found[:2])
        self._standardize(self._distances(reference, found))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Scores of rows; higher is more unusual."""
        return self._combined(self.parts(rows))

    def parts(self, rows: np.ndarray) -> np.ndarray:
        """The part of each voice in the score of each row."""
        return self._standardized(self._distances(rows)) * self.weights

    def shares(self, row: np.ndarray, voice: str) -> np.ndarray | None:
        """The part of each column in what a voice says of one row; None if it cannot be told."""
        if voice == "shape" and self.shape is not None and self._rescaling is not None:
            return self.shape.shares(self._rescaling.transform(row[None]))[0]
        if not self.metric.is_euclidean:
            return None
        place = self._placed(row[None])
        if voice == "local" or self._samples is None:
            gaps = np.square(self.points[self._neighbors(place)[0][0]] - place)
        else:
            gaps = np.square(self.points[self._samples.ranks] - place)
            lengths = gaps.sum(axis=2)
            nearest = np.where(lengths > 0, lengths, np.inf).argmin(axis=1)
            gaps = gaps[np.arange(len(gaps)), nearest]
        total = gaps.sum()
        return gaps.sum(axis=0) / total if total > 0 else None

    def _placed(self, rows: np.ndarray) -> np.ndarray:
        """Rows as the metric takes them: translated and in another unit only where that changes nothing."""
        if self._rescaling is None or not self.metric.is_minkowski:
            return rows
        return self._rescaling.transform(rows)

    def _distances(self, rows: np.ndarray, found: Neighbors | None = None) -> np.ndarray:
        """Distances (m, 3) by the three voices."""
        placed = self._placed(rows)
        near, lengths, is_reference = found or self._neighbors(placed)
        reach = self._reach(near, lengths)
        # A cloud without coordinates, or of equal rows, has no shape.
        shape = np.ones(len(rows))
        if self.shape is not None and self._rescaling is not None:
            coordinates = self._rescaling.transform(rows)
            shape = self.shape.distances(coordinates, is_reference, self.n_jobs)
        local = reach * (1.0 / self._reference_reach[near]).mean(axis=1)
        return np.column_stack([self._global(placed, lengths), local, shape])

    def _neighbors(self, placed: np.ndarray) -> Neighbors:
        """The k nearest rows of the reference, but not the row itself, and whether it is one of them."""
        near, lengths = self._search.nearest(self.k + 1, placed)
        is_reference = lengths[:, 0] == 0
        others = np.arange(self.k) + is_reference[:, None]
        return (
            np.take_along_axis(near, others, axis=1),
            np.take_along_axis(lengths, others, axis=1),
            is_reference,
        )

    def _global(self, placed: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        if self._samples is None:
            # The probability that a row of this rank is the nearest one of a random fifth.
            ranks = CLEAN_FRACTION * (1.0 - CLEAN_FRACTION) ** np.arange(self.k)
            return (lengths * (ranks / ranks.sum())).sum(axis=1)
        if self._samples.euclidean is not None:
            return self._samples.euclidean(placed, self.n_jobs)
        ranks = self._samples.ranks
        means = np.empty(len(placed))
        for start, stop in blocks(len(placed), BLOCK):
            part = placed[start:stop]
            if self.metric.is_precomputed:
                gaps = part[:, ranks.ravel()]
            else:
                members = self.points[ranks.ravel()]
                gaps = pairwise_distances(part, members, metric=self.metric.name)
            gaps = gaps.reshape(len(part), *ranks.shape)
            nearest = np.where(gaps > 0, gaps, np.inf).min(axis=2)
            means[start:stop] = np.where(np.isfinite(nearest), nearest, 0.0).mean(axis=1)
        return means

    def _draw(self, rng: np.random.Generator) -> Sampling:
        ranks = draw_ranks(len(self.points), rng)
        euclidean = None
        if self.metric.is_euclidean:
            euclidean = SampledDistances.from_samples(self.points[ranks])
        return Sampling(ranks, euclidean)

    def _fit_local(self, near: np.ndarray, lengths: np.ndarray) -> None:
        self._radius = lengths[:, -1]
        self._least_reach = 0.0
        reach = self._reach(near, lengths)
        positive = reach[reach > 0]
        # Of rows with many copies, the reach is that of the densest others.
        self._least_reach = float(positive.min()) if len(positive) else 1.0
        self._reference_reach = np.maximum(reach, self._least_reach)

    def _reach(self, near: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Mean distance to the neighbours, where none is nearer than these are to their own."""
        reach = np.maximum(lengths, self._radius[near]).mean(axis=1)
        return np.maximum(reach, self._least_reach)

    def _standardize(self, distances: np.ndarray) -> None:
        tiny = np.finfo(np.float64).tiny
        self._least = np.where(distances > 0, distances, np.inf).min(axis=0)
        self._least[~np.isfinite(self._least)] = tiny
        logs = np.log(np.maximum(distances, self._least))
        self._middles = np.median(logs, axis=0)
        above = np.maximum(logs - self._middles, 0.0)
        spreads = np.sqrt(np.square(above).sum(axis=0) / np.maximum((above > 0).sum(axis=0), 1))
        speaks = spreads > SILENT
        if not speaks.any():
            # All rows are equal, so any other row is unusual, whoever says so.
            speaks[:] = True
            spreads[:] = 1.0
        self._spreads = np.where(speaks, spreads, 1.0)
        plain = whitened = 1.0
        if self.shape is not None:
            plain = n_directions(self.shape.spectrum)
            whitened = n_directions(self.shape.spectrum / self.shape.shrunk)
        else:
            speaks[2] = False
        numbers = np.where(speaks, [plain, plain, whitened], 0.0)
        self.weights = np.sqrt(numbers / numbers.sum())
        self.scores = self._combined(self._standardized(distances) * self.weights)

    def _standardized(self, distances: np.ndarray) -> np.ndarray:
        return (np.log(np.maximum(distances, self._least)) - self._middles) / self._spreads

    @staticmethod
    def _combined(parts: np.ndarray) -> np.ndarray:
        # Not a matrix product, which would round a row differently alone and among others.
        return parts[:, 0] + parts[:, 1] + parts[:, 2]
