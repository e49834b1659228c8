"""PageRank against the dense closed form and networkx."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vicinal import Graph, graphs, pagerank
from vicinal.operators import stationary_distribution


def dense_pagerank(W, damping, landing):
    """pi' (P with teleport) = pi', by the null space."""
    n = len(W)
    P = np.array([row / row.sum() if row.any() else landing for row in W])
    full = damping * P + (1 - damping) * landing[None]
    system = np.vstack([full.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(system, np.r_[np.zeros(n), 1.0], rcond=None)[0]


@st.composite
def digraphs(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(1, 20))
    return rng.random((n, n)) * (rng.random((n, n)) < 0.2)


@settings(max_examples=80)
@given(digraphs(), st.sampled_from([0.0, 0.5, 0.85, 0.99]), st.integers(0, 3))
def test_is_the_stationary_distribution_of_the_walk_with_teleport(W, damping, kind):
    n = len(W)
    rng = np.random.default_rng(n)
    landing = [None, rng.random(n) + 0.01, np.eye(n)[n // 2], rng.random(n)][kind]
    result = pagerank(W, damping, personalization=landing)
    start = np.full(n, 1 / n) if landing is None else landing / landing.sum()
    np.testing.assert_allclose(result, dense_pagerank(W, damping, start), atol=1e-9)
    assert result.sum() == pytest.approx(1)
    assert result.min() >= 0


@pytest.mark.parametrize("personal", [None, {3: 1.0, 7: 2.0}])
def test_agrees_with_networkx_beyond_the_direct_solver(personal):
    networkx = pytest.importorskip("networkx")
    W = sparse.random_array(
        (3000, 3000), density=0.001, random_state=np.random.default_rng(0), format="csr"
    )
    theirs = networkx.pagerank(
        networkx.from_scipy_sparse_array(W, create_using=networkx.DiGraph),
        personalization=personal,
        tol=1e-13,
        max_iter=1000,
    )
    expected = np.array([theirs[i] for i in range(3000)])
    np.testing.assert_allclose(pagerank(W, personalization=personal), expected, atol=1e-9)


def test_uniform_restarts_equal_stationary_distribution():
    W = np.random.default_rng(1).random((40, 40))
    np.testing.assert_allclose(pagerank(W, 0.9), stationary_distribution(W, 0.9), atol=1e-10)


def test_restarts_at_one_node_rank_only_its_component():
    graph = Graph.from_edges(6, [[0, 1], [1, 2], [3, 4], [4, 5]], lengths=np.ones(4))
    result = pagerank(graph, personalization={0: 5})
    assert np.flatnonzero(result).tolist() == [0, 1, 2]


def test_graphs_matrices_and_rescaled_weights_give_the_same_result():
    graph = graphs.knn(np.random.default_rng(0).random((50, 2)), 4, directed=True)
    expected = pagerank(graph)
    W = graph.to_scipy("strengths")
    for form in (W, W.toarray(), W * 2.0**300, sparse.coo_matrix(W)):
        np.testing.assert_allclose(pagerank(form), expected, atol=1e-12)
    huge = np.full(50, 1e308)
    np.testing.assert_allclose(pagerank(graph, personalization=huge), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damping": 1.0}, "damping=1"),
        ({"damping": -0.1}, "damping=-0.1"),
        ({"personalization": [1.0]}, "shape"),
        ({"personalization": [1.0, -1.0, 0.0]}, "negative"),
        ({"personalization": [0.0, 0.0, 0.0]}, "only zeros"),
        ({"personalization": [np.nan, 0.0, 0.0]}, "NaN"),
        ({"personalization": {5: 1.0}}, "node 5"),
        ({"personalization": {"a": 1.0}}, "node 'a'"),
        ({"personalization": {1.0: 1.0}}, "node 1.0, but nodes are the integers"),
        ({"personalization": {True: 1.0}}, "node True"),
        ({"personalization": {-1: 1.0}}, "node -1"),
    ],
)
def test_invalid_input_is_named_in_the_error(options, words):
    with pytest.raises(ValueError, match=words):
        pagerank(np.ones((3, 3)), **options)
