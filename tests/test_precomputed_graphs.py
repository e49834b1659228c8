"""Matrices in place of points: distances of neighbours, as transformers give them, or affinities."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline

from vicinal import (
    DiffusionMaps,
    Graph,
    GraphClassifier,
    GraphRegressor,
    Isomap,
    LabelPropagation,
    LaplacianEigenmaps,
    ManifoldRanking,
    PerceptualClustering,
    SpectralClustering,
    graphs,
)
from vicinal.exceptions import VicinalWarning
from vicinal.graphs._build.distance_rows import graph_from_distances, neighbors_from_rows

EMBEDDINGS = [Isomap, LaplacianEigenmaps, DiffusionMaps]
TRANSFORMERS = [
    KNeighborsTransformer(n_neighbors=8),
    KNeighborsTransformer(n_neighbors=8, algorithm="brute"),
    RadiusNeighborsTransformer(radius=0.35),
]


@pytest.fixture(scope="module")
def strip():
    return np.random.default_rng(0).random((150, 2)) * [2, 1]


def expected_graph(transformer, X):
    if isinstance(transformer, KNeighborsTransformer):
        return graphs.knn(X, transformer.n_neighbors)
    return graphs.epsilon_ball(X, transformer.radius)


@pytest.mark.parametrize("transformer", TRANSFORMERS)
@pytest.mark.parametrize("copies", [1, 3])
def test_the_graph_is_the_one_of_the_points(transformer, copies, strip):
    X = np.repeat(strip[:50], copies, axis=0)
    embedding = graph_from_distances(transformer.fit_transform(X))
    if copies == 1:
        expected = expected_graph(transformer, X)
        np.testing.assert_array_equal(embedding.edges(), expected.edges())
        np.testing.assert_allclose(embedding.lengths, expected.lengths, atol=1e-7)
    else:
        listed = transformer.transform(X).tocoo()
        pairs = {(i, j) for i, j in zip(listed.row, listed.col, strict=True) if i != j}
        both = sorted(pairs | {(j, i) for i, j in pairs})
        assert [(i, j) for i, j in both if i < j] == list(map(tuple, embedding.edges()))


@pytest.mark.parametrize("transformer", TRANSFORMERS)
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_embeddings_follow_a_transformer_of_scikit_learn(embedding, transformer, strip):
    model = make_pipeline(transformer, embedding(graph="precomputed_distances", random_state=0))
    result = model.fit_transform(strip)
    expected = embedding(random_state=0).fit_transform(expected_graph(transformer, strip))
    np.testing.assert_allclose(abs(result), abs(expected), atol=1e-5)
    np.testing.assert_allclose(model.transform(strip[:20]), result[:20], atol=1e-6)
    new = model.transform(strip[:20] + 1e-3)
    assert np.abs(new - result[:20]).max() < 0.2 * np.ptp(result)


@pytest.mark.parametrize("transformer", TRANSFORMERS)
def test_isomap_takes_precomputed_for_distances_as_scikit_learn_does(transformer, strip):
    plain = make_pipeline(transformer, Isomap(graph="precomputed")).fit_transform(strip)
    named = make_pipeline(transformer, Isomap(graph="precomputed_distances")).fit_transform(strip)
    np.testing.assert_array_equal(plain, named)
    with pytest.raises(ValueError, match="Isomap needs edge lengths"):
        Isomap(graph="precomputed_affinity").fit(np.eye(5))


def test_clusters_and_classes_follow_a_transformer_of_scikit_learn():
    X, truth = make_blobs(150, centers=3, cluster_std=0.6, random_state=1)
    before = KNeighborsTransformer(n_neighbors=10)
    clusters = make_pipeline(before, SpectralClustering(3, graph="precomputed_distances"))
    assert adjusted_rand_score(truth, clusters.fit(X).predict(X)) == 1
    known = np.where(np.arange(150) < 30, truth, -1)
    for classifier in (GraphClassifier, LabelPropagation):
        model = make_pipeline(before, classifier(graph="precomputed_distances")).fit(X, known)
        assert (model.predict(X) == truth).all()
    values = np.where(known >= 0, X[:, 0], np.nan)
    model = make_pipeline(before, GraphRegressor(graph="precomputed_distances")).fit(X, values)
    assert np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.8


@pytest.mark.parametrize("n_steps", [None, 100])
def test_rankings_of_distances_are_those_of_their_graph(n_steps, strip):
    given = KNeighborsTransformer(n_neighbors=8).fit_transform(strip)
    ranking = ManifoldRanking(n_steps=n_steps, graph="precomputed_distances")
    distances = ranking.fit(given).rank([3], 5)[0]
    expected = ManifoldRanking(n_steps=n_steps).fit(graphs.knn(strip, 8)).rank([3], 5)[0]
    np.testing.assert_array_equal(distances, expected)


@pytest.mark.parametrize("graph_params", [None, {"n_neighbors": 5}])
def test_dense_distances_have_the_graph_of_the_points(strip, graph_params):
    X = strip[:40]
    model = SpectralClustering(2, graph="precomputed_distances", graph_params=graph_params)
    expected = SpectralClustering(2, graph_params=graph_params).fit(X).affinity_
    distances = model.fit(cdist(X, X)).affinity_
    np.testing.assert_allclose(distances.toarray(), expected.toarray(), atol=1e-12)
    np.testing.assert_array_equal(model.predict(cdist(X[:7], X)), model.labels_[:7])


def test_isomap_of_distances_is_isomap_of_the_points(strip):
    found = Isomap(graph="precomputed_distances").fit_transform(cdist(strip, strip))
    expected = Isomap().fit_transform(strip)
    np.testing.assert_allclose(abs(found), abs(expected), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("load", [load_digits, load_wine, load_iris])
def test_the_number_of_clusters_of_distances_is_that_of_the_points(load, dtype):
    X = load().data
    of_points = SpectralClustering().fit(X)
    model = SpectralClustering(graph="precomputed_distances").fit(cdist(X, X).astype(dtype))
    assert model.n_clusters_ == of_points.n_clusters_
    assert adjusted_rand_score(model.labels_, of_points.labels_) > 0.95
    assert model.evidence_left_out_ == of_points.evidence_left_out_ == ()


def test_what_needs_coordinates_is_named_where_they_are_missing():
    X = load_digits().data[:300]
    model = SpectralClustering(graph="precomputed_distances")
    with pytest.warns(VicinalWarning, match="eigengap alone.*graph_params={'metric': 'cosine'}"):
        model.fit(cdist(X, X, "cityblock"))
    assert model.evidence_left_out_ == ("density", "communities")
    same = SpectralClustering(graph_params={"metric": "manhattan"}).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert same.evidence_left_out_ == ("density", "communities")
    with warnings.catch_warnings():
        warnings.simplefilter("error", VicinalWarning)
        affinity = SpectralClustering(graph="precomputed_affinity").fit(same.affinity_)
    assert affinity.evidence_left_out_ == ("density", "communities")
    assert not hasattr(model.set_params(n_clusters=3).fit(cdist(X, X)), "evidence_left_out_")


def test_equal_points_stay_equal_where_only_distances_are_known():
    X = np.repeat(make_blobs(60, centers=3, cluster_std=0.5, random_state=0)[0], 3, axis=0)
    model = SpectralClustering(graph="precomputed_distances").fit(cdist(X, X))
    np.testing.assert_array_equal(model.labels_, SpectralClustering().fit(X).labels_)


def test_perceptual_clusters_of_distances_are_those_of_the_centred_points():
    X = load_iris().data
    digraph = graphs.contextual(cdist(X, X), metric="precomputed", n_features=4)
    of_distances = PerceptualClustering().fit(digraph)
    of_points = PerceptualClustering().fit(X - X.mean(axis=0))
    assert adjusted_rand_score(of_distances.labels_, of_points.labels_) > 0.95
    with pytest.raises(ValueError, match=r"pass their digraph as X: vicinal\.graphs\.contextual"):
        PerceptualClustering(metric="precomputed").fit(cdist(X, X))


def test_affinities_have_a_name_of_their_own(strip):
    W = graphs.knn(strip, 8).affinity()
    plain = SpectralClustering(2, graph="precomputed", random_state=0).fit(W)
    named = SpectralClustering(2, graph="precomputed_affinity", random_state=0).fit(W)
    np.testing.assert_array_equal(plain.labels_, named.labels_)


def test_distances_given_as_affinities_raise_with_the_right_name(strip):
    listed = KNeighborsTransformer(n_neighbors=4).fit_transform(strip)
    with pytest.raises(ValueError, match="precomputed_distances"):
        SpectralClustering(2, graph="precomputed").fit(listed)


def test_two_distances_of_one_pair_are_an_error():
    listed = sparse.csr_array([[0.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match=r"X\[1, 0\] = 2 but X\[0, 1\] = 1"):
        Isomap(1, graph="precomputed_distances").fit(listed)


def test_the_matrix_given_is_not_changed(strip):
    given = KNeighborsTransformer(n_neighbors=8).fit_transform(strip)
    before = given.copy()
    Isomap(graph="precomputed_distances").fit(given).transform(given)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(given, name), getattr(before, name))


def test_neighbours_from_rows_of_different_length():
    rows = sparse.csr_array(([2.0, 1.0, 0.0], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    indices, distances = neighbors_from_rows(rows)
    np.testing.assert_array_equal(indices, [[2, 0], [1, 0]])
    np.testing.assert_array_equal(distances, [[1.0, 2.0], [0.0, np.inf]])
    with pytest.raises(ValueError, match="row 1 of X has no distance"):
        neighbors_from_rows(sparse.csr_array(([1.0], [0], [0, 1, 1]), shape=(2, 3)))


def test_a_graph_with_the_same_edges_from_rows_with_and_without_the_point_itself(strip):
    with_self = KNeighborsTransformer(n_neighbors=8).fit_transform(strip)
    without = with_self.tolil()
    without.setdiag(0)
    kept = sparse.csr_array(without)
    kept.eliminate_zeros()
    assert graph_from_distances(with_self) == graph_from_distances(kept)
    assert isinstance(graph_from_distances(kept), Graph)
