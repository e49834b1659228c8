"""The distance below which two rows are near-duplicates, read off the lists of nearest neighbours.

Ordinary rows are modelled as a Poisson process around each row. The distances to its 4th to 10th neighbour
give the local dimension m and density, so u = (K - 1) (d / r_K)^m ordinary rows are expected within d. For a
pair, u is taken at the end where it is larger. Ordinary pairs are spread evenly over u, whatever the density,
and c n u of them lie below u, with c counted at u around 1: duplicates are the excess of pairs at small u.

The pairs are then a mixture. The number of ordinary pairs per row and unit of log d is c m u; that of
duplicates is a function of d alone. The EM algorithm estimates it together with the probability that each
pair is a duplicate. The threshold maximises the F1 score that is expected from these probabilities.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import pdtr, pdtrc

from vicinal._core.parallel import blocks
from vicinal.duplicates._dimension import ROWS_PER_BLOCK, inverse_dimensions

# Length of the neighbour lists, and the neighbours, after skipped duplicates, that show the local density:
# groups of up to FIRST rows do not affect it.
LIST_LENGTH, N_ORDINARY, FIRST = 30, 10, 4
# Larger groups are dense clusters, not duplicates.
MAX_GROUP = LIST_LENGTH - N_ORDINARY
# An excess of pairs must be this improbable. All u are tested, and real tables are not quite Poisson
# processes.
MAX_P_VALUE = 1e-6
# At least this fraction of the accepted pairs must be expected to be duplicates.
MIN_PRECISION = 0.4
# Iterations of the EM algorithm, and half the width, in log d, over which it averages.
N_ITERATIONS, HALF_WIDTH = 20, 0.2
N_GRID, N_CURVE = 128, 200
# Entries at a time, where a temporary array of all of them would take much memory.
ENTRIES_PER_BLOCK = 1 << 18
# From t to RATIO t, ordinary pairs grow by the factor RATIO^m in dimension m. In a valley, pairs grow by less
# than RATIO^(SLOW m), and even a growth by RATIO^(2 SLOW m) is as improbable as this.
RATIO, SLOW, MAX_VALLEY_P_VALUE = 1.25, 0.15, 1e-4
# Fraction of the pairs that may be in groups that are too large for duplicates.
MAX_FRACTION_IN_LARGE_GROUPS = 0.5
MAX_VALLEYS = 8
THRESHOLDS_PER_BLOCK = 1 << 18


class Threshold(NamedTuple):
    """The threshold, 0 if there is no evidence of duplicates, and the curve that it was read from.

    The rows of the curve are: threshold, number of pairs, expected number of ordinary pairs, estimated F1.
    """

    value: float
    curve: np.ndarray


class _Neighborhoods(NamedTuple):
    """Logarithm of the distance to the last ordinary neighbour of each row, and the dimension around it."""

    log_radius: np.ndarray
    dimension: np.ndarray

    def log_expected(self, rows: np.ndarray, log_distances: np.ndarray) -> np.ndarray:
        """Logarithm of the number of ordinary rows that are expected within distances of rows."""
        log_ratio = log_distances - self.log_radius[rows]
        # E[1 / (volume of K neighbours)] = density / (K - 1)
        return np.asarray(np.log(N_ORDINARY - 1) + self.dimension[rows] * log_ratio)


class _Entries(NamedTuple):
    """Entries of the lists, each pair in the list of both its rows, by ascending distance."""

    distances: np.ndarray
    log_expected: np.ndarray  # log u, at the end of the pair where it is larger
    dimension: np.ndarray


def automatic_threshold(indices: np.ndarray, distances: np.ndarray) -> Threshold:
    """Choose the threshold from the nearest other rows of each row and their Euclidean-like distances."""
    if distances.shape[1] < N_ORDINARY or not (distances > 0).any():
        return Threshold(0.0, np.empty((0, 4)))
    reach = last_valley(indices, distances, N_ORDINARY, MAX_GROUP)
    around, largest = _neighborhoods(indices, distances, reach)
    entries, rate = _entries(indices, distances, around, largest)
    if len(entries.distances) == 0:
        return Threshold(0.0, np.empty((0, 4)))
    probability = _probability_of_duplicates(entries, rate, len(indices))
    last = np.append(entries.distances[1:] != entries.distances[:-1], True)
    thresholds, n_pairs = entries.distances[last], (np.flatnonzero(last) + 1) / 2.0
    n_duplicates = np.cumsum(probability)[last] / 2.0
    f1 = 2 * n_duplicates / (n_pairs + n_duplicates[-1])
    f1[(n_duplicates == 0) | (n_duplicates < MIN_PRECISION * n_pairs)] = -1.0
    best = int(f1.argmax())
    if f1[best] >= 0 and not groups_are_small(indices, distances, thresholds[best], MAX_GROUP):
        # Beyond some distance, dense clusters are connected.
        n_small = bisect_left(
            range(best),
            True,
            key=lambda at: not groups_are_small(indices, distances, thresholds[at], MAX_GROUP),
        )
        f1[n_small:] = -1.0
    return Threshold(_best(thresholds, f1), _curve(around, thresholds, n_pairs, f1))


def _neighborhoods(
    indices: np.ndarray, distances: np.ndarray, reach: float
) -> tuple[_Neighborhoods, float]:
    """Density and dimension from ordinary neighbours, those beyond ``reach``, and the largest threshold."""
    skipped = np.minimum((distances <= reach).sum(axis=1), distances.shape[1] - N_ORDINARY)
    ordinary = np.take_along_axis(distances, skipped[:, None] + np.arange(N_ORDINARY), axis=1)
    inverse = inverse_dimensions(ordinary, FIRST)
    sums = [inverse[indices[a:b]].sum(axis=1) for a, b in blocks(len(indices), ROWS_PER_BLOCK)]
    smoothed = (inverse + np.concatenate(sums)) / (indices.shape[1] + 1)
    # Rows with nothing but equal rows around them have no pairs at small u.
    radius = ordinary[:, -1]
    log_radius = np.where(radius > 0, np.log(np.maximum(radius, 1e-300)), -np.inf)
    around = _Neighborhoods(log_radius, 1.0 / np.maximum(smoothed, 1e-3))
    return around, float(np.median(ordinary[:, FIRST - 1]))


def _entries(
    indices: np.ndarray, distances: np.ndarray, around: _Neighborhoods, largest: float
) -> tuple[_Entries, float]:
    """Entries up to the largest distance, and c: pairs per row and unit of u, for u around 1."""
    # The u of a pair is the larger one of its two ends, so it is above 2 if it is above 2 at this end.
    limit = np.exp(around.log_radius + np.log(2.0 / (N_ORDINARY - 1)) / around.dimension)
    reach = np.maximum(limit, largest)[:, None]
    n_entries = int(((distances <= largest) & (distances > 0)).sum())
    entries = [np.empty(n_entries) for _ in _Entries._fields]
    stop, n_within = 0, np.zeros(3)
    for a, b in blocks(len(indices), ROWS_PER_BLOCK):
        rows, columns = np.nonzero((distances[a:b] <= reach[a:b]) & (distances[a:b] > 0))
        lengths, others = distances[a:b][rows, columns], indices[a:b][rows, columns]
        rows, logs = rows + a, np.log(lengths)
        ends = around.log_expected(rows, logs), around.log_expected(others, logs)
        log_expected = np.maximum(*ends)
        n_within += [(log_expected <= np.log(u)).sum() / 2.0 for u in (0.5, 1.0, 2.0)]
        dimension = np.maximum(around.dimension[rows], around.dimension[others])
        near = np.flatnonzero(lengths <= largest)
        start, stop = stop, stop + len(near)
        for values, new in zip(entries, (lengths, log_expected, dimension), strict=True):
            values[start:stop] = new[near]
    # At u around 1, few pairs are duplicates. Clusters have more pairs at smaller u than at larger u, so the
    # larger of two rates is used. One more pair than counted is assumed, because few rows may have none.
    n_around = np.diff(n_within) + 1
    rate = max(n_around[0] / 0.5, n_around[1]) / len(indices)
    order = np.argsort(entries[0], kind="stable")
    for values in entries:
        values[:] = values[order]
    return _Entries(*entries), float(rate)


def _probability_of_duplicates(entries: _Entries, rate: float, n: int) -> np.ndarray:
    """Probability of each entry of being a duplicate, 0 if there is no significant excess of pairs."""
    largest = _last_excess(entries.log_expected, rate * n)
    if largest is None:
        return np.zeros(len(entries.distances))
    probability = np.where(entries.log_expected <= largest, 1.0, 0.0)
    # Entries per row and unit of log d: each pair is counted twice.
    ordinary = 2 * rate * entries.dimension * np.exp(np.minimum(entries.log_expected, 100.0))
    start, stop = _windows(entries.distances)
    sums = np.zeros(len(probability) + 1)
    for _ in range(N_ITERATIONS):
        np.cumsum(probability, out=sums[1:])
        for a, b in blocks(len(probability), ENTRIES_PER_BLOCK):
            duplicates = (sums[stop[a:b]] - sums[start[a:b]]) / (2 * HALF_WIDTH * n)
            probability[a:b] = duplicates / np.maximum(duplicates + ordinary[a:b], 1e-300)
    return probability


def _windows(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First entry, and the one after the last, of the window in log d around each entry."""
    logs = np.log(distances)
    kind = np.int32 if len(logs) <= np.iinfo(np.int32).max else np.int64
    start, stop = np.empty(len(logs), kind), np.empty(len(logs), kind)
    for a, b in blocks(len(logs), ENTRIES_PER_BLOCK):
        start[a:b] = np.searchsorted(logs, logs[a:b] - HALF_WIDTH)
        stop[a:b] = np.searchsorted(logs, logs[a:b] + HALF_WIDTH, side="right")
    return start, stop


def _last_excess(log_expected: np.ndarray, n_per_u: float) -> float | None:
    """Largest log u with a significant excess of pairs below it, if there is any."""
    log_u = np.sort(log_expected)
    log_u = log_u[: np.searchsorted(log_u, 0.0, side="right")]
    n_pairs, n_ordinary = (np.arange(len(log_u)) + 1) // 2, n_per_u * np.exp(log_u)
    significant = (n_pairs > 0) & (n_ordinary <= n_pairs / 2.0)
    significant &= pdtrc(np.maximum(n_pairs - 1, 0), n_ordinary) <= MAX_P_VALUE
    return float(log_u[np.flatnonzero(significant)[-1]]) if significant.any() else None


def _best(thresholds: np.ndarray, f1: np.ndarray) -> float:
    best = int(f1.argmax())
    if f1[best] < 0:
        return 0.0
    value = thresholds[best]
    if best + 1 == len(thresholds):
        return float(value)
    # In the middle of the gap, so that the rounding of distances does not matter.
    return float(np.sqrt(value) * np.sqrt(thresholds[best + 1]))


def _curve(
    around: _Neighborhoods, thresholds: np.ndarray, n_pairs: np.ndarray, f1: np.ndarray
) -> np.ndarray:
    shown = np.unique(np.geomspace(1, len(thresholds), N_CURVE).astype(np.int64)) - 1
    logs = np.linspace(np.log(thresholds[0]), np.log(thresholds[-1]), N_GRID)
    rows = np.flatnonzero(np.isfinite(around.log_radius))
    counts = [
        np.exp(np.minimum(around.log_expected(rows, log), np.log(N_ORDINARY - 1))).sum() / 2.0
        for log in logs
    ]
    expected = np.interp(np.log(thresholds[shown]), logs, np.log(np.maximum(counts, 1e-300)))
    return np.column_stack([thresholds[shown], n_pairs[shown], np.exp(expected), f1[shown]])


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
    valley &= pdtr(np.floor(growth), n_pairs * (RATIO ** (2 * power) - 1)) <= MAX_VALLEY_P_VALUE
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
