"""New points given by their affinities to training points, for estimators fitted on affinities."""

import numpy as np
import pytest
from scipy import sparse

from vicinal import DiffusionMaps, LaplacianEigenmaps, ManifoldRanking, SpectralClustering
from vicinal.datasets import make_two_moons
from vicinal.exceptions import InvalidValueError


@pytest.fixture(scope="module")
def affinities():
    X, y = make_two_moons(160, noise=0.05, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    W = np.exp(-squares / 0.02)
    W[W < 1e-9] = 0.0
    return W[:120, :120], W[120:, :120], y


EMBEDDINGS = [LaplacianEigenmaps(3, graph="precomputed"), DiffusionMaps(3, graph="precomputed")]


@pytest.mark.parametrize("model", EMBEDDINGS, ids=lambda model: type(model).__name__)
def test_rows_of_training_points_keep_their_coordinates(affinities, model):
    W = affinities[0]
    model.fit(W)
    np.testing.assert_allclose(model.transform(W), model.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.transform(sparse.csr_array(W[:5])), model.transform(W[:5]))


def test_new_points_are_at_the_mean_of_training_points_over_the_eigenvalue(affinities):
    W, new, _ = affinities
    model = LaplacianEigenmaps(2, graph="precomputed").fit(W)
    steps = new / new.sum(axis=1, keepdims=True)
    expected = steps @ model.embedding_ / model.eigenvalues_
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9)


def test_clusters_of_new_points_are_those_of_their_nearest_training_points(affinities):
    W, new, _ = affinities
    model = SpectralClustering(2, graph="precomputed").fit(W)
    assert (model.predict(W) == model.labels_).all()
    assert (model.predict(new) == model.labels_[new.argmax(axis=1)]).mean() > 0.95
    assert model.predict_proba(new).shape == (40, 3)


def test_rankings_accept_affinities_of_queries(affinities):
    W, new, y = affinities
    scores = ManifoldRanking(graph="precomputed").fit(W).scores(new)
    best = np.argsort(-scores, axis=1)[:, :10]
    assert (y[best] == y[120:, None]).mean() > 0.95


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows - 1, "negative affinity"),
        (lambda rows: rows * 0, "no affinity"),
        (lambda rows: rows[:, :5], "120"),
        (lambda rows: rows * np.nan, "NaN"),
    ],
)
def test_invalid_affinities_are_named(affinities, change, message):
    W, new, _ = affinities
    model = LaplacianEigenmaps(2, graph="precomputed").fit(W)
    with pytest.raises((InvalidValueError, ValueError), match=message):
        model.transform(change(new))
