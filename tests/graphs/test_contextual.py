"""The contextual digraph: formula (3) on the distances, and sigma from the contexts."""

import pickle

import numpy as np
import pytest

from vicinal import contextual_distance
from vicinal.datasets import make_half_cylinders
from vicinal.graphs import contextual, knn
from vicinal.neighbors import NeighborSearch

DESCRIPTORS = ["centroid", "coding_length"]


@pytest.fixture(scope="module")
def points():
    return make_half_cylinders(40, 30, random_state=0)[0]


@pytest.mark.parametrize("descriptor", DESCRIPTORS)
def test_weights_follow_formula_3(points, descriptor):
    graph = contextual(points, 6, descriptor=descriptor)
    indices, distances = contextual_distance(points, 6, descriptor=descriptor)
    # Over all contexts, distances of points to themselves included.
    sigma = distances.mean() + 3 * np.sqrt(((distances - distances.mean()) ** 2).mean())
    assert graph.metadata["sigma"] == pytest.approx(sigma, rel=1e-12)
    lengths, weights = np.zeros((110, 110)), np.zeros((110, 110))
    np.put_along_axis(lengths, indices, distances, axis=1)
    np.put_along_axis(weights, indices, np.exp(-((distances / sigma) ** 2)), axis=1)
    np.fill_diagonal(weights, 0)
    np.testing.assert_array_equal(graph.to_scipy("lengths").toarray(), lengths)
    np.testing.assert_allclose(graph.to_scipy("strengths").toarray(), weights, rtol=1e-12)


def test_edges_lead_to_the_nearest_neighbours(points):
    graph = contextual(points, 6)
    assert graph.directed
    np.testing.assert_array_equal(graph.edges(), knn(points, 6, directed=True).edges())
    np.testing.assert_array_equal(graph.degrees, np.full(110, 6))


def test_sigma_can_use_a_sample_of_contexts(points):
    distances = contextual_distance(points, 6)[1]
    chosen = np.random.default_rng(3).choice(110, 20, replace=False)
    expected = distances[chosen].mean() + 3 * distances[chosen].std()
    graph = contextual(points, 6, n_contexts=20, random_state=3)
    assert graph.metadata["sigma"] == pytest.approx(expected, rel=1e-12)
    assert (
        graph.metadata["sigma"]
        != contextual(points, 6, n_contexts=20, random_state=4).metadata["sigma"]
    )
    every = contextual(points, 6, n_contexts=110, random_state=0).metadata["sigma"]
    assert every == pytest.approx(contextual(points, 6).metadata["sigma"], rel=1e-12)


def test_sigma_may_be_given(points):
    graph = contextual(points, 6, sigma=0.5)
    assert graph.metadata["sigma"] == 0.5
    np.testing.assert_allclose(graph.strengths, np.exp(-((graph.lengths / 0.5) ** 2)), rtol=1e-12)


def test_sigma_survives_pickling(points):
    graph = contextual(points, 6)
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.metadata["sigma"] == graph.metadata["sigma"]


def test_distances_too_large_for_sigma_have_weight_zero_without_a_warning(points):
    graph = contextual(points, 6, sigma=1e-9)
    assert np.isfinite(graph.strengths).all()
    assert graph.strengths.min() == 0.0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_sigma_grows_with_the_points_at_any_scale(points, scale):
    expected = contextual(points, 6, descriptor="centroid")
    graph = contextual(points * scale, 6, descriptor="centroid")
    assert graph.metadata["sigma"] == pytest.approx(expected.metadata["sigma"] * scale, rel=1e-9)
    np.testing.assert_allclose(graph.strengths, expected.strengths, rtol=1e-9)


def test_identical_points_have_weight_one():
    graph = contextual(np.full((8, 2), 0.1), 3)
    assert not graph.lengths.any()
    np.testing.assert_array_equal(graph.strengths, np.ones(24))


def test_the_trivial_descriptor_gives_the_graph_of_nearest_neighbours(points):
    graph = contextual(points, 1, descriptor="trivial")
    np.testing.assert_array_equal(graph.lengths, knn(points, 1, directed=True).lengths)


@pytest.mark.parametrize("descriptor", DESCRIPTORS)
def test_products_distances_and_lists_give_the_same_graph(points, descriptor):
    centred = points - points.mean(axis=0)
    lengths = np.sqrt(((centred[:, None] - centred[None]) ** 2).sum(axis=2))
    expected = contextual(centred, 6, descriptor=descriptor)
    listed = NeighborSearch(centred).nearest(6)
    for data, arguments in (
        (centred, {"neighbors": listed}),
        (centred @ centred.T, {"metric": "gram", "n_features": 3}),
        (lengths, {"metric": "precomputed", "n_features": 3}),
    ):
        graph = contextual(data, 6, descriptor=descriptor, **arguments)
        np.testing.assert_array_equal(graph.edges(), expected.edges())
        np.testing.assert_allclose(graph.strengths, expected.strengths, rtol=1e-9)


def test_custom_descriptors_give_a_graph(points):
    graph = contextual(points, 6, descriptor=lambda P: P.mean(axis=0))
    expected = contextual(points, 6, descriptor="centroid")
    np.testing.assert_allclose(graph.strengths, expected.strengths, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"sigma": -1.0}, "sigma=-1.0"),
        ({"sigma": "auto"}, "sigma='auto'"),
        ({"n_contexts": 0}, "n_contexts=0"),
        ({"n_contexts": 111}, "n_contexts=111"),
        ({"n_neighbors": 110}, "n_neighbors=110"),
        ({"n_neighbors": 1}, "n_neighbors=1"),
        ({"epsilon": 0}, "epsilon=0"),
    ],
)
def test_errors_name_the_invalid_argument(points, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        contextual(points, **arguments)
