"""Mixture of clusters and background noise, fitted to the sparsities of points by expectation-maximisation.

The sparsity of a point is its negative log density. If a density is exp(-h(x)) with a homogeneous h, as for
normal and Laplace distributions in any number of dimensions, h(x) has a gamma distribution with scale 1: the
sparsities of a cluster have an exponential tail of at most this scale. So the sparsity of a member of
cluster j is

    center_j + normal(0, spread^2) + exponential(tail),

and that of noise is normal(level, width^2): relative to the centre of the cluster that it was assigned to if
noise is denser around denser clusters, or absolute if one background surrounds all clusters. In an absolute
background, a cluster that is about as sparse as the background is part of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from vicinal.evidence.constants import MIN_SEPARATION

# Fraction of noise that the fit starts from.
START = 0.1
MAX_NOISE = 0.9
MIN_TAIL = 0.05
MAX_ITER, TOLERANCE = 100, 1e-3
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


class NoiseLevel(NamedTuple):
    """Mean and standard deviation of the sparsity of noise, and its fraction of the points.

    The mean is relative to the centre of the cluster, or the same for all clusters if ``is_absolute``.
    """

    level: float
    width: float
    fraction: float
    is_absolute: bool = False

    def above(self, centers: np.ndarray) -> np.ndarray:
        """Mean sparsity of noise relative to each centre."""
        return self.level - centers if self.is_absolute else np.full(len(centers), self.level)


class DensityMixture(NamedTuple):
    """Fitted mixture: centres, spread and tail of the clusters; ``noise`` is None for clusters alone."""

    centers: np.ndarray
    spread: float
    tail: float
    noise: NoiseLevel | None
    log_likelihood: float

    @property
    def separation(self) -> np.ndarray:
        """Mean sparsity of noise minus that of the members of each cluster."""
        assert self.noise is not None
        return self.noise.above(self.centers) - self.tail

    def log_odds(self, relative: np.ndarray, cluster: int) -> np.ndarray:
        """Log odds of noise at sparsities relative to the centre of a cluster."""
        if self.noise is None:
            return np.full(len(relative), -np.inf)
        if self.separation[cluster] < MIN_SEPARATION:
            # A cluster sparser than the background that surrounds others is part of it.
            is_background = self.noise.is_absolute and self.separation[cluster] < 0.0
            return np.full(len(relative), np.inf if is_background else -np.inf)
        level = self.noise.above(self.centers)[cluster]
        noise = _log_normal(relative - level, self.noise.width) + np.log(self.noise.fraction)
        members = _log_member(relative, self.spread, self.tail) + np.log1p(-self.noise.fraction)
        return noise - members


def fit_mixture(
    sparsity: np.ndarray,
    labels: np.ndarray,
    min_spread: float,
    max_tail: float,
    has_noise: bool,
    is_absolute: bool = False,
) -> DensityMixture | None:
    """Fit clusters, and noise as well if it is sought; None if the noise vanishes or takes over.

    Parameters
    ----------
    sparsity : ndarray (n,)
        Negative log densities, up to a constant.
    labels : ndarray of int (n,)
        Cluster of each point, noise included.
    min_spread : float
        Sampling error of the sparsity, a lower bound of ``spread`` and of the width of the noise.
    max_tail : float
        Upper bound of ``tail``.
    has_noise : bool
        Whether there is noise.
    is_absolute : bool
        Whether noise has one density, rather than one relative to that of each cluster.
    """
    n_clusters = int(labels.max()) + 1
    centers = np.array([np.quantile(sparsity[labels == j], 0.25) for j in range(n_clusters)])
    measured = sparsity if is_absolute else sparsity - centers[labels]
    weights = None
    if has_noise:
        weights = (measured > np.quantile(measured, 1.0 - START)).astype(np.float64)
    start = DensityMixture(centers, min_spread, 0.7 * max_tail, None, -np.inf)
    return _maximize(sparsity, labels, start, weights, min_spread, max_tail, is_absolute)


def _maximize(
    sparsity: np.ndarray,
    labels: np.ndarray,
    start: DensityMixture,
    weights: np.ndarray | None,
    min_spread: float,
    max_tail: float,
    is_absolute: bool,
) -> DensityMixture | None:
    """Expectation-maximisation; ``weights`` are probabilities of noise to start from, None without noise."""
    initial, n_clusters = start.centers, len(start.centers)
    spread, tail = start.spread, start.tail
    relative = sparsity - initial[labels]
    level = None
    previous = -np.inf
    log_tails = _log_tails(relative, spread, tail)
    for _ in range(MAX_ITER):
        members = np.ones(len(sparsity)) if weights is None else 1.0 - weights
        excess, variance = _expected_excess(relative, spread, tail, log_tails)
        # A tiny weight keeps the centre of a cluster without members.
        mass = np.bincount(labels, members, n_clusters) + 1e-6
        centers = np.bincount(labels, members * (sparsity - excess), n_clusters) + 1e-6 * initial
        centers = centers / mass
        total = members.sum()
        tail = min(max(float(members @ excess) / total, MIN_TAIL), max_tail)
        relative = sparsity - centers[labels]
        squares = float(members @ ((relative - excess) ** 2 + variance)) / total
        spread = max(np.sqrt(squares), min_spread)
        log_tails = _log_tails(relative, spread, tail)
        log_density = _log_member(relative, spread, tail, log_tails)
        if weights is not None:
            measured = sparsity if is_absolute else relative
            mean_and_width = _noise_level(measured, weights, min_spread)
            if mean_and_width is None:
                return None
            level = NoiseLevel(*mean_and_width, float(weights.mean()), is_absolute)
            noise = _log_normal(measured - level.level, level.width) + np.log(level.fraction)
            members = log_density + np.log1p(-level.fraction)
            if is_absolute:
                is_surrounded = level.above(centers) - tail >= MIN_SEPARATION
                noise = np.where(is_surrounded[labels], noise, -np.inf)
                members = np.where(is_surrounded[labels], members, log_density)
            both = np.logaddexp(noise, members)
            weights, log_density = np.exp(noise - both), both
        log_likelihood = float(log_density.sum())
        if abs(log_likelihood - previous) < TOLERANCE:
            break
        previous = log_likelihood
    return DensityMixture(centers, float(spread), tail, level, log_likelihood)


def _noise_level(
    sparsity: np.ndarray, weights: np.ndarray, min_width: float
) -> tuple[float, float] | None:
    """Mean and standard deviation of the sparsity of noise; None if the noise vanishes or takes over."""
    total = float(weights.sum())
    if total < 1.0 or total > MAX_NOISE * len(weights):
        return None
    level = float(weights @ sparsity) / total
    width = np.sqrt(float(weights @ (sparsity - level) ** 2) / total)
    return level, max(float(width), min_width)


def _log_normal(x: np.ndarray, width: float) -> np.ndarray:
    return -0.5 * (x / width) ** 2 - np.log(width) - HALF_LOG_2PI


def _log_tails(x: np.ndarray, spread: float, tail: float) -> np.ndarray:
    """Log probability that the exponential part of a sum x is positive; most of the time goes here."""
    return log_ndtr(x / spread - spread / tail)


def _log_member(
    x: np.ndarray, spread: float, tail: float, log_tails: np.ndarray | None = None
) -> np.ndarray:
    """Log density of the sum of a normal variable and an exponential one with mean ``tail``."""
    if log_tails is None:
        log_tails = _log_tails(x, spread, tail)
    return -np.log(tail) - x / tail + 0.5 * (spread / tail) ** 2 + log_tails


def _expected_excess(
    x: np.ndarray, spread: float, tail: float, log_tails: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the exponential part of a sum x: a normal variable truncated at 0."""
    at = x / spread - spread / tail
    hazard = np.exp(_log_normal(at, 1.0) - log_tails)
    return spread * (at + hazard), np.maximum(spread**2 * (1.0 - hazard * (at + hazard)), 0.0)
