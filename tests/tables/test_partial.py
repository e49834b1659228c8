"""Distances over the columns that two rows share, and values completed from near rows."""

import numpy as np
import pytest

from vicinal.tables._completion import N_DONORS, Completer, complete_numbers
from vicinal.tables._partial import PartialDistance

WEIGHTS = np.array([1.0, 0.5, 2.0])
COLUMN_OF = np.array([0, 1, 1, 1, 2])
NOMINAL = np.array([False, True, False])


def table(n, seed, power):
    """Encoded rows: a number, one of three categories, a number; a fifth of the values is missing."""
    rng = np.random.default_rng(seed)
    factors = np.sqrt(WEIGHTS) if power == 2 else WEIGHTS / WEIGHTS.sum()
    size = np.sqrt(0.5) if power == 2 else 0.5
    points = np.zeros((n, 5))
    points[:, [0, 4]] = rng.normal(size=(n, 2)) * factors[[0, 2]]
    points[np.arange(n), 1 + rng.integers(3, size=n)] = size * factors[1]
    for j in range(3):
        rows = rng.random(n) < 0.2
        points[np.ix_(rows, j == COLUMN_OF)] = np.nan
    return points


def literal(a, b, power):
    """The distance from its definition, column by column."""
    total, shared = 0.0, 0.0
    for j, weight in enumerate(WEIGHTS):
        x, y = a[j == COLUMN_OF], b[j == COLUMN_OF]
        if not np.isnan(x).any() and not np.isnan(y).any():
            shared += weight
            total += (np.abs(x - y) ** power).sum()
    if shared == 0:
        return np.inf
    return (total * WEIGHTS.sum() / shared) ** (1 / power)


@pytest.mark.parametrize("power", [1, 2])
def test_distances_are_those_of_the_definition(power):
    distance = PartialDistance(WEIGHTS, COLUMN_OF, NOMINAL, power)
    A, B = table(30, 0, power), table(40, 1, power)
    A[0] = np.nan
    expected = [[literal(a, b, power) for b in B] for a in A]
    np.testing.assert_allclose(distance.matrix(A, B), expected, atol=1e-7)
    assert distance(A[3], B[4]) == pytest.approx(expected[3][4], abs=1e-7)
    assert np.isinf(distance.matrix(A, B)[0]).all()


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nearest_rows_are_those_of_the_matrix_in_blocks(power, n_jobs, monkeypatch):
    monkeypatch.setattr("vicinal.tables._partial.BLOCK_ENTRIES", 300)
    distance = PartialDistance(WEIGHTS, COLUMN_OF, NOMINAL, power)
    A, B = table(30, 0, power), table(40, 1, power)
    indices, distances = distance.nearest(A, B, 7, n_jobs)
    expected = np.sort(distance.matrix(A, B), axis=1)[:, :7]
    np.testing.assert_allclose(distances, expected, atol=1e-7)
    matrix = distance.matrix(A, B)
    np.testing.assert_allclose(np.take_along_axis(matrix, indices, axis=1), expected, atol=1e-7)


def literal_completion(points, rows, distance):
    """Completion from the definition, with rows as near as ``rows`` are."""
    order = np.argsort(distance.matrix(rows, rows), axis=1, kind="stable")
    completed = points.copy()
    for i, j in np.argwhere(np.isnan(points[:, [0, 1, 4]])):
        own = np.flatnonzero(j == COLUMN_OF)
        ranks = [r for r, k in enumerate(order[i]) if not np.isnan(points[k, own[0]])][:N_DONORS]
        values = points[np.ix_(order[i][ranks], own)]
        completed[i, own] = values.mean(axis=0)
        if j == 1:
            # The nearer rows decide a tie.
            counts = (values > 0).T @ (1.0 - 1e-6 * np.array(ranks))
            best = counts.argmax()
            completed[i, own] = np.where(np.arange(3) == best, np.nanmax(points[:, own]), 0.0)
    return completed


def test_missing_values_come_from_the_nearest_rows_that_have_them():
    distance = PartialDistance(WEIGHTS, COLUMN_OF, NOMINAL, 2)
    points = table(60, 2, 2)
    points = points[~np.isnan(points).all(axis=1)]
    first = literal_completion(points, points, distance)
    expected = literal_completion(points, first, distance)
    completed = Completer(points, distance, n_jobs=1).complete(points)
    np.testing.assert_array_equal(completed[~np.isnan(points)], points[~np.isnan(points)])
    np.testing.assert_allclose(completed, expected, atol=1e-9)


def test_a_row_without_any_value_becomes_typical():
    distance = PartialDistance(WEIGHTS, COLUMN_OF, NOMINAL, 2)
    points = table(60, 2, 2)
    points[5] = np.nan
    completer = Completer(points, distance, n_jobs=1)
    np.testing.assert_array_equal(completer.complete(points)[5], completer.typical)
    assert completer.typical[0] == pytest.approx(np.nanmean(points[:, 0]))


def test_missing_numbers_come_from_their_group():
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    values = 10.0 * group[:, None] + rng.normal(size=(90, 4))
    given = values.copy()
    given[rng.random(given.shape) < 0.2] = np.nan
    completed = complete_numbers(given)
    known = ~np.isnan(given)
    np.testing.assert_array_equal(completed[known], given[known])
    assert np.abs(completed - values).max() < 5.0
    median = np.where(known, given, np.nanmedian(given, axis=0))
    assert np.abs(median - values).max() > 8.0
