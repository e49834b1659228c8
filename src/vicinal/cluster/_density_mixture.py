"""Mixture of clusters and background noise, fitted to the sparsities of points by expectation-maximisation.

The sparsity of a point is its negative log density. If a density is exp(-h(x)) with a homogeneous h, as for
normal and Laplace distributions in any number of dimensions, h(x) has a gamma distribution with scale 1: the
sparsities of a cluster have an exponential tail of at most this scale. So the sparsity of a member of
cluster j is

    center_j + normal(0, spread^2) + exponential(tail),

and that of noise is normal(level, width^2): relative to the centre of the cluster that it was assigned to if
noise is denser around denser clusters, or absolute if one background surrounds all clusters. In an absolute
background, a cluster that is about as sparse as the background has no noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

# Fractions of noise that the fit starts from; the most likely solution is kept.
STARTS = (0.02, 0.1, 0.35)
MAX_NOISE = 0.9
# Minimum distance of noise from the mean of a cluster, in log density.
MIN_SEPARATION = 1.0
MIN_TAIL = 0.05
MAX_ITER, TOLERANCE = 100, 1e-3
HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


class NoiseLevel(NamedTuple):
    """Mean and standard deviation of the sparsity of noise, and the fraction of noise.

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
        if self.noise is None or self.separation[cluster] < MIN_SEPARATION:
            return np.full(len(relative), -np.inf)
        level = self.noise.above(self.centers)[cluster]
        fraction = self.noise.fraction
        noise = _log_normal(relative - level, self.noise.width) + np.log(fraction)
        return noise - _log_member(relative, self.spread, self.tail) - np.log1p(-fraction)


def fit_mixture(
    sparsity: np.ndarray,
    labels: np.ndarray,
    min_spread: float,
    max_tail: float,
    start: float,
    is_absolute: bool = False,
) -> DensityMixture | None:
    """Fit clusters, and with ``start`` > 0 noise as well; None if the noise vanishes or takes over.

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
    start : float
        Fraction of noise to start from; 0 for clusters without noise.
    is_absolute : bool
        Whether noise has one density, rather than one relative to that of each cluster.
    """
    n, n_clusters = len(sparsity), int(labels.max()) + 1
    initial = np.array([np.quantile(sparsity[labels == j], 0.25) for j in range(n_clusters)])
    centers, spread, tail = initial, min_spread, 0.7 * max_tail
    relative = sparsity - centers[labels]
    measured = sparsity if is_absolute else relative
    is_sparse = measured > np.quantile(measured, 1.0 - start)
    weights = is_sparse.astype(np.float64) if start > 0 else np.zeros(n)
    level = None
    previous = -np.inf
    log_tails = _log_tails(relative, spread, tail)
    for _ in range(MAX_ITER):
        members = 1.0 - weights
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
        if start > 0:
            measured = sparsity if is_absolute else relative
            level = _noise_level(measured, weights, min_spread, is_absolute)
            if level is None:
                return None
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
    sparsity: np.ndarray, weights: np.ndarray, min_width: float, is_absolute: bool
) -> NoiseLevel | None:
    total = float(weights.sum())
    fraction = total / len(weights)
    if total < 1.0 or fraction > MAX_NOISE:
        return None
    level = float(weights @ sparsity) / total
    width = np.sqrt(float(weights @ (sparsity - level) ** 2) / total)
    return NoiseLevel(level, max(float(width), min_width), fraction, is_absolute)


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
