"""The power of harmonic probabilities: a literal rehearsal, honest confidence, and cases without one."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs
from sklearn.preprocessing import StandardScaler

from vicinal import GraphClassifier
from vicinal.semi_supervised._calibration import POWERS, calibrate, rehearsal_labels


def dense_probabilities(weights, codes, prior):
    """Harmonic functions with class mass normalisation; labelled rows are indicators."""
    known = codes >= 0
    laplacian = np.diag(weights.sum(axis=1)) - weights
    values = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    values[~known] = np.linalg.solve(
        laplacian[~known][:, ~known], weights[~known][:, known] @ values[known]
    )
    scaled = values[~known] * prior / values.sum(axis=0)
    values[~known] = scaled / scaled.sum(axis=1, keepdims=True)
    return values


@pytest.mark.parametrize("seed", range(5))
def test_the_power_is_that_of_a_literal_rehearsal(seed):
    X, truth = make_blobs(60, centers=3, cluster_std=3.0, random_state=seed)
    codes = np.full(60, -1)
    for c in range(3):
        codes[np.flatnonzero(truth == c)[:3]] = c
    prior = np.array([0.2, 0.3, 0.5])
    options = {"graph_params": {"n_neighbors": 12}, "class_prior": prior}
    model = GraphClassifier(**options).fit(X, codes)
    weights = model.affinity_.toarray()

    before = dense_probabilities(weights, codes, prior)
    predicted = before.argmax(axis=1)
    labels = np.full(60, -1)
    for c in range(3):
        members = [i for i in range(60) if codes[i] < 0 and predicted[i] == c]
        members.sort(key=lambda i: before[i, c])
        for j in range(min(3, len(members))):
            labels[members[int((j + 0.5) * len(members) / min(3, len(members)))]] = c
        if not members:
            labels[codes == c] = c
    rehearsed = dense_probabilities(weights, labels, prior)
    losses = []
    for power in POWERS:
        sharp = rehearsed**power / (rehearsed**power).sum(axis=1, keepdims=True)
        losses.append(
            -np.mean([np.log(sharp[i, predicted[i]]) for i in range(60) if labels[i] < 0])
        )
    assert model.calibration_.losses == pytest.approx(np.array(losses), abs=1e-6)
    assert model.calibration_.power == POWERS[np.argmin(losses)]


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_confidence_is_close_to_accuracy_where_classes_follow_the_graph(load):
    X, truth = load(return_X_y=True)
    X = StandardScaler().fit_transform(X) if load is load_breast_cancer else X
    confidence, accuracy = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.full(len(X), -1)
        for c in np.unique(truth):
            y[rng.choice(np.flatnonzero(truth == c), 2, replace=False)] = c
        model = GraphClassifier().fit(X, y)
        confidence.append(model.label_distributions_[y < 0].max(axis=1).mean())
        accuracy.append((model.transduction_ == truth)[y < 0].mean())
    # With squares, confidence was 0.85 at an accuracy of 0.95 and 0.67 at 0.92.
    assert np.mean(confidence) == pytest.approx(np.mean(accuracy), abs=0.06)


def test_without_nodes_to_test_the_power_is_one():
    calibration = calibrate(np.empty((0, 2)), np.empty(0, dtype=int))
    assert calibration.power == 1.0
    assert np.isnan(calibration.losses).all()
    # Class 1 is impossible in the rehearsal.
    assert calibrate(np.array([[1.0, 0.0]]), np.array([1])).power == 1.0


def test_a_class_without_predicted_nodes_keeps_its_labels():
    probabilities = np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]])
    labels = rehearsal_labels(probabilities, np.array([0, -1, -1, 1]))
    assert labels.tolist() == [-1, 0, -1, 1]


def test_other_methods_and_no_prior_have_no_calibration():
    X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], [0, -1, -1, -1, -1, 1]
    options = {"graph_params": {"n_neighbors": 2}}
    assert GraphClassifier("laplace", **options).fit(X, y).calibration_ is None
    assert GraphClassifier(class_prior=None, **options).fit(X, y).calibration_ is None
    assert GraphClassifier(**options).fit(X, y).calibration_ is not None
