"""The digraph Laplacian (formula 10) against its definition and networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from vicinal import graphs
from vicinal.operators import digraph_laplacian
from vicinal.operators.digraph import SymmetricWalk
from with_threads import with_threads


def literal_laplacian(W, beta):
    """I - Theta with everything dense."""
    n = len(W)
    sums = W.sum(axis=1, keepdims=True)
    P = beta * np.where(sums > 0, W / np.where(sums > 0, sums, 1), 1 / n) + (1 - beta) / n
    # The chain is solved for with its sum in place of one equation.
    A = np.eye(n) - P.T
    A[-1] = 1
    stationary = np.linalg.solve(A, np.eye(n)[-1])
    root = np.sqrt(stationary)
    flow = root[:, None] * P / root[None]
    return np.eye(n) - (flow + flow.T) / 2


@st.composite
def digraphs(draw, strongly_connected=False):
    n = draw(st.integers(2, 10))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    W = rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0, 1)))
    np.fill_diagonal(W, 0)
    if strongly_connected:
        W += 0.1 * np.roll(np.eye(n), 1, axis=1)
    return W


@settings(max_examples=50)
@given(W=digraphs(), beta=st.sampled_from([0.0, 0.5, 0.9, 0.999]))
def test_it_follows_formula_10(W, beta):
    result = digraph_laplacian(W, beta, as_matrix=True)
    np.testing.assert_allclose(result, literal_laplacian(W, beta), atol=1e-9)


@settings(max_examples=50)
@given(W=digraphs(strongly_connected=True))
def test_the_limit_follows_formula_10_on_strongly_connected_digraphs(W):
    result = digraph_laplacian(W, 1.0, as_matrix=True)
    np.testing.assert_allclose(result, literal_laplacian(W, 1.0), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_strongly_connected_digraphs_agree_with_networkx(seed):
    graph = nx.gnp_random_graph(12, 0.4, seed=seed, directed=True)
    rng = np.random.default_rng(seed)
    nx.add_cycle(graph, rng.permutation(12).tolist())
    for edge in graph.edges:
        graph.edges[edge]["weight"] = rng.uniform(0.1, 1)
    assert nx.is_strongly_connected(graph)
    W = nx.to_numpy_array(graph, nodelist=range(12))
    expected = nx.directed_laplacian_matrix(graph, nodelist=range(12), walk_type="random")
    np.testing.assert_allclose(digraph_laplacian(W, 1.0, as_matrix=True), expected, atol=1e-9)


@pytest.mark.parametrize("beta", [0.5, 0.95])
def test_teleporting_walks_agree_with_networkx(beta):
    graph = nx.gnp_random_graph(15, 0.1, seed=2, directed=True)
    assert any(degree == 0 for _, degree in graph.out_degree())
    W = nx.to_numpy_array(graph, nodelist=range(15))
    expected = nx.directed_laplacian_matrix(
        graph, nodelist=range(15), walk_type="pagerank", alpha=beta
    )
    np.testing.assert_allclose(digraph_laplacian(W, beta, as_matrix=True), expected, atol=1e-9)


@settings(max_examples=50)
@given(W=digraphs(), beta=st.sampled_from([0.0, 0.9, 0.99999]))
def test_it_is_symmetric_and_positive_semidefinite(W, beta):
    L = digraph_laplacian(W, beta, as_matrix=True)
    np.testing.assert_allclose(L, L.T, atol=1e-15)
    values = np.linalg.eigvalsh(L)
    assert values.min() > -1e-12
    assert values.max() < 2 + 1e-12


@settings(max_examples=30)
@given(W=digraphs(), beta=st.sampled_from([0.3, 0.9, 0.99999]))
def test_square_roots_of_the_stationary_distribution_are_in_the_null_space(W, beta):
    walk = SymmetricWalk(W, beta)
    np.testing.assert_allclose(walk.trivial_vector**2, walk.stationary, rtol=1e-12)
    np.testing.assert_allclose(walk @ walk.trivial_vector, walk.trivial_vector, atol=1e-13)


@settings(max_examples=30)
@given(W=digraphs(), beta=st.sampled_from([0.0, 0.9, 0.99999]))
def test_operator_and_matrix_are_the_same(W, beta):
    operator = digraph_laplacian(W, beta)
    matrix = digraph_laplacian(W, beta, as_matrix=True)
    assert isinstance(operator, LinearOperator)
    X = np.random.default_rng(0).standard_normal((len(W), 3))
    np.testing.assert_allclose(operator @ X, matrix @ X, atol=1e-12)
    np.testing.assert_allclose(operator @ X[:, 0], matrix @ X[:, 0], atol=1e-12)
    np.testing.assert_allclose(operator.T @ X[:, 0], matrix @ X[:, 0], atol=1e-12)


def test_the_walk_is_sparse_plus_rank_two():
    W = np.random.default_rng(0).random((20, 20)) * (
        np.random.default_rng(1).random((20, 20)) < 0.2
    )
    W[4] = 0
    np.fill_diagonal(W, 0)
    walk = SymmetricWalk(W, 0.9)
    low_rank = walk.toarray() - walk.sparse_part.toarray()
    assert np.linalg.matrix_rank(low_rank, tol=1e-10) == 2
    outer = np.outer(walk.left, walk.right)
    np.testing.assert_allclose(low_rank, (outer + outer.T) / 2, atol=1e-15)
    pattern = (W + W.T) > 0
    assert not walk.sparse_part.toarray()[~pattern].any()


def test_reversing_all_edges_of_an_undirected_graph_changes_nothing():
    W = np.random.default_rng(2).random((15, 15))
    W = W + W.T
    np.fill_diagonal(W, 0)
    L = digraph_laplacian(W, 1.0, as_matrix=True)
    root = np.sqrt(W.sum(axis=1))
    np.testing.assert_allclose(L, np.eye(15) - W / np.outer(root, root), atol=1e-9)


def test_an_eigensolver_accepts_the_operator():
    graph = graphs.contextual(np.random.default_rng(0).normal(size=(400, 3)), 8)
    operator = digraph_laplacian(graph, 0.999)
    values = eigsh(operator, 3, which="SA", tol=1e-10)[0]
    expected = np.linalg.eigvalsh(digraph_laplacian(graph, 0.999, as_matrix=True))[:3]
    np.testing.assert_allclose(values, expected, atol=1e-9)


def test_the_order_of_nodes_does_not_matter():
    rng = np.random.default_rng(3)
    W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)
    order = rng.permutation(12)
    expected = digraph_laplacian(W, 0.99, as_matrix=True)[np.ix_(order, order)]
    result = digraph_laplacian(W[np.ix_(order, order)], 0.99, as_matrix=True)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits():
    # Large enough for products to use several threads.
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    graph = graphs.contextual(X, 14, descriptor="centroid")
    x = np.random.default_rng(1).standard_normal(20_000)
    one, two = (with_threads(jobs, lambda: SymmetricWalk(graph, 0.999) @ x) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_input_is_not_changed():
    W = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, 2], [3, 1, 0]]))
    before = W.copy()
    digraph_laplacian(W, as_matrix=True)
    np.testing.assert_array_equal(W.toarray(), before.toarray())


@pytest.mark.parametrize(
    ("W", "beta", "message"),
    [
        ([[0, 1.0], [1, 0]], 1.5, "beta=1.5"),
        ([[0, 1.0], [1, 0]], -0.1, "beta=-0.1"),
        ([[0, 1.0], [0, 0]], 1.0, "beta=1, but 1 node"),
        (np.kron(np.eye(2), np.ones((2, 2))), 1.0, "2 closed classes"),
        ([[0, 1.0, 0], [0, 0, 1], [0, 1, 0]], 1.0, r"1 node\(s\) are never visited.*beta < 1"),
        ([[0, -1.0], [1, 0]], 0.9, "negative"),
    ],
)
def test_invalid_arguments_are_rejected(W, beta, message):
    with pytest.raises(ValueError, match=message):
        digraph_laplacian(W, beta)
