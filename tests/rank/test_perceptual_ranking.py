"""Perceptual ranking: the paper's formulas in dense matrices, and its precision in noise."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from vicinal import Graph
from vicinal.datasets.half_cylinders import make_half_cylinders
from vicinal.graphs._contextual import contextual
from vicinal.operators.aligned_laplacian import aligned_digraph_laplacian
from vicinal.operators.digraph import SymmetricWalk
from vicinal.rank import ManifoldRanking, PerceptualRanking
from vicinal.rank import _scores as scores

# What the mean precision of the first 800 must reach, by the number of noise points.
WANTED = {400: 0.93, 800: 0.88, 1200: 0.83, 1600: 0.78}


def dense_theta(weights, beta):
    """Formulas (10) and (12), evaluated literally."""
    n = len(weights)
    sums = weights.sum(axis=1)
    steps = np.array(
        [w / s if s else np.full(n, 1 / n) for w, s in zip(weights, sums, strict=True)]
    )
    steps = beta * steps + (1 - beta) / n
    system = np.vstack([np.eye(n) - steps.T, np.ones(n)])
    stationary = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    roots = np.sqrt(stationary)
    half = roots[:, None] * steps / roots[None]
    return (half + half.T) / 2


@st.composite
def digraphs(draw):
    """Digraphs of every kind: without edges at some nodes, with several closed classes, cycles."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 12))
    weights = rng.random((n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.1, 0.3, 0.8])))
    np.fill_diagonal(weights, 0.0)
    return weights


def graph_from_edges_trusted(weights):
    pairs = np.argwhere(weights > 0)
    return Graph.from_edges(
        len(weights), pairs, np.ones(len(pairs)), weights[tuple(pairs.T)], directed=True
    )


@settings(max_examples=80)
@given(
    digraphs(), st.sampled_from([0.0, 0.5, 0.9, 0.999]), st.sampled_from([0.0, 0.5, 0.99, 0.99999])
)
def test_scores_on_any_digraph_are_those_of_the_dense_inverse(weights, alpha, beta):
    n = len(weights)
    model = PerceptualRanking(alpha=alpha, beta=beta).fit(graph_from_edges_trusted(weights))
    expected = np.linalg.inv(np.eye(n) - alpha * dense_theta(weights, beta))
    largest = np.abs(expected).max(axis=1, keepdims=True)
    assert model.scores(np.arange(n)) / largest == pytest.approx(expected / largest, abs=1e-8)


@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
@pytest.mark.parametrize("alpha", [0.1, 0.9, 0.999, 0.99999])
def test_scores_of_points_are_those_of_the_dense_inverse(descriptor, alpha):
    X, _ = make_half_cylinders(150, 100, random_state=0)
    weights = contextual(X, 10, descriptor=descriptor).to_scipy("strengths").toarray()
    model = PerceptualRanking(alpha=alpha, descriptor=descriptor).fit(X)
    expected = np.linalg.inv(np.eye(400) - alpha * dense_theta(weights, 0.99999))[:50]
    largest = expected.max(axis=1, keepdims=True)
    assert model.scores(np.arange(50)) / largest == pytest.approx(expected / largest, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 0.999])
def test_scores_by_the_aligned_laplacian_are_those_of_the_dense_inverse(alpha):
    X, _ = make_half_cylinders(150, 100, random_state=0)
    theta = np.eye(400) - aligned_digraph_laplacian(contextual(X, 10)).toarray()
    model = PerceptualRanking(alpha=alpha, laplacian="aligned").fit(X)
    expected = np.linalg.inv(np.eye(400) - alpha * theta)[:50]
    assert model.scores(np.arange(50)) == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_large_system_reaches_the_tolerance_of_the_residual():
    X, _ = make_half_cylinders(1500, 1000, random_state=0)
    graph = contextual(X, 10)
    model = PerceptualRanking(alpha=0.9999).fit(graph)
    result = model.scores([0, 1, [2, 3000]])
    starts = np.zeros((3, 4000))
    starts[0, 0] = starts[1, 1] = starts[2, 2] = starts[2, 3000] = 1.0
    rest = starts.T - (result.T - 0.9999 * (SymmetricWalk(graph) @ result.T))
    assert np.abs(rest).max() < 1e-9 * result.max()


def test_points_and_their_digraph_give_the_same_answers():
    X, _ = make_half_cylinders(100, 50, random_state=0)
    by_points = PerceptualRanking().fit(X).rank([0, [1, 2]], 30)
    by_graph = PerceptualRanking().fit(contextual(X, 10)).rank([0, [1, 2]], 30)
    for ours, theirs in zip(by_graph, by_points, strict=True):
        assert (ours == theirs).all()


def test_results_exclude_the_labelled_points_by_default():
    X, _ = make_half_cylinders(100, 50, random_state=0)
    model = PerceptualRanking(alpha=0.5).fit(X)
    assert not np.isin([4, 7], model.rank([[4, 7]], 248)[0]).any()
    indices, values = model.rank([4, 7], 250, include_queries=True)
    assert indices[:, 0].tolist() == [4, 7]
    assert (np.sort(indices, axis=1) == np.arange(250)).all()
    assert (np.diff(values, axis=1) <= 0).all()
    full = model.scores([4, 7])
    assert (values == np.take_along_axis(full, indices, axis=1)).all()


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_the_order_of_the_points_does_not_matter(descriptor, laplacian):
    X, _ = make_half_cylinders(150, 100, random_state=0)
    order = np.random.default_rng(0).permutation(400)
    model = PerceptualRanking(alpha=0.999, descriptor=descriptor, laplacian=laplacian)
    plain = model.fit(X).scores(order[:20])
    permuted = model.fit(X[order]).scores(np.arange(20))
    assert permuted == pytest.approx(plain[:, order], rel=1e-7)
    assert (order[model.rank(np.arange(20), 30)[0]] == model.fit(X).rank(order[:20], 30)[0]).all()


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
def test_duplicates_of_training_points_have_their_scores(laplacian):
    X, _ = make_half_cylinders(100, 50, random_state=0)
    model = PerceptualRanking(laplacian=laplacian).fit(X)
    assert model.scores(X[:30]) == pytest.approx(model.scores(np.arange(30)))


def test_scores_of_new_points_are_those_of_the_enlarged_dense_system():
    """A new node with the column p_j / sqrt(m_j) beside an unchanged Theta, solved as one system."""
    X, _ = make_half_cylinders(40, 20, random_state=0)
    kept, new = X[:-8], X[-8:]
    alpha, beta = 0.95, 0.99999
    graph = contextual(kept, 6)
    model = PerceptualRanking(6, alpha=alpha, beta=beta).fit(kept)
    theta = dense_theta(graph.to_scipy("strengths").toarray(), beta)
    n = len(kept)
    for point, scores_of_point in zip(new, model.scores(new), strict=True):
        enlarged = contextual(np.vstack([kept, point]), 6, sigma=graph.metadata["sigma"])
        steps = enlarged.to_scipy("strengths").toarray()[-1, :-1]
        column = steps / steps.sum() / np.sqrt(model.stationary_)
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = theta
        # The factor of the column does not change the proportions of the scores.
        system[:n, n] = system[n, :n] = 1e-3 * column / column.max()
        expected = np.linalg.inv(np.eye(n + 1) - alpha * system)[n, :n]
        np.testing.assert_allclose(
            scores_of_point / scores_of_point.sum(), expected / expected.sum(), rtol=1e-7
        )


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
@pytest.mark.parametrize("alpha", [0.9, 0.999])
def test_new_points_rank_as_if_they_had_been_there(alpha, laplacian):
    X, _ = make_half_cylinders(800, 800, random_state=0)
    new = np.random.default_rng(0).choice(1600, 30, replace=False)
    kept = np.delete(np.arange(2400), new)
    model = PerceptualRanking(alpha=alpha, laplacian=laplacian)
    whole = model.fit(X).scores(new)[:, kept]
    inserted = model.fit(X[kept]).scores(X[new])
    shared = [
        len(np.intersect1d(np.argsort(-a)[:100], np.argsort(-b)[:100])) / 100
        for a, b in zip(whole, inserted, strict=True)
    ]
    likeness = [spearmanr(a, b)[0] for a, b in zip(whole, inserted, strict=True)]
    assert np.mean(shared) > 0.85
    assert np.mean(likeness) > 0.98


def mean_precision(model, X, labels, queries):
    indices = model.fit(X).rank(queries, 800, include_queries=True)[0]
    return (labels[indices] == labels[queries, None]).mean()


@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_a_surface_is_found_in_as_much_noise_where_the_undirected_graph_loses_it(descriptor):
    X, labels = make_half_cylinders(800, 800, random_state=0)
    queries = np.random.default_rng(0).choice(1600, 25, replace=False)
    ours = mean_precision(
        PerceptualRanking(10, alpha=0.999, descriptor=descriptor), X, labels, queries
    )
    assert ours >= WANTED[800]
    peer = max(
        mean_precision(ManifoldRanking(alpha), X, labels, queries) for alpha in (0.99, 0.999)
    )
    assert ours > peer + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("n_noise", WANTED)
@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_the_first_800_are_of_the_surface_of_the_query(descriptor, n_noise):
    result = []
    for seed in range(5):
        X, labels = make_half_cylinders(800, n_noise, random_state=seed)
        queries = np.random.default_rng(seed).choice(1600, 50, replace=False)
        model = PerceptualRanking(10, alpha=0.999, descriptor=descriptor)
        result.append(mean_precision(model, X, labels, queries))
    assert np.mean(result) >= WANTED[n_noise]


def test_same_bits_for_any_number_of_threads_and_any_blocks(monkeypatch):
    X, _ = make_half_cylinders(400, 300, random_state=0)
    one, many = (PerceptualRanking(n_jobs=jobs).fit(X) for jobs in (1, 3))
    queries = np.arange(40)
    answer = one.rank(queries, 50)
    monkeypatch.setattr(scores, "BLOCK_ENTRIES", 1)
    for ours, theirs in zip(many.rank(queries, 50), answer, strict=True):
        assert (ours == theirs).all()
    assert (many.scores(queries) == one.scores(queries)).all()
    assert (one.rank([7], 50)[1] == answer[1][7]).all()


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_the_data_does_not_matter_to_centroids(factor):
    X, _ = make_half_cylinders(100, 50, random_state=0)
    model = PerceptualRanking(descriptor="centroid")
    plain = model.fit(X).scores([0, 1])
    assert model.fit(X * factor).scores([0, 1]) == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize(
    "X", [np.zeros((30, 2)), np.repeat(np.eye(10), 3, axis=0), np.ones((30, 1))]
)
def test_duplicates_have_finite_scores(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few distinct rows have fewer neighbours
        result = PerceptualRanking(5).fit(X).scores(np.arange(30))
    assert np.isfinite(result).all()
    assert (result >= 0).all()


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
def test_equal_rows_have_the_score_of_one_and_those_of_a_query_come_first(laplacian):
    X, _ = make_half_cylinders(60, 40, random_state=0)
    times = np.random.default_rng(0).integers(1, 6, 160)
    group = np.random.default_rng(1).permutation(np.repeat(np.arange(160), times))
    once = PerceptualRanking(laplacian=laplacian).fit(X)
    often = PerceptualRanking(laplacian=laplacian).fit(X[group])
    rows = np.array([np.flatnonzero(group == i)[-1] for i in range(160)])
    expected = once.scores(np.arange(160))[:, group]
    assert often.scores(rows) == pytest.approx(expected, rel=1e-7)
    assert often.stationary_.sum() == pytest.approx(1)
    new = X[:20] + 1e-3
    assert often.scores(new) == pytest.approx(once.scores(new)[:, group], rel=1e-6)
    # Two points, and two duplicates of one of them.
    query = [rows[3], rows[4], np.flatnonzero(group == 3)[0]]
    assert often.scores([query])[0] == pytest.approx(once.scores([[3, 4]])[0][group], rel=1e-7)
    indices, values = often.rank([query], 30)
    same = np.setdiff1d(np.flatnonzero(np.isin(group, [3, 4])), query)
    assert indices[0, : len(same)].tolist() == same.tolist()
    assert (values[0] == often.scores([query])[0][indices[0]]).all()
    assert (np.diff(values[0, len(same) :]) <= 0).all()


def test_a_fitted_ranking_is_pickled_with_its_answers():
    X, _ = make_half_cylinders(100, 50, random_state=0)
    model = PerceptualRanking().fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert (again.rank([0, 1], 5)[1] == model.rank([0, 1], 5)[1]).all()


def test_nodes_without_edges_and_several_closed_classes_are_ranked_below_beta_1():
    graph = Graph.from_edges(5, [[0, 1], [1, 0], [2, 3], [3, 2]], np.ones(4), directed=True)
    indices, values = PerceptualRanking().fit(graph).rank([0, 2], 4)
    assert indices[:, 0].tolist() == [1, 3]
    assert np.isfinite(values).all()
    with pytest.raises(ValueError, match=r"beta=1.*no edge to follow"):
        PerceptualRanking(beta=1.0).fit(graph)
    with pytest.raises(ValueError, match=r"beta=1.*2 closed classes"):
        PerceptualRanking(beta=1.0).fit(graph.subgraph(np.arange(4)))


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"alpha": 1.0}, ValueError), ({"alpha": -0.5}, ValueError), ({"alpha": "x"}, ValueError),
        ({"beta": 1.5}, ValueError), ({"beta": -0.1}, ValueError),
        ({"laplacian": "local"}, ValueError), ({"descriptor": "mean"}, ValueError),
        ({"n_neighbors": 1}, ValueError), ({"n_neighbors": 2.5}, TypeError),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(params, error):
    name = next(iter(params))
    with pytest.raises(error, match=f"{name}="):
        PerceptualRanking(**params).fit(np.random.default_rng(0).random((20, 2)))


def test_bad_queries_raise():
    X, _ = make_half_cylinders(50, 50, random_state=0)
    model = PerceptualRanking().fit(X)
    with pytest.raises(ValueError, match="row 150"):
        model.rank([150], 3)
    with pytest.raises(ValueError, match="k=150"):
        model.rank([0], 150)
    with pytest.raises(ValueError, match="2 features"):
        model.rank(np.zeros((1, 2)), 3)
    digraph = Graph.from_edges(2, [[0, 1]], [1.0], directed=True)
    with pytest.raises(ValueError, match="fit it on points"):
        PerceptualRanking().fit(digraph).rank(np.zeros((1, 2)), 1)
