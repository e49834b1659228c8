"""scikit-learn's own checks on every estimator, and what all of ours share."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import vicinal

ESTIMATORS = [
    estimator
    for name in vicinal.__all__
    if inspect.isclass(estimator := getattr(vicinal, name)) and issubclass(estimator, BaseEstimator)
]

# Checks that an estimator cannot pass, each with its reason.
MINUS_ONE = {
    "check_classifiers_classes": "uses -1 as a class, which marks the unlabelled here, as in "
    "scikit-learn's own semi-supervised classifiers (it exempts those by name)"
}
PROBABILITIES = "takes predict_proba, which here has a column for noise, for that of a classifier"
NO_CLASSIFIER = {
    "check_estimator_sparse_array": PROBABILITIES,
    "check_estimator_sparse_matrix": PROBABILITIES,
}
ALARM = "expects an outlier among 300 clean points, where the automatic threshold raises no alarm"
EXPECTED_FAILURES = {
    "OutlierDetector": {"check_outliers_train": ALARM, "check_outliers_fit_predict": ALARM},
    "SpectralClustering": NO_CLASSIFIER,
    "PerceptualClustering": NO_CLASSIFIER,
    "SparseSubspaceClustering": {
        "check_estimators_dtypes": "its table of integers has a row of zeros, which has no direction to be "
        "represented and raises an error that names it"
    },
    "SimilarityVoteClassifier": MINUS_ONE,
    "GraphClassifier": MINUS_ONE,
}


@parametrize_with_checks(
    [estimator() for estimator in ESTIMATORS],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_parameter_and_learned_attribute_is_documented(estimator):
    for name in inspect.signature(estimator).parameters:
        assert name in estimator.__doc__, f"{estimator.__name__}.{name}"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_input_stays_as_it_is_read_only_and_strided(estimator):
    X = np.asfortranarray(np.random.default_rng(0).random((60, 6)))[::2, ::2]
    X.flags.writeable = False
    y = np.arange(30) % 3
    before = X.copy()
    estimator().fit(X, y)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "estimator",
    [e for e in ESTIMATORS if "random_state" in inspect.signature(e).parameters],
    ids=lambda e: e.__name__,
)
def test_a_given_seed_is_used(estimator):
    X = np.random.default_rng(0).random((30, 3))
    with pytest.raises(TypeError, match="random_state='chance', but an integer"):
        estimator(random_state="chance").fit(X, np.arange(30) % 3)
