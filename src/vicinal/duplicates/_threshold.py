"""The distance below which two rows are near-duplicates, read off the lists of nearest neighbours.

Ordinary rows are modelled as a Poisson process around each row. The distances to its 4th to 10th neighbour
give the local dimension m and density, so (K - 1) (t / r_K)^m ordinary rows are expected within t. Pairs in
excess of that are duplicates, and the threshold maximises the estimated F1 score of the pairs. Neighbours
that are certainly duplicates are skipped when density and dimension are measured, and in a second estimate
those that are very probably duplicates: copies that were changed much would otherwise make the neighbourhoods
of their originals seem denser than they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import pdtrc

# Length of the neighbour lists, and the neighbours, after skipped duplicates, that show the local density:
# groups of up to FIRST rows do not affect it.
LIST_LENGTH, N_ORDINARY, FIRST = 30, 10, 4
# Larger groups are dense clusters, not duplicates.
MAX_GROUP = LIST_LENGTH - N_ORDINARY
# An excess of pairs must be this improbable under the model, and larger than the number of ordinary pairs.
MAX_P_VALUE, MAX_ORDINARY_FRACTION = 1e-3, 0.5
# With at most this fraction of ordinary pairs, the pairs are certain.
CERTAIN_ORDINARY_FRACTION = 0.02
# Pairs are very probably duplicates if at most this fraction of the pairs of about the same distance, up to
# the ratio, is expected to be ordinary.
PROBABLE_ORDINARY_FRACTION, LOCAL_RATIO = 0.3, 1.15
# An empty range of distances from t to 1.5 t also separates duplicates from others, if there are enough:
# in any space of dimension 1 or more, ordinary pairs would grow by half.
VALLEY_RATIO, VALLEY_MIN_PAIRS, VALLEY_MAX_GROWTH, MAX_VALLEYS = 1.5, 20, 0.02, 8
N_GRID, N_CURVE = 128, 200


class Threshold(NamedTuple):
    """The threshold, 0 if there is no evidence of duplicates, and the curve that it was read from.

    The rows of the curve are: threshold, number of pairs, expected number of ordinary pairs, estimated F1.
    """

    value: float
    curve: np.ndarray


class _Evidence(NamedTuple):
    """Number of pairs within each threshold, and how many of them are expected to be ordinary."""

    thresholds: np.ndarray
    n_pairs: np.ndarray
    n_ordinary: np.ndarray
    f1: np.ndarray  # -1 where there is no significant excess


def automatic_threshold(indices: np.ndarray, distances: np.ndarray) -> Threshold:
    """Choose the threshold from the nearest other rows of each row and their Euclidean-like distances."""
    if distances.shape[1] < N_ORDINARY or not (distances > 0).any():
        return Threshold(0.0, np.empty((0, 4)))
    skipped = (distances <= _last_valley(indices, distances)).sum(axis=1)
    evidence = _measure(indices, distances, skipped)
    certain = (evidence.f1 >= 0) & (
        evidence.n_ordinary <= CERTAIN_ORDINARY_FRACTION * evidence.n_pairs
    )
    if certain.any():
        reach = evidence.thresholds[np.flatnonzero(certain)[-1]]
        skipped = np.maximum(skipped, (distances <= reach).sum(axis=1))
        evidence = _measure(indices, distances, skipped)
    probable = _measure(
        indices,
        distances,
        np.maximum(skipped, (distances <= _probable_reach(evidence)).sum(axis=1)),
    )
    if (probable.f1 >= 0).any():
        evidence = probable
    return Threshold(_best(evidence), _curve(evidence))


def _probable_reach(evidence: _Evidence) -> float:
    """Largest distance, up to the best threshold, of pairs that are very probably duplicates, or 0."""
    if not (evidence.f1 >= 0).any():
        return 0.0
    thresholds = evidence.thresholds
    before = np.searchsorted(thresholds, thresholds / LOCAL_RATIO, side="right") - 1
    n_pairs, n_ordinary = (
        counts - np.where(before >= 0, counts[before], 0.0)
        for counts in (evidence.n_pairs, evidence.n_ordinary)
    )
    probable = (evidence.f1 >= 0) & (thresholds <= _best(evidence))
    probable &= n_ordinary <= PROBABLE_ORDINARY_FRACTION * n_pairs
    return float(thresholds[probable].max(initial=0.0))


def _measure(indices: np.ndarray, distances: np.ndarray, skipped: np.ndarray) -> _Evidence:
    length = distances.shape[1]
    skipped = np.minimum(skipped, length - N_ORDINARY)
    ordinary = np.take_along_axis(distances, skipped[:, None] + np.arange(N_ORDINARY), axis=1)
    largest = np.quantile(ordinary[:, FIRST - 1], 0.5)
    counted = (np.arange(length) < skipped[:, None] + N_ORDINARY) & (distances > 0)
    values = np.sort(distances[counted & (distances <= largest)])
    if len(values) == 0:
        empty = np.empty(0)
        return _Evidence(empty, empty, empty, empty)
    last = np.append(values[1:] != values[:-1], True)
    # A pair is in the lists of both its rows.
    thresholds, n_pairs = values[last], (np.flatnonzero(last) + 1) / 2.0
    logs = np.linspace(np.log(thresholds[0]), np.log(largest), N_GRID)
    expected = _expected_pairs(indices, ordinary, logs)
    n_ordinary = np.exp(np.interp(np.log(thresholds), logs, np.log(np.maximum(expected, 1e-300))))
    significant = pdtrc(np.ceil(n_pairs) - 1, n_ordinary) <= MAX_P_VALUE
    significant &= n_ordinary <= MAX_ORDINARY_FRACTION * n_pairs
    excess = n_pairs - n_ordinary
    total = excess[significant].max(initial=0.0)
    f1 = np.where(significant, 2 * excess / (n_pairs + total), -1.0)
    return _Evidence(thresholds, n_pairs, n_ordinary, f1)


def _expected_pairs(indices: np.ndarray, ordinary: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Expected number of ordinary pairs within each threshold, given by its logarithm."""
    known = ordinary[:, -1] > 0
    log_radii = np.log(np.maximum(ordinary, 1e-300))
    # For a Poisson process, log(r_K / r_j) has the expectation (1 / j + ... + 1 / (K - 1)) / m.
    ranks = np.arange(1, N_ORDINARY)
    harmonic = np.cumsum((1.0 / ranks)[::-1])[::-1][FIRST - 1 :]
    inverse = (log_radii[:, -1:] - log_radii[:, FIRST - 1 : -1]).sum(axis=1) / harmonic.sum()
    inverse = (inverse + inverse[indices].sum(axis=1)) / (indices.shape[1] + 1)
    dimension = 1.0 / np.maximum(inverse[known], 1e-3)
    radius = log_radii[known, -1]
    # E[1 / (volume of K neighbours)] = density / (K - 1)
    counts = [np.exp(dimension * np.minimum(log - radius, 0.0)).sum() for log in logs]
    return (N_ORDINARY - 1) / 2.0 * np.array(counts)


def _best(evidence: _Evidence) -> float:
    if not (evidence.f1 >= 0).any():
        return 0.0
    best = int(evidence.f1.argmax())
    value = evidence.thresholds[best]
    if best + 1 == len(evidence.thresholds):
        return float(value)
    # In the middle of the gap, so that the rounding of distances does not matter.
    return float(np.sqrt(value) * np.sqrt(evidence.thresholds[best + 1]))


def _curve(evidence: _Evidence) -> np.ndarray:
    n = len(evidence.thresholds)
    shown = np.unique(np.geomspace(1, n, N_CURVE).astype(np.int64)) - 1 if n else np.arange(0)
    return np.column_stack([values[shown] for values in evidence])


def _last_valley(indices: np.ndarray, distances: np.ndarray) -> float:
    """Largest distance that is followed by an almost empty range and connects small groups only, or 0."""
    values = np.sort(distances[distances > 0])
    last = np.append(values[1:] != values[:-1], True)
    thresholds, counts = values[last], np.flatnonzero(last) + 1
    beyond = np.searchsorted(values, VALLEY_RATIO * thresholds, side="right")
    empty = (beyond <= (1 + VALLEY_MAX_GROWTH) * counts) & (counts >= 2 * VALLEY_MIN_PAIRS)
    empty &= VALLEY_RATIO * thresholds < values[-1]
    at = np.flatnonzero(empty)
    ends = at[np.append(np.diff(at) > 1, True)] if len(at) else at
    for threshold in thresholds[ends[::-1][:MAX_VALLEYS]]:
        if _largest_group(indices, distances, threshold) <= MAX_GROUP:
            return float(threshold)
    return 0.0


def _largest_group(indices: np.ndarray, distances: np.ndarray, threshold: float) -> int:
    n = len(indices)
    rows, columns = np.nonzero(distances <= threshold)
    others = indices[rows, columns]
    links = sparse.csr_array((np.ones(len(rows), np.int8), (rows, others)), shape=(n, n))
    return int(np.bincount(connected_components(links, directed=False)[1]).max())
