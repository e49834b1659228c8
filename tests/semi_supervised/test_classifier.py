"""The graph classifier: probabilities of the closed form, and the prior where no label reaches."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from vicinal import Graph, GraphClassifier, LabelPropagation, SimilarityVoteClassifier, graphs
from vicinal.semi_supervised import class_probabilities

MNIST = Path(os.environ.get("VICINAL_DATA", "")) / "mnist_test.npz"


def dense_probabilities(weights, codes, ridge, smoothness):
    weights = np.asarray(weights)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    system = np.diag((codes >= 0) + ridge) + smoothness * laplacian
    indicators = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    scores = np.linalg.solve(system, indicators)
    return scores / scores.sum(axis=1, keepdims=True)


@st.composite
def connected_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 15))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    for i in range(1, n):
        weights[i, rng.integers(i)] = 0.1 + rng.random()
    codes = np.where(rng.random(n) < 0.6, -1, rng.integers(0, 5, n))
    codes[rng.integers(n)] = 0
    return weights + weights.T, codes


def few_labels(y, per_class, seed=0):
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for label in np.unique(y):
        chosen = rng.choice(np.flatnonzero(y == label), per_class, replace=False)
        known[chosen] = label
    return known


@settings(max_examples=60)
@given(connected_problems(), st.sampled_from([(0.0, 1.0), (0.1, 1.0), (0.1, 100.0), (1e-6, 0.01)]))
def test_equals_the_closed_form(problem, penalties):
    weights, codes = problem
    result = class_probabilities(weights, codes, ridge=penalties[0], smoothness=penalties[1])
    assert result.values == pytest.approx(dense_probabilities(weights, codes, *penalties), abs=1e-8)
    assert result.reached.all()


@settings(max_examples=60)
@given(
    connected_problems(),
    st.sampled_from([0.0, 0.1, 1e6]),
    st.sampled_from([1e-9, 1.0, 1e9]),
    st.sampled_from([None, "labels", "estimate"]),
)
def test_rows_are_probabilities(problem, ridge, smoothness, class_prior):
    weights, codes = problem
    result = class_probabilities(
        weights, codes, ridge=ridge, smoothness=smoothness, class_prior=class_prior
    )
    assert (result.values >= 0).all()
    assert result.values.sum(axis=1) == pytest.approx(np.ones(len(codes)), abs=1e-12)


@settings(max_examples=30)
@given(connected_problems(), st.randoms(use_true_random=False), st.sampled_from([None, "estimate"]))
def test_renumbering_nodes_renumbers_the_rows(problem, random, class_prior):
    weights, codes = problem
    order = np.array(random.sample(range(len(codes)), len(codes)))
    plain = class_probabilities(weights, codes, class_prior=class_prior).values
    moved = class_probabilities(weights[order][:, order], codes[order], class_prior=class_prior)
    assert moved.values == pytest.approx(plain[order], abs=1e-9)


def test_class_mass_follows_its_formula():
    """Columns of the unlabelled times (count + 1) over their total mass, then rows to 1."""
    weights, codes = np.ones((6, 6)), np.array([0, 0, 0, 1, -1, -1])
    weights[4, 3] = weights[3, 4] = 7.0
    np.fill_diagonal(weights, 0.0)
    plain = class_probabilities(weights, codes).values
    laplacian = np.diag(weights.sum(axis=1)) - weights
    system = np.diag((codes >= 0) + 0.1) + laplacian
    mass = np.linalg.solve(system, np.eye(2)[codes] * (codes >= 0)[:, None]).sum(axis=0)
    scaled = plain[4:] * [4.0, 2.0] / mass
    result = class_probabilities(weights, codes, class_prior="estimate").values
    assert result[4:] == pytest.approx(scaled / scaled.sum(axis=1, keepdims=True))
    assert (result[:4] == plain[:4]).all()


def test_an_unlabelled_component_gets_the_class_frequencies_and_is_marked():
    graph = Graph.from_edges(7, [[0, 1], [1, 2], [3, 4], [5, 6]], np.ones(4))
    y = np.array(["a", -1, "b", "b", -1, -1, -1], dtype=object)
    for ridge in (0.0, 0.1):
        with pytest.warns(UserWarning, match=r"no label reaches 2 of 7 points \(the first is 5\)"):
            model = GraphClassifier("prior", ridge=ridge, graph="precomputed").fit(graph, y)
        assert model.reached_.tolist() == [True] * 5 + [False] * 2
        assert model.label_distributions_[5:] == pytest.approx(np.array([[1, 2], [1, 2]]) / 3)
        assert model.label_distributions_[3:5] == pytest.approx(np.array([[0.0, 1.0]] * 2))
        assert model.transduction_.tolist() == ["a", "a", "b", "b", "b", "-1", "-1"]


def test_isolated_nodes_get_the_class_frequencies():
    weights = np.zeros((3, 3))
    with pytest.warns(UserWarning, match="no label reaches 1 of 3"):
        model = GraphClassifier(graph="precomputed").fit(weights, [0, -1, 1])
    assert model.transduction_.tolist() == [0, -1, 1]
    assert model.label_distributions_ == pytest.approx(np.array([[1, 0], [0.5, 0.5], [0, 1]]))
    assert model.reached_.tolist() == [True, False, True]


def test_far_along_a_path_the_nearest_label_decides_despite_the_ridge():
    n = 3000
    path = Graph.from_edges(n, np.c_[np.arange(n - 1), np.arange(1, n)], np.ones(n - 1))
    y = np.full(n, -1)
    y[0], y[-1] = 0, 1
    model = GraphClassifier(graph="precomputed").fit(path, y)
    assert model.reached_.all()
    assert (model.transduction_ == (np.arange(n) >= n // 2)).all()


def test_all_labelled_strings_and_one_class_work():
    X = np.r_[np.zeros((5, 1)), np.ones((5, 1))] + np.arange(10)[:, None] * 0.01
    y = ["left"] * 5 + ["right"] * 5
    model = GraphClassifier(graph_params={"n_neighbors": 3}).fit(X, y)
    assert model.classes_.tolist() == ["left", "right"]
    assert model.transduction_.tolist() == y
    assert GraphClassifier().fit(X, [-1] * 9 + [4]).transduction_.tolist() == [4] * 10


def test_strings_can_be_mixed_with_minus_one_in_lists_and_object_arrays():
    X = np.arange(6.0)[:, None]
    y = ["x", -1, -1, -1, -1, "y"]
    for given_y in (y, np.array(y, dtype=object)):
        model = GraphClassifier(graph_params={"n_neighbors": 2}).fit(X, given_y)
        assert model.classes_.tolist() == ["x", "y"]
        assert model.transduction_.tolist() == ["x"] * 3 + ["y"] * 3


def test_a_table_a_graph_and_its_affinity_give_the_same_result():
    X, y = load_digits(return_X_y=True)
    known = few_labels(y, 5)
    graph = graphs.knn(X, 7)
    model = GraphClassifier().fit(X, known)
    for given_graph in (graph, graph.affinity(), graph.affinity().tocoo()):
        other = GraphClassifier(graph="precomputed").fit(given_graph, known)
        assert other.label_distributions_ == pytest.approx(model.label_distributions_)
    with pytest.raises(ValueError, match="fitted on a graph or matrix without points"):
        other.predict(X)


def test_few_labels_on_digits_beat_label_spreading():
    X, y = load_digits(return_X_y=True)
    graph, ours, theirs = graphs.knn(X), [], []
    for seed in range(4):
        known = few_labels(y, 3, seed)
        model = GraphClassifier().fit(graph, known)
        other = LabelSpreading(kernel="knn", n_neighbors=10).fit(X, known)
        ours.append((model.transduction_ == y).mean())
        theirs.append((other.transduction_ == y).mean())
    assert np.mean(ours) > 0.9
    assert np.mean(ours) > np.mean(theirs) + 0.01


@pytest.mark.skipif(not MNIST.is_file(), reason="VICINAL_DATA names no folder with mnist_test.npz")
def test_thirty_labels_classify_most_of_two_thousand_mnist_digits():
    with np.load(MNIST) as data:
        X, y = data["X"][:2000].reshape(2000, -1).astype(float), data["y"][:2000].astype(int)
    model = GraphClassifier().fit(X, few_labels(y, 3))
    assert (model.transduction_ == y).mean() > 0.65


def test_new_points_get_the_mean_of_their_neighbours_and_training_points_keep_theirs():
    X, y = load_digits(return_X_y=True)
    model = GraphClassifier().fit(X[:1000], few_labels(y[:1000], 10))
    assert model.predict_proba(X[:100]) == pytest.approx(model.label_distributions_[:100])
    assert (model.predict(X[1000:]) == y[1000:]).mean() > 0.9
    far = model.predict_proba(np.full((1, 64), 1e9))
    assert far.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e150])
def test_the_unit_of_the_points_does_not_matter(unit):
    X = np.random.default_rng(0).normal(size=(300, 4))
    known = np.where(np.arange(300) % 30 == 0, np.arange(300) // 30, -1)
    plain = GraphClassifier().fit(X, known).label_distributions_
    assert GraphClassifier().fit(X * unit, known).label_distributions_ == pytest.approx(plain)


def test_same_bits_for_any_number_of_threads():
    X, y = load_digits(return_X_y=True)
    known = few_labels(y, 2)
    one, many = (GraphClassifier(n_jobs=jobs).fit(X, known) for jobs in (1, 3))
    assert (one.label_distributions_ == many.label_distributions_).all()


def test_disconnected_tree_and_random_graphs_work_by_name():
    X = (
        np.r_[np.zeros((20, 2)), np.ones((20, 2))]
        + np.random.default_rng(0).normal(size=(40, 2)) / 9
    )
    y = np.r_[0, np.full(38, -1), 1]
    for graph in ("mst", "perturbed_mst", "disjoint_mst", "gabriel", graphs.complete):
        model = GraphClassifier(graph=graph, random_state=0).fit(X, y)
        assert (model.transduction_ == np.repeat([0, 1], 20)).all()


def test_works_as_a_scikit_learn_estimator():
    X, y = load_digits(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GraphClassifier()),
        {"graphclassifier__ridge": [0.1, 1e6]},
        cv=2,
    ).fit(X[:300], y[:300])
    assert search.best_score_ > 0.8
    model = clone(search.best_estimator_).fit(X[:300], y[:300])
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1] * 10, "no point is labelled"),
        ([0] * 9, r"y has 9 value\(s\), but X has 10"),
        (np.linspace(0, 1, 10), "continuous"),
        (np.array(["a", -1] * 5), "dtype object"),
        (["a", np.nan] * 5, "y contains NaN, None or NA"),
        (np.array([0, "a"] * 5, dtype=object), "of different types, such as 0 and 'a'"),
        (np.array([True, 2] * 5, dtype=object), "of different types, such as True and 2"),
        ([1.0, np.nan] * 5, "y contains NaN, None or NA"),
        ([None] * 10, "y contains NaN, None or NA"),
        ([[0, 1]] * 10, "1d array"),
        (None, "y is None"),
    ],
)
def test_invalid_labels_raise(y, message):
    with pytest.raises(ValueError, match=message):
        GraphClassifier().fit(np.arange(10.0)[:, None], y)


@pytest.mark.parametrize(
    "classifier", [GraphClassifier, LabelPropagation, SimilarityVoteClassifier]
)
def test_pandas_na_raises_and_the_suggested_fix_works(classifier):
    pandas = pytest.importorskip("pandas")
    X = np.arange(12.0)[:, None]
    y = pandas.Series(["a"] + [None] * 10 + ["b"]).astype("string")
    with pytest.raises(ValueError, match="fillna"):
        classifier().fit(X, y)
    model = classifier().fit(X, y.astype(object).fillna(-1))
    assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(("y", "error"), [([0.5, 1.0], TypeError), ([-2, 0], ValueError)])
def test_invalid_class_codes_raise(y, error):
    with pytest.raises(error, match="y "):
        class_probabilities(np.ones((2, 2)), y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[0.0, 1.0], [0.5, 0.0]], "not symmetric"),
        ([[0.0, 1.0]], "y has 2"),
    ],
)
def test_invalid_affinities_raise(X, message):
    with pytest.raises(ValueError, match=message):
        GraphClassifier(graph="precomputed").fit(np.array(X), [0, -1])


@pytest.mark.parametrize(("name", "value"), [("ridge", -1.0), ("smoothness", 0.0)])
def test_invalid_penalties_are_named_in_the_error(name, value):
    with pytest.raises(ValueError, match=f"{name}="):
        GraphClassifier(**{name: value}).fit(np.arange(4.0)[:, None], [0, 1, -1, -1])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("some", "class_prior='some', but None"),
        (True, "class_prior=True, but None"),
        ([1.0, 0.0], "must be finite and > 0"),
        ([1.0, 1.0, 1.0], r"class_prior has 3 value\(s\), but the labels have 2"),
    ],
)
def test_invalid_class_priors_raise(prior, message):
    with pytest.raises(ValueError, match=message):
        GraphClassifier(class_prior=prior).fit(np.arange(4.0)[:, None], [0, 1, -1, -1])
