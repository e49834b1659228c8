"""Stationary distributions against dense eigenvectors, PageRank, and solutions in long double."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import splu

from vicinal import Graph, graphs
from vicinal.operators import (
    _chain_levels,
    digraph_laplacian,
    stationary,
    stationary_distribution,
)
from vicinal.operators._chain_levels import ChainLevel


def dense_walk(W, beta, landing=None):
    """Formula (12); from a node without an edge, the walk goes anywhere, or to the landing."""
    n = len(W)
    start = np.full(n, 1 / n) if landing is None else landing / landing.sum()
    sums = W.sum(axis=1, keepdims=True)
    P = np.where(sums > 0, W / np.where(sums > 0, sums, 1), start)
    return beta * P + (1 - beta) * start


def dominant_left_eigenvector(P):
    values, vectors = np.linalg.eig(P.T)
    vector = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return vector / vector.sum()


def long_double_solution(walk, beta, rounds=40):
    """The linear system, refined with residuals in long double: digits that double does not have."""
    n = walk.shape[0]
    factor = splu(sparse.csc_array(sparse.identity(n) - beta * walk.T))
    entries = sparse.coo_array(walk)
    rows, columns = entries.coords
    values = np.longdouble(beta) * entries.data
    result = np.full(n, np.longdouble(1) / n)
    teleport = (1 - np.longdouble(beta)) / n
    for _ in range(rounds):
        arriving = np.zeros(n, dtype=np.longdouble)
        np.add.at(arriving, columns, values * result[rows])
        residual = teleport - (result - arriving)
        result = result + factor.solve(residual.astype(np.float64))
    return result


def digraph(n, seed=0, keep=0.3):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < keep)
    np.fill_diagonal(W, 0)
    return W


def ring(n):
    return sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))


def rows_of_long_double(W):
    """Rows that sum to 1 in long double: rounding of their sums is part of beta near 1."""
    W = sparse.csr_array(W).astype(np.longdouble)
    sums = np.add.reduceat(W.data, W.indptr[:-1])
    return W.data / np.repeat(sums, np.diff(W.indptr))


@settings(max_examples=60)
@given(
    n=st.integers(1, 12),
    seed=st.integers(0, 10_000),
    keep=st.floats(0, 1),
    beta=st.sampled_from([0.0, 0.5, 0.85, 0.999, 0.99999]),
)
def test_it_is_the_left_eigenvector_of_the_walk(n, seed, keep, beta):
    W = digraph(n, seed, keep)
    result = stationary_distribution(W, beta)
    assert result.sum() == pytest.approx(1, rel=1e-12)
    assert (result >= 0).all()
    P = dense_walk(W, beta)
    np.testing.assert_allclose(result @ P, result, atol=1e-14)
    np.testing.assert_allclose(result, dominant_left_eigenvector(P), atol=1e-9)


@settings(max_examples=80)
@given(
    n=st.integers(1, 20),
    seed=st.integers(0, 10_000),
    beta=st.sampled_from([0.0, 0.5, 0.85, 0.99]),
    kind=st.integers(0, 2),
)
def test_the_walk_continues_at_the_landing_nodes(n, seed, beta, kind):
    W = digraph(n, seed, keep=0.2)
    rng = np.random.default_rng(seed)
    landing = [rng.random(n) + 0.01, np.eye(n)[n // 2], 7.0 * (np.arange(n) >= n // 2)][kind]
    result = stationary_distribution(W, beta, landing=landing)
    system = np.vstack([dense_walk(W, beta, landing).T - np.eye(n), np.ones(n)])
    expected = np.linalg.lstsq(system, np.r_[np.zeros(n), 1.0], rcond=None)[0]
    np.testing.assert_allclose(result, expected, atol=1e-9)
    assert result.sum() == pytest.approx(1)
    assert (result >= 0).all()


@pytest.mark.parametrize("landing", [None, {3: 1.0, 7: 2.0}])
@pytest.mark.parametrize(("n", "beta"), [(60, 0.5), (60, 0.85), (60, 0.99), (3000, 0.85)])
def test_it_is_pagerank(n, beta, landing):
    """Small chains are solved directly, large ones by iteration."""
    graph = nx.fast_gnp_random_graph(n, 1.8 / n, seed=1, directed=True)
    assert any(degree == 0 for _, degree in graph.out_degree())
    expected = nx.pagerank(graph, alpha=beta, personalization=landing, tol=1e-14, max_iter=10_000)
    weights = None if landing is None else [landing.get(i, 0.0) for i in range(n)]
    result = stationary_distribution(nx.to_scipy_sparse_array(graph), beta, landing=weights)
    np.testing.assert_allclose(result, [expected[i] for i in range(n)], atol=1e-10)


def test_landing_at_one_node_reaches_only_its_component():
    graph = Graph.from_edges(6, [[0, 1], [1, 2], [3, 4], [4, 5]], lengths=np.ones(4))
    result = stationary_distribution(graph, 0.85, landing=[5, 0, 0, 0, 0, 0])
    assert np.flatnonzero(result).tolist() == [0, 1, 2]


def test_the_limit_does_not_depend_on_the_landing():
    W = digraph(30, seed=5, keep=0.4)
    limit = stationary_distribution(W, 1.0)
    np.testing.assert_array_equal(stationary_distribution(W, 1.0, landing=np.eye(30)[3]), limit)
    close = stationary_distribution(W, 1 - 1e-9, landing=np.eye(30)[3])
    np.testing.assert_allclose(close, limit, atol=1e-7)


@pytest.mark.parametrize("beta", [0.999, 0.99999, 1 - 1e-7])
@pytest.mark.parametrize("n", [300, 3000])
def test_accuracy_is_kept_close_to_the_limit(n, beta):
    """Small chains are solved directly, large ones by iteration."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    graph = graphs.contextual(X, 8)
    weights = graph.to_scipy("strengths")
    walk = sparse.csr_array(
        (rows_of_long_double(weights), weights.indices, weights.indptr), shape=(n, n)
    ).astype(np.float64)
    expected = long_double_solution(walk, beta)
    result = stationary_distribution(graph, beta)
    assert np.abs(result - expected / expected.sum()).sum() < 1e-9


@pytest.mark.parametrize("beta", [0.99999, 1 - 1e-7])
def test_a_large_digraph_is_solved_to_its_residual(beta):
    n = 20_000
    X = np.random.default_rng(1).normal(size=(n, 3))
    graph = graphs.contextual(X, 10, descriptor="centroid")
    result = stationary_distribution(graph, beta)
    weights = graph.to_scipy("strengths")
    arriving = np.zeros(n, dtype=np.longdouble)
    rows = np.repeat(np.arange(n), np.diff(weights.indptr))
    np.add.at(arriving, weights.indices, rows_of_long_double(weights) * result[rows])
    residual = result - np.longdouble(beta) * arriving - (1 - np.longdouble(beta)) / n
    # The inverse of I - beta P' has the 1-norm 1 / (1 - beta): this bounds the error of the result,
    # at 1e-7 from the limit up to what the rounding of the found numbers themselves is worth.
    assert np.abs(residual).sum() < (1 - beta) * 1e-9 + 1e-15
    assert result.min() >= (1 - beta) / n * (1 - 1e-9)


def test_power_iteration_converges_to_the_same_distribution():
    W = digraph(200, seed=3, keep=0.05)
    P = dense_walk(W, 0.9)
    walker = np.full(200, 1 / 200)
    for _ in range(400):
        walker = walker @ P
    np.testing.assert_allclose(stationary_distribution(W, 0.9), walker, atol=1e-14)


def test_undirected_walks_are_proportional_to_degrees():
    W = digraph(50, seed=4)
    W = W + W.T
    np.testing.assert_allclose(stationary_distribution(W, 1.0), W.sum(axis=1) / W.sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 7, 800, 2500])
def test_a_periodic_chain_has_its_distribution_too(n):
    """Power iteration would never converge."""
    np.testing.assert_allclose(stationary_distribution(ring(n), 1.0), np.full(n, 1 / n), rtol=1e-9)
    np.testing.assert_allclose(stationary_distribution(ring(n)), np.full(n, 1 / n), rtol=1e-9)


def test_a_chain_with_known_distribution():
    """A birth and death chain: each step up is twice as likely as down, so masses double."""
    n = 20
    W = 2.0 * np.eye(n, k=1) + np.eye(n, k=-1)
    W[0, 0], W[-1, -1] = 1.0, 2.0
    expected = 2.0 ** np.arange(n)
    np.testing.assert_allclose(
        stationary_distribution(W, 1.0), expected / expected.sum(), rtol=1e-12
    )


@pytest.mark.parametrize("link", [1e-6, 1e-10, 1e-14])
def test_weakly_connected_components_share_their_mass_exactly(link):
    W = np.kron(np.eye(2), np.ones((3, 3)))
    W[0, 5], W[5, 0] = link, 2 * link
    result = stationary_distribution(W, 1.0)
    # Flow there and back is the same: mass_a * link / (3 + link) = mass_b * 2 link / (3 + 2 link).
    assert result[0] * link / (3 + link) == pytest.approx(
        result[5] * 2 * link / (3 + 2 * link), rel=1e-9
    )


@pytest.mark.parametrize("n", [6, 2600])
def test_nodes_outside_the_closed_class_have_probability_zero_in_the_limit(n):
    W = sparse.lil_array((n, n))
    W[2:, 2:] = ring(n - 2)
    W[0, 1] = W[1, 2] = W[1, 0] = 1.0
    result = stationary_distribution(sparse.csr_array(W), 1.0)
    np.testing.assert_array_equal(result[:2], 0)
    np.testing.assert_allclose(result[2:], 1 / (n - 2), rtol=1e-9)


def test_the_limit_is_approached():
    W = digraph(30, seed=5, keep=0.4)
    limit = stationary_distribution(W, 1.0)
    close = stationary_distribution(W, 1 - 1e-9)
    np.testing.assert_allclose(close, limit, atol=1e-8)


def test_several_closed_classes_are_rejected_in_the_limit_only():
    W = np.kron(np.eye(2), np.ones((2, 2)) - np.eye(2))
    with pytest.raises(ValueError, match=r"beta=1, but the digraph has 2 closed classes.*beta < 1"):
        stationary_distribution(W, 1.0)
    np.testing.assert_allclose(stationary_distribution(W, 0.99999), np.full(4, 0.25), rtol=1e-9)


@pytest.mark.parametrize("n", [50, 3000])
@pytest.mark.parametrize("stored", [False, True])
def test_a_row_of_zeros_steps_uniformly_below_the_limit(n, stored):
    W = (ring(n) + 0.5 * ring(n) @ ring(n)).tolil()
    W[3, :] = 0
    W = sparse.csr_array(W)
    W.eliminate_zeros()
    if stored:
        W = sparse.csr_array(W + sparse.csr_array(([1.0], ([3], [4])), shape=(n, n)))
        W.data[W.indptr[3]] = 0.0
        assert W.indptr[4] > W.indptr[3]
    result = stationary_distribution(W, 0.99)
    arriving = result.copy()
    arriving[3] = 0
    sums = np.where(np.arange(n) == 3, 1.0, 1.5)
    expected = 0.99 * (W.T @ (arriving / sums) + result[3] / n) + 0.01 / n
    np.testing.assert_allclose(result, expected, atol=1e-13)


def test_a_row_of_zeros_is_rejected_in_the_limit():
    with pytest.raises(ValueError, match=r"beta=1, but 1 node\(s\) have no edge.*first is 1"):
        stationary_distribution([[0, 1.0], [0, 0]], 1.0)


def test_a_graph_walks_by_its_strengths():
    edges = [[0, 1], [0, 2], [1, 0], [2, 0]]
    graph = Graph.from_edges(3, edges, [9.0, 1.0, 1.0, 1.0], [0.25, 0.75, 1.0, 1.0], directed=True)
    np.testing.assert_allclose(stationary_distribution(graph, 1.0), [0.5, 0.125, 0.375], rtol=1e-12)


@pytest.mark.parametrize("n", [3, 800])
def test_stored_zeros_are_not_edges(n):
    # A cycle from node 1 on, which nothing but a stored zero leaves for node 0.
    cycle = [[i, i + 1] for i in range(n - 1)] + [[n - 1, 1]]
    graph = Graph.from_edges(
        n, [*cycle, [n - 1, 0]], [1.0] * (n + 1), [1.0] * n + [0.0], directed=True
    )
    expected = np.append(0, np.full(n - 1, 1 / (n - 1)))
    for digraph in (graph, graph.to_scipy("strengths"), graph.to_scipy("strengths").toarray()):
        np.testing.assert_allclose(stationary_distribution(digraph, 1.0), expected, atol=1e-10)
    with pytest.raises(ValueError, match="1 node"):
        digraph_laplacian(graph, 1.0)


def test_edges_that_underflow_are_ignored():
    W = np.array([[0, 1.0, 0], [0, 0, 1.0], [1e-320, 1e10, 0]])
    np.testing.assert_allclose(stationary_distribution(W, 1.0), [0, 0.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_only_ratios_of_weights_matter(scale):
    W = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0]])
    result = stationary_distribution(W * scale, 0.9)
    np.testing.assert_allclose(result, stationary_distribution(W, 0.9), rtol=1e-9)
    even = stationary_distribution(W, 0.9, landing=np.full(3, scale * 1e108))
    np.testing.assert_allclose(even, result, rtol=1e-9)


@pytest.mark.parametrize("n", [400, 2500])
def test_the_order_of_nodes_does_not_matter(n):
    rng = np.random.default_rng(6)
    W = sparse.csr_array(graphs.contextual(rng.normal(size=(n, 2)), 6).to_scipy("strengths"))
    order = rng.permutation(n)
    expected = stationary_distribution(W)[order]
    result = stationary_distribution(W[order][:, order])
    assert np.abs(result - expected).sum() < 1e-9


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_every_matrix_format_is_accepted_and_unchanged(make):
    W = digraph(10)
    given_matrix = make(W)
    expected = dominant_left_eigenvector(dense_walk(W, 0.9))
    np.testing.assert_allclose(stationary_distribution(given_matrix, 0.9), expected, atol=1e-12)
    after = given_matrix.toarray() if sparse.issparse(given_matrix) else given_matrix
    np.testing.assert_array_equal(after, W)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": -0.1}, "beta=-0.1"),
        ({"beta": 1.1}, "beta=1.1"),
        ({"beta": np.nan}, "beta=nan"),
        ({"beta": "1"}, "beta='1'"),
        ({"tolerance": 0.0}, "tolerance=0.0"),
        ({"digraph": [[0, -1.0], [1, 0]]}, "digraph contains the negative value -1"),
        ({"digraph": [[0, np.nan], [1, 0]]}, "digraph.data contains"),
        ({"digraph": [[0, 1.0, 2]]}, r"digraph has shape \(1, 3\)"),
        ({"digraph": [["a"]]}, "digraph has dtype"),
        ({"landing": [1.0]}, r"landing has shape \(1,\)"),
        ({"landing": {1: 1.0}}, "landing has dtype"),
        ({"landing": [1.0, -1.0]}, "landing contains negative"),
        ({"landing": [0.0, 0.0]}, "only zeros"),
        ({"landing": [np.nan, 1.0]}, "NaN"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        stationary_distribution(**{"digraph": [[0, 1.0], [1, 0]], **arguments})


def test_aggregates_save_steps_and_change_nothing(monkeypatch):
    """Two groups of 1,500 nodes on grids, with few edges between them."""
    X = np.random.default_rng(0).random((3000, 2))
    X[1500:, 0] += 1.02
    digraph = graphs.contextual(X, 8)
    steps, bicgstab = [], stationary.bicgstab

    def counted(*args):
        solution, n_steps = bicgstab(*args)
        steps.append(n_steps)
        return solution, n_steps

    monkeypatch.setattr(stationary, "bicgstab", counted)
    result = stationary_distribution(digraph)
    with_aggregates = sum(steps)
    monkeypatch.setattr(stationary, "ChainLevel", lambda matrix, _: ChainLevel(matrix, None))
    monkeypatch.setattr(ChainLevel, "update", lambda *args: None)
    steps.clear()
    np.testing.assert_allclose(result, stationary_distribution(digraph), rtol=1e-9)
    assert with_aggregates < 0.6 * sum(steps)


def test_blocks_change_nothing_and_neither_do_threads(monkeypatch):
    digraph = graphs.contextual(np.random.default_rng(0).random((3000, 2)), 8)
    expected = stationary_distribution(digraph)
    monkeypatch.setattr(_chain_levels, "MIN_ROWS_PER_BLOCK", 300)
    results = [stationary_distribution(digraph, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    np.testing.assert_allclose(results[0], expected, rtol=1e-9)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_the_error_is_within_the_tolerance():
    """Iterations stop once the residual guarantees it, long before the residual is rounding noise."""
    digraph = graphs.contextual(np.random.default_rng(0).random((3000, 2)), 8)
    exact = stationary_distribution(digraph, tolerance=1e-14)
    for tolerance in (1e-3, 1e-6, 1e-9):
        result = stationary_distribution(digraph, tolerance=tolerance)
        assert np.abs(result - exact).sum() <= tolerance


@pytest.mark.parametrize("beta", [0.5, 0.99, 1 - 1e-12])
def test_aggregates_of_any_chain(beta):
    """Separate groups, sinks and sources of a random digraph, for which aggregates are of little use."""
    rng = np.random.default_rng(0)
    weights = sparse.random_array((2400, 2400), density=2e-3, rng=rng, format="csr")
    weights = sparse.block_diag([weights, sparse.csr_array((50, 50))], format="csr")
    result = stationary_distribution(weights, beta)
    np.testing.assert_allclose(result @ dense_walk(weights.toarray(), beta), result, atol=1e-12)
