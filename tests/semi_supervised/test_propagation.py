"""Label propagation: its steps as defined, and its limit as scikit-learn finds it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import semi_supervised
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning

from vicinal import Graph, LabelPropagation, graphs
from vicinal.semi_supervised import propagate_labels


def steps_oracle(weights, codes, n_steps):
    """f <- P f, then the labelled are set back; rows to 1 at the end, the frequencies where 0."""
    labels = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    sums = weights.sum(axis=1)
    values = labels
    for _ in range(n_steps):
        new = np.array(
            [weights[i] @ values / sums[i] if sums[i] else values[i] for i in range(len(codes))]
        )
        values = np.where((codes >= 0)[:, None], labels, new)
    evidence = values.sum(axis=1, keepdims=True)
    frequencies = labels.sum(axis=0) / labels.sum()
    return np.where(evidence > 0, values / np.where(evidence > 0, evidence, 1), frequencies)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(1, 12))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.25)
    codes = np.where(rng.random(n) < 0.6, -1, rng.integers(0, 4, n))
    codes[rng.integers(n)] = 1
    return weights + weights.T, codes


@settings(max_examples=80)
@given(problems(), st.integers(1, 6))
def test_steps_follow_the_definition(problem, n_steps):
    weights, codes = problem
    labels = propagate_labels(weights, codes, n_steps=n_steps)
    assert labels.values == pytest.approx(steps_oracle(weights, codes, n_steps), abs=1e-12)


@settings(max_examples=60)
@given(problems())
def test_the_limit_is_harmonic_clamped_and_a_probability(problem):
    weights, codes = problem
    labels = propagate_labels(weights, codes)
    assert labels.values.sum(axis=1) == pytest.approx(np.ones(len(codes)), abs=1e-12)
    for i, code in enumerate(codes):
        if code >= 0:
            assert labels.values[i, code] == 1.0
        elif labels.reached[i]:
            mean = weights[i] @ labels.values / weights[i].sum()
            assert labels.values[i] == pytest.approx(mean, abs=1e-9)


@settings(max_examples=40)
@given(problems())
def test_a_node_is_reached_when_its_component_has_a_label(problem):
    weights, codes = problem
    linked = (weights > 0) | np.eye(len(codes), dtype=bool)
    reachable = np.linalg.matrix_power(linked.astype(float), len(codes)) > 0
    expected = (reachable & (codes >= 0)).any(axis=1)
    assert (propagate_labels(weights, codes).reached == expected).all()
    assert (propagate_labels(weights, codes, n_steps=len(codes)).reached == expected).all()


@pytest.mark.parametrize("data", ["moons", "digits"])
def test_the_limit_agrees_with_scikit_learn_on_the_same_affinity(data):
    if data == "moons":
        X, y = make_moons(150, noise=0.1, random_state=0)
    else:
        X, y = load_digits(return_X_y=True)
        X, y = X[:300], y[:300]
    known = np.where(np.arange(len(y)) % 15 == 0, y, -1)
    affinity = graphs.knn(X, 8).connect().affinity(scale="local")
    dense = affinity.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = semi_supervised.LabelPropagation(
            kernel=lambda A, B: dense.copy(), max_iter=200_000, tol=1e-12
        ).fit(X, known)
    ours = LabelPropagation(graph="precomputed").fit(affinity, known)
    assert (ours.classes_ == theirs.classes_).all()
    assert ours.label_distributions_ == pytest.approx(theirs.label_distributions_, abs=1e-7)
    assert (ours.transduction_ == theirs.transduction_).all()


def test_many_steps_approach_the_limit():
    X, y = make_moons(100, noise=0.1, random_state=1)
    known = np.where(np.arange(100) % 10 == 0, y, -1)
    graph = graphs.knn(X, 6).connect()
    limit = propagate_labels(graph, known).values
    assert propagate_labels(graph, known, n_steps=20_000).values == pytest.approx(limit, abs=1e-6)


def test_few_steps_reach_only_near_nodes():
    path = Graph.from_edges(5, [[0, 1], [1, 2], [2, 3], [3, 4]], np.ones(4))
    labels = propagate_labels(path, [0, -1, -1, -1, 1], n_steps=1)
    assert labels.reached.tolist() == [True, True, False, True, True]
    assert labels.values[2].tolist() == [0.5, 0.5]


def test_a_distant_new_point_has_finite_probabilities():
    X, y = make_moons(60, noise=0.1, random_state=0)
    model = LabelPropagation().fit(X, np.where(np.arange(60) < 6, y, -1))
    assert model.predict_proba([[1e9, 1e9]]).sum() == pytest.approx(1.0)


def test_same_bits_for_any_number_of_threads():
    X, y = load_digits(return_X_y=True)
    known = np.where(np.arange(len(y)) % 50 == 0, y, -1)
    one, many = (LabelPropagation(n_jobs=jobs).fit(X, known) for jobs in (1, 3))
    assert (one.label_distributions_ == many.label_distributions_).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_the_unit_of_the_affinity_does_not_matter(scale):
    X, y = make_moons(60, noise=0.1, random_state=0)
    known = np.where(np.arange(60) < 8, y, -1)
    affinity = graphs.knn(X, 5).connect().affinity("local")
    plain = propagate_labels(affinity, known).values
    assert propagate_labels(affinity * scale, known).values == pytest.approx(plain)


@pytest.mark.parametrize(
    ("n_steps", "error"), [(0, ValueError), (1.5, TypeError), ("many", TypeError)]
)
def test_invalid_numbers_of_steps_raise_before_the_graph_is_built(n_steps, error):
    def never(X):
        raise AssertionError("the graph was built")

    with pytest.raises(error, match="n_steps="):
        LabelPropagation(n_steps, graph=never).fit(np.ones((3, 1)), [0, 1, -1])
    with pytest.raises(error, match="n_steps="):
        propagate_labels(np.ones((2, 2)), [0, -1], n_steps=n_steps)


def test_labels_without_any_labelled_point_raise():
    with pytest.raises(ValueError, match="no point is labelled"):
        LabelPropagation().fit(np.arange(5.0)[:, None], [-1] * 5)
