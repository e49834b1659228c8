"""Robust path-based spectral clustering: SpectralClustering on path similarities."""

import numpy as np
import pytest
from sklearn.base import clone

from vicinal import Graph, SpectralClustering, graphs, path_similarity
from vicinal.datasets import make_helices, make_spirals
from vicinal.metrics import rand_index


@pytest.mark.parametrize("method", ["njw", "ncut"])
def test_helices_are_told_apart_and_new_points_join_them(method):
    X, truth = make_helices(random_state=0)
    model = SpectralClustering(3, method=method, graph=path_similarity, random_state=0).fit(X)
    assert rand_index(truth, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, new_truth = make_helices(random_state=1)
    assert rand_index(new_truth, model.predict(new)) > 0.97
    assert model.scale_ == model.affinity_.sigma


def test_equals_clustering_of_the_dense_matrix():
    X, _ = make_spirals(150, n_arms=3, random_state=0)
    similarity = path_similarity(X, 0.1)
    by_tree = SpectralClustering(3, random_state=0).fit(similarity)
    dense = SpectralClustering(3, graph="precomputed", random_state=0).fit(similarity.toarray())
    np.testing.assert_allclose(by_tree.eigenvalues_, dense.eigenvalues_, atol=1e-10)
    assert rand_index(by_tree.labels_, dense.labels_) == 1.0


def test_parameters_reach_the_similarity_and_survive_a_clone():
    X, _ = make_spirals(100, random_state=0)
    model = SpectralClustering(
        2, graph=path_similarity, graph_params={"sigma": 0.3, "robust": False}
    )
    fitted = clone(model).fit(X)
    assert fitted.affinity_.sigma == 0.3
    np.testing.assert_array_equal(fitted.affinity_.weights, 1.0)
    by_graph = SpectralClustering(2, graph=path_similarity, graph_params={"sigma": 0.3}).fit(
        graphs.complete(X)
    )
    assert by_graph.affinity_.sigma == 0.3
    assert not hasattr(by_graph, "n_features_in_")


def test_more_pieces_than_clusters_are_joined_along_the_tree():
    X = np.concatenate([np.zeros(5), np.ones(5), np.full(5, 3.0)])[:, None]
    similarity = path_similarity(X, 0.02, robust=False)
    model = SpectralClustering(2, random_state=0).fit(similarity)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 0, 1], 5))
    np.testing.assert_array_equal(model.predict([[0.2], [2.8]]), [0, 1])
    pieces = Graph.from_edges(4, [[0, 1]], [1.0])
    with pytest.raises(ValueError, match="3 components"):
        SpectralClustering(2).fit(path_similarity(pieces))


def test_the_number_of_clusters_must_be_given():
    with pytest.raises(ValueError, match="give the number"):
        SpectralClustering(graph=path_similarity).fit(np.random.default_rng(0).random((20, 2)))
