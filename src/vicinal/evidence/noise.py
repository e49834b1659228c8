"""Background noise: points whose density is too low for the group of points that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.evidence.constants import (
    EXPECTED_OUTLIERS,
    HEAVY_TAIL,
    MAX_FITTED,
    MAX_NOISE,
    MAX_TAIL,
    MAX_UNTESTED,
    MIN_GAIN,
    MIN_GAIN_PER_POINT,
    MIN_SEPARATION,
    NOISE_ODDS,
    SAMPLING_ERRORS,
)
from vicinal.evidence.mixture import DensityMixture, fit_mixture

# Densities are those of so many neighbours at most.
N_DENSITY = max(SAMPLING_ERRORS)
# Groups of fewer neighbourhoods have no noise: where the neighbours are a large part of a group, its edge
# looks sparse.
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
        Log ratio of the typical density of the group to that of the point; 0 in groups of fewer than 20
        points, or 32 if densities are those of 8 neighbours.
    threshold : float
        Sparsity above which points of the largest group are noise; infinite if there are too few points to
        detect it. It is the same for all groups unless one background of the same density surrounds them:
        then it is lower in sparser groups.
    curve : ndarray (m, 2)
        Sparsities and the probability of noise at each, in the largest group.
    gain : float
        Gain of the mixture with noise over groups alone, in penalised log-likelihood; more than 3, which are
        odds of 20 to 1, is evidence of noise.
    log_background : ndarray (n,)
        Log ratio of the density of the noise to that of the point; 0 without evidence of noise.
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray
    gain: float
    log_background: np.ndarray

    def of_rows(self, group: np.ndarray) -> BackgroundNoise:
        """The noise of rows, each of which is one of the points."""
        return self._replace(
            is_noise=self.is_noise[group],
            score=self.score[group],
            sparsity=self.sparsity[group],
            log_background=self.log_background[group],
        )


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


def find_noise(distances: np.ndarray, dimension: float, labels: np.ndarray) -> BackgroundNoise:
    """Separate groups of points from background noise by the densities of the points.

    The sparsity of a point is the mean log volume of the balls that reach its 8 nearest neighbours, or 5.
    Groups alone, groups in noise that is denser around denser groups, and groups in one common background are
    fitted to the sparsities (`vicinal.evidence.mixture`). There is noise if one of the latter is more likely
    at odds of 20 to 1; if it is for both numbers of neighbours, the one with the larger expected F1 decides.
    Otherwise only points are noise that are too sparse for any group of so many points.

    Parameters
    ----------
    distances : ndarray (n, 8)
        Distances to the nearest neighbours.
    dimension : float
        Intrinsic dimension.
    labels : ndarray of int (n,)
        Group of each point, noise included.
    """
    results = [_at_scale(distances[:, :k], dimension, labels) for k in SAMPLING_ERRORS]
    with_evidence = [noise for noise in results if noise.gain > MIN_GAIN]
    return max(with_evidence, key=_expected_f1, default=results[0])


def sparsity(distances: np.ndarray, dimension: float) -> np.ndarray:
    """Negative log density of each point, up to a constant, from the distances to its neighbours."""
    positive = distances[distances > 0]
    lowest = positive.min() if len(positive) else 1.0
    return np.asarray(dimension * np.log(np.maximum(distances, lowest)).mean(axis=1))


def _at_scale(distances: np.ndarray, dimension: float, labels: np.ndarray) -> BackgroundNoise:
    """Noise by the densities of k neighbours; its gain is 0 without evidence."""
    k = distances.shape[1]
    large = (np.bincount(labels) >= MIN_NEIGHBORHOODS * k)[labels]
    result = no_noise(len(labels))
    if not large.any():
        return result
    values = sparsity(distances, dimension)[large]
    labels = np.unique(labels[large], return_inverse=True)[1]
    mixture, gain = choose_mixture(values, labels, SAMPLING_ERRORS[k])
    relative = values - mixture.centers[labels]
    outlier = float(np.log(len(relative) / EXPECTED_OUTLIERS))
    grid, *curves = _noise_curves(mixture, outlier, float(relative.max()))
    for group, probability in enumerate(curves):
        members = labels == group
        result.score[np.flatnonzero(large)[members]] = np.interp(
            relative[members], grid, probability
        )
    if np.mean(result.score > 0.5) > MAX_NOISE:
        return no_noise(len(large))
    result.sparsity[large] = relative
    if mixture.noise is not None:
        result.log_background[large] = relative - mixture.noise.above(mixture.centers)[labels]
    curve = curves[int(np.argmax(np.bincount(labels)))]
    at = max(int(np.argmax(curve > 0.5)), 1)
    threshold = float(np.interp(0.5, curve[at - 1 : at + 1], grid[at - 1 : at + 1]))
    return result._replace(
        is_noise=result.score > 0.5,
        threshold=threshold,
        curve=np.column_stack([grid, curve]),
        gain=gain,
    )


def choose_mixture(
    values: np.ndarray, labels: np.ndarray, error: float
) -> tuple[DensityMixture, float]:
    """Groups in noise and their gain, or groups alone and 0 without evidence of noise."""
    values, labels = _representative(values, labels)
    sizes = np.bincount(labels)
    alone = fit_mixture(values, labels, error, MAX_TAIL, has_noise=False)
    heavy: DensityMixture | None = None
    assert alone is not None
    best, largest = alone, 0.0
    # With one group, relative and absolute noise are the same.
    for is_absolute in (False, True) if len(sizes) > 1 else (False,):
        mixture = fit_mixture(values, labels, error, MAX_TAIL, True, is_absolute)
        if mixture is None or mixture.noise is None:
            continue
        is_surrounded = mixture.separation >= MIN_SEPARATION
        fraction = mixture.noise.fraction * float(sizes[is_surrounded].sum() / sizes.sum())
        if not 0.0 < fraction <= MAX_NOISE:
            continue
        # Level, fraction, and the width unless it is only the sampling error.
        n_parameters = 3 if mixture.noise.width > error else 2
        likelihood = mixture.log_likelihood - 0.5 * n_parameters * float(np.log(sizes.sum()))
        gain = likelihood - alone.log_likelihood
        if gain <= max(MIN_GAIN, MIN_GAIN_PER_POINT * fraction * float(sizes.sum()), largest):
            continue
        if fraction > MAX_UNTESTED:
            heavy = heavy or fit_mixture(values, labels, error, HEAVY_TAIL, has_noise=False)
            assert heavy is not None
            if likelihood - heavy.log_likelihood <= MIN_GAIN:
                continue
        best, largest = mixture, gain
    return best, largest


def _representative(values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `MAX_FITTED` values, evenly spaced by rank; sorted, so that their order does not matter."""
    order = np.lexsort((values, labels))
    values, labels = values[order], labels[order]
    if len(values) > MAX_FITTED:
        spaced = np.linspace(0, len(values) - 1, MAX_FITTED).astype(np.int64)
        kept = np.union1d(spaced, np.flatnonzero(np.diff(labels, prepend=-1)))
        values, labels = values[kept], labels[kept]
    return values, labels


def _expected_f1(noise: BackgroundNoise) -> float:
    """F1 of the points labelled as noise, expected from their probabilities."""
    probability = noise.score / (noise.score + NOISE_ODDS * (1.0 - noise.score))
    found = probability[noise.is_noise]
    return 2.0 * float(found.sum()) / max(len(found) + float(probability.sum()), 1.0)


def _noise_curves(mixture: DensityMixture, outlier: float, highest: float) -> np.ndarray:
    """Sparsities from the mean of a group on, and rows of the probability of noise in each group."""
    end = max(highest, outlier) + CURVE_STEP
    grid = np.linspace(mixture.tail, end, round((end - mixture.tail) / CURVE_STEP) + 2)
    rows = [grid]
    for group in range(len(mixture.centers)):
        odds = mixture.log_odds(grid, group) + np.log(NOISE_ODDS)
        # Even sparser points are at least as likely to be noise, although the tail of the normal
        # distribution of noise ends before that of a group.
        odds = np.maximum.accumulate(np.maximum(odds, grid - outlier))
        with np.errstate(over="ignore"):
            rows.append(1.0 / (1.0 + np.exp(-odds)))
    return np.array(rows)
