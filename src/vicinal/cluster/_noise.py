"""Which points are noise, from their densities or, without points, their distances from the origin."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.cluster._normal_mixture import normal_mixture
from vicinal.exceptions import InvalidValueError
from vicinal.operators.laplacians import walk_matrix
from vicinal.operators.stationary import edge_weights

if TYPE_CHECKING:
    from vicinal.evidence.result import ClusterEvidence
    from vicinal.graphs.graph import Graph

MAX_SAMPLE_SIZE = 50_000
# The best of several fits is kept; a single one may stop at a local optimum.
N_MIXTURE_FITS = 5
# Minimum gain of two modes over one in penalised log-likelihood per point. Noise gives 0.2 or more, but so do
# skewed norms of clean data.
MIN_GAIN = 0.1
# Only noise makes a valley between the modes. Its depth, relative to the lower peak, must exceed this divided
# by the square root of the number of points.
MIN_VALLEY = 4.0
# Maximum ratio of the typical norm of noise to that of the other points. Half-cylinders in noise have at most
# 0.14; the norms of points on a line form two modes with a ratio of at least 0.24 without any noise.
MAX_NORM_RATIO = 0.2
# Minimum fraction of points in a lower mode without a valley for a warning; the edges of most clean clusters
# form a smaller one.
MIN_DOUBTFUL_FRACTION = 0.25


class NoiseSplit(NamedTuple):
    """Threshold on norms, 0 for no noise; gain of two modes over one; fraction of points in the lower mode.

    If there are two modes without a valley between them, it is unknown whether the lower one is noise. If it
    is large, the result is doubtful.
    """

    threshold: float
    gain: float
    lower_fraction: float = 0.0

    @property
    def doubtful(self) -> bool:
        return (
            self.threshold == 0
            and self.gain >= MIN_GAIN
            and self.lower_fraction >= MIN_DOUBTFUL_FRACTION
        )


def check_noise(noise: object) -> None:
    """Raise an error unless noise is "auto", a count or a fraction."""
    if isinstance(noise, str):
        check_choice(noise, "noise", ("auto",))
    elif isinstance(noise, numbers.Integral) and not isinstance(noise, bool):
        check_count(noise, "noise", low=0)
    else:
        check_real(noise, "noise", low=0.0, high=1.0 - 1e-12, remedy="A fraction is below 1.")


def given_noise(
    norms: np.ndarray, multiplicity: np.ndarray, noise: float, n_clusters: int
) -> tuple[np.ndarray, float]:
    """The nodes nearest to the origin, as many as a count or fraction of rows allows, and their threshold.

    ``multiplicity`` is the number of rows of each node.
    """
    order = np.argsort(norms, kind="stable")
    n_rows = np.cumsum(multiplicity[order])
    n, is_count = n_rows[-1], isinstance(noise, numbers.Integral)
    requested = int(noise if is_count else round(noise * n))
    count = int(np.searchsorted(n_rows, requested, side="right"))
    if len(norms) - count < n_clusters:
        raise InvalidValueError(
            f"noise={noise!r} leaves {max(n - requested, 0)} of n_samples={n} points for "
            f"{n_clusters} clusters; reduce the noise or the number of clusters."
        )
    is_noise = np.zeros(len(norms), dtype=bool)
    is_noise[order[:count]] = True
    return is_noise, float(norms[order[count]]) if count else 0.0


def detect_noise(
    norms: np.ndarray, digraph: Graph, beta: float, evidence: ClusterEvidence | None
) -> tuple[NoiseSplit, np.ndarray]:
    """Split of the norms, and which nodes are noise: by their densities if there is evidence, else by norms.

    Densities decide where they are known: in many dimensions, the nodes near the origin include those that
    are in no context by chance.
    """
    split = split_norms(norms)
    if split.threshold > 0:
        # Nodes visited only by teleport are near the origin in clean data too, so the others must form two
        # modes as well.
        visited_only = split_norms(norms[visited(digraph, beta)])
        split = split if visited_only.threshold > 0 else visited_only
    is_near = norms < split.threshold
    if evidence is None:
        return split, is_near
    return split._replace(threshold=0.0), evidence.noise.is_noise


def split_norms(norms: np.ndarray) -> NoiseSplit:
    """Threshold between points near the origin and the others, if there are two such groups.

    One normal distribution and a mixture of two are fitted to the logarithms of the norms. Two must be
    clearly better (by the Bayesian information criterion), one of them much nearer to the origin, with a
    valley between them.
    """
    positive = norms[norms > 0]
    if len(positive) < 10 or np.ptp(positive) == 0:
        return NoiseSplit(0.0, 0.0)
    logs = np.log(positive)
    if len(logs) > MAX_SAMPLE_SIZE:
        logs = np.random.default_rng(0).choice(logs, MAX_SAMPLE_SIZE, replace=False)
    # Sorted, so that the order of the points does not matter.
    logs = np.sort(logs)
    one, two = normal_mixture(logs, 1), normal_mixture(logs, 2, n_init=N_MIXTURE_FITS)
    gain = (one.bic(logs) - two.bic(logs)) / (2 * len(logs))
    low, high = np.sort(two.means)
    lower_fraction = float(two.weights[np.argmin(two.means)])
    if low - high > np.log(MAX_NORM_RATIO):
        return NoiseSplit(0.0, gain)
    grid = np.linspace(low, high, 1001)
    density = np.exp(two.log_density(grid))
    depth = 1 - density.min() / min(density[0], density[-1])
    if gain < MIN_GAIN or depth * np.sqrt(len(logs)) < MIN_VALLEY:
        return NoiseSplit(0.0, gain, lower_fraction)
    upper = int(np.argmax(two.means))
    # Both modes are equally likely at the threshold.
    at = int(np.argmax(two.probabilities(grid)[:, upper] >= 0.5))
    return NoiseSplit(float(np.exp(grid[at])), gain, lower_fraction)


def visited(digraph: Graph, beta: float) -> np.ndarray:
    """Nodes of a digraph that a walk reaches by edges more often than by teleport.

    The others are nodes without incoming edges, and nodes reached only from such nodes. They are near the
    origin and form a mode of the norms. Clean clusters in many dimensions have them too, so this mode is not
    evidence of noise.
    """
    arrivals = walk_matrix(edge_weights(digraph))[0].T.tocsr()
    reached = np.ones(arrivals.shape[0], dtype=bool)
    while True:
        remaining = reached & (arrivals @ reached.astype(np.float64) > 1.0 - beta)
        if np.array_equal(remaining, reached):
            return reached
        reached = remaining
