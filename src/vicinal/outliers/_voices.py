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

The centre and the covariance of the shape are those of a multivariate t-distribution: each row counts by
``2 / (1 + q / median of q)``, where q is its squared distance in units of the covariance itself, so that
outliers hardly shape what they are compared with. As many rows as columns do not determine a covariance,
so it is shrunk towards a multiple of the identity, by the amount that Ledoit and Wolf derive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.types import MetricLike
from vicinal.neighbors._sampled_distances import SampledDistances, draw_ranks
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import NeighborSearch
from vicinal.outliers._shape_kernels import distances_along_axes

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
# The weights settle in 4 to 10 steps.
STEPS = 10
SETTLED = 1e-3
# In wider tables, the leading directions are used.
MAX_DIRECTIONS = 500
# Eigenvalues below this fraction of the largest are rounding errors.
ROUNDING = 1e-9
# Rows beyond count as being here: in units of the typical deviation from the middle, it is far enough.
FARTHEST = 1e50
SENTENCES = {
    "global": "far from all regions",
    "local": "far from its neighbours, relative to their distances from each other",
    "shape": "an unusual combination of values",
}


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
    has_points : bool
        Whether the reference holds points, not distances.
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
        has_points: bool = True,
        is_clean: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.metric, self.is_clean, self.n_jobs = as_metric(metric), is_clean, n_jobs
        self._rescaling = fit_rescaling(reference) if has_points else None
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
        local = reach * (1.0 / self._reference_reach[near]).mean(axis=1)
        shape = self._shape_distances(rows, is_reference)
        return np.column_stack([self._global(placed, lengths), local, shape])

    def _shape_distances(self, rows: np.ndarray, is_reference: np.ndarray) -> np.ndarray:
        shape, lengths = self.shape, np.ones(len(rows))
        # Distances without coordinates, and equal rows, have no shape.
        if shape is None or self._rescaling is None:
            return lengths
        points = np.clip(self._rescaling.transform(rows), -FARTHEST, FARTHEST)
        map_threads(
            lambda part: distances_along_axes(points, shape.center, shape.axes, *part, lengths),
            blocks(len(points), BLOCK),
            self.n_jobs,
        )
        lengths[is_reference] = shape.unseen(lengths[is_reference])
        return lengths

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
            return self._samples.euclidean(placed)
        ranks = self._samples.ranks
        means = np.empty(len(placed))
        for start, stop in blocks(len(placed), BLOCK):
            part = placed[start:stop]
            if self._rescaling is None:
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


class Reason(NamedTuple):
    """Why a row is as unusual as it is.

    Attributes
    ----------
    voice : str
        The distance with the largest part in the score: "global", "local" or "shape".
    parts : dict
        The parts of all three.
    columns : list of (name, share)
        The columns with the largest parts in this distance.
    """

    voice: str
    parts: dict[str, float]
    columns: list[tuple[Any, float]]

    def __str__(self) -> str:
        named = ", ".join(f"{name} ({share:.0%})" for name, share in self.columns)
        return f"{SENTENCES[self.voice]}{f', mostly by {named}' if named else ''}"


def reason_of(
    parts: np.ndarray,
    shares: Callable[[str], np.ndarray | None],
    names: Sequence[Any],
    n_columns: int,
) -> Reason:
    """The reason of one row, from the parts of the voices and the function that tells those of the
    columns."""
    # A silent voice has no part at all.
    voice = VOICES[int(np.argmax(np.where(parts == 0, -np.inf, parts)))]
    found = shares(voice)
    columns: list[tuple[Any, float]] = []
    if found is not None:
        largest = np.argsort(-found, kind="stable")[:n_columns]
        columns = [(names[i], float(found[i])) for i in largest if found[i] > 0]
    return Reason(voice, dict(zip(VOICES, parts.tolist(), strict=True)), columns)


class Shape(NamedTuple):
    """A robust centre and the axes of the cloud, each divided by its spread.

    Attributes
    ----------
    center : ndarray (n_columns,)
        Weighted mean.
    axes : ndarray (n_columns, n_directions)
        A row x is at ``(x - center) @ axes``, in which the cloud is round.
    spectrum : ndarray (n_directions,)
        Variances along the axes, before shrinkage.
    shrunk : ndarray (n_directions,)
        Variances that the axes were divided by.
    typical : float
        Median squared distance of the rows.
    mass : float
        Sum of the weights of the rows, relative to the part of the covariance that is not shrunk.
    """

    center: np.ndarray
    axes: np.ndarray
    spectrum: np.ndarray
    shrunk: np.ndarray
    typical: float
    mass: float

    def unseen(self, lengths: np.ndarray) -> np.ndarray:
        """Distances of rows of the reference as if the shape had not seen them, from those that it has.

        Without a row y of weight w, the covariance C is ``C - y y' w / mass``, and its distance follows
        from the formula of Sherman and Morrison.
        """
        squares = lengths * lengths
        leverage = squares * _weights(squares, self.typical) / self.mass
        return lengths / np.sqrt(np.maximum(1.0 - leverage, ROUNDING))

    def shares(self, points: np.ndarray) -> np.ndarray:
        """Part of each column in the squared distance of each row."""
        offsets = np.clip(points, -FARTHEST, FARTHEST) - self.center
        along = offsets * ((offsets @ self.axes) @ self.axes.T)
        total = along.sum(axis=1, keepdims=True)
        return np.divide(along, total, out=np.zeros_like(along), where=total > 0)


def n_directions(variances: np.ndarray) -> float:
    """Effective number of independent directions among those with these variances: (sum)^2 / sum of
    squares."""
    scaled = variances / variances.max()
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def fit_shape(points: np.ndarray) -> Shape | None:
    """The shape of rescaled points; None if all are equal."""
    points = np.clip(points, -FARTHEST, FARTHEST)
    basis = _leading_directions(points)
    if basis.shape[1] == 0:
        return None
    placed = points @ basis
    n, d = placed.shape
    squares = _first_squares(placed)
    weights = np.zeros(n)
    for _ in range(STEPS):
        typical = _typical(squares)
        last, weights = weights, _weights(squares, typical)
        if np.abs(weights - last).max() < SETTLED * weights.max():
            break
        center = weights @ placed / weights.sum()
        counted = (placed - center) * np.sqrt(weights / weights.mean())[:, None]
        covariance = counted.T @ counted / n
        level = np.trace(covariance) / d
        if level == 0:
            return None
        shrinkage = _shrinkage(counted, covariance, level)
        spectrum, vectors = np.linalg.eigh(covariance)
        spectrum = np.maximum(spectrum, 0.0)
        shrunk = (1.0 - shrinkage) * spectrum + shrinkage * level
        shrunk = np.maximum(shrunk, ROUNDING * shrunk.max())
        axes = vectors / np.sqrt(shrunk)
        squares = np.square((placed - center) @ axes).sum(axis=1)
    return Shape(
        center=basis @ center,
        axes=np.ascontiguousarray(basis @ axes),
        spectrum=spectrum,
        shrunk=shrunk,
        typical=typical,
        mass=float(weights.sum() / max(1.0 - shrinkage, ROUNDING)),
    )


def _leading_directions(points: np.ndarray) -> np.ndarray:
    """Columns that vary, as unit vectors; the leading principal directions if there are very many."""
    varied = np.flatnonzero(np.ptp(points, axis=0) > 0)
    basis = np.zeros((points.shape[1], len(varied)))
    basis[varied, np.arange(len(varied))] = 1.0
    if min(len(varied), len(points)) <= MAX_DIRECTIONS:
        return basis
    middle = np.median(points[:, varied], axis=0)
    centered = points[:, varied] - middle
    if len(points) < len(varied):
        _, vectors = np.linalg.eigh(centered @ centered.T)
        directions = np.linalg.qr(centered.T @ vectors[:, -MAX_DIRECTIONS:])[0]
    else:
        directions = np.linalg.eigh(centered.T @ centered)[1][:, -MAX_DIRECTIONS:]
    return basis @ directions


def _first_squares(points: np.ndarray) -> np.ndarray:
    """Squared distances to the median, each column in units of its median deviation."""
    deviations = np.abs(points - np.median(points, axis=0))
    units = np.median(deviations, axis=0)
    units = np.where(units > 0, units, points.std(axis=0))
    return np.square(deviations / np.where(units > 0, units, 1.0)).sum(axis=1)


def _typical(squares: np.ndarray) -> float:
    """The median; the mean if more than half of the rows are at the centre."""
    middle, mean = float(np.median(squares)), float(squares.mean())
    return middle if middle > 1e-6 * mean else mean or 1.0


def _weights(squares: np.ndarray, typical: float) -> np.ndarray:
    return 2.0 / (1.0 + squares / typical)


def _shrinkage(centered: np.ndarray, covariance: np.ndarray, level: float) -> float:
    """Ledoit and Wolf's weight of the identity, with the smallest expected squared error."""
    n, d = centered.shape
    squared = float(np.square(covariance).sum())
    spread = squared / d - level * level
    error = (float(np.square(np.square(centered).sum(axis=1)).sum()) / n - squared) / (n * d)
    return min(error, spread) / spread if spread > 0 else 1.0
