"""Nearest rows of every row, in the sample or not, by distance and after smoothing."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import vicinal
from vicinal.report._steps import smoothing as smoothing_step


@pytest.fixture(scope="module")
def sampled():
    X = np.random.default_rng(0).normal(size=(130, 3))
    X[7] = X[3]
    return vicinal.perceive(X, n_clusters=2, sample=60, scaling="none")


def test_the_nearest_rows_of_every_row_are_exact(sampled):
    points, lists = sampled.data.points, sampled.smoothing.nearest
    distances = cdist(points, points)
    # Rows 3 and 7 are equal; the first stands for both.
    distances[:, 7] = np.inf
    distances[distances == 0] = np.inf
    np.testing.assert_array_equal(lists, np.argsort(distances, axis=1)[:, :8])


def test_rows_outside_the_sample_have_lists_of_their_own(sampled):
    smoothing = sampled.smoothing
    inside = np.isin(np.arange(130), smoothing.rows)
    np.testing.assert_array_equal(smoothing.nearest_smoothed[inside], smoothing.after)
    borrowed = smoothing.after[smoothing.nearest_sampled]
    assert np.isin(smoothing.nearest_smoothed, smoothing.rows).all()
    assert (smoothing.nearest_smoothed[~inside] != borrowed[~inside]).any()


def test_of_very_many_rows_the_nearest_sampled_row_lends_its_list(monkeypatch):
    monkeypatch.setattr(smoothing_step, "MAX_EXTENDED_ROWS", 10)
    X = np.random.default_rng(0).normal(size=(100, 3))
    smoothing = vicinal.perceive(X, n_clusters=2, sample=60, scaling="none").smoothing
    outside = np.setdiff1d(np.arange(100), smoothing.rows)
    nearest = smoothing.rows[smoothing.nearest_sampled[outside]]
    np.testing.assert_array_equal(smoothing.nearest_smoothed[outside, 0], nearest)
    lent = smoothing.after[smoothing.nearest_sampled[outside], :-1]
    np.testing.assert_array_equal(smoothing.nearest_smoothed[outside, 1:], lent)


def test_lists_are_known_for_other_numbers_of_steps(sampled):
    smoothing = sampled.smoothing
    assert (np.diff(smoothing.steps) > 0).all()
    (position,) = np.flatnonzero(smoothing.steps == smoothing.t)
    np.testing.assert_array_equal(smoothing.nearest_by_steps[position], smoothing.after)
    model = vicinal.SelfSmoothing(t=smoothing.steps[0], method="dense", n_neighbors=30)
    model.fit(sampled.data.points[smoothing.rows])
    expected = smoothing.rows[model.kneighbors(n_neighbors=8)[1]]
    agree = np.mean(smoothing.nearest_by_steps[0] == expected)
    assert agree > 0.99
