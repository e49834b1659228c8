"""scikit-learn's callbacks see the fit of every estimator."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import vicinal

pytest.importorskip("sklearn.callback")

ESTIMATORS = [
    estimator
    for name in vicinal.__all__
    if inspect.isclass(estimator := getattr(vicinal, name)) and issubclass(estimator, BaseEstimator)
]
X = np.random.default_rng(0).random((30, 3))
y = np.arange(30) % 3


class Recorder:
    """A callback that records what it sees."""

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X):
        self.events.append(("begin", context.task_name, X.shape))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.events.append(("end", type(fitted_estimator) is type(estimator)))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_callbacks_see_fit_begin_and_end_once(estimator):
    recorder = Recorder()
    model = estimator().set_callbacks(recorder)
    assert model.fit(X, y) is model
    assert recorder.events == ["setup", ("begin", "fit", (30, 3)), ("end", True), "teardown"]


def test_callbacks_are_torn_down_when_fit_fails():
    recorder = Recorder()
    model = vicinal.SpectralClustering(2, graph="nothing").set_callbacks(recorder)
    with pytest.raises(ValueError, match="graph='nothing'"):
        model.fit(X)
    assert [event for event in recorder.events if isinstance(event, str)] == ["setup", "teardown"]


def test_fit_predict_and_clones_are_observed():
    recorder = Recorder()
    model = vicinal.SpectralClustering(2, random_state=0).set_callbacks(recorder)
    expected = clone(vicinal.SpectralClustering(2, random_state=0)).fit_predict(X)
    np.testing.assert_array_equal(model.fit_predict(X), expected)
    assert recorder.events.count("teardown") == 1


def test_scikit_learns_progress_bar_accepts_an_estimator():
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model = vicinal.SpectralClustering(2).set_callbacks(ProgressBar()).fit(X)
    assert len(model.labels_) == 30
