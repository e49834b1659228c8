"""Cosine distances: every method gives the result of Euclidean distances between rows of length 1."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from vicinal import (
    ClusterPreservingEmbedding,
    PerceptualClustering,
    PerceptualEmbedding,
    PerceptualRanking,
    SelfSmoothing,
    SpectralClustering,
    contextual_distance,
    graphs,
    path_similarity,
)
from vicinal.neighbors import NeighborSearch


@pytest.fixture(scope="module")
def directions():
    """Three directions, with lengths that vary by a factor of 100."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    X = np.eye(6)[truth] + 0.15 * rng.normal(size=(120, 6))
    return X * np.exp(rng.uniform(0, 4.6, size=(120, 1))), truth


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_contextual_distances_are_those_of_unit_rows(kind, directions):
    X, _ = directions
    unit = normalize(X)
    indices, distances = contextual_distance(kind(X), 5, metric="cosine")
    expected = contextual_distance(unit, 5)
    assert np.array_equal(indices, expected[0])
    assert np.allclose(distances, expected[1], rtol=1e-6, atol=1e-9)
    graph = graphs.contextual(kind(X), 5, metric="cosine")
    assert np.allclose(graph.strengths, graphs.contextual(unit, 5).strengths)


@pytest.mark.parametrize(
    "model",
    [
        PerceptualClustering(metric="cosine", random_state=0),
        PerceptualClustering(3, metric="cosine", random_state=0),
        SpectralClustering(random_state=0, graph_params={"metric": "cosine"}),
        SpectralClustering(graph="disjoint_mst", graph_params={"metric": "cosine"}, random_state=0),
        SpectralClustering(
            3, graph="path_similarity", graph_params={"metric": "cosine"}, random_state=0
        ),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_clusters_are_directions(model, directions):
    X, truth = directions
    model.fit(X)
    kept = model.labels_ >= 0
    assert kept.mean() >= 0.95
    assert adjusted_rand_score(truth[kept], model.labels_[kept]) == 1.0
    assert np.mean(model.predict(7 * X)[kept] == model.labels_[kept]) > 0.97


def test_the_evidence_is_used_with_cosine_distances(directions):
    model = SpectralClustering(graph_params={"metric": "cosine"}, random_state=0)
    assert model.fit(directions[0]).cluster_evidence_.n_clusters == 3


@pytest.mark.parametrize("name", ["mst", "disjoint_mst", "perturbed_mst", "knn"])
def test_graphs_have_the_edges_of_unit_rows(name, directions):
    X, _ = directions
    build = getattr(graphs, name)
    options = {"random_state": 0} if name == "perturbed_mst" else {}
    graph, expected = build(X, metric="cosine", **options), build(normalize(X), **options)
    if name == "perturbed_mst":
        assert graph.n_components == 1
    else:
        assert np.array_equal(graph.edges(), expected.edges())
        assert np.allclose(graph.lengths, expected.lengths**2 / 2)


def test_path_similarities_are_those_of_unit_rows(directions):
    X, _ = directions
    similarity = path_similarity(X, metric="cosine")
    assert np.allclose(similarity.toarray(), path_similarity(normalize(X)).toarray())


def test_embeddings_and_rankings_do_not_depend_on_lengths(directions):
    X, truth = directions
    unit = normalize(X)
    for kind, options in (
        (PerceptualEmbedding, {"random_state": 0}),
        (ClusterPreservingEmbedding, {"random_state": 0}),
    ):
        first = kind(metric="cosine", **options).fit(X)
        second = kind(**options).fit(unit)
        assert np.allclose(np.abs(first.embedding_), np.abs(second.embedding_), atol=1e-6)
        assert np.allclose(first.transform(4 * X), first.embedding_, atol=1e-6)
    ranking = PerceptualRanking(metric="cosine").fit(X).rank([0, 50], 10)[0]
    assert (truth[ranking] == truth[[0, 50]][:, None]).all()
    smoothing = SelfSmoothing(metric="cosine").fit(X)
    assert (truth[smoothing.kneighbors(n_neighbors=10)[1]] == truth[:, None]).mean() > 0.99


@pytest.mark.parametrize(
    "call",
    [
        lambda X: contextual_distance(X, 3, metric="cosine"),
        lambda X: PerceptualClustering(metric="cosine").fit(X),
        lambda X: path_similarity(X, metric="cosine"),
        lambda X: graphs.mst(X, metric="cosine"),
        lambda X: SelfSmoothing(metric="cosine").fit(X),
        lambda X: SpectralClustering(graph_params={"metric": "cosine"}).fit(X),
    ],
)
def test_zero_vectors_are_named(call):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[[4, 9]] = 0.0
    with pytest.raises(ValueError, match=r"zero vectors.*\[4, 9\]"):
        call(X)


def test_single_precision_gives_the_same_clusters(directions):
    X, truth = directions
    model = PerceptualClustering(3, metric="cosine", random_state=0).fit(X.astype(np.float32))
    kept = model.labels_ >= 0
    assert adjusted_rand_score(truth[kept], model.labels_[kept]) == 1.0
    indices, distances = NeighborSearch(X.astype(np.float32), metric="cosine").nearest(5)
    expected = NeighborSearch(X, metric="cosine").nearest(5)
    assert np.mean(indices == expected[0]) > 0.99
    assert np.allclose(distances, expected[1], rtol=1e-4, atol=1e-6)
