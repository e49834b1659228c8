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
    found = model(random_state=0).fit(X)
    assert found.n_clusters_ == estimate_clusters(X).n_clusters == 30
    assert found.n_clusters_candidates_[0][0] == 30
    assert found.cluster_layers_[-1].n_clusters == 30
    assert adjusted_rand_score(truth, found.cluster_evidence_.labels) > 0.99


@pytest.mark.parametrize("model", [SpectralClustering, PerceptualClustering])
def test_structureless_points_are_one_cluster(model):
    draw = np.random.default_rng(0)
    for X in (
        draw.uniform(size=(200, 2)),
        draw.normal(size=(200, 10)),
        draw.uniform(size=(100, 1)),
    ):
        assert model(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("model", [SpectralClustering, PerceptualClustering])
def test_memberships_sum_to_one_and_agree_with_labels(model):
    X, _ = make_blobs(300, centers=3, cluster_std=0.8, random_state=1)
    X = np.r_[X, X[:5], [[40.0, 40.0]]]
    found = model(3, random_state=0).fit(X)
    for memberships in (found.probabilities_, found.predict_proba(X + 1e-3)):
        assert memberships.shape == (len(X), 4)
        assert (memberships >= 0).all()
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0)
    known = found.labels_ >= 0
    best = found.probabilities_[known, :3].argmax(axis=1)
    np.testing.assert_array_equal(best, found.labels_[known])


def test_noise_of_the_evidence_is_the_last_column():
    X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    found = SpectralClustering(random_state=0).fit(np.r_[X, [[60.0, 60.0]]])
    np.testing.assert_array_equal(found.probabilities_[:, -1], found.cluster_evidence_.noise.score)
    assert found.probabilities_[-1, -1] > 0.5


def test_evidence_of_an_earlier_fit_is_forgotten(blobs):
    X, _ = blobs
    found = SpectralClustering(random_state=0).fit(X)
    found.set_params(n_clusters=2).fit(X[:100])
    assert not hasattr(found, "cluster_evidence_")


def test_graphs_without_points_have_the_clearest_gap():
    X, _ = make_blobs(200, centers=3, cluster_std=0.3, random_state=0)
    weights = graphs.knn(X, 10).affinity()
    found = SpectralClustering(graph="precomputed_affinity", random_state=0).fit(weights)
    assert found.n_clusters_ == 3
    assert not hasattr(found, "cluster_evidence_")


def test_membership_is_half_own_and_half_that_of_neighbours():
    weights = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    found = membership(weights, np.array([0, 0, 1]), 2, np.array([0.0, 0.2, 0.0]))
    np.testing.assert_allclose(found, [[0.625, 0.375, 0], [0.8, 0, 0.2], [0.5, 0.5, 0]])
    alone = membership(np.zeros((2, 2)), np.array([-1, 0]), 1)
    np.testing.assert_allclose(alone, [[0, 1], [1, 0]])
