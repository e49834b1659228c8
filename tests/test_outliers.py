"""Outliers: scores, the threshold, and what they do not depend on."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from vicinal import OutlierDetector


@pytest.fixture(scope="module")
def table():
    """A normal cloud, and a tight group of outliers that are each other's nearest neighbours."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(500, 3)), [6.0, 6.0, 6.0] + 0.1 * rng.normal(size=(15, 3))]
    return X, np.arange(515) >= 500


def literal_scores(model, X):
    """Mean distance to the nearest member of each sample that is elsewhere, from the definition."""
    placed = model._rescaling.transform(X)
    gaps = np.linalg.norm(placed[:, None, None] - model._distances.samples, axis=3)
    nearest = np.where(gaps > 0, gaps, np.inf).min(axis=2)
    return -np.where(np.isfinite(nearest), nearest, 0.0).mean(axis=1) / model._unit


def test_a_tight_group_of_outliers_does_not_hide_itself(table):
    X, outlier = table
    model = OutlierDetector().fit(X)
    assert roc_auc_score(outlier, -model.score_samples(X)) > 0.999
    assert (model.labels_[outlier] == -1).all()


def test_scores_are_those_of_the_definition(table):
    X, _ = table
    model = OutlierDetector(n_samples=7).fit(X)
    np.testing.assert_allclose(model.score_samples(X), literal_scores(model, X), rtol=1e-12)


def test_training_rows_keep_their_scores_and_labels(table):
    X, _ = table
    model = OutlierDetector().fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)


def test_scores_do_not_depend_on_order_unit_or_threads(table):
    X, _ = table
    order = np.random.default_rng(1).permutation(len(X))
    scores = OutlierDetector(n_jobs=2).fit(X).score_samples(X)
    np.testing.assert_array_equal(OutlierDetector(n_jobs=1).fit(X).score_samples(X), scores)
    shuffled = OutlierDetector().fit(X[order]).score_samples(X[order])
    np.testing.assert_allclose(shuffled, scores[order], rtol=1e-12)
    for unit in (2.0**-900, 2.0**900):
        scaled = OutlierDetector().fit(X * unit).score_samples(X * unit)
        np.testing.assert_allclose(scaled, scores, rtol=1e-9)


def test_a_given_contamination_is_met(table):
    X, _ = table
    for fraction in (0.03, 0.2):
        outlier_fraction = np.mean(OutlierDetector(fraction).fit_predict(X) == -1)
        assert outlier_fraction == pytest.approx(fraction, abs=1 / len(X))


def test_clean_data_has_few_outliers():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(1000, 2)), rng.uniform(size=(1000, 10))):
        assert OutlierDetector().fit(X).contamination_ <= 0.03


def test_the_curve_says_which_fraction_lies_below_each_threshold(table):
    X, _ = table
    model = OutlierDetector().fit(X)
    scores = model.score_samples(X)
    for threshold, below in model.threshold_curve_[::20]:
        assert below == np.mean(scores < threshold)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((2, 1)), [[0.0], [1.0], [1.0]]])
def test_few_or_equal_rows_have_finite_scores_and_no_outliers(X):
    model = OutlierDetector().fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert (model.labels_ == 1).all()


def test_wrong_options_are_rejected():
    with pytest.raises(ValueError, match="contamination"):
        OutlierDetector(contamination=0.7).fit(np.eye(4))
    with pytest.raises(ValueError, match="sample_size"):
        OutlierDetector(sample_size=0).fit(np.eye(4))


def test_the_automatic_threshold_is_the_fence_of_a_boxplot_of_log_scores(table):
    X, _ = table
    model = OutlierDetector().fit(X)
    low, high = np.quantile(np.log(-model.score_samples(X)), [0.25, 0.75])
    assert model.offset_ == pytest.approx(-np.exp(high + 1.5 * (high - low)))


def literal_outlier_scores(model, X):
    """In units of the boxplot of the training rows, written out row by row."""
    training = np.log(-model.score_samples(X))
    low, middle, high = np.quantile(training, [0.25, 0.5, 0.75])
    expected = []
    for log_distance, label in zip(training, model.predict(X), strict=True):
        beyond = (log_distance - middle) / (high - low) - 2.0
        within = 0.5 + 0.5 * beyond / (1.0 + abs(beyond))
        expected.append(within / 2.0 + (0.5 if label == -1 else 0.0))
    return expected


@pytest.mark.parametrize("contamination", ["auto", 0.2])
def test_outlier_scores_are_those_of_the_definition(table, contamination):
    X, _ = table
    model = OutlierDetector(contamination).fit(X)
    np.testing.assert_allclose(model.outlier_score_, literal_outlier_scores(model, X), rtol=1e-12)
    np.testing.assert_array_equal(model.outlier_score(X), model.outlier_score_)
    np.testing.assert_array_equal(model.outlier_score_ > 0.5, model.labels_ == -1)
    assert ((model.outlier_score_ > 0) & (model.outlier_score_ < 1)).all()
    for label in (-1, 1):
        rows = model.labels_ == label
        order = np.argsort(model.score_samples(X[rows]))
        assert (np.diff(model.outlier_score_[rows][order]) <= 0).all()


def test_outlier_scores_mean_the_same_in_any_unit_and_for_new_rows(table):
    X, outlier = table
    model = OutlierDetector().fit(X)
    # Outliers beyond the fence score at least 0.75 or so, typical rows well below 0.25.
    assert model.outlier_score_[outlier].min() > 0.7
    assert np.median(model.outlier_score_[~outlier]) < 0.2
    new = np.array([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0], [500.0, 0.0, 0.0]])
    scores = model.outlier_score(new)
    assert scores[0] < 0.25 < 0.75 < scores[1] < scores[2] < 1
    np.testing.assert_array_equal(scores > 0.5, model.predict(new) == -1)
    scaled = OutlierDetector().fit(1e-9 * X).outlier_score_
    np.testing.assert_allclose(scaled, model.outlier_score_, rtol=1e-9)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((2, 1)), [[0.0], [1.0], [1.0]]])
def test_few_or_equal_rows_have_outlier_scores_below_one_half(X):
    model = OutlierDetector().fit(X)
    assert ((model.outlier_score_ > 0) & (model.outlier_score_ < 0.5)).all()
    far = np.full((1, np.shape(X)[1]), 9.0)
    assert model.predict(far)[0] == -1
    assert 0.5 < model.outlier_score(far)[0] < 1
