"""Perturbed trees: what is moved, by how much, and how often an edge appears."""

import numpy as np
import pytest
from tree_oracles import edge_set, kruskal, make_points, squares_between

from vicinal import graphs
from vicinal.datasets import make_swiss_roll
from vicinal.graphs import mst, perturbed_mst
from vicinal.neighbors import NeighborSearch


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


@pytest.mark.parametrize("d", [1, 2, 4])
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


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_noise_in_many_columns_is_uniform_in_the_span_of_the_neighbours(scale):
    from vicinal.graphs._build.jitter import perturbed_replicates

    rng = np.random.default_rng(0)
    X = (rng.normal(size=(2_000, 3)) @ rng.normal(size=(3, 40))) * scale
    indices, distances = NeighborSearch(X).nearest(5)
    sizes = 0.4 * distances[:, 1:].mean(axis=1)
    replicates = perturbed_replicates(X, "euclidean", 5, 0.4, 5, 0)
    squares = []
    for replicate in range(5):
        steps = (replicates.make(replicate) - X) / sizes[:, None]
        offsets = (X[indices[7, 1:]] - X[7]) / scale
        rest = np.linalg.lstsq(offsets.T, steps[7], rcond=None)[1:2]
        assert np.sum(rest) < 1e-18
        # A ball of five dimensions, projected to the three of the data.
        assert np.linalg.norm(steps, axis=1).max() <= np.sqrt(7 * 2 / 3) * (1 + 1e-6)
        squares.append(np.square(steps).sum(axis=1).mean())
    assert np.mean(squares) == pytest.approx(2.0, rel=0.03)


def test_collinear_and_duplicate_neighbours_span_less():
    from vicinal.graphs._build.neighbor_span import perturb_in_span

    X = np.zeros((6, 8))
    X[1:4, 0] = [1.0, 2.0, 4.0]
    neighbors = np.array([[4, 5], [0, 2], [1, 3], [1, 2], [0, 5], [0, 4]])
    moved = perturb_in_span(X, X, neighbors, np.ones(6), np.uint64(1), np.arange(6))
    np.testing.assert_array_equal(moved[[0, 4, 5]], 0.0)
    np.testing.assert_array_equal(moved[:, 1:], 0.0)
    assert (moved[1:4, 0] != X[1:4, 0]).all()
    # The noise of a row depends on its number, not on the rows that are moved with it.
    part = perturb_in_span(X[2:4], X, neighbors[2:4], np.ones(2), np.uint64(1), np.arange(2, 4))
    np.testing.assert_array_equal(part, moved[2:4])


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("columns", [[0], [0, 1], [0, 1, 2]])
def test_aligned_noise_has_the_covariance_of_the_neighbours(scale, columns):
    from vicinal.graphs._build.neighbor_span import perturb_in_span

    offsets = np.array([[2.0, 0.3, 0.0], [-1.0, 0.2, 0.1], [0.5, -0.4, 0.2], [1.0, 0.1, -0.3]])
    offsets = np.where(np.isin(np.arange(3), columns), offsets, 0.0)
    n = 40_000
    X, neighbors = np.zeros((n, 3)), np.tile(np.arange(4), (n, 1))
    moved = perturb_in_span(
        X, offsets * scale, neighbors, np.full(n, 0.5 * scale), np.uint64(3), np.arange(n),
        is_aligned=True,
    )  # fmt: skip
    scatter = offsets.T @ offsets
    variances = np.linalg.eigvalsh(scatter)
    participation = variances.sum() ** 2 / (variances**2).sum()
    expected = 0.25 * min(2.0, participation) * scatter / np.trace(scatter)
    steps = moved / scale
    np.testing.assert_allclose(steps.T @ steps / n, expected, atol=0.005)
    np.testing.assert_allclose(steps.mean(axis=0), 0.0, atol=0.01)


def test_aligned_noise_stays_on_a_plane_and_isotropic_noise_leaves_it():
    from vicinal.graphs._build.jitter import perturbed_replicates

    X = np.c_[np.random.default_rng(0).uniform(size=(300, 2)), np.zeros(300)]
    for is_aligned in (False, True):
        replicates = perturbed_replicates(X, "euclidean", 1, 0.4, 5, 0, is_aligned=is_aligned)
        assert (replicates.make(0)[:, 2] == 0).all() == is_aligned


def test_aligned_trees_are_the_trees_of_the_replicates():
    from vicinal.graphs._build.jitter import perturbed_replicates

    X = make_points("clustered", 60, 3, 2)
    replicates = perturbed_replicates(X, "euclidean", 5, 0.4, 5, 3, is_aligned=True)
    expected = set()
    for replicate in range(5):
        expected |= set(kruskal(squares_between(replicates.make(replicate)))[0])
    options = {"noise_model": "aligned", "random_state": 3}
    graph = perturbed_mst(X, 5, **options)
    assert edge_set(graph) == expected
    assert graph == perturbed_mst(X, 5, n_jobs=1, **options)
    assert graph != perturbed_mst(X, 5, random_state=3)
    assert edge_set(perturbed_mst(X, 5, noise=0.0, **options)) == edge_set(mst(X))


def test_aligned_noise_leaves_fewer_shortcuts_between_the_turns_of_a_roll():
    X, sheet = make_swiss_roll(600, noise=0.2, random_state=0)

    def shortcuts(noise_model):
        i, j = perturbed_mst(X, noise=0.6, noise_model=noise_model, random_state=0).edges().T
        # Neighbouring turns are 2 pi apart, and much farther along the sheet.
        return np.sum(np.linalg.norm(sheet[i] - sheet[j], axis=1) > 5 * np.pi)

    assert shortcuts("aligned") < 0.6 * shortcuts("isotropic")


def test_equal_and_few_points_stay_connected_with_aligned_noise():
    for X in (np.ones((5, 3)), [[0.0, 1.0], [2.0, 3.0]], [[1.0, 2.0]]):
        graph = perturbed_mst(X, 3, noise_model="aligned", random_state=0)
        assert graph.n_components == 1


def test_aligned_noise_needs_euclidean_points():
    with pytest.raises(ValueError, match=r"noise_model='aligned' .* metric='cosine'; use"):
        perturbed_mst(np.eye(4), noise_model="aligned", metric="cosine")
    with pytest.raises(ValueError, match=r"noise_model='round', but one of 'isotropic', 'aligned'"):
        perturbed_mst(np.eye(4), noise_model="round")


def test_trees_of_many_columns_differ_between_replicates():
    # Isotropic noise in 400 columns left nearly the same tree in each replicate.
    X = np.random.default_rng(0).normal(size=(200, 400))
    graph = perturbed_mst(X, 10, random_state=0)
    assert graph.n_edges > 2 * 199
    assert graph == perturbed_mst(X, 10, random_state=0, n_jobs=1)


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
