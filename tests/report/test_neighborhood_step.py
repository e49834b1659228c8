"""Nearest rows, dimension, hubs and duplicates against known values and direct counts."""

import numpy as np
import pytest

from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.neighborhoods import find_neighborhoods


def inputs_of(X):
    return SharedInputs(np.ascontiguousarray(X, dtype=float), 2000, 0, None, 0)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_the_dimension_of_a_linear_subspace_is_estimated(dimension):
    rng = np.random.default_rng(dimension)
    basis = np.linalg.qr(rng.normal(size=(9, 9)))[0][:dimension]
    result = find_neighborhoods(inputs_of(rng.random((1500, dimension)) @ basis))
    assert result.dimension == pytest.approx(dimension, rel=0.12)
    assert result.dimension_two_nearest == pytest.approx(dimension, rel=0.15)


def test_the_nearest_rows_of_every_row_are_exact():
    X = np.random.default_rng(0).normal(size=(130, 3))
    X[7] = X[3]
    distances = np.linalg.norm(X[:, None] - X, axis=-1)
    # Rows 3 and 7 are equal; the first stands for both.
    distances[:, 7] = np.inf
    distances[distances == 0] = np.inf
    expected = np.argsort(distances, axis=1)[:, :8]
    np.testing.assert_array_equal(find_neighborhoods(inputs_of(X)).nearest, expected)


def test_occurrences_are_counts_in_neighbour_lists():
    X = np.random.default_rng(0).normal(size=(60, 3))
    result = find_neighborhoods(inputs_of(X))
    distances = np.linalg.norm(X[:, None] - X, axis=-1)
    np.fill_diagonal(distances, np.inf)
    lists = np.argsort(distances, axis=1)[:, :10]
    expected = np.array([np.count_nonzero(lists == i) for i in range(60)])
    np.testing.assert_array_equal(result.occurrences, expected)
    assert result.n_orphans == np.count_nonzero(expected == 0)
    assert result.occurrences[result.hubs].min() >= np.sort(expected)[-5]


def test_a_hub_is_found():
    # Rows on a sphere, all nearer to its centre than to each other.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    result = find_neighborhoods(inputs_of(np.vstack([X, np.zeros(40)])))
    assert result.hubs[0] == 200
    assert result.occurrences[200] == 200
    assert result.skewness > 3


def test_duplicates_point_to_their_first_occurrence():
    X = np.array([[1.0, 2], [3, 4], [1, 2], [0, 0], [1, 2], [3, 4]])
    assert find_neighborhoods(inputs_of(X)).duplicate_of.tolist() == [-1, -1, 0, -1, 0, 1]


def test_duplicates_change_neither_the_dimension_nor_the_hubs():
    X = np.random.default_rng(0).normal(size=(300, 4))
    counts = np.random.default_rng(1).integers(1, 9, 300)
    distinct, repeated = (
        find_neighborhoods(inputs_of(Y)) for Y in (X, np.repeat(X, counts, axis=0))
    )
    assert repeated.dimension == distinct.dimension
    assert repeated.dimension_two_nearest == distinct.dimension_two_nearest
    np.testing.assert_array_equal(repeated.occurrences, np.repeat(distinct.occurrences, counts))
    np.testing.assert_array_equal(repeated.hubs, (np.cumsum(counts) - counts)[distinct.hubs])
    assert repeated.context == distinct.context


def test_the_two_nn_estimate_is_nan_on_a_grid():
    X = np.random.default_rng(0).random((2000, 2)).round(1)
    result = find_neighborhoods(inputs_of(X))
    assert 1.5 < result.dimension < 3.5
    assert np.isnan(result.dimension_two_nearest)


def test_two_distinct_rows_have_no_dimension():
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 25, axis=0)
    result = find_neighborhoods(inputs_of(X))
    assert np.isnan(result.dimension)
    assert result.n_duplicates == 48


def test_contexts_are_larger_if_many_rows_are_in_no_neighbour_list():
    rng = np.random.default_rng(0)
    plane = find_neighborhoods(inputs_of(rng.normal(size=(600, 2))))
    assert plane.context == 10
    many = find_neighborhoods(inputs_of(rng.normal(size=(600, 60))))
    assert many.n_orphans > 0.03 * 600
    assert many.context > 10
    few = find_neighborhoods(inputs_of(rng.normal(size=(8, 60))))
    assert few.context == 7
