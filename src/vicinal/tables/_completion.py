"""Missing values from the nearest rows that have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal._core.array_checks import real_array
from vicinal._core.parallel import blocks, n_threads
from vicinal.exceptions import InvalidValueError
from vicinal.tables._coding import fit_number
from vicinal.tables._notes import missing_notes
from vicinal.tables._partial import PartialDistance

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# Number of rows a missing value is computed from, and number of nearest rows searched for them.
N_DONORS, N_NEAREST = 10, 50
# Larger tables are completed from this many rows, evenly spaced.
MAX_DONOR_ROWS = 20_000
ROWS_PER_BLOCK = 8192


class Completer:
    """Missing coordinates of points, from rows of a table.

    Numbers become the mean of the nearest rows that have them, categories the most frequent one. Rows are
    compared twice: over the columns that both have, then over all columns of the rows completed so far.
    Values that none of the nearest rows has, and rows in which everything is missing, get the typical value.

    Parameters
    ----------
    rows : ndarray (n, n_coordinates)
        Encoded rows of a table, NaN where a value is missing.
    distance : PartialDistance
        Distance of such rows.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, rows: np.ndarray, distance: PartialDistance, n_jobs: int | None) -> None:
        self.typical = typical_row(rows, distance)
        if len(rows) > MAX_DONOR_ROWS:
            rows = rows[np.linspace(0, len(rows) - 1, MAX_DONOR_ROWS).astype(np.int64)]
        self._donors, self._distance, self._n_jobs = rows, distance, n_jobs
        self._completed = self._complete(rows, rows, rows)

    def complete(self, points: np.ndarray) -> np.ndarray:
        """Points without missing coordinates."""
        first = self._complete(points, points, self._donors)
        return self._complete(points, first, self._completed)

    def _complete(self, points: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Points completed from donors; ``queries`` and ``rows`` say how near the donors are."""
        incomplete = np.flatnonzero(np.isnan(points).any(axis=1))
        completed = points.copy() if len(incomplete) else points
        k = min(N_NEAREST, len(rows))
        for start, stop in blocks(len(incomplete), ROWS_PER_BLOCK):
            block = incomplete[start:stop]
            near, distances = self._distance.nearest(queries[block], rows, k, self._n_jobs)
            # A row without any value is as far from all others.
            near_enough = np.isfinite(distances) & ~np.isnan(points[block]).all(axis=1)[:, None]
            completed[block] = self._from_donors(points[block], near, near_enough)
        return completed

    def _from_donors(
        self, points: np.ndarray, near: np.ndarray, near_enough: np.ndarray
    ) -> np.ndarray:
        filled, column_of = points.copy(), self._distance.column_of
        for j in range(len(self._distance.weights)):
            own = np.flatnonzero(column_of == j)
            rows = np.flatnonzero(np.isnan(points[:, own[0]]))
            if not len(rows):
                continue
            cells = self._donors[np.ix_(np.arange(len(self._donors)), own)][near[rows]]
            has_value = ~np.isnan(cells[:, :, 0]) & near_enough[rows]
            chosen = has_value & (np.cumsum(has_value, axis=1) <= N_DONORS)
            counts = chosen.sum(axis=1)
            values = np.where(chosen[:, :, None], cells, 0.0)
            mean = values.sum(axis=1) / np.maximum(counts, 1)[:, None]
            typical = self.typical[own]
            if self._distance.nominal[j]:
                # The nearer rows decide a tie.
                order = 1.0 + 1e-6 * np.arange(near.shape[1], 0, -1)
                votes = (values * order[:, None]).sum(axis=1)
                mean = _most_frequent(votes, typical.max())
            filled[np.ix_(rows, own)] = np.where(counts[:, None] > 0, mean, typical)
        return filled


def typical_row(points: np.ndarray, distance: PartialDistance) -> np.ndarray:
    """Mean of each coordinate over the rows that have it, the most frequent category of each column."""
    typical = np.nanmean(points, axis=0)
    for j in np.flatnonzero(distance.nominal):
        own = distance.column_of == j
        typical[own] = _most_frequent(typical[None, own], np.nanmax(points[:, own]))[0]
    return typical


def _most_frequent(votes: np.ndarray, size: float) -> np.ndarray:
    chosen = np.zeros_like(votes)
    chosen[np.arange(len(votes)), votes.argmax(axis=1)] = size
    return chosen


def fill_missing(X: ArrayLike, *, n_jobs: NJobs = -1) -> np.ndarray:
    """Complete missing numbers from the nearest rows.

    Rows are compared by the columns that both have, each in units of its quartile distance, and then once
    more by all columns as completed so far. A missing number becomes the mean of the 10 nearest rows that
    have it, among the 50 nearest rows; of at most 20,000 rows, evenly spaced.

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


def complete_numbers(
    values: np.ndarray, n_jobs: int | None = -1, *, training: np.ndarray | None = None
) -> np.ndarray:
    """A table of numbers in which missing ones come from the nearest rows; no column is empty.

    With ``training``, units and nearest rows are those of another table.
    """
    training = values if training is None else training
    coders = [fit_number(column, "robust") for column in training.T]
    centers, units = np.array([c.center for c in coders]), np.array([c.unit for c in coders])
    d = values.shape[1]
    distance = PartialDistance(np.ones(d), np.arange(d), np.zeros(d, dtype=bool), power=2)
    points = (values / 2 - centers / 2) / (units / 2)
    donors = points if training is values else (training / 2 - centers / 2) / (units / 2)
    completed = Completer(donors, distance, n_jobs).complete(points)
    # Means of coordinates may exceed the largest float by rounding.
    with np.errstate(over="ignore"):
        numbers = completed * units + centers
    numbers = np.clip(numbers, np.nanmin(training, axis=0), np.nanmax(training, axis=0))
    return np.where(np.isnan(values), numbers, values)
