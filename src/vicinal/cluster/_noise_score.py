"""How little a point belongs to the data, from 0 to 1, so that it means the same on every data set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal.cluster._background import N_NEIGHBORS
from vicinal.graphs.graph import Graph
from vicinal.neighbors._sampled_distances import SampledDistances
from vicinal.neighbors.search import NeighborSearch

# The fence of a boxplot, 1.5 quartile distances above the upper quartile, seen from the median.
FENCE = 2.0


def noise_scores(
    digraph: Graph, stationary: np.ndarray, is_noise: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Scores in (0, 1): above 0.5 for noise and below it for all other nodes.

    Within both groups the order is that of an unusual distance, to the 8th neighbour, which noise between
    clusters has, or to small samples of the points, which outliers have even if they come in groups. Both
    are compared with the other nodes on the scale of a boxplot of their logarithms, and the larger counts. At
    the fence of the boxplot the score is in the middle of its group's half.

    Parameters
    ----------
    digraph : Graph
        The contextual digraph. Without points, the stationary distribution takes the place of distances.
    stationary : ndarray (n,)
        Stationary distribution of its walk.
    is_noise : ndarray of bool (n,)
        Nodes that are labelled as noise.
    n_jobs : int or None
        Number of threads.
    """
    n = digraph.n_nodes
    if digraph.points is None or digraph.metric != "euclidean" or n < 3:
        unusual = boxplot_units(1.0 / stationary)
    else:
        unusual = fit_unusualness(np.asarray(digraph.points, dtype=np.float64), n_jobs)[1]
    return score_of(unusual, is_noise)


def score_of(unusual: np.ndarray, is_noise: np.ndarray) -> np.ndarray:
    """Scores of points by how unusual their distances are, in quartile distances from the median."""
    beyond = unusual - FENCE
    # Rises from 0 to 1 without reaching either, so that the farthest of far points are still ordered.
    return (0.5 + 0.5 * beyond / (1.0 + np.abs(beyond)) + is_noise) / 2.0


class BoxplotScale(NamedTuple):
    """Scale of the logarithms of nonnegative values: their median, and their quartile distance.

    ``lowest`` is the smallest positive value, which zeros count as.
    """

    lowest: float
    middle: float
    unit: float

    def units(self, values: np.ndarray) -> np.ndarray:
        """Logarithms less the median, in quartile distances; 0 without a unit."""
        if self.unit == 0:
            return np.zeros(len(values))
        return (np.log(np.where(values > 0, values, self.lowest)) - self.middle) / self.unit


def fit_boxplot(values: np.ndarray) -> BoxplotScale:
    """Scale of some values."""
    positive = values > 0
    if not positive.any():
        return BoxplotScale(1.0, 0.0, 0.0)
    lowest = values[positive].min()
    logs = np.log(np.where(positive, values, lowest))
    low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75])
    unit = high - low
    # On a lattice, more than half of the values are equal: the range of all values is the unit.
    unit = unit if unit > 0 else np.ptp(logs)
    return BoxplotScale(float(lowest), float(middle), float(unit))


def boxplot_units(values: np.ndarray) -> np.ndarray:
    """Logarithms of nonnegative values, less their median, in units of their quartile distance."""
    return fit_boxplot(values).units(values)


class Unusualness(NamedTuple):
    """Scales of the two distances of training points that new points are compared with."""

    neighbor: BoxplotScale
    sampled: BoxplotScale

    def of_new(
        self, points: np.ndarray, search: NeighborSearch, new: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """How unusual the distances of new points to the training points ``points`` are.

        ``search`` finds nearest neighbours among the training points.
        """
        rescaling = fit_rescaling(points)
        radii = search.nearest(min(N_NEIGHBORS, len(points) - 1), queries=new)[1][:, -1]
        samples = SampledDistances(rescaling.transform(points), np.random.default_rng(0))
        sampled = samples(rescaling.transform(new), n_jobs)
        return np.maximum(self.neighbor.units(radii / rescaling.unit), self.sampled.units(sampled))


def fit_unusualness(points: np.ndarray, n_jobs: int | None) -> tuple[Unusualness, np.ndarray]:
    """Scales of the distances of points, and how unusual each point is among them."""
    points = fit_rescaling(points).transform(points)
    k = min(N_NEIGHBORS, len(points) - 1)
    radii = NeighborSearch(points, n_jobs=n_jobs).nearest(k)[1][:, -1]
    sampled = SampledDistances(points, np.random.default_rng(0))(points, n_jobs)
    scales = Unusualness(fit_boxplot(radii), fit_boxplot(sampled))
    return scales, np.maximum(scales.neighbor.units(radii), scales.sampled.units(sampled))
