"""A range of distances with too few pairs, which separates groups of duplicates from ordinary rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import pdtr

from vicinal._core.parallel import blocks
from vicinal.duplicates._dimension import inverse_dimensions

# From t to RATIO t, ordinary pairs grow by the factor RATIO^m in dimension m. In a valley, pairs grow by less
# than RATIO^(SLOW m), and even a growth by RATIO^(2 SLOW m) is as improbable as this.
RATIO, SLOW, MAX_P_VALUE = 1.25, 0.15, 1e-4
# Fraction of the pairs that may be in groups that are too large for duplicates.
MAX_FRACTION_IN_LARGE_GROUPS = 0.5
MAX_VALLEYS = 8
THRESHOLDS_PER_BLOCK = 1 << 18


def last_valley(
    indices: np.ndarray, distances: np.ndarray, n_ordinary: int, max_group: int
) -> float:
    """Largest distance that is followed by a valley and mostly connects small groups, or 0."""
    for threshold in _valleys(distances, n_ordinary):
        if groups_are_small(indices, distances, threshold, max_group):
            return float(threshold)
    return 0.0


def _valleys(distances: np.ndarray, n_ordinary: int) -> np.ndarray:
    """The last thresholds that are followed by a valley, the largest first."""
    largest = np.median(distances[:, n_ordinary - 1])
    values = distances[(distances > 0) & (distances <= RATIO * largest)]
    values.sort()
    last = np.append(values[1:] != values[:-1], True)
    # Positions of the thresholds, each after all equal values.
    counts = np.flatnonzero(last[: np.searchsorted(values, largest, side="right")]) + 1
    power = SLOW * _dimension(distances, n_ordinary)
    valley = [
        _is_valley(values, counts[a:b], power, distances.max())
        for a, b in blocks(len(counts), THRESHOLDS_PER_BLOCK)
    ]
    at = np.flatnonzero(np.concatenate([*valley, np.empty(0, np.bool_)]))
    ends = at[np.append(np.diff(at) > 1, True)] if len(at) else at
    return np.asarray(values[counts[ends[::-1][:MAX_VALLEYS]] - 1])


def _is_valley(values: np.ndarray, counts: np.ndarray, power: float, farthest: float) -> np.ndarray:
    """Whether too few of the sorted values follow the first ``counts`` of them."""
    limits = RATIO * values[counts - 1]
    # Each pair is in the lists of both its rows.
    growth = (np.searchsorted(values, limits, side="right") - counts) / 2.0
    n_pairs = counts / 2.0
    valley = growth <= n_pairs * (RATIO**power - 1)
    valley &= pdtr(np.floor(growth), n_pairs * (RATIO ** (2 * power) - 1)) <= MAX_P_VALUE
    return np.asarray(valley & (limits < farthest))


def _dimension(distances: np.ndarray, n_ordinary: int) -> float:
    """Mean dimension, from neighbours beyond those that small groups of duplicates contain."""
    stop = min(2 * n_ordinary, distances.shape[1])
    return 1.0 / max(float(inverse_dimensions(distances[:, :stop], stop // 2).mean()), 1e-3)


def groups_are_small(
    indices: np.ndarray, distances: np.ndarray, threshold: float, max_group: int
) -> bool:
    """Whether most pairs within the threshold are in groups of at most ``max_group`` rows."""
    n, near = len(indices), distances <= threshold
    n_links = near.sum(axis=1)
    indptr = np.concatenate([[0], np.cumsum(n_links)])
    links = sparse.csr_array((np.ones(indptr[-1], np.int8), indices[near], indptr), shape=(n, n))
    group = connected_components(links, directed=False)[1]
    in_large = np.bincount(group)[group] > max_group
    return bool(n_links[in_large].sum() / n_links.sum() <= MAX_FRACTION_IN_LARGE_GROUPS)
