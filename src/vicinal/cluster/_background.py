"""Background noise: points whose density is too low for the cluster that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_mixture import DensityMixture
from vicinal.cluster._noise_evidence import (
    MAX_FRACTION,
    Candidates,
    choose_mixture,
    fit_candidates,
)

# Numbers of neighbours for density estimates, and the standard deviation of the mean log volume of the balls
# that reach so many neighbours in a region of constant density: the sampling error of a sparsity. Fewer
# neighbours suit thin and small clusters.
SAMPLING_ERRORS = {8: 0.492, 5: 0.618}
N_NEIGHBORS = max(SAMPLING_ERRORS)
# F1 is largest if points count as noise from a probability of F1 / 2 on, about 0.4; so the odds are
# multiplied by 1.5, and the threshold is 0.5.
NOISE_ODDS = 1.5
# Without evidence of noise, a point is an outlier if fewer than this many points as sparse are expected in
# clusters with an exponential tail of scale 1, or if at most this fraction of the points as sparse are
# expected to be members of clusters: there the tail is extrapolated from between these two quantiles.
EXPECTED_OUTLIERS, MAX_EXPECTED_MEMBERS = 0.01, 0.4
BULK = (0.5, 0.8)
# Clusters with fewer neighbourhoods than this have no noise: where the neighbours are a large part of a
# cluster, its edge looks sparse.
MIN_NEIGHBORHOODS = 4
CURVE_STEP = 0.05


class BackgroundNoise(NamedTuple):
    """Which points are noise, and why.

    Attributes
    ----------
    is_noise : ndarray of bool (n,)
        Whether each point is noise.
    score : ndarray (n,)
        Probability of noise; 0.5 is the threshold.
    sparsity : ndarray (n,)
        Log ratio of the typical density of the cluster to that of the point; 0 in clusters of fewer than
        20 points, or 32 if densities are those of 8 neighbours.
    threshold : float
        Sparsity above which points of the largest cluster are noise; infinite if there are too few points to
        detect it. It is the same for all clusters unless one background of the same density surrounds them:
        then it is lower in sparser clusters.
    curve : ndarray (m, 2)
        Sparsities and the probability of noise at each, in the largest cluster.
    gain : float
        Gain of the mixture with noise over clusters alone, in penalised log-likelihood.
    log_background : ndarray (n,)
        Log ratio of the density of the noise to that of the point; 0 if there is no evidence of noise.
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray
    gain: float
    log_background: np.ndarray


class ScaleFits(NamedTuple):
    """Mixtures fitted to the sparsities of the points in large clusters; None if there are none."""

    n_neighbors: int
    is_large: np.ndarray
    sparsity: np.ndarray
    labels: np.ndarray
    candidates: Candidates | None


def background_noise(
    distances: np.ndarray, dimension: float, labels: np.ndarray
) -> BackgroundNoise:
    """Separate clusters from background noise by the densities of points.

    The sparsity of a point is the mean log volume of the balls that reach its 8 nearest neighbours, or 5.
    Clusters alone, clusters in noise that is denser around denser clusters, and clusters in one common
    background are fitted to the sparsities (`vicinal.cluster._density_mixture`). There is noise if one of the
    latter is clearly better by the Bayesian information criterion; if it is for both numbers of neighbours,
    the one with the larger expected F1 decides. Otherwise only points that are too sparse for their cluster
    are noise.

    Parameters
    ----------
    distances : ndarray (n, 8)
        Distances to the nearest neighbours.
    dimension : float
        Intrinsic dimension.
    labels : ndarray of int (n,)
        Cluster of each point, noise included.
    """
    return choose_noise(fit_scales(distances, dimension, labels))


def fit_scales(distances: np.ndarray, dimension: float, labels: np.ndarray) -> list[ScaleFits]:
    """Mixtures for each number of neighbours, with the arguments of `background_noise`."""
    return [_fit_scale(distances[:, :k], dimension, labels) for k in SAMPLING_ERRORS]


def with_one_fraction(scales: list[ScaleFits]) -> list[ScaleFits]:
    """The mixtures in which all clusters have the same fraction of noise."""
    return [
        scale._replace(candidates=scale.candidates and scale.candidates.with_one_fraction())
        for scale in scales
    ]


def choose_noise(
    scales: list[ScaleFits], max_fraction: float = MAX_FRACTION, fills_gaps: bool = False
) -> BackgroundNoise:
    """The noise of the scale with evidence and the largest expected F1; without evidence, only outliers.

    Parameters
    ----------
    scales : list of ScaleFits
        Mixtures for each number of neighbours.
    max_fraction : float
        Largest fraction of noise.
    fills_gaps : bool
        Whether noise has to be one background, which needs less evidence if it fills the gaps between
        clusters.
    """
    results = [_noise_at_scale(scale, max_fraction, fills_gaps) for scale in scales]
    with_evidence = [noise for noise, has_evidence in results if has_evidence]
    return max(with_evidence, key=_expected_f1, default=results[0][0])


def _fit_scale(distances: np.ndarray, dimension: float, labels: np.ndarray) -> ScaleFits:
    k = distances.shape[1]
    is_large = (np.bincount(labels) >= MIN_NEIGHBORHOODS * k)[labels]
    sparsities = sparsity(distances, dimension)[is_large]
    labels = np.unique(labels[is_large], return_inverse=True)[1]
    candidates = fit_candidates(sparsities, labels, SAMPLING_ERRORS[k]) if len(labels) else None
    return ScaleFits(k, is_large, sparsities, labels, candidates)


def _noise_at_scale(
    scale: ScaleFits, max_fraction: float, fills_gaps: bool
) -> tuple[BackgroundNoise, bool]:
    """Noise by the densities of k neighbours, and whether there is evidence of it beyond outliers."""
    k, large, labels = scale.n_neighbors, scale.is_large, scale.labels
    result = no_noise(len(large))
    if scale.candidates is None:
        return result, False
    mixture, gain = choose_mixture(scale.candidates, max_fraction, fills_gaps)
    relative = scale.sparsity - mixture.centers[labels]
    outlier = float(np.log(len(relative) / EXPECTED_OUTLIERS))
    if mixture.noise is None:
        outlier = min(outlier, _outlier_level(relative, SAMPLING_ERRORS[k]))
    else:
        result.log_background[large] = relative - mixture.noise.above(mixture.centers)[labels]
    curves = _noise_curves(mixture, outlier, float(relative.max()))
    scores = np.empty(len(relative))
    for cluster, probability in enumerate(curves[1:]):
        members = labels == cluster
        scores[members] = np.interp(relative[members], curves[0], probability)
    result.sparsity[large] = relative
    result.score[large] = scores
    curve = curves[[0, 1 + int(np.argmax(np.bincount(labels)))]].T
    at = max(int(np.argmax(curve[:, 1] > 0.5)), 1)
    threshold = float(np.interp(0.5, curve[at - 1 : at + 1, 1], curve[at - 1 : at + 1, 0]))
    result = result._replace(
        is_noise=result.score > 0.5, threshold=threshold, curve=curve, gain=gain
    )
    return result, mixture.noise is not None


def sparsity(distances: np.ndarray, dimension: float) -> np.ndarray:
    """Negative log density of each point, up to a constant, from the distances to its neighbours."""
    positive = distances[distances > 0]
    lowest = positive.min() if len(positive) else 1.0
    return np.asarray(dimension * np.log(np.maximum(distances, lowest)).mean(axis=1))


def _expected_f1(noise: BackgroundNoise) -> float:
    """F1 of the points labelled as noise, expected from their probabilities."""
    probability = noise.score / (noise.score + NOISE_ODDS * (1.0 - noise.score))
    found = probability[noise.is_noise]
    return 2.0 * float(found.sum()) / max(len(found) + float(probability.sum()), 1.0)


def _outlier_level(relative: np.ndarray, error: float) -> float:
    """Sparsity from which on members of clusters are expected to be at most 0.4 of the points.

    Members have an exponential tail, which is that of the bulk of the points. The level is the lowest at
    which the expected number of members is small enough (Benjamini and Hochberg 1995); infinite if there is
    none.
    """
    middle, upper = np.quantile(relative, BULK)
    scale = max(float(upper - middle) / float(np.log((1 - BULK[0]) / (1 - BULK[1]))), error)
    ordered = np.sort(relative)[::-1]
    n = len(ordered)
    expected = n * (1 - BULK[0]) * np.exp(np.minimum((middle - ordered) / scale, 0.0))
    few = np.flatnonzero(expected[:-1] <= MAX_EXPECTED_MEMBERS * np.arange(1, n))
    return float(ordered[few[-1] : few[-1] + 2].mean()) if len(few) else np.inf


def no_noise(n: int) -> BackgroundNoise:
    """Result for data with too few points to detect noise."""
    return BackgroundNoise(
        np.zeros(n, dtype=bool),
        np.zeros(n),
        np.zeros(n),
        np.inf,
        np.empty((0, 2)),
        0.0,
        np.zeros(n),
    )


def _noise_curves(mixture: DensityMixture, outlier: float, highest: float) -> np.ndarray:
    """Sparsities from the mean of a cluster on, and rows of the probability of noise in each cluster."""
    end = max(highest, outlier) + CURVE_STEP
    grid = np.linspace(mixture.tail, end, round((end - mixture.tail) / CURVE_STEP) + 2)
    rows = [grid]
    for cluster in range(len(mixture.centers)):
        odds = mixture.log_odds(grid, cluster) + np.log(NOISE_ODDS)
        # Even sparser points are at least as likely to be noise, although the tail of the normal
        # distribution of noise ends before that of a cluster.
        odds = np.maximum.accumulate(np.maximum(odds, grid - outlier))
        with np.errstate(over="ignore"):
            rows.append(1.0 / (1.0 + np.exp(-odds)))
    return np.array(rows)
