"""Background noise: points whose density is too low for the cluster that they are in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Neighbours that a density is read from, and the quantile of a cluster's densities that others are compared
# with: the dense quarter stays a cluster's own under heavy noise.
NEIGHBORS, DENSE = 8, 0.25
# Standard errors by which a valley between clusters and noise must be deeper than chance makes it.
DEEP = 2.5
# Log ratio of densities below which nothing is noise: less is within a cluster.
LEAST = 1.0
# Without a valley: the fence of a boxplot, but 1.5 at least, a density below a quarter of the cluster's.
WHISKER, LEAST_FENCE = 1.5, 1.5


class BackgroundNoise(NamedTuple):
    """Which points are noise, and why.

    Attributes
    ----------
    is_noise : ndarray of bool (n,)
    score : ndarray (n,)
        In [0, 1]: the odds of noise double when the density halves; 0.5 is the threshold.
    sparsity : ndarray (n,)
        Log of the density of a cluster's dense quarter over that of the point.
    threshold : float
        Sparsity above which points are noise.
    curve : ndarray (m, 2)
        Sparsities, and how many standard errors deep the valley at each is.
    """

    is_noise: np.ndarray
    score: np.ndarray
    sparsity: np.ndarray
    threshold: float
    curve: np.ndarray


def background_noise(radii: np.ndarray, dimension: float, labels: np.ndarray) -> BackgroundNoise:
    """Separate clusters from background noise by the densities of points.

    Noise has a density of its own, so the sparsities of clusters and of noise are two peaks with a valley
    between them, which is the threshold if it is deeper than sampling error makes it. Otherwise the fence of
    a boxplot leaves the few points that do not belong to the distribution.

    Parameters
    ----------
    radii : ndarray (n,)
        Distances to the 8th neighbours.
    dimension : float
        Intrinsic dimension.
    labels : ndarray of int (n,)
        Clusters, in which all points are, noise too.
    """
    with np.errstate(divide="ignore"):
        logs = dimension * np.log(radii)
    # Equal points: as dense as the densest that are not.
    finite = np.isfinite(logs)
    logs = np.where(finite, logs, logs[finite].min() if finite.any() else 0.0)
    sparsity = np.empty(len(logs))
    for cluster in range(int(labels.max()) + 1):
        members = labels == cluster
        sparsity[members] = logs[members] - np.quantile(logs[members], DENSE)
    curve = _valleys(sparsity)
    deepest = int(np.argmax(curve[:, 1]))
    if curve[deepest, 1] >= DEEP:
        threshold = _middle(curve, deepest)
    else:
        low, high = np.quantile(sparsity, [0.25, 0.75])
        threshold = max(LEAST_FENCE, float(high + WHISKER * (high - low)))
    with np.errstate(over="ignore"):
        score = 1.0 / (1.0 + np.exp(threshold - sparsity))
    return BackgroundNoise(sparsity > threshold, score, sparsity, threshold, curve)


def no_noise(n: int) -> BackgroundNoise:
    """The answer for points that are too few to have a background."""
    zeros = np.zeros(n)
    return BackgroundNoise(zeros > 0, zeros, zeros, np.inf, np.empty((0, 2)))


def _valleys(sparsity: np.ndarray) -> np.ndarray:
    """How deep the distribution of sparsities falls between two peaks, in standard errors."""
    # The standard error of a log density: finer structure is chance.
    width = 1.0 / np.sqrt(NEIGHBORS)
    ordered = np.sort(sparsity)
    grid = np.arange(LEAST - 2.0, max(ordered[-1], LEAST) + 2.0 * width, width / 4.0)
    counts = np.searchsorted(ordered, grid + width) - np.searchsorted(ordered, grid - width)
    before = np.maximum.accumulate(counts)
    after = np.maximum.accumulate(counts[::-1])[::-1]
    # The root of a count has a standard error of 1/2.
    depths = 2.0 * (np.sqrt(np.minimum(before, after)) - np.sqrt(counts))
    return np.column_stack([grid, depths])[grid >= LEAST]


def _middle(curve: np.ndarray, at: int) -> float:
    """The middle of a valley's floor."""
    end = at
    while end + 1 < len(curve) and curve[end + 1, 1] == curve[at, 1]:
        end += 1
    return float(curve[at, 0] + curve[end, 0]) / 2.0
