"""Noise scores from 0 to 1 that are comparable between data sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.boxplot_scores import BoxplotScale, boxplot_units, fit_boxplot, score_of
from vicinal._core.chunked import in_memory
from vicinal.evidence.noise import N_DENSITY
from vicinal.graphs.graph import Graph
from vicinal.neighbors._sampled_distances import SampledDistances
from vicinal.neighbors.metric import as_metric
from vicinal.neighbors.search import NeighborSearch


def noise_scores(
    digraph: Graph,
    stationary: np.ndarray,
    is_noise: np.ndarray,
    n_jobs: int | None,
    distances: np.ndarray | None = None,
) -> np.ndarray:
    """Scores in (0, 1): above 0.5 for noise and below it for all other nodes.

    Within both groups, scores increase with the mean log distance to 8 neighbours, which is large for noise
    between clusters, or with the distance to small samples of the points, which is large for outliers even if
    they form groups. Both are expressed in units of a boxplot of their logarithms, and the larger one counts.
    At the fence of the boxplot the score is 0.25, or 0.75 for noise.

    Parameters
    ----------
    digraph : Graph
        The contextual digraph. Without dense points, the stationary distribution is used instead of
        distances.
    stationary : ndarray (n,)
        Stationary distribution of its walk.
    is_noise : ndarray of bool (n,)
        Nodes labelled as noise.
    n_jobs : int or None
        Number of threads.
    distances : ndarray (n, k), optional
        Distances of the points to themselves and to their nearest neighbours, if they are known.
    """
    n = digraph.n_nodes
    points = in_memory(digraph.points, "Noise scores of all points", "Use fewer points.")
    if not isinstance(points, np.ndarray) or not as_metric(digraph.metric).is_euclidean or n < 3:
        unusual = boxplot_units(1.0 / stationary)
    else:
        unusual = fit_unusualness(points.astype(np.float64, copy=False), n_jobs, distances)[1]
    return score_of(unusual, is_noise)


class Unusualness(NamedTuple):
    """Scales of the two distances of training points, with which new points are compared."""

    neighbor: BoxplotScale
    sampled: BoxplotScale

    def of_new(
        self, points: np.ndarray, search: NeighborSearch, new: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """How unusual the distances of new points to the training points ``points`` are.

        ``search`` finds nearest neighbours among the training points.
        """
        rescaling = fit_rescaling(points)
        distances = search.nearest(min(N_DENSITY, len(points) - 1), queries=new)[1]
        radii = _geometric_means(distances)
        samples = SampledDistances(rescaling.transform(points), np.random.default_rng(0))
        sampled = samples(rescaling.transform(new))
        return np.maximum(self.neighbor.units(radii / rescaling.unit), self.sampled.units(sampled))


def fit_unusualness(
    points: np.ndarray, n_jobs: int | None, distances: np.ndarray | None = None
) -> tuple[Unusualness, np.ndarray]:
    """Scales of the distances of points, and how unusual each point is among them.

    ``distances`` to themselves and to their nearest neighbours save a search.
    """
    rescaling = fit_rescaling(points)
    points = rescaling.transform(points)
    k = min(N_DENSITY, len(points) - 1)
    if distances is None or distances.shape[1] <= k:
        distances = NeighborSearch(points, n_jobs=n_jobs).nearest(k)[1]
    else:
        distances = distances[:, : k + 1] / rescaling.unit
    radii = _geometric_means(distances)
    sampled = SampledDistances(points, np.random.default_rng(0))(points)
    scales = Unusualness(fit_boxplot(radii), fit_boxplot(sampled))
    return scales, np.maximum(scales.neighbor.units(radii), scales.sampled.units(sampled))


def _geometric_means(distances: np.ndarray) -> np.ndarray:
    """Geometric means of the positive distances in each row; 0 if there are none."""
    positive = distances > 0
    logs = np.log(np.where(positive, distances, 1.0)).sum(axis=1)
    n_positive = positive.sum(axis=1)
    return np.where(n_positive > 0, np.exp(logs / np.maximum(n_positive, 1)), 0.0)
