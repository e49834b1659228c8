"""Which points to label next, and which labels are doubtful."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from vicinal import Graph, GraphClassifier, graphs
from vicinal.semi_supervised._leave_one_out import leave_one_out
from vicinal.semi_supervised.classifier import uncertainties
from vicinal.semi_supervised.propagation import propagate_labels


def blobs():
    return make_blobs([100, 100, 100], centers=[[0, 0], [8, 0], [4, 7]], random_state=0)


def test_leave_one_out_equals_new_fits_without_each_label():
    X = blobs()[0]
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(300) < 0.1, rng.integers(0, 3, 300), -1)
    weights = graphs.knn(X, 8).connect().affinity()
    found, known = leave_one_out(weights, codes)
    assert known.all()
    for row, i in enumerate(np.flatnonzero(codes >= 0)):
        others = codes.copy()
        others[i] = -1
        values = propagate_labels(weights, others).values
        counts = np.bincount(others[others >= 0])
        expected = values[i] * (counts + 1) / values.sum(axis=0)
        assert found[row] == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_wrong_labels_are_doubtful_and_get_their_class():
    X, truth = blobs()
    y = np.full(300, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:10]] = c
    wrong = [np.flatnonzero(truth == c)[0] for c in range(3)]
    y[wrong] = (truth[wrong] + 1) % 3
    names = np.array(["a", "b", "c"])
    labels = names[y].astype(object)
    labels[y < 0] = -1
    doubtful = GraphClassifier().fit(X, labels).doubtful_labels()
    assert sorted(doubtful.indices.tolist()) == sorted(wrong)
    assert (doubtful.suggested == names[truth[doubtful.indices]]).all()
    assert (np.diff(doubtful.probability) <= 0).all()
    assert (doubtful.probability > 0.5).all()


def test_a_single_label_of_a_class_or_component_is_not_doubtful():
    graph = Graph.from_edges(5, [[0, 1], [1, 2], [3, 4]], np.ones(3))
    model = GraphClassifier(graph="precomputed").fit(graph, [0, -1, 1, 2, -1])
    assert model.doubtful_labels().indices.size == 0


def test_queries_are_unlabelled_distinct_and_in_different_regions():
    X, truth = blobs()
    y = np.full(300, -1)
    y[0] = 0
    with pytest.warns(UserWarning, match="no label reaches"):
        model = GraphClassifier().fit(X, y)
    queries = model.suggest_queries(2)
    # The two blobs without a label.
    assert sorted(truth[queries]) == sorted({0, 1, 2} - {truth[0]})
    y[queries] = truth[queries]
    model = GraphClassifier().fit(X, np.where(y >= 0, truth, -1))
    many = model.suggest_queries(20)
    assert len(set(many.tolist())) == 20
    assert (y[many] < 0).all()
    # Choices do not depend on how many follow.
    assert (model.suggest_queries(5) == many[:5]).all()


def test_an_outlier_is_not_the_first_query():
    X, truth = blobs()
    X = np.r_[X, [[4.0, -30.0]]]
    y = np.full(301, -1)
    for c in range(3):
        y[np.flatnonzero(truth == c)[0]] = c
    model = GraphClassifier(graph_params={"n_neighbors": 20}).fit(X, y)
    harmonic = model.label_distributions_[300] ** (1 / model.calibration_.power)
    assert harmonic.max() / harmonic.sum() < 0.9
    assert 300 not in model.suggest_queries(10)


def test_half_the_labels_suffice_on_digits_if_they_are_suggested():
    X, truth = load_digits(return_X_y=True)
    graph, suggested, at_random = graphs.knn(X), [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.full(len(X), -1)
        for c in range(10):
            y[rng.choice(np.flatnonzero(truth == c))] = c
        for _ in range(4):
            queries = GraphClassifier().fit(graph, y).suggest_queries(10)
            y[queries] = truth[queries]
        model = GraphClassifier().fit(graph, y)
        suggested.append((model.transduction_ == truth)[y < 0].mean())
        y = np.full(len(X), -1)
        chosen = rng.choice(len(X), 100, replace=False)
        y[chosen] = truth[chosen]
        model = GraphClassifier().fit(graph, y)
        at_random.append((model.transduction_ == truth)[y < 0].mean())
    assert np.mean(suggested) >= np.mean(at_random) - 0.005


def test_uncertainty_is_one_minus_the_margin():
    values = np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    found = uncertainties(values, np.array([True, True, False]))
    assert found == pytest.approx([0.5, 1.0, 1.0])
    assert uncertainties(np.ones((2, 1)), np.array([True, False])) == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize("n", [0, 300])
def test_impossible_numbers_of_queries_raise(n):
    X, truth = blobs()
    model = GraphClassifier().fit(X, np.where(np.arange(300) % 3 == 0, truth, -1))
    with pytest.raises(ValueError, match="n_queries"):
        model.suggest_queries(n)
