"""Background noise: points whose density is too low for the cluster that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_mixture import STARTS, DensityMixture, fit_mixture

# Number of neighbours for density estimates.
N_NEIGHBORS = 8
# Standard deviation of the mean log volume of the balls that reach the first 8 neighbours, in a region of
# constant density: the sampling error of a sparsity.
SAMPLING_ERROR = 0.492
# Largest scale of the exponential tail of a cluster. For a normal cluster it is 1, but estimates from
# neighbours smooth the density: in clean normal clusters in up to 50 dimensions it is 0.4 to 0.85.
MAX_TAIL = 0.8
# Noise has to improve the penalised log-likelihood by this much: in all (odds of 20 to 1), per point, and per
# point of noise. A large noise component that gains little only describes the shape of the clusters.
MIN_GAIN, MIN_GAIN_PER_POINT, MIN_GAIN_PER_NOISE_POINT = 3.0, 0.01, 0.07
# Minimum distance of the noise from the mean of its cluster, in log density. If the tail of the clusters is
# at its limit, a wide component behind it is more likely a heavier tail than noise, as in many real tables;
# then the distance has to exceed this many widths of the noise as well.
MIN_SEPARATION, MIN_SEPARATION_IN_WIDTHS = 1.0, 1.25
# F1 is largest if points count as noise from a probability of F1 / 2 on, about 0.4; so the odds are
# multiplied by 1.5, and the threshold is 0.5.
NOISE_ODDS = 1.5
# Without evidence of noise, a point is an outlier if fewer than this many points as sparse are expected in
# clusters with an exponential tail of scale 1.
EXPECTED_OUTLIERS = 0.01
# Clusters with fewer points than this have no noise: where 8 neighbours are a large part of a cluster, its
# edge looks sparse.
MIN_CLUSTER_SIZE = 4 * N_NEIGHBORS
# Number of points that the mixture is fitted to.
MAX_FITTED = 20_000
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
        32 points.
    threshold : float
        Sparsity above which points are noise; infinite if there are too few points to detect it.
    curve : ndarray (m, 2)
        Sparsities and the probability of noise at each.
    gain : float
        Gain of the mixture with noise over clusters alone, in penalised log-likelihood.
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray
    gain: float


def background_noise(
    distances: np.ndarray, dimension: float, labels: np.ndarray
) -> BackgroundNoise:
    """Separate clusters from background noise by the densities of points.

    The sparsity of a point is the mean log volume of the balls that reach its 8 nearest neighbours. Clusters
    alone, and clusters in noise, are fitted to the sparsities (`vicinal.cluster._density_mixture`). There is
    noise if the latter are clearly better by the Bayesian information criterion. Otherwise only points that
    are too sparse for any cluster are noise.

    Parameters
    ----------
    distances : ndarray (n, 8)
        Distances to the nearest neighbours.
    dimension : float
        Intrinsic dimension.
    labels : ndarray of int (n,)
        Cluster of each point, noise included.
    """
    positive = distances[distances > 0]
    lowest = positive.min() if len(positive) else 1.0
    sparsity = dimension * np.log(np.maximum(distances, lowest)).mean(axis=1)
    large = (np.bincount(labels) >= MIN_CLUSTER_SIZE)[labels]
    result = no_noise(len(labels))
    if not large.any():
        return result
    labels = np.unique(labels[large], return_inverse=True)[1]
    mixture, gain = _fit(sparsity[large], labels)
    relative = sparsity[large] - mixture.centers[labels]
    curve = _noise_curve(mixture, len(relative), float(relative.max()))
    result.sparsity[large] = relative
    result.score[large] = np.interp(relative, curve[:, 0], curve[:, 1])
    at = max(int(np.argmax(curve[:, 1] > 0.5)), 1)
    threshold = float(np.interp(0.5, curve[at - 1 : at + 1, 1], curve[at - 1 : at + 1, 0]))
    return result._replace(is_noise=result.score > 0.5, threshold=threshold, curve=curve, gain=gain)


def no_noise(n: int) -> BackgroundNoise:
    """Result for data with too few points to detect noise."""
    return BackgroundNoise(
        np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n), np.inf, np.empty((0, 2)), 0.0
    )


def _fit(sparsity: np.ndarray, labels: np.ndarray) -> tuple[DensityMixture, float]:
    """Clusters in noise, or clusters alone without evidence of noise; and the gain of the former."""
    # Sorted, so that the order of the points does not matter.
    order = np.lexsort((sparsity, labels))
    sparsity, labels = sparsity[order], labels[order]
    n = len(order)
    if n > MAX_FITTED:
        # Evenly spaced, with the least sparse member of each cluster so that none is lost.
        spaced = np.linspace(0, n - 1, MAX_FITTED).astype(np.int64)
        kept = np.union1d(spaced, np.flatnonzero(np.diff(labels, prepend=-1)))
        sparsity, labels, n = sparsity[kept], labels[kept], len(kept)
    clusters = fit_mixture(sparsity, labels, SAMPLING_ERROR, MAX_TAIL, 0.0)
    fits = [fit_mixture(sparsity, labels, SAMPLING_ERROR, MAX_TAIL, start) for start in STARTS]
    mixtures = [fit for fit in fits if fit is not None]
    assert clusters is not None
    if not mixtures:
        return clusters, 0.0
    best = max(mixtures, key=lambda fit: fit.log_likelihood)
    # Three parameters more.
    gain = best.log_likelihood - clusters.log_likelihood - 1.5 * np.log(n)
    assert best.noise is not None
    per_point = max(MIN_GAIN_PER_POINT, MIN_GAIN_PER_NOISE_POINT * best.noise.fraction)
    is_significant = gain > max(MIN_GAIN, per_point * n)
    if not (is_significant and _is_separate(best)):
        return clusters, gain
    return best, gain


def _is_separate(mixture: DensityMixture) -> bool:
    """Whether the noise is more than a heavy tail of the clusters."""
    assert mixture.noise is not None
    distance = mixture.noise.level - mixture.tail
    if mixture.tail >= MAX_TAIL and distance < MIN_SEPARATION_IN_WIDTHS * mixture.noise.width:
        return False
    return distance > MIN_SEPARATION


def _noise_curve(mixture: DensityMixture, n: int, highest: float) -> np.ndarray:
    """Sparsities from the mean of a cluster on, and the probability of noise at each of n points."""
    outlier = float(np.log(n / EXPECTED_OUTLIERS))
    end = max(highest, outlier) + CURVE_STEP
    grid = np.linspace(mixture.tail, end, round((end - mixture.tail) / CURVE_STEP) + 2)
    odds = np.maximum(mixture.log_odds(grid) + np.log(NOISE_ODDS), grid - outlier)
    # Even sparser points are at least as likely to be noise, although the tail of the normal distribution of
    # noise ends before that of a cluster.
    odds = np.maximum.accumulate(odds)
    with np.errstate(over="ignore"):
        return np.column_stack([grid, 1.0 / (1.0 + np.exp(-odds))])
