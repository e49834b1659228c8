"""Background noise: points whose density is too low for the cluster that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_mixture import (
    MIN_SEPARATION,
    STARTS,
    DensityMixture,
    fit_mixture,
)

# Numbers of neighbours for density estimates, and the standard deviation of the mean log volume of the balls
# that reach so many neighbours in a region of constant density: the sampling error of a sparsity. Fewer
# neighbours suit thin and small clusters.
SAMPLING_ERRORS = {8: 0.492, 5: 0.618}
N_NEIGHBORS = max(SAMPLING_ERRORS)
# Largest scale of the exponential tail of a cluster. For a normal cluster it is 1, but estimates from
# neighbours smooth the density: in clean normal clusters in up to 50 dimensions it is 0.4 to 0.85.
MAX_TAIL = 0.8
# Noise has to improve the penalised log-likelihood by this much: in all (odds of 20 to 1), per point, and per
# point of noise. A large noise component that gains little only describes the edges of the clusters. It does
# so more easily if it has one density, like the edges of the sparse clusters, or if the clusters have tails
# longer than `LONG_TAIL`: then the second value is required per point of noise.
MIN_GAIN, MIN_GAIN_PER_POINT = 3.0, 0.01
MIN_GAIN_PER_NOISE_POINT, LONG_TAIL = (0.07, 0.12), 0.7
# If the tail of the clusters is at its limit, a wide component behind it is more likely a heavier tail than
# noise, as in many real tables; then its distance has to exceed this many widths of the noise.
MIN_SEPARATION_IN_WIDTHS = 1.25
# More noise than this has to be more likely than clusters with tails of any scale up to `HEAVY_TAIL`, too.
MAX_UNTESTED_FRACTION, HEAVY_TAIL = 0.1, 6.0
MAX_FRACTION = 2 / 3
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
# Number of points that the mixture is fitted to.
MAX_FITTED = 10_000
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
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray
    gain: float


def background_noise(
    distances: np.ndarray,
    dimension: float,
    labels: np.ndarray,
    max_fraction: float = MAX_FRACTION,
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
    max_fraction : float
        Largest fraction of noise.
    """
    results = [
        _noise_at_scale(distances[:, :k], dimension, labels, max_fraction) for k in SAMPLING_ERRORS
    ]
    with_evidence = [noise for noise, has_evidence in results if has_evidence]
    return max(with_evidence, key=_expected_f1, default=results[0][0])


def _noise_at_scale(
    distances: np.ndarray, dimension: float, labels: np.ndarray, max_fraction: float
) -> tuple[BackgroundNoise, bool]:
    """Noise by the densities of k neighbours, and whether there is evidence of it beyond outliers."""
    k = distances.shape[1]
    sparsities = sparsity(distances, dimension)
    large = (np.bincount(labels) >= MIN_NEIGHBORHOODS * k)[labels]
    result = no_noise(len(labels))
    if not large.any():
        return result, False
    labels = np.unique(labels[large], return_inverse=True)[1]
    mixture, gain = _fit(sparsities[large], labels, SAMPLING_ERRORS[k], max_fraction)
    relative = sparsities[large] - mixture.centers[labels]
    outlier = float(np.log(len(relative) / EXPECTED_OUTLIERS))
    if mixture.noise is None:
        outlier = min(outlier, _outlier_level(relative, SAMPLING_ERRORS[k]))
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
        np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n), np.inf, np.empty((0, 2)), 0.0
    )


def _fit(
    sparsity: np.ndarray, labels: np.ndarray, error: float, max_fraction: float
) -> tuple[DensityMixture, float]:
    """Clusters in noise, or clusters alone without evidence of noise; and the gain of the former."""
    # Sorted, so that the order of the points does not matter.
    order = np.lexsort((sparsity, labels))
    sparsity, labels = sparsity[order], labels[order]
    n = len(order)
    if n > MAX_FITTED:
        # Evenly spaced, with the least sparse member of each cluster so that none is lost.
        spaced = np.linspace(0, n - 1, MAX_FITTED).astype(np.int64)
        kept = np.union1d(spaced, np.flatnonzero(np.diff(labels, prepend=-1)))
        sparsity, labels = sparsity[kept], labels[kept]
    clusters = fit_mixture(sparsity, labels, error, MAX_TAIL, 0.0)
    assert clusters is not None
    sizes = np.bincount(labels)
    # With one cluster, relative and absolute noise are the same.
    kinds = (False, True) if len(sizes) > 1 else (False,)
    fits = [
        fit_mixture(sparsity, labels, error, MAX_TAIL, start, is_absolute)
        for is_absolute in kinds
        for start in STARTS
    ]
    gains = [(_gain(fit, clusters, sizes, error), fit) for fit in fits if fit is not None]
    gains.sort(key=lambda item: -item[0])
    heavy = None
    for gain, mixture in gains:
        fraction = _noise_fraction(mixture, sizes)
        if fraction > max_fraction or not _is_significant(gain, mixture, sizes):
            continue
        if fraction > MAX_UNTESTED_FRACTION:
            heavy = heavy or fit_mixture(sparsity, labels, error, HEAVY_TAIL, 0.0)
            assert heavy is not None
            if _gain(mixture, heavy, sizes, error) <= MIN_GAIN:
                continue
        return mixture, gain
    return clusters, gains[0][0] if gains else 0.0


def _gain(
    mixture: DensityMixture, clusters: DensityMixture, sizes: np.ndarray, error: float
) -> float:
    """Gain of a mixture with noise over clusters alone, in penalised log-likelihood."""
    assert mixture.noise is not None
    # Level, fraction, and the width unless it is only the sampling error.
    n_parameters = 3 if mixture.noise.width > error else 2
    gain = mixture.log_likelihood - clusters.log_likelihood
    return gain - 0.5 * n_parameters * float(np.log(sizes.sum()))


def _noise_fraction(mixture: DensityMixture, sizes: np.ndarray) -> float:
    """Fraction of noise among all points; sparse clusters may have none."""
    assert mixture.noise is not None
    return mixture.noise.fraction * float(sizes @ _surrounded(mixture)) / float(sizes.sum())


def _surrounded(mixture: DensityMixture) -> np.ndarray:
    return mixture.separation >= MIN_SEPARATION


def _is_significant(gain: float, mixture: DensityMixture, sizes: np.ndarray) -> bool:
    """Whether the noise gains enough, and is more than the edges or a heavy tail of the clusters."""
    assert mixture.noise is not None
    weights = sizes * _surrounded(mixture)
    if not weights.any():
        return False
    distance = float(weights @ mixture.separation) / float(weights.sum())
    if mixture.tail >= MAX_TAIL and distance < MIN_SEPARATION_IN_WIDTHS * mixture.noise.width:
        return False
    is_easy = mixture.noise.is_absolute or mixture.tail > LONG_TAIL
    per_noise_point = MIN_GAIN_PER_NOISE_POINT[int(is_easy)]
    per_point = max(MIN_GAIN_PER_POINT, per_noise_point * _noise_fraction(mixture, sizes))
    return gain > max(MIN_GAIN, per_point * float(sizes.sum()))


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
