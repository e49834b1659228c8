"""Dimension, hubs and duplicates against what they are by construction and by counting."""

import numpy as np
import pytest

from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.neighborhoods import find_neighborhoods


def inputs_of(X):
    return SharedInputs(np.ascontiguousarray(X, dtype=float), 2000, 0, None, 0)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_the_dimension_of_a_flat_in_more_columns_is_found(dimension):
    rng = np.random.default_rng(dimension)
    turned = np.linalg.qr(rng.normal(size=(9, 9)))[0][:dimension]
    found = find_neighborhoods(inputs_of(rng.random((1500, dimension)) @ turned))
    assert found.dimension == pytest.approx(dimension, rel=0.12)
    assert found.dimension_two_nearest == pytest.approx(dimension, rel=0.15)


def test_occurrences_are_counts_in_lists_of_neighbours():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = find_neighborhoods(inputs_of(X))
    gaps = np.linalg.norm(X[:, None] - X, axis=-1)
    np.fill_diagonal(gaps, np.inf)
    lists = np.argsort(gaps, axis=1)[:, :10]
    expected = np.array([np.count_nonzero(lists == i) for i in range(60)])
    np.testing.assert_array_equal(found.occurrences, expected)
    assert found.n_orphans == np.count_nonzero(expected == 0)
    assert found.occurrences[found.hubs].min() >= np.sort(expected)[-5]


def test_a_hub_is_found():
    # Rows on a sphere, none nearer to another than to its centre.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    found = find_neighborhoods(inputs_of(np.vstack([X, np.zeros(40)])))
    assert found.hubs[0] == 200
    assert found.occurrences[200] == 200
    assert found.skewness > 3


def test_duplicates_point_to_the_first_of_their_kind():
    X = np.array([[1.0, 2], [3, 4], [1, 2], [0, 0], [1, 2], [3, 4]])
    assert find_neighborhoods(inputs_of(X)).duplicate_of.tolist() == [-1, -1, 0, -1, 0, 1]


def test_copies_change_neither_the_dimension_nor_who_is_a_hub():
    X = np.random.default_rng(0).normal(size=(300, 4))
    times = np.random.default_rng(1).integers(1, 9, 300)
    once, often = (find_neighborhoods(inputs_of(Y)) for Y in (X, np.repeat(X, times, axis=0)))
    assert often.dimension == once.dimension
    assert often.dimension_two_nearest == once.dimension_two_nearest
    np.testing.assert_array_equal(often.occurrences, np.repeat(once.occurrences, times))
    np.testing.assert_array_equal(often.hubs, (np.cumsum(times) - times)[once.hubs])
    assert often.context == once.context


def test_the_first_two_neighbours_tell_no_dimension_on_a_grid():
    X = np.random.default_rng(0).random((2000, 2)).round(1)
    found = find_neighborhoods(inputs_of(X))
    assert 1.5 < found.dimension < 3.5
    assert np.isnan(found.dimension_two_nearest)


def test_rows_that_are_all_the_same_have_no_dimension():
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 25, axis=0)
    found = find_neighborhoods(inputs_of(X))
    assert np.isnan(found.dimension)
    assert found.n_duplicates == 48


def test_contexts_are_longer_where_many_rows_stand_on_no_list():
    rng = np.random.default_rng(0)
    plane = find_neighborhoods(inputs_of(rng.normal(size=(600, 2))))
    assert plane.context == 10
    many = find_neighborhoods(inputs_of(rng.normal(size=(600, 60))))
    assert many.n_orphans > 0.03 * 600
    assert many.context > 10
    few = find_neighborhoods(inputs_of(rng.normal(size=(8, 60))))
    assert few.context == 7
