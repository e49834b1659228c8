"""Evidence of noise: mixtures of clusters and noise, compared with clusters alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_mixture import (
    MIN_SEPARATION,
    STARTS,
    DensityMixture,
    fit_fractions,
    fit_mixture,
)

# Largest scale of the exponential tail of a cluster. For a normal cluster it is 1, but estimates from
# neighbours smooth the density: in clean normal clusters in up to 50 dimensions it is 0.4 to 0.85.
MAX_TAIL = 0.8
# Noise has to improve the penalised log-likelihood by this much: in all (odds of 20 to 1), per point, and per
# point of noise. A large noise component that gains little only describes the edges of the clusters. It does
# so more easily if it has one density, like the edges of the sparse clusters, or if the clusters have tails
# longer than `LONG_TAIL`: then the second value is required per point of noise.
MIN_GAIN, MIN_GAIN_PER_POINT = 3.0, 0.01
MIN_GAIN_PER_NOISE_POINT, LONG_TAIL = (0.07, 0.12), 0.7
# Edges of clusters do not fill the gaps between them, so noise that does needs this fraction of the gain.
GAIN_IN_GAPS = 0.5
# If the tail of the clusters is at its limit, a wide component behind it is more likely a heavier tail than
# noise, as in many real tables; then its distance has to exceed this many widths of the noise.
MIN_SEPARATION_IN_WIDTHS = 1.25
# More noise than this has to be more likely than clusters with tails of any scale up to `HEAVY_TAIL`, too.
MAX_UNTESTED_FRACTION, HEAVY_TAIL = 0.1, 6.0
MAX_FRACTION = 2 / 3
# If most points of a cluster are noise, its centre is among the densest: the quantile to start from.
DENSEST = 0.05
# Number of points that the mixture is fitted to.
MAX_FITTED = 10_000


class Candidate(NamedTuple):
    """A mixture with noise, and its gain over clusters alone in penalised log-likelihood."""

    mixture: DensityMixture
    gain: float
    has_one_fraction: bool = True


class Candidates(NamedTuple):
    """Clusters alone, clusters with heavy tails if needed, and mixtures with noise, the best first."""

    clusters: DensityMixture
    heavy: DensityMixture | None
    mixtures: list[Candidate]
    sizes: np.ndarray
    error: float

    def with_one_fraction(self) -> Candidates:
        """Without mixtures in which clusters have different fractions of noise."""
        return self._replace(mixtures=[c for c in self.mixtures if c.has_one_fraction])


def fit_candidates(sparsity: np.ndarray, labels: np.ndarray, error: float) -> Candidates:
    """Fit clusters alone, and clusters in noise of different kinds.

    Parameters
    ----------
    sparsity : ndarray (n,)
        Negative log densities, up to a constant.
    labels : ndarray of int (n,)
        Cluster of each point, noise included.
    error : float
        Sampling error of the sparsity.
    """
    # Sorted, so that the order of the points does not matter.
    order = np.lexsort((sparsity, labels))
    sparsity, labels = sparsity[order], labels[order]
    n = len(order)
    if n > MAX_FITTED:
        # Evenly spaced, with the least sparse member of each cluster so that none is lost.
        spaced = np.linspace(0, n - 1, MAX_FITTED).astype(np.int64)
        kept = np.union1d(spaced, np.flatnonzero(np.diff(labels, prepend=-1)))
        sparsity, labels = sparsity[kept], labels[kept]
    sizes = np.bincount(labels)
    clusters = fit_mixture(sparsity, labels, error, MAX_TAIL, 0.0)
    assert clusters is not None
    # With one cluster, relative and absolute noise are the same.
    kinds = (False, True) if len(sizes) > 1 else (False,)
    fits = [
        fit_mixture(sparsity, labels, error, MAX_TAIL, start, is_absolute)
        for is_absolute in kinds
        for start in STARTS
    ]
    mixtures = [
        Candidate(fit, _gain(fit, clusters, sizes, error)) for fit in fits if fit is not None
    ]
    one_background = [c for c in mixtures if c.mixture.noise and c.mixture.noise.is_absolute]
    if one_background:
        best = max(one_background, key=lambda candidate: candidate.gain).mixture
        mixtures += _with_fractions(sparsity, labels, error, clusters, best)
    mixtures.sort(key=lambda candidate: -candidate.gain)
    heavy = None
    if any(_noise_fraction(c.mixture, sizes) > MAX_UNTESTED_FRACTION for c in mixtures):
        heavy = fit_mixture(sparsity, labels, error, HEAVY_TAIL, 0.0)
    return Candidates(clusters, heavy, mixtures, sizes, error)


def _with_fractions(
    sparsity: np.ndarray,
    labels: np.ndarray,
    error: float,
    clusters: DensityMixture,
    shared: DensityMixture,
) -> list[Candidate]:
    """Mixtures with one background of which each cluster contains a fraction of its own.

    A background is everywhere: if some clusters contain no noise, that of the others consists of sparse
    clusters that were not separated.
    """
    assert shared.noise is not None
    sizes = np.bincount(labels)
    densest = [np.quantile(sparsity[labels == j], DENSEST) for j in range(len(sizes))]
    half = shared.noise._replace(fractions=np.full(len(sizes), 0.5))
    found = []
    for start in (shared, shared._replace(centers=np.array(densest), noise=half)):
        fit = fit_fractions(sparsity, labels, error, MAX_TAIL, start)
        if fit is None or fit.noise is None or not _surrounded(fit).all():
            continue
        if (fit.noise.fractions * sizes).min() >= 1.0:
            penalty = 0.5 * (len(sizes) - 1) * float(np.log(sizes.sum()))
            gain = _gain(fit, clusters, sizes, error) - penalty
            found.append(Candidate(fit, gain, has_one_fraction=False))
    return found


def choose_mixture(
    candidates: Candidates, max_fraction: float, fills_gaps: bool
) -> tuple[DensityMixture, float]:
    """Clusters in noise, or clusters alone without evidence of noise; and the gain of the former.

    With ``fills_gaps``, noise is one background, for which `GAIN_IN_GAPS` of the evidence is enough.
    """
    clusters, heavy, mixtures, sizes, error = candidates
    for mixture, gain, _ in mixtures:
        assert mixture.noise is not None
        if fills_gaps and not mixture.noise.is_absolute:
            continue
        fraction = _noise_fraction(mixture, sizes)
        if fraction > max_fraction or not _is_significant(gain, mixture, sizes, fills_gaps):
            continue
        if fraction > MAX_UNTESTED_FRACTION:
            assert heavy is not None
            if _gain(mixture, heavy, sizes, error) <= MIN_GAIN:
                continue
        return mixture, gain
    return clusters, mixtures[0].gain if mixtures else 0.0


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
    n_noise = sizes * mixture.noise.fractions * _surrounded(mixture)
    return float(n_noise.sum() / sizes.sum())


def _surrounded(mixture: DensityMixture) -> np.ndarray:
    return mixture.separation >= MIN_SEPARATION


def _is_significant(
    gain: float, mixture: DensityMixture, sizes: np.ndarray, fills_gaps: bool = False
) -> bool:
    """Whether the noise gains enough, and is more than the edges or a heavy tail of the clusters."""
    assert mixture.noise is not None
    weights = sizes * _surrounded(mixture)
    if not weights.any():
        return False
    distance = float(weights @ mixture.separation) / float(weights.sum())
    if mixture.tail >= MAX_TAIL and distance < MIN_SEPARATION_IN_WIDTHS * mixture.noise.width:
        return False
    is_easy = mixture.noise.is_absolute or mixture.tail > LONG_TAIL
    per_noise_point = MIN_GAIN_PER_NOISE_POINT[int(is_easy)] * (GAIN_IN_GAPS if fills_gaps else 1.0)
    per_point = max(MIN_GAIN_PER_POINT, per_noise_point * _noise_fraction(mixture, sizes))
    return gain > max(MIN_GAIN, per_point * float(sizes.sum()))
