"""Laplacian eigenmaps against dense eigenvectors and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh, subspace_angles

from vicinal import LaplacianEigenmaps, graphs
from vicinal.datasets import make_two_moons


@pytest.fixture(scope="module")
def strip():
    rng = np.random.default_rng(0)
    return rng.random((300, 2)) * [5, 1]


def test_solves_the_generalised_eigenproblem(strip):
    model = LaplacianEigenmaps(3).fit(strip)
    W = model.affinity_.toarray()
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(W, D)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][1:4], atol=1e-10)
    np.testing.assert_allclose(
        np.abs(model.embedding_), np.abs(vectors[:, ::-1][:, 1:4]), atol=1e-8
    )
    np.testing.assert_allclose(model.embedding_.T @ D @ model.embedding_, np.eye(3), atol=1e-9)


def test_agrees_with_scikit_learn(strip):
    from sklearn.manifold import SpectralEmbedding

    model = LaplacianEigenmaps(3).fit(strip)
    theirs = SpectralEmbedding(
        3, affinity="precomputed", eigen_solver="arpack", random_state=0
    ).fit_transform(sparse.csr_matrix(model.affinity_))
    assert subspace_angles(model.embedding_, theirs).max() < 1e-6


def test_first_direction_runs_along_the_strip(strip):
    first = LaplacianEigenmaps(1).fit_transform(strip)[:, 0]
    assert abs(np.corrcoef(first, strip[:, 0])[0, 1]) > 0.97


def test_training_points_keep_their_positions_and_new_points_lie_between(strip):
    model = LaplacianEigenmaps(2).fit(strip)
    np.testing.assert_array_equal(model.transform(strip), model.embedding_)
    middle = (strip[:50] + strip[model.graph_.indices[model.graph_.indptr[:50]]]) / 2
    placed = model.transform(middle)
    spread = np.ptp(model.embedding_, axis=0)
    assert np.all(np.abs(placed - model.embedding_[:50]) < 0.15 * spread)


def test_a_distant_point_is_embedded_near_its_nearest_neighbour(strip):
    model = LaplacianEigenmaps(2).fit(strip)
    far = model.transform([[1e9, 0.5]])
    assert np.isfinite(far).all()


@settings(max_examples=10)
@given(seed=st.integers(0, 100), factor=st.sampled_from([1e-9, 3.0, 1e9]))
def test_units_rotation_and_row_order_do_not_matter(strip, seed, factor):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(strip))
    angle = rng.random() * 6
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    base = LaplacianEigenmaps(2).fit_transform(strip)
    moved = LaplacianEigenmaps(2).fit_transform((strip @ turn * factor)[order])
    np.testing.assert_allclose(np.abs(moved), np.abs(base[order]), atol=1e-6)


def test_components_are_connected_by_default_and_raise_on_request():
    X = np.concatenate([np.random.default_rng(0).random((60, 2)) + 100 * i for i in range(3)])
    model = LaplacianEigenmaps(2).fit(X)
    assert model.graph_.n_components == 1
    assert (model.eigenvalues_ < 1).all()
    # Components are compact and separated.
    centres = model.embedding_.reshape(3, 60, 2).mean(axis=1)
    spread = model.embedding_.reshape(3, 60, 2).std(axis=1).max()
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 3 * spread
    with pytest.raises(ValueError, match="3 components"):
        LaplacianEigenmaps(2, disconnected="raise").fit(X)


def test_components_of_a_matrix_cannot_be_connected():
    with pytest.raises(ValueError, match="2 components"):
        LaplacianEigenmaps(1, graph="precomputed").fit(np.kron(np.eye(2), np.ones((3, 3))))


def test_graphs_and_affinities_are_accepted():
    X, _ = make_two_moons(100, random_state=0)
    graph = graphs.disjoint_mst(X, 3)
    by_graph = LaplacianEigenmaps(2).fit(graph)
    by_name = LaplacianEigenmaps(2, graph="disjoint_mst", graph_params={"n_trees": 3}).fit(X)
    by_call = LaplacianEigenmaps(2, graph=lambda X: graphs.disjoint_mst(X, 3)).fit(X)
    by_matrix = LaplacianEigenmaps(2, graph="precomputed").fit(graph.affinity())
    for other in (by_name, by_call, by_matrix):
        np.testing.assert_array_equal(by_graph.embedding_, other.embedding_)


def test_set_output_names_the_columns(strip):
    frame = LaplacianEigenmaps(2).set_output(transform="pandas").fit_transform(strip)
    assert list(frame.columns) == ["laplacianeigenmaps0", "laplacianeigenmaps1"]


def test_all_duplicates_give_a_finite_embedding():
    assert np.isfinite(LaplacianEigenmaps(2).fit_transform(np.ones((20, 3)))).all()


@pytest.mark.parametrize("n_components", [0, 300, "two"])
def test_dimensions_out_of_range_raise(strip, n_components):
    with pytest.raises((ValueError, TypeError), match="n_components"):
        LaplacianEigenmaps(n_components).fit(strip)
