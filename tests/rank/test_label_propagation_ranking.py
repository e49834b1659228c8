"""Label propagation from a query: literal steps, and new points as nodes that join the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from vicinal import Graph, ManifoldRanking, graphs
from vicinal.semi_supervised import propagate_labels


def literal_scores(weights, labelled, n_steps):
    """f <- P f, then f = 1 at the labelled; a node without affinity stays where it is."""
    n = len(weights)
    sums = weights.sum(axis=1)
    f = np.array([1.0 if i in labelled else 0.0 for i in range(n)])
    for _ in range(n_steps):
        f = np.array([weights[i] @ f / sums[i] if sums[i] else f[i] for i in range(n)])
        f[list(labelled)] = 1.0
    return f


@st.composite
def affinities(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(1, 15))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    return weights + weights.T


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.05, random_state=0)


@settings(max_examples=80)
@given(affinities(), st.integers(1, 40), st.data())
def test_scores_equal_the_literal_steps(weights, n_steps, data):
    n = len(weights)
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=3)
    queries = data.draw(st.lists(rows, min_size=1, max_size=10))
    result = ManifoldRanking(n_steps=n_steps, graph="precomputed").fit(weights).scores(queries)
    expected = [literal_scores(weights, set(query), n_steps) for query in queries]
    np.testing.assert_allclose(result, expected, atol=1e-13)
    assert result.min() >= 0
    assert result.max() <= 1


def test_scores_of_two_competing_queries_are_label_propagation(moons):
    """With a competing label, the fraction of walks that reach the first one first."""
    graph = graphs.knn(moons[0], 8)
    ours = ManifoldRanking(n_steps=30).fit(graph).scores(0)[0]
    y = np.full(120, -1)
    y[0] = 0
    theirs = propagate_labels(graph, y, n_steps=30)
    np.testing.assert_array_equal(theirs.reached, ours > 0)


def test_more_steps_raise_scores_within_that_many_edges():
    path = Graph.from_edges(6, [[i, i + 1] for i in range(5)], lengths=np.ones(5))
    before = np.zeros(6)
    for n_steps in range(1, 8):
        now = ManifoldRanking(n_steps=n_steps).fit(path).scores(0)[0]
        assert (now >= before).all()
        assert np.flatnonzero(now).tolist() == list(range(min(n_steps, 5) + 1))
        before = now


def test_top_results_are_on_the_moon_of_the_query(moons):
    X, truth = moons
    indices, _ = ManifoldRanking(n_steps=200).fit(X).rank(np.arange(120), 50)
    assert (truth[indices] == truth[:, None]).mean() > 0.97


def test_a_duplicate_of_a_training_point_gets_its_results(moons):
    X, _ = moons
    model = ManifoldRanking(n_steps=50).fit(X)
    np.testing.assert_array_equal(model.scores(X[:10]), model.scores(np.arange(10)))


def test_a_new_point_is_ranked_as_a_node_of_the_graph(moons):
    X, _ = moons
    model = ManifoldRanking(n_steps=25).fit(X)
    new = X[:5] + 0.01
    W = model.affinity_.toarray()
    links = model._weights_of(new).toarray()
    for row, result in zip(links, model.scores(new), strict=True):
        joined = np.zeros((121, 121))
        joined[:120, :120] = W
        joined[120, :120] = joined[:120, 120] = row / row.max()
        expected = literal_scores(joined, {120}, 26)[:120]
        # The first step only puts the label there.
        np.testing.assert_allclose(result, expected, atol=1e-12)
    assert np.isfinite(model.scores([[1e12, -1e12]])).all()


def test_any_number_of_threads_gives_the_same_bits(moons):
    X, _ = moons
    one, two = (ManifoldRanking(n_steps=100, n_jobs=j).fit(X).scores(np.arange(30)) for j in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(ManifoldRanking(n_steps=100).fit(X).scores(7)[0], one[7])


@pytest.mark.parametrize("n_steps", [0, -1, 2.5, "many"])
def test_invalid_steps_are_named_in_the_error(moons, n_steps):
    with pytest.raises((ValueError, TypeError), match="n_steps"):
        ManifoldRanking(n_steps=n_steps).fit(moons[0])
