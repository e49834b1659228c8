"""The eigensolver against dense solvers, on connected, disconnected and degenerate graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator

from vicinal import Graph, graphs
from vicinal.operators import leading_eigenpairs
from vicinal.operators._threaded_matmul import ThreadedSparseOperator


def dense_normalized(W):
    W = W.toarray() if sparse.issparse(W) else np.asarray(W, dtype=float)
    sums = W.sum(axis=1)
    roots = np.where(sums > 0, 1 / np.sqrt(np.where(sums > 0, sums, 1)), 0)
    # A node without affinity stays where it is.
    return W * np.outer(roots, roots) + np.diag((sums == 0).astype(float))


def in_pieces(*sizes, seed=0, k=6):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.random((size, 2)) + 50 * i for i, size in enumerate(sizes)])
    return graphs.knn(X, k)


@pytest.mark.parametrize(
    "graph",
    [
        in_pieces(80),
        in_pieces(700),
        in_pieces(700, 650, 40),
        in_pieces(40, 40, 40),
        graphs.grid((40, 30)),
        graphs.mst(np.random.default_rng(3).random((900, 2))),
        Graph.from_edges(6, [[0, 1], [1, 2]], [1.0, 2.0]),
    ],
    ids=["dense", "Lanczos", "large components", "twins", "grid", "tree", "isolates"],
)
def test_pairs_are_those_of_the_dense_matrix(graph):
    n_pairs = min(9, graph.n_nodes)
    pairs = leading_eigenpairs(graph, n_pairs)
    S = dense_normalized(graph.affinity())
    expected = np.linalg.eigvalsh(S)[::-1][:n_pairs]
    np.testing.assert_allclose(pairs.values, expected, atol=1e-8)
    np.testing.assert_allclose(S @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-7)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(n_pairs), atol=1e-6)
    assert pairs.residuals.max() < 1e-8


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), n=st.integers(2, 40), keep=st.floats(0.02, 0.6))
def test_any_affinity_with_any_number_of_components_is_solved(seed, n, keep):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < keep)
    W = W + W.T
    pairs = leading_eigenpairs(W, n)
    S = dense_normalized(W)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(S)[::-1], atol=1e-9)
    np.testing.assert_allclose(S @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-9)


def test_each_component_has_its_constant_vector_and_the_largest_comes_first():
    graph = in_pieces(30, 50, 20)
    pairs = leading_eigenpairs(graph, 3)
    np.testing.assert_array_equal(pairs.values, 1)
    roots = np.sqrt(graph.affinity().sum(axis=1))
    for column, (start, stop) in enumerate([(30, 80), (0, 30), (80, 100)]):
        expected = np.zeros(100)
        expected[start:stop] = roots[start:stop] / np.linalg.norm(roots[start:stop])
        np.testing.assert_allclose(pairs.vectors[:, column], expected, atol=1e-12)


def test_fewer_pairs_than_components_belong_to_the_largest_components():
    pairs = leading_eigenpairs(in_pieces(30, 50, 20), 2)
    assert np.flatnonzero(pairs.vectors[:, 0])[0] == 30
    assert np.flatnonzero(pairs.vectors[:, 1])[0] == 0


def test_edges_with_vanishing_affinity_do_not_connect():
    W = sparse.csr_array(([1.0, 1.0, 0.0, 0.0, 1.0, 1.0], ([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])))
    np.testing.assert_allclose(leading_eigenpairs(W, 3).values, [1, 1, -1], atol=1e-12)


def test_a_weakly_attached_outlier_is_not_a_component():
    # Two triangles on a weak bridge, and a node whose whole weight is below the rounding of theirs.
    W = np.zeros((7, 7))
    W[:3, :3] = W[3:6, 3:6] = 1.0
    W[2, 3] = W[3, 2] = 0.1
    W[6, 5] = W[5, 6] = 1e-33
    np.fill_diagonal(W, 0.0)
    pairs = leading_eigenpairs(W, 7)
    np.testing.assert_allclose(
        pairs.values, np.linalg.eigvalsh(dense_normalized(W))[::-1], atol=1e-12
    )
    assert pairs.residuals.max() < 1e-12


def test_two_outliers_attached_only_to_each_other_are_a_component():
    W = np.zeros((5, 5))
    W[:3, :3] = 1.0
    W[3, 4] = W[4, 3] = 1e-20
    W[2, 3] = W[3, 2] = 1e-60
    np.fill_diagonal(W, 0.0)
    pairs = leading_eigenpairs(W, 2)
    np.testing.assert_allclose(pairs.values, [1, 1])
    assert np.flatnonzero(pairs.vectors[:, 1]).tolist() == [3, 4]
    assert pairs.residuals.max() < 1e-12


@pytest.mark.parametrize(
    ("operator", "match"),
    [
        ([[0.0, 1.0], [5.0, 0.0]], "transpose"),
        (sparse.csr_array([[0.0, 1.0], [5.0, 0.0]]), "transpose"),
        (np.ones((2, 3)), "square"),
        ([[np.nan, 0.0], [0.0, 1.0]], "NaN"),
    ],
)
def test_asymmetric_operators_are_rejected(operator, match):
    with pytest.raises(ValueError, match=match):
        leading_eigenpairs(operator, 1, normalized=False)
    with pytest.raises(TypeError, match="real"):
        leading_eigenpairs(np.eye(2) * 1j, 1, normalized=False)


def test_a_graph_is_accepted_as_its_affinity():
    graph = in_pieces(60)
    pairs = leading_eigenpairs(graph, 3, normalized=False)
    expected = np.linalg.eigvalsh(graph.affinity().toarray())[::-1][:3]
    np.testing.assert_allclose(pairs.values, expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, aslinearoperator])
def test_any_symmetric_operator_is_accepted_unchanged(form):
    A = np.random.default_rng(2).standard_normal((700, 700))
    A = A + A.T
    pairs = leading_eigenpairs(form(A), 5, normalized=False)
    np.testing.assert_allclose(pairs.values, np.linalg.eigvalsh(A)[::-1][:5], rtol=1e-9)
    assert pairs.residuals.max() < 1e-6


def test_a_long_thin_graph_where_lanczos_is_slow_is_solved():
    # A path: gaps of 1e-7, and known eigenvalues cos(pi k / (n - 1)).
    n = 6000
    steps = np.arange(n - 1)
    graph = Graph.from_edges(n, np.column_stack([steps, steps + 1]), np.zeros(n - 1))
    pairs = leading_eigenpairs(graph, 6)
    np.testing.assert_allclose(pairs.values, np.cos(np.pi * np.arange(6) / (n - 1)), atol=1e-11)
    assert pairs.residuals.max() < 1e-8


def test_sign_and_result_do_not_depend_on_the_seed():
    graph = in_pieces(900)
    first, second = (leading_eigenpairs(graph, 4, random_state=seed) for seed in (0, 1))
    np.testing.assert_allclose(first.vectors, second.vectors, atol=1e-6)
    peaks = np.argmax(np.abs(first.vectors), axis=0)
    assert (first.vectors[peaks, np.arange(4)] > 0).all()


def test_any_number_of_threads_gives_the_same_bits():
    graph = graphs.knn(np.random.default_rng(5).random((30_000, 3)), 10)
    one, two = (leading_eigenpairs(graph, 3, tolerance=1e-4, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_products_are_those_of_scipy():
    A = sparse.random_array(
        (500, 500), density=0.1, random_state=np.random.default_rng(0), format="csr"
    )
    X = np.random.default_rng(1).standard_normal((500, 4))
    operator = ThreadedSparseOperator(A)
    np.testing.assert_allclose(operator @ X, A @ X, atol=1e-12)
    np.testing.assert_allclose(operator @ X[:, 1], A @ X[:, 1], atol=1e-12)


def test_subspace_is_that_of_scikit_learn():
    from sklearn.manifold import spectral_embedding

    W = in_pieces(800).affinity()
    pairs = leading_eigenpairs(W, 4)
    ours = pairs.vectors[:, 1:] / np.sqrt(W.sum(axis=1))[:, None]
    theirs = spectral_embedding(
        sparse.csr_matrix(W), n_components=3, eigen_solver="arpack", random_state=0
    )
    assert subspace_angles(ours, theirs).max() < 1e-6


@pytest.mark.parametrize("n_pairs", [0, 11, -1])
def test_a_number_of_pairs_out_of_range_is_rejected(n_pairs):
    with pytest.raises(ValueError, match="n_pairs"):
        leading_eigenpairs(np.ones((10, 10)), n_pairs)


@pytest.mark.parametrize("share", [0.3, 0.2, 0.15, 0.12, 0.1])
def test_a_scale_far_too_small_gives_exact_eigenvalues_near_one(share):
    X = np.random.default_rng(0).random((900, 3)) * [24, 32, 3]
    graph = graphs.knn(X, 10)
    W = graph.affinity(scale=share * np.median(graph.lengths))
    pairs = leading_eigenpairs(W, 4, tolerance=1e-5)
    assert np.isfinite(pairs.vectors).all()
    assert pairs.residuals.max() < 1e-3
    np.testing.assert_allclose(
        pairs.values, np.linalg.eigvalsh(dense_normalized(W))[::-1][:4], atol=1e-5
    )
