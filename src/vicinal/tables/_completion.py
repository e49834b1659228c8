"""Missing values from the nearest rows that have them."""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks
from vicinal.tables._coding import fit_number
from vicinal.tables._partial import PartialDistance

# A value comes from so many rows that have it, among so many nearest rows.
N_DONORS, N_NEAREST = 10, 50
# Larger tables are completed from this many rows, evenly spaced.
MAX_DONOR_ROWS = 20_000
ROWS_PER_BLOCK = 8192


def donor_rows(points: np.ndarray) -> np.ndarray:
    """The rows that missing values are completed from."""
    if len(points) <= MAX_DONOR_ROWS:
        return points
    return points[np.linspace(0, len(points) - 1, MAX_DONOR_ROWS).astype(np.int64)]


def typical_row(points: np.ndarray, distance: PartialDistance) -> np.ndarray:
    """Mean of each coordinate over the rows that have it, the most frequent category of each column."""
    typical = np.nanmean(points, axis=0)
    for j in np.flatnonzero(distance.nominal):
        own = distance.column_of == j
        typical[own] = _most_frequent(typical[None, own], np.nanmax(points[:, own]))[0]
    return typical


def complete(
    points: np.ndarray,
    donors: np.ndarray,
    typical: np.ndarray,
    distance: PartialDistance,
    n_jobs: int | None = -1,
) -> np.ndarray:
    """Points in which missing coordinates are those of the nearest donors that have them.

    Numbers become the mean of the donors, categories the most frequent one. Values that none of the nearest
    rows has, and rows in which everything is missing, get the typical value of the column.
    """
    gaps = np.isnan(points)
    incomplete = np.flatnonzero(gaps.any(axis=1))
    if not len(incomplete):
        return points
    completed = points.copy()
    for start, stop in blocks(len(incomplete), ROWS_PER_BLOCK):
        rows = incomplete[start:stop]
        k = min(N_NEAREST, len(donors))
        near, distances = distance.nearest(points[rows], donors, k, n_jobs)
        completed[rows] = _from_donors(points[rows], donors, near, distances, typical, distance)
    return completed


def _from_donors(
    points: np.ndarray,
    donors: np.ndarray,
    near: np.ndarray,
    distances: np.ndarray,
    typical: np.ndarray,
    distance: PartialDistance,
) -> np.ndarray:
    filled = points.copy()
    for j in range(len(distance.weights)):
        own = np.flatnonzero(distance.column_of == j)
        rows = np.flatnonzero(np.isnan(points[:, own[0]]))
        if not len(rows):
            continue
        has_value = ~np.isnan(donors[near[rows], own[0]]) & np.isfinite(distances[rows])
        chosen = has_value & (np.cumsum(has_value, axis=1) <= N_DONORS)
        counts = chosen.sum(axis=1)
        values = np.where(chosen[:, :, None], np.nan_to_num(donors[near[rows]][:, :, own]), 0.0)
        mean = values.sum(axis=1) / np.maximum(counts, 1)[:, None]
        if distance.nominal[j]:
            # The nearer rows decide a tie.
            order = 1.0 + 1e-6 * np.arange(near.shape[1], 0, -1)
            votes = (values * order[:, None]).sum(axis=1)
            mean = _most_frequent(votes, typical[own].max())
        filled[np.ix_(rows, own)] = np.where(counts[:, None] > 0, mean, typical[own])
    return filled


def _most_frequent(votes: np.ndarray, size: float) -> np.ndarray:
    chosen = np.zeros_like(votes)
    chosen[np.arange(len(votes)), votes.argmax(axis=1)] = size
    return chosen


def complete_numbers(values: np.ndarray, n_jobs: int | None = -1) -> np.ndarray:
    """A table of numbers in which missing ones come from the nearest rows; no column is empty."""
    coders = [fit_number(column, "robust") for column in values.T]
    centers, units = np.array([c.center for c in coders]), np.array([c.unit for c in coders])
    points = (values / 2 - centers / 2) / (units / 2)
    d = values.shape[1]
    distance = PartialDistance(np.ones(d), np.arange(d), np.zeros(d, dtype=bool), power=2)
    donors = donor_rows(points)
    completed = complete(points, donors, typical_row(donors, distance), distance, n_jobs)
    return np.where(np.isnan(values), completed * units + centers, values)
