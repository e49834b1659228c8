"""One new point at a time: the same bits as many at once, and clear errors."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import vicinal
from vicinal._base.neighbor_weights import NeighborWeights, kernel_weights

X, LABELS = make_blobs(300, centers=3, n_features=3, cluster_std=2.0, random_state=0)
RNG = np.random.default_rng(0)
QUERIES = np.vstack([X[:10] + 0.01, X[20:25], RNG.normal(size=(10, 3)) * 20])
FEW = np.where(np.arange(300) < 30, LABELS, -1)
METHODS = {
    "spectral": (vicinal.SpectralClustering(3), "predict"),
    "merged components": (
        vicinal.SpectralClustering(2, graph="epsilon_ball", graph_params={"radius": 1.0}),
        "predict",
    ),
    "paths": (vicinal.SpectralClustering(3, graph="path_similarity"), "predict"),
    "perceptual": (vicinal.PerceptualClustering(3), "predict"),
    "perceptual memberships": (vicinal.PerceptualClustering(3), "predict_proba"),
    "eigenmaps": (vicinal.LaplacianEigenmaps(), "transform"),
    "local scale": (vicinal.LaplacianEigenmaps(scale="local"), "transform"),
    "diffusion": (vicinal.DiffusionMaps(alpha=1.0), "transform"),
    "perceptual map": (vicinal.PerceptualEmbedding(3), "transform"),
    "centroids": (vicinal.PerceptualEmbedding(3, descriptor="centroid"), "transform"),
    "fewer neighbours than columns": (vicinal.PerceptualEmbedding(3, n_neighbors=2), "transform"),
    "tiny distortion": (vicinal.PerceptualEmbedding(3, epsilon=1e-6), "transform"),
    "isomap": (vicinal.Isomap(), "transform"),
    "isomap with landmarks": (vicinal.Isomap(3, n_landmarks=50), "transform"),
    "cluster preserving": (vicinal.ClusterPreservingEmbedding(), "transform"),
    "scaling": (vicinal.ClusterPreservingEmbedding(method="mds"), "transform"),
    "classifier": (vicinal.GraphClassifier(), "predict_proba"),
    "regressor": (vicinal.GraphRegressor(), "predict"),
    "outliers": (vicinal.OutlierDetector(), "score_samples"),
}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def fitted():
    models = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (model, _) in METHODS.items():
            models[name] = model.set_params(n_jobs=1).fit(
                X, X[:, 0] if name == "regressor" else FEW
            )
    return models


@pytest.mark.parametrize("name", METHODS)
def test_a_point_gets_the_same_result_alone_and_among_others(name, fitted):
    method = getattr(fitted[name], METHODS[name][1])
    together = method(QUERIES)
    alone = np.concatenate([method(QUERIES[i : i + 1]) for i in range(len(QUERIES))])
    np.testing.assert_array_equal(alone, together)
    # The columns of a wider table, and a table stored by columns.
    wide = np.hstack([QUERIES, QUERIES])
    for other in (wide[:, :3], np.asfortranarray(QUERIES), QUERIES.tolist()):
        np.testing.assert_array_equal(method(other), together)


@pytest.mark.parametrize("name", METHODS)
def test_one_bad_point_raises_a_clear_error(name, fitted):
    method = getattr(fitted[name], METHODS[name][1])
    with pytest.raises(ValueError, match="NaN"):
        method(np.array([[0.0, np.nan, 1.0]]))
    with pytest.raises(ValueError, match="infinity"):
        method(np.array([[0.0, np.inf, 1.0]]))
    with pytest.raises(ValueError, match="2 features"):
        method(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="text"):
        method([["a", "b", "c"]])
    with pytest.raises(ValueError, match="0 sample"):
        method(np.zeros((0, 3)))


@pytest.mark.parametrize("scale", ["float", "widened", "local"])
def test_weights_of_neighbours_follow_the_gaussian_kernel(scale):
    indices = RNG.integers(50, size=(20, 6))
    distances = np.sort(RNG.random((20, 6)) * 10, axis=1)
    distances[3, 4:] = np.inf  # fewer neighbours
    distances[5, :2] = 0.0  # at two training points
    local = RNG.random(50) + 0.5
    widths = np.full(distances.shape, 0.7)
    if scale == "widened":
        means = [row[np.isfinite(row)].mean() / 3 for row in distances]
        widths = np.maximum(widths, np.array(means)[:, None])
    if scale == "local":
        widths = np.sqrt(local[indices] * local[indices[:, :1]])
    given = local if scale == "local" else 0.7
    weights = kernel_weights(indices, distances, given, widen_far=scale == "widened")
    squares = (distances / widths) ** 2
    expected = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / 2)
    expected[5] = distances[5] == 0
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights.values, expected, rtol=1e-12)
    vectors = RNG.normal(size=(50, 2))
    means = weights.to_csr(50) @ vectors
    np.testing.assert_allclose(weights.means(vectors), means, rtol=1e-12)


def test_values_of_neighbours_without_weight_may_be_undefined():
    weights = NeighborWeights(np.array([[0, 1, 2]]), np.array([[0.5, 0.0, 0.5]]))
    np.testing.assert_array_equal(weights.means(np.array([[1.0], [np.nan], [3.0]])), [[2.0]])


def test_the_label_with_the_largest_total_weight_wins_and_ties_go_to_the_smallest():
    weights = NeighborWeights(
        np.array([[0, 1, 2], [3, 1, 0]]), np.array([[0.4, 0.3, 0.3], [0.5, 0.25, 0.25]])
    )
    labels = np.array([7, 5, 5, 9])
    np.testing.assert_array_equal(weights.labels(labels), [5, 9])
    even = NeighborWeights(np.array([[3, 0]]), np.array([[0.5, 0.5]]))
    np.testing.assert_array_equal(even.labels(labels), [7])


def test_an_invalid_epsilon_is_rejected_for_one_point(fitted):
    model = copy.copy(fitted["perceptual"]).set_params(epsilon=0.0)
    with pytest.raises(ValueError, match="epsilon"):
        model.predict(QUERIES[:1])
