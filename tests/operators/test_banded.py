import numpy as np
import pytest
from scipy import sparse

from vicinal import graphs
from vicinal.operators import leading_eigenpairs
from vicinal.operators._components import affinity_structure
from vicinal.operators._eigen import solvers
from vicinal.operators._eigen.banded import MAX_BANDWIDTH, banded_pairs
from vicinal.operators.laplacians import normalized_affinity


def problem(weights):
    """Normalised affinity and its trivial eigenvector."""
    sums = affinity_structure(weights).degrees
    return normalized_affinity(weights, sums), np.sqrt(sums / sums.sum())


def ring(n):
    i = np.arange(n)
    edges = sparse.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
    return sparse.csr_array(edges + edges.T)


@pytest.mark.parametrize("n_pairs", [1, 4, 30])
def test_pairs_are_those_of_the_dense_matrix(n_pairs):
    X = np.random.default_rng(n_pairs).random((700, 2))
    matrix, known = problem(graphs.knn(X, 10).affinity())
    values, vectors = banded_pairs(matrix, known, n_pairs, 1e-8, 0)
    expected, axes = np.linalg.eigh(matrix.toarray())
    np.testing.assert_allclose(values, expected[-2 : -2 - n_pairs : -1], atol=1e-13)
    overlaps = np.abs(np.sum(vectors * axes[:, -2 : -2 - n_pairs : -1], axis=0))
    np.testing.assert_allclose(overlaps, 1.0, atol=1e-10)


def test_small_eigengaps_are_resolved():
    # Two halves with one weak link: the second eigenvalue is next to 1.
    weights = ring(600).tolil()
    weights[0, 599] = weights[599, 0] = weights[299, 300] = weights[300, 299] = 1e-6
    matrix, known = problem(sparse.csr_array(weights))
    values, vectors = banded_pairs(matrix, known, 1, 1e-8, 0)
    assert 0 < 1 - values[0] < 1e-7
    halves = np.sign(vectors[:, 0])
    assert abs(halves[:300].sum()) == abs(halves[300:].sum()) == 300
    assert halves[0] != halves[-1]


def test_multiple_eigenvalues_are_left_to_other_solvers():
    # Eigenvalues of a torus are fourfold, and Lanczos finds one direction of each.
    circle, identity = ring(30), sparse.eye_array(30)
    torus = sparse.csr_array(sparse.kron(circle, identity) + sparse.kron(identity, circle))
    assert banded_pairs(*problem(torus), 6, 1e-6, 0) is None
    values = leading_eigenpairs(torus, 5, tolerance=1e-6).values
    np.testing.assert_allclose(
        values[1:], np.full(4, 0.5 + 0.5 * np.cos(2 * np.pi / 30)), atol=1e-6
    )


def test_wide_bands_are_left_to_other_solvers():
    X = np.random.default_rng(0).normal(size=(4 * MAX_BANDWIDTH, 10))
    assert banded_pairs(*problem(graphs.knn(X, 10).affinity()), 2, 1e-6, 0) is None


def test_leading_eigenpairs_of_small_planar_graphs_need_no_products(monkeypatch):
    def fail(*args):
        raise AssertionError("Lanczos on the matrix is slower")

    monkeypatch.setattr(solvers, "_lanczos", fail)
    monkeypatch.setattr(solvers, "multilevel_pairs", fail)
    X = np.random.default_rng(0).random((1000, 2))
    pairs = leading_eigenpairs(graphs.knn(X, 10), 5, tolerance=1e-5)
    assert pairs.residuals.max() < 1e-5
