"""Robust path-based spectral clustering: SpectralClustering on path similarities."""

import functools

import numpy as np
import pytest
from sklearn.base import clone

from vicinal import Graph, LaplacianEigenmaps, SpectralClustering, graphs, path_similarity
from vicinal._base.affinity_operator import AffinityOperator
from vicinal.datasets import make_helices, make_spirals
from vicinal.metrics import rand_index


@pytest.mark.parametrize("method", ["njw", "ncut"])
def test_helices_are_separated_and_new_points_join_them(method):
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


def with_five_neighbors(X):
    return path_similarity(X, n_neighbors=5)


@pytest.mark.parametrize(
    "options",
    [
        {"graph": "path_similarity", "graph_params": {"n_neighbors": 5}},
        {"graph": path_similarity, "graph_params": {"n_neighbors": 5}},
        {"graph": functools.partial(path_similarity, n_neighbors=5)},
        {"graph": functools.partial(path_similarity, n_neighbors=9, n_jobs=1), "n_neighbors": 5},
        {"graph": with_five_neighbors},
    ],
    ids=["name", "function", "partial", "partial and graph_params", "wrapper"],
)
def test_path_similarity_is_a_graph_like_any_other(options):
    X, _ = make_spirals(150, n_arms=3, random_state=0)
    new, _ = make_spirals(50, n_arms=3, random_state=1)
    parameters = dict(options)
    nested = {f"graph_params__{k}": v for k, v in parameters.items() if k == "n_neighbors"}
    parameters.pop("n_neighbors", None)
    model = clone(SpectralClustering(3, random_state=0, **parameters)).set_params(**nested).fit(X)
    by_operator = SpectralClustering(3, random_state=0).fit(path_similarity(X, n_neighbors=5))
    assert model.affinity_.origin.n_neighbors == 5
    np.testing.assert_array_equal(model.labels_, by_operator.labels_)
    np.testing.assert_array_equal(model.predict(new), by_operator.predict(new))
    assert model.graph_ is None
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.zeros((1, 3)))


@pytest.mark.parametrize(
    "graph",
    ["path_similarity", path_similarity, functools.partial(path_similarity, robust=False)],
    ids=["name", "function", "partial"],
)
def test_paths_follow_the_edges_of_a_given_graph(graph):
    X, _ = make_spirals(100, random_state=0)
    model = SpectralClustering(2, graph=graph, graph_params={"sigma": 0.3}).fit(graphs.knn(X, 5))
    expected = path_similarity(graphs.knn(X, 5), 0.3, robust=not hasattr(graph, "keywords"))
    assert model.affinity_.sigma == 0.3
    np.testing.assert_array_equal(model.affinity_.tree.heights, expected.tree.heights)
    assert not hasattr(model, "n_features_in_")


def test_unknown_parameters_of_the_similarity_are_named():
    X, _ = make_spirals(50, random_state=0)
    model = SpectralClustering(2, graph="path_similarity", graph_params={"width": 0.3})
    with pytest.raises(
        TypeError, match=r"contains 'width', but graph='path_similarity' takes sigma"
    ):
        model.fit(X)
    with pytest.raises(ValueError, match="at least 2 points"):
        SpectralClustering(1, graph="path_similarity").fit(X[:1])


@pytest.mark.parametrize("graph", [path_similarity, functools.partial(path_similarity, sigma=1.0)])
def test_estimators_that_need_edges_reject_an_operator(graph):
    X, _ = make_spirals(50, random_state=0)
    with pytest.raises(TypeError, match="a Graph of the 50 points is needed"):
        LaplacianEigenmaps(graph=graph).fit(X)
    with pytest.raises(ValueError, match="graph='path_similarity', but one of"):
        LaplacianEigenmaps(graph="path_similarity").fit(X)


def test_any_object_with_the_methods_of_an_operator_is_accepted():
    X, _ = make_spirals(100, random_state=0)
    similarity = path_similarity(X, 0.3)

    class Shifted:
        """Delegates to a similarity; no subclass of anything."""

        shape, sigma, has_eigengap = similarity.shape, 7.0, False

        def __getattr__(self, name):
            return getattr(similarity, name)

    assert isinstance(Shifted(), AffinityOperator)
    model = SpectralClustering(2, random_state=0).fit(Shifted())
    expected = SpectralClustering(2, random_state=0).fit(similarity)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(X + 0.01), expected.predict(X + 0.01))
    assert model.scale_ == 7.0


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


def test_surplus_components_are_merged_along_the_tree():
    X = np.concatenate([np.zeros(5), np.ones(5), np.full(5, 3.0)])[:, None]
    similarity = path_similarity(X, 0.02, robust=False)
    model = SpectralClustering(2, random_state=0).fit(similarity)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 0, 1], 5))
    np.testing.assert_array_equal(model.predict([[0.2], [2.8]]), [0, 1])
    components = Graph.from_edges(4, [[0, 1]], [1.0])
    with pytest.raises(ValueError, match="3 components, more than n_clusters=2, and no path"):
        SpectralClustering(2).fit(path_similarity(components))


def test_the_number_of_clusters_must_be_given():
    with pytest.raises(ValueError, match="pass the number"):
        SpectralClustering(graph=path_similarity).fit(np.random.default_rng(0).random((20, 2)))
