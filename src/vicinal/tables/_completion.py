"""Missing values from the nearest rows that have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.array_checks import real_array
from vicinal._core.parallel import blocks, n_threads
from vicinal.exceptions import InvalidValueError
from vicinal.tables._coding import fit_number
from vicinal.tables._notes import missing_notes
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


def fill_missing(X: Any, *, n_jobs: int | None = -1) -> np.ndarray:
    """Complete missing numbers from the nearest rows.

    Rows are compared by the columns that both have, each in units of its quartile distance. A missing number
    becomes the mean of the 10 nearest rows that have it, among the 50 nearest rows; of at most 20,000 rows,
    evenly spaced.

    Parameters
    ----------
    X : array (n, d)
        Numbers. NaN and infinite ones count as missing.
    n_jobs : int or None, default=-1
        Number of threads, all cores by default. The result does not depend on it.

    Returns
    -------
    ndarray (n, d)
        The complete table; columns without any number become 0.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.tables import fill_missing
    >>> fill_missing([[0.0, 1.0], [0.1, np.nan], [9.0, 5.0]])[1].tolist()
    [0.1, 3.0]
    """
    n_threads(n_jobs)
    values = real_array(X, "X").astype(np.float64)
    if values.ndim != 2:
        raise InvalidValueError(
            f"X has shape {values.shape}, but a table (n_rows, n_columns) is needed; "
            "X.reshape(-1, 1) makes a table with one column."
        )
    names = [str(j) for j in range(values.shape[1])]
    return fill_numbers(values, names, n_jobs).values


class FilledNumbers(NamedTuple):
    """Numbers without missing values, the number of missing ones per column, and notes on them."""

    values: np.ndarray
    missing: np.ndarray
    notes: list[str]


def fill_numbers(
    values: np.ndarray, names: Sequence[str], n_jobs: int | None = -1
) -> FilledNumbers:
    """Complete missing and infinite numbers from the nearest rows; empty columns become 0."""
    is_missing = ~np.isfinite(values)
    missing: np.ndarray = is_missing.sum(axis=0)
    if not missing.any():
        return FilledNumbers(values, missing, [])
    empty = missing == len(values)
    notes = [f"set aside {names[j]!r}: it is empty" for j in np.flatnonzero(empty).tolist()]
    known = np.flatnonzero(~empty).tolist()
    filled = np.zeros_like(values)
    if known:
        cells = np.where(is_missing, np.nan, values)[:, known]
        filled[:, known] = complete_numbers(cells, n_jobs)
        notes += missing_notes(missing[known], len(values), [names[j] for j in known])
    return FilledNumbers(filled, missing, notes)


def complete_numbers(values: np.ndarray, n_jobs: int | None = -1) -> np.ndarray:
    """A table of numbers in which missing ones come from the nearest rows; no column is empty."""
    coders = [fit_number(column, "robust") for column in values.T]
    centers, units = np.array([c.center for c in coders]), np.array([c.unit for c in coders])
    points = (values / 2 - centers / 2) / (units / 2)
    d = values.shape[1]
    distance = PartialDistance(np.ones(d), np.arange(d), np.zeros(d, dtype=bool), power=2)
    donors = donor_rows(points)
    completed = complete(points, donors, typical_row(donors, distance), distance, n_jobs)
    # Means of coordinates may exceed the largest float by rounding.
    with np.errstate(over="ignore"):
        numbers = completed * units + centers
    numbers = np.clip(numbers, np.nanmin(values, axis=0), np.nanmax(values, axis=0))
    return np.where(np.isnan(values), numbers, values)
