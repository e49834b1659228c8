"""Background noise: points whose density is too low for the cluster that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Number of neighbours for density estimates.
N_NEIGHBORS = 8
# Quantile of the log radii in a cluster that serves as its reference; its densest quarter contains only
# members even under heavy noise.
REFERENCE_QUANTILE = 0.25
# Minimum depth of a valley between clusters and noise, in standard errors.
MIN_VALLEY_DEPTH = 2.5
# Log ratio of densities below which no point is noise: densities within a cluster vary that much.
MIN_SPARSITY = 1.0
# Without a valley the threshold is the fence of a boxplot, but at least 1.5: a density below about a quarter
# of the cluster's.
WHISKER_LENGTH, MIN_FENCE = 1.5, 1.5


class BackgroundNoise(NamedTuple):
    """Which points are noise, and why.

    Attributes
    ----------
    is_noise : ndarray of bool (n,)
        Whether each point is noise.
    score : ndarray (n,)
        Probability of noise: the odds double when the density halves; 0.5 is the threshold.
    sparsity : ndarray (n,)
        Log ratio of the reference density of the cluster to that of the point.
    threshold : float
        Sparsity above which points are noise.
    curve : ndarray (m, 2)
        Sparsities, and the depth of the valley at each in standard errors.
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray


def background_noise(radii: np.ndarray, dimension: float, labels: np.ndarray) -> BackgroundNoise:
    """Separate clusters from background noise by the densities of points.

    The densities of clusters and of noise differ, so their sparsities form two peaks. The threshold is the
    valley between the peaks if it is deeper than sampling error explains, otherwise the upper fence of a
    boxplot.

    Parameters
    ----------
    radii : ndarray (n,)
        Distances to the 8th neighbours.
    dimension : float
        Intrinsic dimension.
    labels : ndarray of int (n,)
        Cluster of each point, noise included.
    """
    with np.errstate(divide="ignore"):
        logs = dimension * np.log(radii)
    # Duplicates have radius 0; treat them as the densest other points.
    finite = np.isfinite(logs)
    logs = np.where(finite, logs, logs[finite].min() if finite.any() else 0.0)
    sparsity = np.empty(len(logs))
    for cluster in range(int(labels.max()) + 1):
        members = labels == cluster
        sparsity[members] = logs[members] - np.quantile(logs[members], REFERENCE_QUANTILE)
    curve = _valleys(sparsity)
    deepest = int(np.argmax(curve[:, 1]))
    if curve[deepest, 1] >= MIN_VALLEY_DEPTH:
        threshold = _center_of_floor(curve, deepest)
    else:
        low, high = np.quantile(sparsity, [0.25, 0.75])
        threshold = max(MIN_FENCE, float(high + WHISKER_LENGTH * (high - low)))
    with np.errstate(over="ignore"):
        score = 1.0 / (1.0 + np.exp(threshold - sparsity))
    return BackgroundNoise(sparsity > threshold, score, sparsity, threshold, curve)


def no_noise(n: int) -> BackgroundNoise:
    """Result for data with too few points to detect noise."""
    zeros = np.zeros(n)
    return BackgroundNoise(zeros > 0, zeros, zeros, np.inf, np.empty((0, 2)))


def _valleys(sparsity: np.ndarray) -> np.ndarray:
    """Depth of the valley at each sparsity between the peaks around it, in standard errors."""
    # The standard error of a log density; finer structure is sampling error.
    width = 1.0 / np.sqrt(N_NEIGHBORS)
    ordered = np.sort(sparsity)
    grid = np.arange(MIN_SPARSITY - 2.0, max(ordered[-1], MIN_SPARSITY) + 2.0 * width, width / 4.0)
    counts = np.searchsorted(ordered, grid + width) - np.searchsorted(ordered, grid - width)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    # The square root of a count has a standard error of 1/2.
    depths = 2.0 * (np.sqrt(np.minimum(before, after)) - np.sqrt(counts))
    return np.column_stack([grid, depths])[grid >= MIN_SPARSITY]


def _center_of_floor(curve: np.ndarray, start: int) -> float:
    """Centre of the flat floor of a valley that starts at an index."""
    end = start
    while end + 1 < len(curve) and curve[end + 1, 1] == curve[start, 1]:
        end += 1
    return float(curve[start, 0] + curve[end, 0]) / 2.0
