"""Clusterers that find the number of clusters themselves: evidence, layers and membership."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from vicinal import PerceptualClustering, SpectralClustering, graphs
from vicinal.cluster import estimate_clusters
from vicinal.cluster._automatic import membership


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(1500, 4, centers=30, cluster_std=0.4, random_state=2)


@pytest.mark.parametrize("model", [SpectralClustering, PerceptualClustering])
def test_more_than_twenty_clusters_are_found(model, blobs):
    X, truth = blobs
    result = model(random_state=0).fit(X)
    assert result.n_clusters_ == estimate_clusters(X).n_clusters == 30
    assert result.n_clusters_candidates_[0][0] == 30
    assert result.cluster_layers_[-1].n_clusters == 30
    assert adjusted_rand_score(truth, result.cluster_evidence_.labels) > 0.99


@pytest.mark.parametrize("model", [SpectralClustering, PerceptualClustering])
def test_structureless_points_are_one_cluster(model):
    rng = np.random.default_rng(0)
    for X in (
        rng.uniform(size=(200, 2)),
        rng.normal(size=(200, 10)),
        rng.uniform(size=(100, 1)),
    ):
        assert model(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("model", [SpectralClustering, PerceptualClustering])
def test_memberships_sum_to_one_and_agree_with_labels(model):
    X, _ = make_blobs(300, centers=3, cluster_std=0.8, random_state=1)
    X = np.r_[X, X[:5], [[40.0, 40.0]]]
    result = model(3, random_state=0).fit(X)
    for memberships in (result.probabilities_, result.predict_proba(X + 1e-3)):
        assert memberships.shape == (len(X), 4)
        assert (memberships >= 0).all()
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0)
    known = result.labels_ >= 0
    best = result.probabilities_[known, :3].argmax(axis=1)
    np.testing.assert_array_equal(best, result.labels_[known])


def test_noise_of_the_evidence_is_the_last_column():
    X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    model = SpectralClustering(random_state=0).fit(np.r_[X, [[60.0, 60.0]]])
    np.testing.assert_array_equal(model.probabilities_[:, -1], model.cluster_evidence_.noise.score)
    assert model.probabilities_[-1, -1] > 0.5


def test_evidence_of_an_earlier_fit_is_forgotten(blobs):
    X, _ = blobs
    model = SpectralClustering(random_state=0).fit(X)
    model.set_params(n_clusters=2).fit(X[:100])
    assert not hasattr(model, "cluster_evidence_")


def test_graphs_without_points_have_the_clearest_gap():
    X, _ = make_blobs(200, centers=3, cluster_std=0.3, random_state=0)
    weights = graphs.knn(X, 10).affinity()
    model = SpectralClustering(graph="precomputed_affinity", random_state=0).fit(weights)
    assert model.n_clusters_ == 3
    assert not hasattr(model, "cluster_evidence_")


def test_membership_is_half_own_and_half_that_of_neighbours():
    weights = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    result = membership(weights, np.array([0, 0, 1]), 2, np.array([0.0, 0.2, 0.0]))
    np.testing.assert_allclose(result, [[0.625, 0.375, 0], [0.8, 0, 0.2], [0.5, 0.5, 0]])
    alone = membership(np.zeros((2, 2)), np.array([-1, 0]), 1)
    np.testing.assert_allclose(alone, [[0, 1], [1, 0]])
