"""The aligned Laplacian against formulas (4) to (9) with explicit selection matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vicinal import graphs
from vicinal.datasets import make_half_cylinders
from vicinal.operators import aligned_digraph_laplacian
from vicinal.operators.aligned_laplacian import AlignedWalk


def stationary(P):
    A = np.eye(len(P)) - P.T
    A[-1] = 1
    return np.linalg.solve(A, np.eye(len(P))[-1])


def literal_alignment(W, beta):
    """The sum over all patches of S_i L_i S_i', and of S_i Phi_i S_i'."""
    n = len(W)
    total, mass = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        patch = [i, *(j for j in np.flatnonzero(W[i]) if j != i)]
        selection = np.eye(n)[:, patch]
        local = selection.T @ W @ selection
        np.fill_diagonal(local, 0)
        sums = local.sum(axis=1, keepdims=True)
        P = np.where(sums > 0, local / np.where(sums > 0, sums, 1), 1 / len(patch))
        P = beta * P + (1 - beta) / len(patch)
        Phi = np.diag(stationary(P))
        total += selection @ (Phi - (Phi @ P + P.T @ Phi) / 2) @ selection.T
        mass += selection @ Phi @ selection.T
    root = np.sqrt(np.diag(mass))
    return total / np.outer(root, root), np.diag(mass)


@st.composite
def digraphs(draw):
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0, 1)))


@settings(max_examples=60)
@given(W=digraphs(), beta=st.sampled_from([0.0, 0.5, 0.9, 0.999]))
def test_it_is_the_sum_over_selection_matrices(W, beta):
    expected, mass = literal_alignment(W, beta)
    result = aligned_digraph_laplacian(W, beta)
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-11)
    walk = AlignedWalk(W, beta)
    np.testing.assert_allclose(walk.stationary, mass / mass.sum(), atol=1e-11)


@pytest.mark.parametrize("descriptor", ["centroid", "coding_length"])
@pytest.mark.parametrize("beta", [0.9, 0.99999])
def test_contextual_digraphs_are_aligned(descriptor, beta):
    X, _ = make_half_cylinders(30, 20, random_state=0)
    graph = graphs.contextual(X, 6, descriptor=descriptor)
    expected, _ = literal_alignment(graph.to_scipy("strengths").toarray(), beta)
    result = aligned_digraph_laplacian(graph, beta).toarray()
    np.testing.assert_allclose(result, expected, atol=1e-9)


@settings(max_examples=40)
@given(W=digraphs(), beta=st.sampled_from([0.0, 0.9, 0.99999]))
def test_it_is_symmetric_and_positive_semidefinite(W, beta):
    L = aligned_digraph_laplacian(W, beta).toarray()
    np.testing.assert_allclose(L, L.T, atol=1e-14)
    assert np.linalg.eigvalsh(L).min() > -1e-12


@settings(max_examples=40)
@given(W=digraphs(), beta=st.sampled_from([0.5, 0.99999]))
def test_square_roots_of_the_masses_are_in_the_null_space(W, beta):
    walk = AlignedWalk(W, beta)
    np.testing.assert_allclose(walk.trivial_vector**2, walk.stationary, rtol=1e-12)
    np.testing.assert_allclose(walk @ walk.trivial_vector, walk.trivial_vector, atol=1e-12)
    L = aligned_digraph_laplacian(W, beta)
    np.testing.assert_allclose(walk.sparse_part.toarray(), np.eye(len(W)) - L.toarray(), atol=1e-14)


def test_a_member_without_edges_in_the_patch_steps_uniformly():
    """Node 0 sees 1 and 2, which see only 3: their rows of the patch are empty."""
    W = np.zeros((4, 4))
    W[0, 1] = W[0, 2] = W[1, 3] = W[2, 3] = W[3, 0] = 1.0
    for beta in (0.5, 0.99999):
        expected, _ = literal_alignment(W, beta)
        result = aligned_digraph_laplacian(W, beta).toarray()
        np.testing.assert_allclose(result, expected, atol=1e-9)
        assert np.isfinite(result).all()


def test_a_node_without_any_edge_has_a_row_of_zeros():
    W = np.zeros((3, 3))
    W[0, 1] = W[1, 0] = 1.0
    L = aligned_digraph_laplacian(W).toarray()
    np.testing.assert_allclose(L[2], 0, atol=1e-15)
    np.testing.assert_allclose(aligned_digraph_laplacian(np.zeros((2, 2))).toarray(), 0, atol=1e-15)


def test_components_stay_separate():
    W = np.kron(np.eye(2), np.ones((3, 3)))
    L = aligned_digraph_laplacian(W).toarray()
    assert not L[:3, 3:].any()
    assert np.sum(np.linalg.eigvalsh(L) < 1e-9) == 2


def test_the_order_of_nodes_does_not_matter():
    rng = np.random.default_rng(3)
    W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)
    order = rng.permutation(12)
    expected = aligned_digraph_laplacian(W, 0.99).toarray()[np.ix_(order, order)]
    result = aligned_digraph_laplacian(W[np.ix_(order, order)], 0.99).toarray()
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits():
    graph = graphs.contextual(np.random.default_rng(0).normal(size=(9000, 2)), 5)
    one, two = (aligned_digraph_laplacian(graph, n_jobs=jobs) for jobs in (1, 2))
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_input_is_not_changed():
    W = sparse.csr_array(np.array([[1.0, 1.0, 0], [0, 0, 2], [3, 1, 0]]))
    before = W.toarray()
    aligned_digraph_laplacian(W)
    np.testing.assert_array_equal(W.toarray(), before)


@pytest.mark.parametrize(
    ("W", "beta", "message"),
    [
        ([[0, 1.0], [1, 0]], 1.0, "beta=1, but a walk inside a patch"),
        ([[0, 1.0], [1, 0]], 1.5, "beta=1.5"),
        ([[0, 1.0], [1, 0]], -0.5, "beta=-0.5"),
        ([[0, -1.0], [1, 0]], 0.9, "negative"),
        ([[0, 1.0, 0], [1, 0, 0]], 0.9, "shape"),
    ],
)
def test_invalid_arguments_are_rejected(W, beta, message):
    with pytest.raises(ValueError, match=message):
        aligned_digraph_laplacian(W, beta)
