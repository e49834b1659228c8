"""Perturbed trees: what is moved, by how much, and how often an edge appears."""

import numpy as np
import pytest
from tree_oracles import edge_set, kruskal, make_points, squares_between

from vicinal import graphs
from vicinal.graphs import mst, perturbed_mst


def test_perturbed_trees_count_how_often_an_edge_is_in_a_tree():
    X = make_points("random", 100, 2, 0)
    graph = perturbed_mst(X, n_trees=8, noise=0.3, random_state=1)
    counts = graph.strengths * 8
    np.testing.assert_array_equal(counts, np.rint(counts))
    assert counts.sum() / 2 == pytest.approx(8 * 99)
    i, j = graph.edges().T
    np.testing.assert_array_equal(
        np.asarray(graph.to_scipy("lengths")[i, j]).ravel(), np.sqrt(squares_between(X)[i, j])
    )


def test_perturbed_trees_are_the_trees_of_the_replicates():
    from vicinal.graphs._build.jitter import perturbed_replicates

    X = make_points("clustered", 60, 3, 2)
    replicates = perturbed_replicates(X, "euclidean", 5, 0.4, 5, 3)
    counted = {}
    for replicate in range(5):
        for edge in kruskal(squares_between(replicates.make(replicate)))[0]:
            counted[edge] = counted.get(edge, 0) + 1
    graph = perturbed_mst(X, n_trees=5, noise=0.4, n_neighbors=5, random_state=3)
    assert edge_set(graph) == set(counted)
    i, j = graph.edges().T
    strengths = np.asarray(graph.to_scipy("strengths")[i, j]).ravel()
    assert np.allclose(strengths, [counted[a, b] / 5 for a, b in zip(i, j, strict=True)])


def test_no_noise_gives_the_tree_itself_at_full_strength():
    X = make_points("random", 50, 3, 0)
    graph = perturbed_mst(X, n_trees=3, noise=0.0)
    assert edge_set(graph) == edge_set(mst(X))
    assert (graph.strengths == 1).all()


@pytest.mark.parametrize("metric", ["precomputed", "cosine"])
def test_without_points_the_distances_are_perturbed(metric):
    X = make_points("random", 60, 4, 0)
    X = np.sqrt(squares_between(X)) if metric == "precomputed" else X
    graph = perturbed_mst(X, n_trees=6, metric=metric, random_state=0)
    again = perturbed_mst(X, n_trees=6, metric=metric, random_state=0, n_jobs=1)
    assert graph.strengths.sum() / 2 == pytest.approx(59)
    assert graph == again
    assert edge_set(perturbed_mst(X, 2, noise=0.0, metric=metric)) == edge_set(
        mst(X, metric=metric)
    )


@pytest.mark.parametrize(
    "metric",
    [
        "chebyshev", "minkowski", "jaccard", "correlation", "braycurtis", "seuclidean", "mahalanobis",
        "haversine", "nan_euclidean", lambda a, b: np.abs(a - b).max(),
    ],
)  # fmt: skip
def test_lengths_are_in_the_given_metric(metric):
    X = make_points("random", 40, 2 if metric == "haversine" else 4, 0)
    graph = perturbed_mst(X, n_trees=3, metric=metric, random_state=0)
    assert graph.strengths.sum() / 2 == pytest.approx(39)
    lengths = graphs.complete(X, metric=metric).to_scipy()
    i, j = graph.edges().T
    np.testing.assert_array_equal(graph.to_scipy()[i, j], lengths[i, j])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_perturbed_cosine_distances_do_not_depend_on_the_scale(scale):
    X = make_points("random", 60, 4, 0)
    plain = perturbed_mst(X, metric="cosine", random_state=0)
    scaled = perturbed_mst(X * scale, metric="cosine", random_state=0)
    assert edge_set(scaled) == edge_set(plain)
    np.testing.assert_allclose(scaled.lengths, plain.lengths, rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_noise_is_uniform_in_a_ball_and_as_long_as_in_the_plane_in_any_dimension(d):
    from vicinal.graphs._build.jitter import perturbed_replicates

    X = np.arange(20_000.0)[:, None] * np.ones(d)
    spacing = np.sqrt(d) * 1.5  # mean distance to 2 neighbours on either side, in the middle
    replicates = perturbed_replicates(X, "euclidean", 1, 0.5, 4, 0)
    steps = (replicates.make(0) - X)[2:-2] / (0.5 * spacing)
    deviation = min(1.0, np.sqrt(2.0 / d))
    np.testing.assert_allclose(steps.std(axis=0), deviation, rtol=0.03)
    np.testing.assert_allclose(steps.mean(axis=0), 0.0, atol=0.03)
    lengths = np.linalg.norm(steps, axis=1)
    assert np.sqrt(np.mean(lengths**2)) == pytest.approx(np.sqrt(min(d, 2)), rel=0.02)
    radius = np.sqrt(d + 2) * deviation
    assert lengths.max() <= radius * (1 + 1e-9)
    # Uniform density: the fraction within half the radius is 2^-D.
    assert np.mean(lengths < radius / 2) == pytest.approx(2.0**-d, abs=0.02)


def test_manhattan_displacements_do_not_grow_with_the_number_of_columns():
    from vicinal.graphs._build.jitter import perturbed_replicates

    def mean_length(d):
        X = np.arange(5_000.0)[:, None] * np.ones(d)
        replicates = perturbed_replicates(X, "manhattan", 1, 0.5, 4, 0)
        return np.abs(replicates.make(0) - X)[2:-2].sum(axis=1).mean() / (0.5 * 1.5 * d)

    assert mean_length(60) == pytest.approx(mean_length(2), rel=0.1)


def test_perturbed_trees_of_many_columns_keep_to_the_neighbours_of_a_point():
    # In 200 columns, noise of r d_i along each axis replaced nearly all edges by chance.
    X = np.random.default_rng(0).normal(size=(300, 200))
    X[:100] += 1.5
    graph = perturbed_mst(X, random_state=0)
    between = (graph.edges() < 100).sum(axis=1) == 1
    assert between.mean() < 0.02


def test_seeds_determine_the_noise():
    X = make_points("random", 80, 2, 0)
    first = perturbed_mst(X, 5, random_state=1)
    assert first == perturbed_mst(X, 5, random_state=1)
    assert first != perturbed_mst(X, 5, random_state=2)
    rng = np.random.default_rng(0)
    assert perturbed_mst(X, 5, random_state=rng) != perturbed_mst(X, 5, random_state=rng)
    legacy = np.random.RandomState(4)
    assert perturbed_mst(X, 5, random_state=legacy) != perturbed_mst(X, 5, random_state=legacy)
