"""Effect sizes with 95 % confidence intervals: how two groups of rows differ in a column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from vicinal._core.parallel import map_threads

# Quantile of the normal distribution for 95 % intervals.
Z = 1.959964


class Effect(NamedTuple):
    """Size from -1 to 1, and its interval."""

    size: float
    low: float
    high: float


def rank_biserial(ranks: np.ndarray, members: np.ndarray) -> list[Effect]:
    """Rank-biserial correlation of each column of ranks with membership in a group.

    It is the probability that a member has the larger value, minus the probability that it has the smaller
    one. The interval is that of Hanley and McNeil (1982) for the area under a ROC curve.
    """
    n_in = int(np.count_nonzero(members))
    n_out = len(members) - n_in
    area = (ranks[members].sum(axis=0) - n_in * (n_in + 1) / 2) / (n_in * n_out)
    # Complete separation has no standard error: half a pair is counted as wrong.
    half_pair = 0.5 / (n_in * n_out)
    a = np.clip(area, half_pair, 1.0 - half_pair)
    q_in, q_out = a / (2.0 - a), 2.0 * a**2 / (1.0 + a)
    variance = a * (1 - a) + (n_in - 1) * (q_in - a**2) + (n_out - 1) * (q_out - a**2)
    error = np.sqrt(np.maximum(variance, 0.0) / (n_in * n_out))
    size, margin = 2.0 * area - 1.0, 2.0 * Z * error
    low, high = np.clip(size - margin, -1.0, 1.0), np.clip(size + margin, -1.0, 1.0)
    return [Effect(*map(float, effect)) for effect in zip(size, low, high, strict=True)]


def column_ranks(values: np.ndarray, n_jobs: int | None = -1) -> np.ndarray:
    """Ranks in each column, from 1; equal values share their mean rank."""
    ranks = np.empty(values.shape)

    def rank(column: int) -> None:
        ranks[:, column] = rankdata(values[:, column])

    map_threads(rank, range(values.shape[1]), n_jobs)
    return ranks


def proportion_difference(k_in: int, n_in: int, k_out: int, n_out: int) -> Effect:
    """Difference of two proportions, with the interval of Newcombe (1998, method 10)."""
    p, q = k_in / n_in, k_out / n_out
    (low_p, high_p), (low_q, high_q) = _wilson(k_in, n_in), _wilson(k_out, n_out)
    low = p - q - np.hypot(p - low_p, high_q - q)
    high = p - q + np.hypot(high_p - p, q - low_q)
    return Effect(p - q, float(max(low, -1.0)), float(min(high, 1.0)))


def _wilson(k: int, n: int) -> tuple[float, float]:
    """Score interval of a proportion."""
    p, z2 = k / n, Z**2
    center = (p + z2 / (2 * n)) / (1 + z2 / n)
    margin = Z * np.sqrt(p * (1 - p) / n + z2 / (4 * n**2)) / (1 + z2 / n)
    return float(center - margin), float(center + margin)


def category_effects(words: np.ndarray, members: np.ndarray) -> dict[str, Any] | None:
    """The category with the largest difference of proportions, among rows that have one."""
    known = words != ""
    categories, codes = np.unique(words[known].astype(str), return_inverse=True)
    inside = members[known]
    n_in, n_out = int(inside.sum()), int((~inside).sum())
    if not n_in or not n_out:
        return None
    k_in = np.bincount(codes[inside], minlength=len(categories))
    k_out = np.bincount(codes[~inside], minlength=len(categories))
    best = int(np.argmax(np.abs(k_in / n_in - k_out / n_out)))
    effect = proportion_difference(int(k_in[best]), n_in, int(k_out[best]), n_out)
    return {
        "category": str(categories[best]),
        "effect": effect.size,
        "low": effect.low,
        "high": effect.high,
        "inside": float(k_in[best] / n_in),
        "outside": float(k_out[best] / n_out),
    }
