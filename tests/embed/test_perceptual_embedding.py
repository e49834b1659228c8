"""Perceptual embedding against dense eigenvectors; noise near the origin; new points."""

import numpy as np
import pytest

from vicinal import PerceptualEmbedding
from vicinal.datasets.half_cylinders import make_half_cylinders
from vicinal.operators.digraph import SymmetricWalk


@pytest.fixture(scope="module")
def noisy():
    return make_half_cylinders(200, 150, random_state=0)


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
def test_eigenvectors_equal_those_of_the_dense_matrix(noisy, laplacian):
    X, _ = noisy
    model = PerceptualEmbedding(4, laplacian=laplacian).fit(X)
    if laplacian == "global":
        Theta = SymmetricWalk(model.graph_).toarray()
    else:
        from vicinal.operators import aligned_digraph_laplacian

        Theta = np.eye(len(X)) - aligned_digraph_laplacian(model.graph_).toarray()
    values, vectors = np.linalg.eigh(Theta)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][1:5], atol=1e-9)
    np.testing.assert_allclose(
        np.abs(model.embedding_), np.abs(vectors[:, ::-1][:, 1:5]), atol=1e-6
    )


@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_noise_is_closer_to_the_origin(descriptor):
    X, truth = make_half_cylinders(800, 800, random_state=0)
    far = np.linalg.norm(PerceptualEmbedding(5, descriptor=descriptor).fit_transform(X), axis=1)
    ranks = np.argsort(np.argsort(far))
    # Probability that a point of a surface is farther from the origin than one of noise.
    n_noise = (truth == -1).sum()
    wins = ranks[truth >= 0].sum() - np.arange((truth >= 0).sum()).sum()
    assert wins / (n_noise * (truth >= 0).sum()) > 0.9


def test_the_multilevel_solver_gives_the_same_result(monkeypatch):
    from vicinal.operators._eigen import solvers as eigensolvers

    X, _ = make_half_cylinders(700, 300, random_state=3)
    by_lanczos = PerceptualEmbedding(3).fit(X)
    monkeypatch.setattr(eigensolvers, "LANCZOS_MAX_HOPS", 1)
    by_levels = PerceptualEmbedding(3).fit(X)
    np.testing.assert_allclose(by_levels.eigenvalues_, by_lanczos.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(by_levels.embedding_, by_lanczos.embedding_, atol=1e-5)


def test_training_points_keep_their_positions_and_new_points_lie_near_their_neighbours(noisy):
    X, _ = noisy
    model = PerceptualEmbedding(2).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    near = model.transform(X[:100] + 1e-6)
    assert np.corrcoef(near[:, 0], model.embedding_[:100, 0])[0, 1] > 0.9


def test_order_of_the_points_does_not_matter(noisy):
    X, _ = noisy
    order = np.random.default_rng(0).permutation(len(X))
    base = PerceptualEmbedding(2).fit_transform(X)
    np.testing.assert_allclose(
        np.abs(PerceptualEmbedding(2).fit_transform(X[order])), np.abs(base[order]), atol=1e-6
    )


def test_equal_rows_share_one_position(noisy):
    X, _ = noisy
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(len(X)), 3))
    once, often = PerceptualEmbedding(3).fit(X), PerceptualEmbedding(3).fit(X[group])
    np.testing.assert_allclose(often.eigenvalues_, once.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(np.abs(often.embedding_), np.abs(once.embedding_[group]), atol=1e-6)
    np.testing.assert_allclose(often.stationary_, once.stationary_[group] / 3, rtol=1e-6)
    np.testing.assert_array_equal(often.transform(X[group]), often.embedding_)
    assert often.graph_.n_nodes == len(X)


@pytest.mark.parametrize("n_places", [1, 2, 3])
def test_few_distinct_rows_have_few_dimensions(n_places):
    X = np.repeat(np.eye(3)[:n_places], 5, axis=0)
    with pytest.warns(UserWarning, match=f"{n_places} distinct"):
        model = PerceptualEmbedding(4).fit(X)
    assert np.linalg.matrix_rank(model.embedding_) == n_places - 1
    assert np.isfinite(model.transform(X + 0.1)).all()
    assert len(np.unique(model.embedding_, axis=0)) == n_places


def test_set_output_names_the_columns(noisy):
    frame = PerceptualEmbedding(2).set_output(transform="pandas").fit_transform(noisy[0])
    assert list(frame.columns) == ["perceptualembedding0", "perceptualembedding1"]


@pytest.mark.parametrize("n_components", [0, 550, 1.5])
def test_dimensions_out_of_range_raise(noisy, n_components):
    with pytest.raises((ValueError, TypeError), match="n_components"):
        PerceptualEmbedding(n_components).fit(noisy[0])
