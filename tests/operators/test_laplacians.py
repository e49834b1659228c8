"""Random walks and Laplacians against their definitions, on dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from vicinal import Graph, graphs
from vicinal.operators import laplacian, transition
from vicinal.operators._components import affinity_structure
from vicinal.operators.laplacians import normalize_by_mass

KINDS = ["combinatorial", "symmetric", "random_walk"]


def literal_laplacian(W, kind):
    """Straight from the formulas; a node without affinity stays where it is."""
    sums = W.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(sums) - W
    result = np.zeros_like(W)
    for i in range(len(W)):
        for j in range(len(W)):
            if sums[i] == 0 or sums[j] == 0:
                continue
            norm = np.sqrt(sums[i] * sums[j]) if kind == "symmetric" else sums[i]
            result[i, j] = (i == j) - W[i, j] / norm
    return result


@st.composite
def affinities(draw):
    n = draw(st.integers(1, 9))
    seed = draw(st.integers(0, 10_000))
    keep = draw(st.floats(0, 1))
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) < keep)
    return W + W.T


@pytest.mark.parametrize("kind", KINDS)
@given(W=affinities())
def test_laplacian_follows_its_formula(kind, W):
    np.testing.assert_allclose(laplacian(W, kind).toarray(), literal_laplacian(W, kind), atol=1e-12)


@given(W=affinities())
def test_transition_rows_sum_to_one_and_follow_the_affinity(W):
    P = transition(W).toarray()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    sums = W.sum(axis=1)
    for i in np.flatnonzero(sums == 0):
        assert P[i, i] == 1
    moving = sums > 0
    np.testing.assert_allclose(P[moving], W[moving] / sums[moving, None], rtol=1e-12)


@given(W=affinities())
def test_symmetric_laplacian_is_symmetric_and_positive_semidefinite(W):
    L = laplacian(W, "symmetric").toarray()
    np.testing.assert_array_equal(L, L.T)
    values = np.linalg.eigvalsh(L)
    assert values.min() > -1e-12
    assert values.max() < 2 + 1e-12


@pytest.mark.parametrize("kind", KINDS)
@given(W=affinities())
def test_laplacian_of_an_operator_is_the_same_operator(kind, W):
    L = laplacian(aslinearoperator(W), kind)
    assert isinstance(L, LinearOperator)
    X = np.random.default_rng(0).standard_normal((len(W), 3))
    expected = literal_laplacian(W, kind)
    np.testing.assert_allclose(L @ X, expected @ X, atol=1e-10)
    np.testing.assert_allclose(L @ X[:, 0], expected @ X[:, 0], atol=1e-10)


@pytest.mark.parametrize("scale", [1e-321, 1e-310, 1e308])
@pytest.mark.parametrize("kind", ["symmetric", "random_walk"])
def test_only_ratios_of_affinities_matter(kind, scale):
    W = scale * np.array([[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]])
    pattern = W / scale
    sums = np.maximum(pattern.sum(axis=1), 1)
    moving = np.diag([1.0, 1, 1, 0])
    np.testing.assert_allclose(
        transition(W).toarray(), pattern / sums[:, None] + np.eye(4) - moving, rtol=1e-12
    )
    expected = literal_laplacian(pattern, kind)
    np.testing.assert_allclose(laplacian(W, kind).toarray(), expected, atol=1e-12)
    if scale < 1:
        operator = laplacian(aslinearoperator(W), kind)
        np.testing.assert_allclose(operator @ np.eye(4), expected, atol=1e-12)


def test_the_walk_from_a_far_outlier_is_a_walk():
    affinity = graphs.knn(np.array([[0.0], [1.0], [2.0], [40.4]]), 1).affinity(1.0)
    assert 0 < affinity.sum(axis=1).min() < 2.0**-1024  # whose inverse overflows
    P = transition(affinity)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(laplacian(affinity, "random_walk").data).all()


def test_overflowing_sums_are_rejected_where_they_are_the_result():
    with pytest.raises(ValueError, match="affinities of node 1 have a sum beyond"):
        laplacian(np.array([[0, 1e308, 0], [1e308, 0, 1e308], [0, 1e308, 0]]))


def test_stored_zeros_are_not_transitions():
    W = sparse.csr_array(([1.0, 0.0, 0.0, 1.0], ([0, 0, 1, 1], [1, 0, 1, 0])), shape=(2, 2))
    before = W.indices.copy()
    assert transition(W).nnz == 2
    np.testing.assert_array_equal(W.indices, before)


@pytest.mark.parametrize("unit", [1e-320, 1.0, 1e300])
def test_normalize_by_mass_follows_its_formula(unit):
    weights = sparse.csr_array([[1.0, 3.0, 0, 0], [0, 0, 0, 0], [0, 0, 2.0, 2.0]])
    result = normalize_by_mass(weights, unit * np.array([1.0, 1.0, 4.0, 0.0]))
    expected = [[0.25, 0.75, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(result.toarray()[:2], expected, rtol=1e-12)
    np.testing.assert_allclose(result.sum(axis=1), [1, 0, 1], rtol=1e-12)


def test_random_walk_of_a_directed_affinity_keeps_its_direction():
    P = transition(np.array([[0, 2.0], [0, 0]])).toarray()
    np.testing.assert_array_equal(P, [[0, 1], [0, 1]])


def test_a_graph_is_accepted_as_its_affinity():
    graph = graphs.knn(np.random.default_rng(1).random((30, 2)), 4)
    np.testing.assert_array_equal(laplacian(graph).toarray(), laplacian(graph.affinity()).toarray())


@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, np.asarray, np.asfortranarray]
)
def test_every_matrix_format_is_accepted_and_unchanged(make):
    W = np.array([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]])
    given_matrix = make(W)
    expected = literal_laplacian(W, "symmetric")
    np.testing.assert_allclose(laplacian(given_matrix, "symmetric").toarray(), expected)
    after = given_matrix.toarray() if sparse.issparse(given_matrix) else given_matrix
    np.testing.assert_array_equal(after, W)


def test_int64_indices_are_accepted():
    W = sparse.csr_array(np.array([[0, 1.0], [1, 0]]))
    W.indices, W.indptr = W.indices.astype(np.int64), W.indptr.astype(np.int64)
    np.testing.assert_array_equal(laplacian(W).toarray(), [[1, -1], [-1, 1]])


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([[0, -1.0], [-1, 0]], "negative value -1"),
        ([[0, 1.0], [2, 0]], r"not symmetric: affinity\[0, 1\] = 1 but affinity\[1, 0\] = 2"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
        ([[0, 1.0, 2]], "square"),
        (np.zeros((0, 0)), "square"),
        (np.zeros(3), "square"),
    ],
)
def test_invalid_affinities_are_rejected(W, message):
    with pytest.raises(ValueError, match=message):
        laplacian(np.asarray(W))


def test_text_is_rejected():
    with pytest.raises(TypeError, match="real numbers"):
        laplacian(np.array([["a", "b"], ["c", "d"]]))


def test_directed_graph_is_rejected_with_the_remedy():
    graph = Graph.from_edges(2, [[0, 1]], [1.0], directed=True)
    with pytest.raises(ValueError, match="symmetrize"):
        laplacian(graph)


def test_unknown_kind_is_rejected():
    with pytest.raises(ValueError, match="kind='other'"):
        laplacian(np.ones((2, 2)), "other")


def test_rounding_asymmetry_is_averaged():
    W = np.array([[0, 0.1 + 0.2], [0.3, 0]])
    assert W[0, 1] != W[1, 0]
    L = laplacian(W).toarray()
    np.testing.assert_array_equal(L, L.T)


def test_an_operator_with_negative_sums_is_rejected():
    with pytest.raises(ValueError, match="negative"):
        laplacian(aslinearoperator(-np.eye(3)))


def test_components_equal_those_of_scipy():
    for seed in range(5):
        pattern = sparse.random_array(
            (200, 200), density=0.006, rng=np.random.default_rng(seed), format="csr"
        )
        weights = sparse.csr_array(pattern + pattern.T)
        weights.setdiag(0)
        weights.eliminate_zeros()
        expected = connected_components(weights, directed=False)[1]
        np.testing.assert_array_equal(affinity_structure(weights).components, expected)
