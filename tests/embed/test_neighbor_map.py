"""`NeighborMap`: determinism, its start, new points, and the quality of the map."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from vicinal import LaplacianEigenmaps, NeighborMap, graphs
from vicinal._core.parallel import n_threads
from vicinal.embed import _neighbor_layout
from vicinal.embed._neighbor_layout import joint_probabilities, mean_around_medoid
from vicinal.exceptions import MissingDependencyError

openTSNE = pytest.importorskip("openTSNE")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


@pytest.fixture(scope="module")
def digits_map(digits):
    return NeighborMap(random_state=0, n_jobs=1).fit(digits[0])


def test_joint_probabilities_are_squares_as_transitions_averaged_over_both_directions():
    rng = np.random.default_rng(0)
    weights = rng.random((6, 6))
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    expected = np.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            there = weights[i, j] ** 2 / (weights[i] ** 2).sum()
            back = weights[j, i] ** 2 / (weights[j] ** 2).sum()
            expected[i, j] = (there + back) / (2 * 6)
    joint = joint_probabilities(sparse.csr_array(weights))
    np.testing.assert_allclose(joint.toarray(), expected, rtol=1e-14)
    assert joint.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_one_seed_gives_one_map_for_any_number_of_threads(digits, digits_map, n_jobs):
    again = NeighborMap(random_state=0, n_jobs=n_jobs).fit(digits[0])
    np.testing.assert_array_equal(again.embedding_, digits_map.embedding_)


def test_the_grid_of_many_points_does_not_depend_on_threads(monkeypatch, digits):
    monkeypatch.setattr("vicinal.embed._neighbor_layout.GRID_MIN_POINTS", 100)
    maps = [
        NeighborMap(random_state=0, n_iter=30, n_jobs=n_jobs).fit_transform(digits[0])
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*maps)


def test_the_start_is_that_of_laplacian_eigenmaps(digits, digits_map):
    expected = LaplacianEigenmaps(2, scale="local", random_state=0).fit_transform(digits[0])
    for start, axis in zip(digits_map.start_.T, expected.T, strict=True):
        assert abs(np.corrcoef(start, axis)[0, 1]) > 0.999


def test_the_global_arrangement_follows_the_start():
    # Blobs along a line stay in the order of the line.
    centers = np.column_stack([np.arange(6) * 6.0, np.zeros(6), np.zeros(6)])
    X, blob = make_blobs(300, centers=centers, random_state=0)
    layout = NeighborMap(1, graph_params={"n_neighbors": 15}, random_state=0).fit_transform(X)
    means = np.array([layout[blob == i].mean() for i in range(6)])
    order = np.argsort(means)
    assert order.tolist() in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0])


def test_neighbours_are_kept_better_than_by_eigenmaps(digits, digits_map):
    X, _ = digits
    eigenmaps = LaplacianEigenmaps(2, random_state=0).fit_transform(X)
    kept = trustworthiness(X, digits_map.embedding_, n_neighbors=10)
    assert kept > 0.97
    assert kept > trustworthiness(X, eigenmaps, n_neighbors=10) + 0.02


def test_training_points_keep_their_coordinates(digits, digits_map):
    np.testing.assert_allclose(digits_map.transform(digits[0]), digits_map.embedding_, atol=1e-9)


def test_new_points_are_placed_in_the_region_of_their_class(digits, digits_map):
    X, y = load_digits(return_X_y=True)
    placed = digits_map.transform(X[500:900])
    plain_means = digits_map._weights_of(X[500:900]) @ digits_map.embedding_
    classifier = KNeighborsClassifier(5).fit(digits_map.embedding_, digits[1])
    score = classifier.score(placed, y[500:900])
    assert score > classifier.score(plain_means, y[500:900]) + 0.03
    # As accurate as the neighbours that a row is placed by.
    assert score > KNeighborsClassifier(10).fit(*digits).score(X[500:900], y[500:900]) - 0.05


def test_new_points_are_placed_in_one_cluster_not_between_two():
    positions = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [50.0, 50.0], [51.0, 50.0]]])
    placed = mean_around_medoid(positions, np.full((1, 5), 0.2))
    np.testing.assert_allclose(placed, [[1 / 3, 1 / 3]])


def test_a_new_point_is_placed_without_regard_to_the_others(digits, digits_map):
    X, _ = load_digits(return_X_y=True)
    together, alone = digits_map.transform(X[500:510]), digits_map.transform(X[500:501])
    np.testing.assert_allclose(together[:1], alone, rtol=1e-12)


def test_a_graph_and_its_affinity_give_the_map_of_the_points(digits):
    X = digits[0][:100]
    common = {"n_iter": 20, "random_state": 0}
    graph = graphs.knn(X, 10)
    from_points = NeighborMap(**common).fit_transform(X)
    np.testing.assert_array_equal(NeighborMap(**common).fit_transform(graph), from_points)
    weights = graph.affinity("local")
    from_affinity = NeighborMap(graph="precomputed", **common).fit_transform(weights)
    np.testing.assert_allclose(from_affinity, from_points, rtol=1e-6)


def test_the_given_affinity_is_not_changed(digits):
    weights = graphs.knn(digits[0][:60], 8).affinity()
    before = weights.data.copy()
    NeighborMap(graph="precomputed", n_iter=5, random_state=0).fit(weights)
    np.testing.assert_array_equal(weights.data, before)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_maps_have_one_to_three_dimensions(n_components):
    X = np.random.default_rng(0).normal(size=(50, 4))
    layout = NeighborMap(n_components, n_iter=10, random_state=0).fit_transform(X)
    assert layout.shape == (50, n_components)
    assert np.isfinite(layout).all()


def test_four_dimensions_are_an_error():
    X = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.raises(ValueError, match="n_components=4"):
        NeighborMap(4).fit(X)


@pytest.mark.parametrize("n_distinct", [2, 3, 5])
def test_few_distinct_points_have_a_finite_map(n_distinct):
    X = np.repeat(np.random.default_rng(0).normal(size=(n_distinct, 3)), 4, axis=0)
    assert np.isfinite(NeighborMap(n_iter=10, random_state=0).fit_transform(X)).all()


def test_without_opentsne_the_error_names_the_extra(monkeypatch, digits):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'vicinal\[map\]'"):
        NeighborMap().fit(digits[0])


@pytest.mark.parametrize("is_large", [True, False])
def test_a_huge_number_of_threads_does_not_reach_openmp(digits, monkeypatch, is_large):
    started = []

    class Recorded:
        def __init__(self, *_, n_jobs, **__):
            started.append(n_jobs)
            raise InterruptedError

    monkeypatch.setattr(openTSNE, "TSNEEmbedding", Recorded)
    monkeypatch.setattr(_neighbor_layout, "THREADED_MIN_POINTS", 100 if is_large else 101)
    with pytest.raises(InterruptedError):
        NeighborMap(n_jobs=10**6).fit(digits[0][:100])
    assert started == [n_threads(-1) if is_large else 1]
