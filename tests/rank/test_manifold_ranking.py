"""Manifold ranking: scores from a dense inverse, and every form of a query."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from vicinal import Graph, graphs
from vicinal.rank import ManifoldRanking
from vicinal.rank import _scores as scores


def dense_scores(weights, alpha, starts):
    """Rows (I - alpha D^-1/2 W D^-1/2)^-1 v."""
    sums = weights.sum(axis=1)
    roots = np.array([1 / np.sqrt(d) if d else 0.0 for d in sums])
    system = np.eye(len(weights)) - alpha * roots[:, None] * weights * roots[None]
    return np.linalg.solve(system, starts.T).T


def sorted_by_definition(row, k, without=()):
    others = [i for i in range(len(row)) if i not in without]
    return sorted(others, key=lambda i: (-row[i], i))[:k]


@st.composite
def affinities(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(1, 15))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    return weights + weights.T


@settings(max_examples=80)
@given(affinities(), st.sampled_from([0.0, 0.1, 0.9, 0.999]))
def test_scores_equal_the_dense_inverse(weights, alpha):
    n = len(weights)
    model = ManifoldRanking(alpha, graph="precomputed").fit(weights)
    expected = dense_scores(weights, alpha, np.eye(n))
    assert model.scores(np.arange(n)) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@settings(max_examples=60)
@given(affinities(), st.data())
def test_results_are_sorted_by_score_then_row_and_exclude_labelled_points(weights, data):
    n = len(weights)
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=3)
    queries = data.draw(st.lists(rows, min_size=1, max_size=5))
    model = ManifoldRanking(graph="precomputed").fit(weights)
    full = model.scores(queries)
    k = data.draw(st.integers(1, n))
    indices, values = model.rank(queries, k, include_queries=True)
    assert indices.tolist() == [sorted_by_definition(row, k) for row in full]
    assert (values == np.take_along_axis(full, indices, axis=1)).all()
    left = n - max(len(set(query)) for query in queries)
    if left:
        indices, values = model.rank(queries, left)
        expected = [sorted_by_definition(full[q], left, queries[q]) for q in range(len(queries))]
        assert indices.tolist() == expected
        assert (values == np.take_along_axis(full, indices, axis=1)).all()


def test_every_form_of_row_numbers_gives_the_same_results():
    X, _ = make_moons(80, noise=0.05, random_state=0)
    model = ManifoldRanking().fit(X)
    one = model.rank([7], 5)
    forms = [7, np.int32(7), [7], (7,), [[7]], [(7, 7)], np.array([7]), np.array([7], dtype=np.uint8),
             pd.Series([7]), [np.array([7])], np.array([[7], [7, 7]], dtype=object)[:1]]  # fmt: skip
    for form in forms:
        for ours, theirs in zip(model.rank(form, 5), one, strict=True):
            assert (ours == theirs).all()


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("n", [80, 2000])
def test_the_smallest_scores_are_accurate_for_small_alpha(alpha, n):
    """On a ring of n nodes s_d is a multiple of x^d + x^(n - d), x = (1 - sqrt(1 - alpha^2)) / alpha."""
    ring = np.roll(np.eye(n), 1, axis=1)
    result = ManifoldRanking(alpha, graph="precomputed").fit(ring + ring.T).scores([3])[0]
    root = np.sqrt(1 - alpha**2)
    x = alpha / (1 + root)
    steps = np.arange(n)
    expected = (x**steps + x ** (n - steps)) / (root * (1 - x**n))
    assert np.roll(result, -3) == pytest.approx(expected, rel=1e-12, abs=1e-290)


def test_power_series_and_conjugate_gradients_agree(monkeypatch):
    X, _ = make_moons(200, noise=0.05, random_state=0)
    series = ManifoldRanking(0.5).fit(X).scores(np.arange(40))
    monkeypatch.setattr(scores, "SMALL_ALPHA", 0.0)
    assert ManifoldRanking(0.5).fit(X).scores(np.arange(40)) == pytest.approx(series, abs=1e-10)


def test_scores_of_several_labelled_points_add_up_and_repeats_count_once():
    X, _ = make_moons(80, noise=0.05, random_state=0)
    model = ManifoldRanking().fit(X)
    single = model.scores([3, 50, 9])
    together = model.scores([[3, 50, 3], [9]])
    assert together[0] == pytest.approx(single[0] + single[1])
    assert (together[1] == single[2]).all()


def test_points_of_other_components_score_zero_in_row_order():
    graph = Graph.from_edges(6, [[0, 5], [1, 2], [3, 4]], lengths=np.ones(3))
    model = ManifoldRanking().fit(graph)
    assert np.flatnonzero(model.scores(0)).tolist() == [0, 5]
    indices, values = model.rank(0, 5)
    assert indices.tolist() == [[5, 1, 2, 3, 4]]
    assert values[0, 1:].tolist() == [0.0] * 4
    assert not np.signbit(values).any()


def test_points_their_graph_and_its_affinity_give_the_same_results():
    X, _ = make_moons(100, noise=0.05, random_state=0)
    graph = graphs.knn(X, 8)
    by_points = ManifoldRanking(graph_params={"n_neighbors": 8}).fit(X).rank([0, 1, 2], 20)
    by_graph = ManifoldRanking().fit(graph).rank([0, 1, 2], 20)
    by_affinity = ManifoldRanking(graph="precomputed").fit(graph.affinity()).rank([0, 1, 2], 20)
    for ours in (by_graph, by_affinity):
        assert (ours[0] == by_points[0]).all()
        assert (ours[1] == by_points[1]).all()


def test_ranking_follows_the_structure_where_distance_misleads():
    X, y = make_moons(300, noise=0.05, random_state=1)
    by_structure = ManifoldRanking(0.999).fit(X).rank(np.arange(300), 100)[0]
    by_nearness = ManifoldRanking(0.0, graph="complete").fit(X)
    nearest = np.argsort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 1:101]
    assert (y[by_structure] == y[:, None]).mean() > (y[nearest] == y[:, None]).mean() + 0.05
    assert (by_nearness.rank(4, 3)[1] == 0.0).all()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, lambda X: X.astype(np.float32)])
def test_duplicates_of_training_points_get_their_results(kind):
    X, _ = make_moons(80, noise=0.05, random_state=0)
    X = np.float64(np.float32(X))
    model = ManifoldRanking().fit(kind(X))
    assert model.scores(kind(X)) == pytest.approx(model.scores(np.arange(80)))


def test_new_points_rank_like_training_points():
    X, _ = make_moons(420, noise=0.08, random_state=2)
    new = np.arange(400, 420)
    whole = ManifoldRanking().fit(X).scores(new)[:, :400]
    part = ManifoldRanking().fit(X[:400])
    inserted = part.rank(X[400:], 50)[0]
    known = np.argsort(-whole, axis=1)[:, :50]
    shared = [len(np.intersect1d(a, b)) / 50 for a, b in zip(inserted, known, strict=True)]
    assert np.mean(shared) > 0.9


def test_distant_new_points_and_isolated_nodes_have_finite_scores():
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    model = ManifoldRanking(0.5, graph="epsilon_ball", graph_params={"radius": 1.5}).fit(X)
    result = model.scores(np.array([[1e9], [-1e9], [50.5]]))
    assert np.isfinite(result).all()
    assert np.argmax(result, axis=1).tolist() == [3, 0, 3]


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_of_the_affinity_does_not_matter(factor):
    X, _ = make_moons(80, noise=0.05, random_state=0)
    affinity = graphs.knn(X, 8).affinity()
    plain = ManifoldRanking(graph="precomputed").fit(affinity).scores([0, 1])
    scaled = ManifoldRanking(graph="precomputed").fit(affinity * factor).scores([0, 1])
    assert scaled == pytest.approx(plain)


def test_same_bits_for_any_number_of_threads_and_any_blocks(monkeypatch):
    X, _ = make_moons(500, noise=0.05, random_state=0)
    one, many = (ManifoldRanking(n_jobs=jobs).fit(X) for jobs in (1, 3))
    queries = np.arange(70)
    answer = one.rank(queries, 40)
    assert (many.scores(queries) == one.scores(queries)).all()
    monkeypatch.setattr(scores, "BLOCK_ENTRIES", 1)
    for ours, theirs in zip(many.rank(queries, 40), answer, strict=True):
        assert (ours == theirs).all()
    assert (one.scores(queries[::-1])[::-1] == one.scores(queries)).all()


def test_duplicates_and_two_points():
    X = np.zeros((20, 2))
    indices, values = ManifoldRanking().fit(X).rank(3, 19)
    assert (np.sort(indices[0]) == np.delete(np.arange(20), 3)).all()
    assert np.isfinite(values).all()
    assert ManifoldRanking().fit([[0.0], [1.0]]).rank([0, 1], 1)[0].tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("alpha", "error"),
    [(1.0, ValueError), (1, ValueError), (-0.1, ValueError), (np.nan, ValueError),
     ("0.9", TypeError), (None, TypeError)],
)  # fmt: skip
def test_invalid_alpha_raises_before_the_graph_is_built(alpha, error):
    def never(X):
        raise AssertionError("the graph was built")

    with pytest.raises(error, match="alpha="):
        ManifoldRanking(alpha, graph=never).fit(np.ones((3, 1)))


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (80, "row 80, but the training points are rows 0 to 79"),
        (-1, "row -1"),
        ([[0, 1], [5, 99]], "row 99"),
        ([], "queries are empty"),
        (np.array([], dtype=int), "queries are an array of shape"),
        ([[0], []], "empty query"),
        (0.5, "queries are an array"),
        ([0.5, 0.5], "queries are a list"),
        (True, "queries are an array"),
        (None, "queries are an array"),
        (["a"], "queries are a list that starts with 'a'"),
        (np.array([0.5, 0.5]), "reshape"),
        (np.zeros((2, 2, 2)), "queries are an array of shape"),
        (np.zeros((2, 5)), "5 features"),
        ([[0.5, np.nan]], "NaN"),
    ],
)
def test_invalid_queries_are_rejected(queries, message):
    X, _ = make_moons(80, noise=0.05, random_state=0)
    model = ManifoldRanking().fit(X)
    with pytest.raises(ValueError, match=message):
        model.rank(queries, 3)


@pytest.mark.parametrize("k", [0, 80, 1.5, "all"])
def test_invalid_numbers_of_results_raise(k):
    X, _ = make_moons(80, noise=0.05, random_state=0)
    model = ManifoldRanking().fit(X)
    with pytest.raises((ValueError, TypeError), match="k="):
        model.rank([0], k)
    with pytest.raises(ValueError, match=r"k=79.*the 2 of a query are excluded"):
        model.rank([[0, 1]], 79)
    assert model.rank(X[:1], 80)[0].shape == (1, 80)


def test_directed_graphs_and_graphs_without_points_raise():
    X, _ = make_moons(30, noise=0.05, random_state=0)
    with pytest.raises(ValueError, match="directed"):
        ManifoldRanking().fit(graphs.knn(X, 5, directed=True))
    model = ManifoldRanking(graph="precomputed").fit(graphs.knn(X, 5).affinity())
    with pytest.raises(ValueError, match="was fitted on affinities, so neighbours of new points"):
        model.rank(np.zeros((1, 2)), 3)
