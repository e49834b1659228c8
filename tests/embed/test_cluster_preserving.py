"""Cluster preserving embeddings against dense eigenvectors, and what they are for."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from vicinal import ClusterPreservingEmbedding, Graph, graphs, path_similarity
from vicinal.datasets import make_helices, make_spirals
from vicinal.metrics import rand_index

METHODS = ("laplacian", "mds")
both = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(autouse=True)
def _one_thread():
    # With so few points, dense solvers and k-means would only wait for their threads.
    with threadpool_limits(limits=1):
        yield


def dense_embedding(S, method, q):
    """Formula (9), or classical scaling of formula (5), by LAPACK; one more eigenvalue than requested."""
    n = len(S)
    if method == "laplacian":
        roots = np.sqrt(S.sum(axis=1))
        values, vectors = eigh(S / np.outer(roots, roots), subset_by_index=(n - q - 2, n - 2))
        return values[::-1], (vectors / roots[:, None])[:, :0:-1]
    dissimilarity = np.diag(S)[:, None] - 2 * S + np.diag(S)
    inner = -0.5 * (dissimilarity - dissimilarity.mean(axis=0))
    inner -= inner.mean(axis=1, keepdims=True)
    values, vectors = eigh(inner, subset_by_index=(n - q - 1, n - 1))
    return values[::-1], vectors[:, :0:-1] * np.sqrt(np.maximum(values[:0:-1], 0))


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * 0.4 + rng.integers(0, 3, (n, 1)) * 1.5


DATA = {
    "blobs": blobs(300),
    "duplicated": np.repeat(blobs(80), 3, axis=0),
    "grid": np.argwhere(np.ones((12, 12))).astype(float),
    "spiral": make_spirals(250, random_state=0)[0],
}


@both
@pytest.mark.parametrize("sigma", ["auto", 0.3, 2.0])
@pytest.mark.parametrize("name", DATA)
def test_equals_the_dense_solution(name, sigma, method):
    X = DATA[name]
    model = ClusterPreservingEmbedding(method=method, n_components=3, sigma=sigma).fit(X)
    S = path_similarity(X, sigma).toarray()
    S /= S.max()
    values, vectors = dense_embedding(S, method, 3)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-9, atol=1e-12 * len(X))
    # Vectors are determined as far as eigenvalues are separated.
    q = max((k for k in (1, 2, 3) if values[k - 1] - values[k] > 1e-6 * values[0]), default=0)
    if q:
        assert subspace_angles(model.embedding_[:, :q], vectors[:, :q]).max() < 1e-6
    weights = S.sum(axis=1)[:, None] if method == "laplacian" else 1.0
    inner = model.embedding_.T @ (weights * model.embedding_)
    expected = np.eye(3) if method == "laplacian" else np.diag(model.eigenvalues_)
    np.testing.assert_allclose(inner, expected, atol=1e-9 * np.abs(expected).max())


@both
def test_equals_the_dense_solution_of_two_thousand_points(method):
    X = np.concatenate([blobs(1500), np.repeat(blobs(125, 1), 4, axis=0)])
    model = ClusterPreservingEmbedding(method=method).fit(X)
    S = model.similarity_.toarray()
    _, vectors = dense_embedding(S / S.max(), method, 2)
    assert subspace_angles(model.embedding_, vectors).max() < 1e-6


@both
def test_repeated_eigenvalues_give_the_whole_eigenspace(method):
    # Four equal clusters at equal distances: all three directions are equally good.
    X = np.random.default_rng(0).random((30, 2))
    within = np.linalg.norm(X[:, None] - X[None], axis=-1)
    distances = np.kron(np.eye(4), within) + 5.0 * np.kron(1 - np.eye(4), np.ones((30, 30)))
    model = ClusterPreservingEmbedding(
        method=method, n_components=3, sigma=1.0, metric="precomputed"
    ).fit(distances)
    assert np.ptp(model.eigenvalues_) < 1e-9 * model.eigenvalues_[0]
    S = model.similarity_.toarray()
    _, vectors = dense_embedding(S / S.max(), method, 3)
    assert subspace_angles(model.embedding_, vectors).max() < 1e-6


@pytest.mark.parametrize("seed", range(20))
@both
def test_three_spirals_are_recovered_with_defaults(seed, method):
    X, truth = make_helices(random_state=seed)
    Y = ClusterPreservingEmbedding(method=method).fit_transform(X)
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(Y)
    assert rand_index(truth, labels) == 1.0


@both
@settings(max_examples=8)
@given(seed=st.integers(0, 1000), factor=st.sampled_from([1e-9, 2.5, 1e9]))
def test_units_rotation_and_order_do_not_matter(method, seed, factor):
    rng = np.random.default_rng(seed)
    X = DATA["blobs"][:120]
    order = rng.permutation(len(X))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    base = ClusterPreservingEmbedding(method=method).fit_transform(X)
    moved = ClusterPreservingEmbedding(method=method).fit_transform(factor * (X @ turn)[order])
    np.testing.assert_allclose(np.abs(moved), np.abs(base[order]), atol=1e-6 * np.abs(base).max())


def test_dissimilarities_can_be_interpreted_as_distances():
    X = DATA["blobs"][:100]
    model = ClusterPreservingEmbedding(method="mds", dissimilarity="plain").fit(X)
    S = model.similarity_.toarray()
    distances = 1 - S / S.max()
    np.fill_diagonal(distances, 0.0)
    centring = np.eye(100) - 0.01
    values, vectors = eigh(-centring @ distances**2 @ centring)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-9)
    assert subspace_angles(model.embedding_, vectors[:, ::-1][:, :2]).max() < 1e-7
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    near = model.transform(X[:20] + 1e-6)
    assert np.abs(near - model.embedding_[:20]).max() < 0.3 * np.ptp(model.embedding_)


def attached_row(similarity, X, x, sigma, k, robust):
    """Similarities of a new point over its best step, straight from the definition."""
    distances = np.sort(np.linalg.norm(X - x, axis=1))[:k]
    squares = np.sort(((X[:, None] - X[None]) ** 2).sum(axis=-1), axis=1)[:, 1 : k + 1]
    largest = np.exp(-squares / (2 * sigma**2)).sum(axis=1).max()
    alpha = min(np.exp(-(distances**2) / (2 * sigma**2)).sum() / largest, 1.0) if robust else 1.0
    steps = np.exp(-((X - x) ** 2).sum(axis=1) / (2 * sigma**2)) * similarity.weights * alpha
    best = int(np.argmax(steps))
    S = similarity.toarray()
    row = np.minimum(S[best], steps[best])
    row[best] = min(steps[best], S.max())
    return row / S.max()


@both
@pytest.mark.parametrize("robust", [True, False])
def test_new_points_are_attached_to_the_tree_by_their_best_step(method, robust):
    X = DATA["blobs"][:150]
    rng = np.random.default_rng(1)
    new = np.concatenate([X[:10] + 0.1 * rng.normal(size=(10, 3)), rng.normal(size=(5, 3)) * 3])
    model = ClusterPreservingEmbedding(
        method=method, n_components=2, sigma=0.8, robust=robust, n_neighbors=5
    ).fit(X)
    placed = model.transform(new)
    S = model.similarity_.toarray() / model.similarity_.pairs(0, 0)
    for x, place in zip(new, placed, strict=True):
        row = attached_row(model.similarity_, X, x, 0.8, 5, robust)
        if method == "laplacian":
            expected = row @ model.embedding_ / row.sum() / model.eigenvalues_
        else:
            expected = (row - S.mean(axis=1)) @ model.embedding_ / model.eigenvalues_
        np.testing.assert_allclose(place, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    assert np.isfinite(model.transform([[1e9, 0.0, 0.0]])).all()


@both
def test_new_points_fall_into_their_clusters(method):
    X, truth = make_helices(random_state=0)
    new, new_truth = make_helices(random_state=1)
    model = ClusterPreservingEmbedding(method=method).fit(X)
    nearest = NearestNeighbors(n_neighbors=1).fit(model.embedding_)
    embedding = truth[nearest.kneighbors(model.transform(new))[1][:, 0]]
    assert (embedding == new_truth).mean() > 0.97


@both
def test_distances_and_graphs_are_accepted(method):
    X = DATA["blobs"][:100]
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    by_points = ClusterPreservingEmbedding(method=method).fit(X)
    by_distances = ClusterPreservingEmbedding(method=method, metric="precomputed").fit(distances)
    by_graph = ClusterPreservingEmbedding(method=method).fit(graphs.complete(X))
    by_similarity = ClusterPreservingEmbedding(method=method).fit(path_similarity(X))
    for other in (by_distances, by_graph, by_similarity):
        np.testing.assert_allclose(
            np.abs(other.embedding_), np.abs(by_points.embedding_), atol=1e-8
        )
    new = X[:3] + 0.01
    rows = np.linalg.norm(new[:, None] - X[None], axis=-1)
    signs = np.sign(by_points.embedding_[0] * by_distances.embedding_[0])
    np.testing.assert_allclose(
        by_distances.transform(rows) * signs, by_points.transform(new), atol=1e-7
    )
    assert not hasattr(by_graph, "n_features_in_")
    path = Graph.from_edges(3, [[0, 1], [1, 2]], [1.0, 2.0])
    bare = ClusterPreservingEmbedding(method=method, n_components=1).fit(path)
    with pytest.raises(ValueError, match="computed from a graph without points"):
        bare.transform(new)


def test_components_of_a_graph_are_separated_first():
    X = np.concatenate([blobs(40), blobs(30) + 50, blobs(20) - 50])
    graph = graphs.knn(X, 5)
    labels = graph.components
    n_pieces = graph.n_components
    model = ClusterPreservingEmbedding(n_components=n_pieces).fit(graph)
    np.testing.assert_allclose(model.eigenvalues_[: n_pieces - 1], 1.0)
    assert model.eigenvalues_[-1] < 1 - 1e-9
    for piece in range(n_pieces):
        assert np.ptp(model.embedding_[labels == piece, : n_pieces - 1], axis=0).max() < 1e-9
    assert len(np.unique(model.embedding_[:, : n_pieces - 1].round(9), axis=0)) == n_pieces
    by_scaling = ClusterPreservingEmbedding(method="mds", n_components=n_pieces - 1).fit(graph)
    assert np.isfinite(by_scaling.embedding_).all()


@both
def test_equal_points_have_no_dimensions_and_warn(method):
    with pytest.warns(UserWarning, match=r"only 0 dimension\(s\)"):
        model = ClusterPreservingEmbedding(method=method).fit(np.ones((10, 2)))
    np.testing.assert_array_equal(model.embedding_, np.zeros((10, 2)))
    np.testing.assert_array_equal(model.transform([[3.0, 3.0]]), [[0.0, 0.0]])


@both
def test_missing_dimensions_are_zero_and_warn(method):
    # Two tight pairs of duplicates: one direction describes everything.
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    with pytest.warns(UserWarning, match=r"only 1 dimension\(s\)"):
        model = ClusterPreservingEmbedding(
            method=method, n_components=2, sigma=0.5, robust=False
        ).fit(X)
    assert model.embedding_[0, 0] == pytest.approx(-model.embedding_[-1, 0])
    np.testing.assert_array_equal(model.embedding_[:, 1], 0.0)


@both
def test_a_tiny_sigma_still_separates_clusters_or_points(method):
    X = DATA["blobs"][:60]
    with pytest.warns(UserWarning, match="so small"):
        model = ClusterPreservingEmbedding(method=method, n_components=2, sigma=1e-4).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.ptp(model.embedding_) > 0


@both
def test_any_number_of_threads_and_any_seed_give_the_same(method):
    X = blobs(2500)
    one, two = (ClusterPreservingEmbedding(method=method, n_jobs=k).fit(X) for k in (1, 2))
    other = ClusterPreservingEmbedding(method=method, random_state=7).fit(X)
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-9)
    np.testing.assert_allclose(
        one.embedding_, other.embedding_, atol=1e-8 * np.abs(one.embedding_).max()
    )
    same = [
        ClusterPreservingEmbedding(method=method, n_jobs=k, random_state=3).fit(X) for k in (1, 2)
    ]
    np.testing.assert_array_equal(same[0].embedding_, same[1].embedding_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "pca"}, "method='pca'"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 60}, "n_samples=60"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"dissimilarity": "cubed"}, "dissimilarity='cubed'"),
        ({"metric": "manhattan"}, "metric='manhattan'"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(parameters, words):
    with pytest.raises(ValueError, match=words):
        ClusterPreservingEmbedding(**parameters).fit(DATA["blobs"][:60])


def test_the_automatic_sigma_and_its_curve_are_stored():
    model = ClusterPreservingEmbedding().fit(DATA["blobs"])
    assert model.sigma_ == model.similarity_.sigma
    assert np.interp(model.sigma_, *model.sigma_curve_) == pytest.approx(0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ClusterPreservingEmbedding(sigma=1.0).fit(DATA["blobs"]).sigma_curve_ is None
