"""`noise_score_` of `PerceptualClustering`."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

from vicinal import PerceptualClustering
from vicinal._core.boxplot_scores import boxplot_units
from vicinal.cluster._noise_score import noise_scores
from vicinal.graphs import contextual
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch


@pytest.fixture(scope="module")
def with_outliers():
    """Two clusters, scattered outliers, and a tight group of five, which hides them from neighbours."""
    rng = np.random.default_rng(0)
    X, _ = make_blobs(300, 4, centers=2, random_state=0)
    scattered = rng.uniform(-25, 25, size=(10, 4))
    group = 30.0 + 0.1 * rng.normal(size=(5, 4))
    return np.r_[X, scattered, group], np.r_[np.zeros(300, bool), np.ones(15, bool)]


def test_outliers_score_higher_than_clusters_even_in_a_group(with_outliers):
    X, is_outlier = with_outliers
    model = PerceptualClustering(2, noise=0, random_state=0).fit(X)
    assert roc_auc_score(is_outlier, model.noise_score_) > 0.98
    assert model.noise_score_[-5:].min() > np.quantile(model.noise_score_[:300], 0.95)


@pytest.mark.parametrize("noise", [0, 15, 0.3, "auto"])
def test_noise_is_above_one_half_and_everything_else_below(with_outliers, noise):
    X, _ = with_outliers
    model = PerceptualClustering(2, noise=noise, random_state=0).fit(X)
    is_noise = model.labels_ < 0
    assert ((model.noise_score_ > 0.5) == is_noise).all()
    assert model.noise_score_.min() > 0
    assert model.noise_score_.max() < 1


def test_unit_order_threads_and_duplicates_do_not_matter(with_outliers):
    X, _ = with_outliers
    scores = PerceptualClustering(2, noise=0, random_state=0, n_jobs=1).fit(X).noise_score_
    order = np.random.default_rng(1).permutation(len(X))
    for other, rows in (
        (1e6 * X - 3.0, np.arange(len(X))),
        (X[order], order),
        (np.repeat(X, 2, axis=0), np.repeat(np.arange(len(X)), 2)),
    ):
        again = PerceptualClustering(2, noise=0, random_state=0).fit(other).noise_score_
        np.testing.assert_allclose(again, scores[rows], rtol=1e-6)


def test_a_new_fit_and_a_pickle_have_their_own_scores(with_outliers):
    X, _ = with_outliers
    model = PerceptualClustering(2, noise=0, random_state=0).fit(X)
    first = model.noise_score_
    assert (pickle.loads(pickle.dumps(model)).noise_score_ == first).all()
    assert (model.set_params(noise=15).fit(X).noise_score_ != first).any()


def test_a_digraph_without_points_is_scored_by_its_stationary_distribution(with_outliers):
    X, _ = with_outliers
    graph = contextual(X, 10)
    bare = Graph(graph.indptr, graph.indices, graph.lengths, graph.strengths, directed=True)
    model = PerceptualClustering(2, noise=0, random_state=0).fit(bare)
    assert (np.argsort(model.noise_score_) == np.argsort(-model.stationary_)).all()


def test_boxplot_units_are_quartile_distances_from_the_median():
    values = np.exp(np.arange(9.0))
    np.testing.assert_allclose(boxplot_units(values), (np.arange(9) - 4) / 4)
    assert (boxplot_units(np.ones(5)) == 0).all()
    assert (boxplot_units(np.zeros(5)) == 0).all()
    assert boxplot_units(np.r_[np.ones(9), 2.0])[-1] == 1


def test_the_fence_is_in_the_middle_of_each_half():
    # Median 4.5, quartiles 2.25 and 6.75: the last is two quartile distances above the median.
    stationary = np.exp(-np.r_[np.arange(9.0), 13.5])
    graph = Graph.from_edges(10, [[0, 1]], [1.0], directed=True)
    scores = noise_scores(graph, stationary, np.zeros(10, bool), 1)
    assert scores[-1] == pytest.approx(0.25)
    assert (np.diff(scores) > 0).all()
    np.testing.assert_allclose(noise_scores(graph, stationary, np.ones(10, bool), 1), scores + 0.5)


@pytest.mark.parametrize("n_listed", [4, 8, 20])
def test_known_distances_give_the_same_scores(with_outliers, n_listed):
    X, is_outlier = with_outliers
    digraph, masses = contextual(X), np.full(len(X), 1.0 / len(X))
    expected = noise_scores(digraph, masses, is_outlier, 1)
    distances = NeighborSearch(X).nearest(n_listed)[1]
    found = noise_scores(digraph, masses, is_outlier, 1, distances)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
