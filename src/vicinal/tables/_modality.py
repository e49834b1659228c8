"""Whether the values of one numeric column form groups by themselves."""

from __future__ import annotations

import numpy as np

# Ranks between which groups may be split, and the largest number of groups looked for.
N_CUTS, MAX_GROUPS = 128, 6
# Columns with fewer different values are always in groups, one for each value.
MIN_DISTINCT = 20
# Variance within groups, relative to that of evenly spread values, below which groups are believed in. It is
# 1 for even and 1.4 for normal values; two normal groups have less from 4.2 standard deviations apart.
MAX_RELATIVE_VARIANCE = 0.75
TAILS = (0.01, 0.99)


def modality_strength(numbers: np.ndarray) -> float:
    """From 0 (one group) to 1 (separate groups without width); missing numbers do not count."""
    known = np.sort(numbers[~np.isnan(numbers)])
    if len(np.unique(known)) < MIN_DISTINCT:
        return 0.0
    known = known / (np.abs(known).max() or 1.0)
    known = np.clip(known, *np.quantile(known, TAILS))
    known = known - known.mean()
    total = float(known @ known)
    if total == 0:
        return 0.0
    within = _within_groups(known)
    # Splitting evenly spread values into k groups divides their variance by k squared.
    relative = (within / total * np.arange(2, MAX_GROUPS + 1) ** 2).min()
    return float(np.sqrt(1.0 - relative)) if relative < MAX_RELATIVE_VARIANCE else 0.0


def _within_groups(ordered: np.ndarray) -> np.ndarray:
    """Least sum of squares within 2, 3, ... groups of consecutive values."""
    n = len(ordered)
    cuts = np.unique(np.linspace(0, n, min(N_CUTS, n) + 1).astype(np.int64))
    sums = np.concatenate([[0.0], np.cumsum(ordered)])[cuts]
    squares = np.concatenate([[0.0], np.cumsum(ordered**2)])[cuts]
    counts = cuts[None, :] - cuts[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = squares[None, :] - squares[:, None] - (sums[None, :] - sums[:, None]) ** 2 / counts
    cost = np.where(counts > 0, np.maximum(cost, 0.0), np.inf)
    best, group_costs = cost[0], []
    for _ in range(2, MAX_GROUPS + 1):
        best = (best[:, None] + cost).min(axis=0)
        group_costs.append(best[-1])
    return np.array(group_costs)
