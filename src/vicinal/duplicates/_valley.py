"""A range of distances with too few pairs, which separates groups of duplicates from ordinary rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import pdtr

from vicinal.duplicates._dimension import inverse_dimensions

# From t to RATIO t, ordinary pairs grow by the factor RATIO^m in dimension m. In a valley, pairs grow by less
# than RATIO^(SLOW m), and even a growth by RATIO^(2 SLOW m) is as improbable as this.
RATIO, SLOW, MAX_P_VALUE = 1.25, 0.15, 1e-4
# Fraction of the pairs that may be in groups that are too large for duplicates.
MAX_FRACTION_IN_LARGE_GROUPS = 0.5
MAX_VALLEYS = 8


def last_valley(
    indices: np.ndarray, distances: np.ndarray, n_ordinary: int, max_group: int
) -> float:
    """Largest distance that is followed by a valley and mostly connects small groups, or 0."""
    values = np.sort(distances[distances > 0])
    last = np.append(values[1:] != values[:-1], True)
    thresholds, counts = values[last], np.flatnonzero(last) + 1
    # Each pair is in the lists of both its rows.
    beyond = np.searchsorted(values, RATIO * thresholds, side="right")
    n_pairs, growth = counts / 2.0, (beyond - counts) / 2.0
    power = SLOW * _dimension(distances, n_ordinary)
    valley = growth <= n_pairs * (RATIO**power - 1)
    valley &= pdtr(np.floor(growth), n_pairs * (RATIO ** (2 * power) - 1)) <= MAX_P_VALUE
    valley &= RATIO * thresholds < values[-1]
    valley &= thresholds <= np.median(distances[:, n_ordinary - 1])
    at = np.flatnonzero(valley)
    ends = at[np.append(np.diff(at) > 1, True)] if len(at) else at
    for threshold in thresholds[ends[::-1][:MAX_VALLEYS]]:
        if groups_are_small(indices, distances, threshold, max_group):
            return float(threshold)
    return 0.0


def _dimension(distances: np.ndarray, n_ordinary: int) -> float:
    """Mean dimension, from neighbours beyond those that small groups of duplicates contain."""
    stop = min(2 * n_ordinary, distances.shape[1])
    log_radii = np.log(np.maximum(distances[:, :stop], 1e-300))
    return 1.0 / max(float(inverse_dimensions(log_radii, stop // 2).mean()), 1e-3)


def groups_are_small(
    indices: np.ndarray, distances: np.ndarray, threshold: float, max_group: int
) -> bool:
    """Whether most pairs within the threshold are in groups of at most ``max_group`` rows."""
    n = len(indices)
    rows, columns = np.nonzero(distances <= threshold)
    others = indices[rows, columns]
    links = sparse.csr_array((np.ones(len(rows), np.int8), (rows, others)), shape=(n, n))
    group = connected_components(links, directed=False)[1]
    in_large = np.bincount(group)[group[rows]] > max_group
    return bool(in_large.mean() <= MAX_FRACTION_IN_LARGE_GROUPS)
