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


def literal_distances(X, model):
    """The global and the local distance of each row to the others, from the definitions."""
    samples = X[np.lexsort(X.T[::-1])][model._voices._samples.ranks]
    gaps = np.linalg.norm(X[:, None, None] - samples, axis=3)
    far = np.where(gaps > 0, gaps, np.inf).min(axis=2).mean(axis=1)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1, kind="stable")[:, :20]
    radius = np.take_along_axis(D, near, axis=1)[:, -1]
    reach = np.maximum(np.take_along_axis(D, near, axis=1), radius[near]).mean(axis=1)
    return far, reach * (1 / reach[near]).mean(axis=1)


def standardised(values):
    beyond = np.log(values) - np.median(np.log(values))
    return beyond / np.sqrt(np.mean(beyond[beyond > 0] ** 2))


def test_a_tight_group_of_outliers_does_not_hide_itself(table):
    X, outlier = table
    model = OutlierDetector().fit(X)
    assert roc_auc_score(outlier, -model.score_samples(X)) > 0.999
    assert (model.labels_[outlier] == -1).all()


def test_each_part_is_a_standardised_log_distance_times_the_root_of_its_number_of_directions(table):
    X, _ = table
    model = OutlierDetector().fit(X)
    parts = [reason.parts for reason in model.explain(X)]
    for voice, values in zip(("global", "local"), literal_distances(X, model), strict=True):
        expected = model.voices_[voice] * standardised(values)
        np.testing.assert_allclose([part[voice] for part in parts], expected, rtol=1e-9, atol=1e-9)
    assert sum(weight**2 for weight in model.voices_.values()) == pytest.approx(1)
    total = [sum(part.values()) for part in parts]
    np.testing.assert_allclose(total, -model.score_samples(X), rtol=1e-12)


def test_the_shape_counts_for_the_directions_that_can_be_estimated():
    rng = np.random.default_rng(0)
    # Three wide columns and 27 narrow ones: distances see three directions, the shape all of them.
    X = rng.normal(size=(2000, 30)) * np.r_[np.ones(3), np.full(27, 0.1)]
    weights = OutlierDetector().fit(X).voices_
    assert weights["global"] == weights["local"]
    assert (weights["shape"] / weights["global"]) ** 2 == pytest.approx(30 / 3, rel=0.25)
    # The covariance of a few rows is shrunk, and the narrow directions count less.
    few = OutlierDetector().fit(X[:40]).voices_
    assert (few["shape"] / few["global"]) ** 2 < 0.75 * (weights["shape"] / weights["global"]) ** 2


def test_an_unusual_combination_of_ordinary_values_is_found_and_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=400)
    X[0, :2] = 1.5, -1.5
    model = OutlierDetector(0.01).fit(X)
    assert 0 in np.argsort(model.score_samples(X))[:4]
    (reason,) = model.explain(X[:1])
    assert reason.voice == "shape"
    assert {name for name, _ in reason.columns[:2]} == {0, 1}
    assert "combination" in str(reason)


def test_the_reason_of_a_far_row_names_the_column_that_is_far():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["width", "height", "weight"])
    X.loc[7, "height"] = 40.0
    (reason,) = OutlierDetector().fit(X).explain(X[7:8], n_columns=1)
    assert reason.columns[0][0] == "height"
    assert reason.columns[0][1] > 0.9


def test_a_row_is_compared_with_the_others_whether_it_trained_or_not():
    # As many columns as rows: a covariance that has seen a row takes it for ordinary.
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, 120, 100)) * np.linspace(1, 3, 100)
    model = OutlierDetector().fit(X)
    trained, others = model.score_samples(X), model.score_samples(new)
    assert abs(np.median(trained) - np.median(others)) < 0.5 * trained.std()


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


def test_data_without_outliers_raise_no_alarm():
    rng = np.random.default_rng(0)
    for n, d in ((200, 2), (1000, 10), (500, 50)):
        for X in (rng.normal(size=(n, d)), rng.uniform(size=(n, d))):
            assert OutlierDetector().fit(X).contamination_ == 0
            assert OutlierDetector().fit(X @ rng.normal(size=(d, d))).contamination_ == 0
        assert OutlierDetector().fit(np.exp(rng.normal(size=(n, d)))).contamination_ <= 0.005


def test_p_values_are_uniform_and_the_false_discovery_rate_is_kept():
    rng = np.random.default_rng(0)
    proportions, found = [], []
    for _ in range(30):
        model = OutlierDetector(novelty=True, fdr=0.2).fit(rng.normal(size=(400, 4)))
        clean, far = rng.normal(size=(100, 4)), 4.0 + rng.normal(size=(20, 4))
        assert np.mean(model.p_values(clean) <= 0.3) == pytest.approx(0.3, abs=0.2)
        flagged = model.predict(np.r_[clean, far]) == -1
        proportions.append(flagged[:100].sum() / max(flagged.sum(), 1))
        found.append(flagged[100:].mean())
    error = np.std(proportions) / np.sqrt(len(proportions))
    assert np.mean(proportions) <= 0.2 + 2 * error
    assert np.mean(found) > 0.9


def test_a_clean_reference_finds_groups_that_would_hide_each_other():
    rng = np.random.default_rng(0)
    clean, group = rng.normal(size=(300, 3)), 5.0 + 0.01 * rng.normal(size=(300, 3))
    model = OutlierDetector(0.05, novelty=True).fit(clean)
    assert (model.predict(group) == -1).all()


def test_only_clean_rows_give_p_values_and_a_false_discovery_rate():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match="novelty=True"):
        OutlierDetector(fdr=0.1).fit(X)
    with pytest.raises(ValueError, match=r"novelty=True, fdr=0\.1"):
        OutlierDetector(novelty=True).fit(X).p_values(X)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "precomputed"])
def test_other_metrics_find_the_row_that_is_far_in_them(metric):
    rng = np.random.default_rng(0)
    X = np.r_[[3.0, 3.0, 3.0] + 0.2 * rng.normal(size=(200, 3)), [[3.0, -3.0, 3.0]]]
    given = np.linalg.norm(X[:, None] - X, axis=2) if metric == "precomputed" else X
    model = OutlierDetector(metric=metric).fit(given)
    assert np.argmin(model.score_samples(given)) == 200
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    assert (model.voices_["shape"] == 0) == (metric == "precomputed")
    if metric == "precomputed":
        assert "shape" not in {reason.voice for reason in model.explain(given)}


def test_an_error_names_the_row_as_it_was_given():
    X = np.vstack([np.random.default_rng(0).normal(size=(60, 3)), np.zeros((1, 3))])
    with pytest.raises(ValueError, match=r"\[60\]"):
        OutlierDetector(metric="cosine").fit(X)


def test_a_large_table_is_compared_with_a_sample_of_its_rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(21_000, 2)), [[12.0, 0.0]]]
    model = OutlierDetector().fit(X)
    assert np.argmin(model.score_samples(X)) == 21_000
    np.testing.assert_array_equal(model.predict(X[-50:]), model.labels_[-50:])


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
    with pytest.raises(ValueError, match="fdr"):
        OutlierDetector(novelty=True, fdr=0.0).fit(np.eye(4))
    with pytest.raises(ValueError, match="must be 0"):
        OutlierDetector(metric="precomputed").fit(np.ones((4, 4)))


def test_the_automatic_threshold_is_that_of_an_exponential_tail(table):
    X, outlier = table
    model = OutlierDetector().fit(X)
    scores = np.sort(-model.score_samples(X))[::-1]
    middle, upper = np.quantile(scores, [0.5, 0.75])
    p_values = 0.5 ** (1 + (scores - middle) / (upper - middle))
    passed = p_values <= 0.1 * np.arange(1, len(X) + 1) / len(X)
    assert (model.labels_ == -1).sum() == np.flatnonzero(passed)[-1] + 1 == outlier.sum()


def literal_outlier_scores(model, X):
    """In units of the boxplot of the training rows, written out row by row."""
    training = -model.score_samples(X)
    low, middle, high = np.quantile(training, [0.25, 0.5, 0.75])
    expected = []
    for score, label in zip(training, model.predict(X), strict=True):
        beyond = (score - middle) / (high - low) - 2.0
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
