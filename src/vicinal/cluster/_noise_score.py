"""How little a point belongs to the data, from 0 to 1, so that it means the same on every data set."""

from __future__ import annotations

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
        points = np.asarray(digraph.points, dtype=np.float64)
        points = fit_rescaling(points).transform(points)
        radii = NeighborSearch(points, n_jobs=n_jobs).nearest(min(N_NEIGHBORS, n - 1))[1][:, -1]
        sampled = SampledDistances(points, np.random.default_rng(0))(points, n_jobs)
        unusual = np.maximum(boxplot_units(radii), boxplot_units(sampled))
    beyond = unusual - FENCE
    # Rises from 0 to 1 without reaching either, so that the farthest of far points are still ordered.
    return (0.5 + 0.5 * beyond / (1.0 + np.abs(beyond)) + is_noise) / 2.0


def boxplot_units(values: np.ndarray) -> np.ndarray:
    """Logarithms of nonnegative values, less their median, in units of their quartile distance."""
    positive = values > 0
    if not positive.any():
        return np.zeros(len(values))
    logs = np.log(np.where(positive, values, values[positive].min()))
    low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75])
    unit = high - low
    # Of a lattice, where more than half of the values are equal, the spread of all.
    unit = unit if unit > 0 else np.ptp(logs)
    return (logs - middle) / unit if unit > 0 else np.zeros(len(values))
