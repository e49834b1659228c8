"""Estimates of the number of clusters, layers and noise, and what must not change them."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons, make_swiss_roll
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score

from vicinal.cluster import estimate_clusters
from vicinal.datasets import make_half_cylinders, make_two_moons
from vicinal.evidence import sample
from vicinal.evidence.borders import find_valleys, spread_ties
from vicinal.evidence.communities import consensus, louvain, null_modularity, without_groups
from vicinal.evidence.decision import intrinsic_dimension, neighbor_weights
from vicinal.graphs import knn
from vicinal.neighbors import NeighborSearch


@pytest.mark.parametrize(("number", "dim"), [(2, 2), (3, 10), (8, 5), (40, 5)])
def test_separate_blobs_are_counted(number, dim):
    X, truth = make_blobs(60 * number, dim, centers=number, cluster_std=0.5, random_state=1)
    evidence = estimate_clusters(X)
    assert evidence.n_clusters == number
    assert adjusted_rand_score(truth, evidence.labels) > 0.99


def test_moons_are_two_and_half_cylinders_in_as_much_noise_too():
    assert estimate_clusters(make_two_moons(400, noise=0.06, random_state=0)[0]).n_clusters == 2
    X, truth = make_half_cylinders(600, 1200, random_state=0)
    evidence = estimate_clusters(X)
    assert evidence.n_clusters == 2
    assert adjusted_rand_score(truth[truth >= 0], evidence.labels[truth >= 0]) > 0.95


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [0.03, 0.05])
def test_nested_rings_in_many_columns_are_not_split(seed, width):
    rng = np.random.default_rng(seed)
    angles, truth = rng.uniform(0, 2 * np.pi, 1000), rng.choice(3, 1000, p=[1 / 6, 1 / 3, 1 / 2])
    X = width * rng.normal(size=(1000, 20))
    X[:, :2] += (1.0 + truth)[:, None] * np.c_[np.cos(angles), np.sin(angles)]
    evidence = estimate_clusters(X)
    assert evidence.n_clusters == 3
    assert adjusted_rand_score(truth, evidence.labels) > 0.99


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [50, 300, pytest.param(1500, marks=pytest.mark.slow)])
def test_one_cluster_of_any_shape_and_dimension_is_one(seed, n):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n)
    ring = np.c_[np.cos(angles), np.sin(angles)] + 0.05 * rng.normal(size=(n, 2))
    sets = [rng.uniform(size=(n, dim)) for dim in (1, 2, 3, 10, 50)]
    sets += [rng.normal(size=(n, dim)) for dim in (1, 2, 3, 10, 50)]
    sets.append(ring)
    if n != 300:  # 300 points do not fill a roll: neighbours are on the next winding
        sets.append(make_swiss_roll(n, random_state=seed)[0])
    assert sum(estimate_clusters(X).n_clusters > 1 for X in sets) == 0


def test_layers_are_nested_and_hold_the_answer():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [1, 0], [0, 1], [30, 0], [31, 0], [30, 1]]) * 6.0
    X = np.repeat(centers, 80, axis=0) + rng.normal(size=(480, 2))
    evidence = estimate_clusters(X)
    assert [layer.n_clusters for layer in evidence.layers] == sorted(
        {layer.n_clusters for layer in evidence.layers}
    )
    assert evidence.n_clusters == 6
    assert any(1 < layer.n_clusters < 6 for layer in evidence.layers)
    assert any(np.array_equal(layer.labels, evidence.labels) for layer in evidence.layers)
    for coarse, fine in itertools.pairwise(evidence.layers):
        pairs = np.unique(np.c_[fine.labels, coarse.labels], axis=0)
        assert len(pairs) == fine.n_clusters


def test_candidates_start_with_the_answer():
    X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    evidence = estimate_clusters(X)
    assert evidence.candidates[0][0] == evidence.n_clusters == 3
    assert evidence.candidates[0][1] > 1
    assert (1, 1.0) in evidence.candidates


def test_the_result_does_not_depend_on_order_unit_threads_or_duplicates():
    X, _ = make_blobs(400, 3, centers=4, cluster_std=1.0, random_state=0)
    evidence = estimate_clusters(X, n_jobs=1)
    order = np.random.default_rng(0).permutation(len(X))
    others = {
        "threads": (estimate_clusters(X, n_jobs=2), slice(None)),
        "order": (estimate_clusters(X[order]), order),
        "tiny": (estimate_clusters(X * 1e-200), slice(None)),
        "huge": (estimate_clusters(X * 1e200), slice(None)),
        "far": (estimate_clusters(X + 1e4), slice(None)),
    }
    for name, (other, rows) in others.items():
        assert other.n_clusters == evidence.n_clusters, name
        assert adjusted_rand_score(other.labels, evidence.labels[rows]) == 1.0, name
        np.testing.assert_array_equal(other.noise.is_noise, evidence.noise.is_noise[rows], name)
    twice = estimate_clusters(np.r_[X, X[:50]])
    # Rows that stand twice weigh more, so points between clusters may change sides.
    assert adjusted_rand_score(twice.labels[:400], evidence.labels) > 0.9
    np.testing.assert_array_equal(twice.labels[400:], twice.labels[:50])


@pytest.mark.parametrize(
    "X",
    [
        np.arange(3.0)[:, None],
        np.ones((60, 2)),
        np.repeat(np.random.default_rng(0).random((5, 2)), 40, axis=0),
        np.stack(np.meshgrid(range(12), range(12)), axis=-1).reshape(-1, 2).astype(float),
        np.arange(200.0)[:, None],
    ],
    ids=["three", "equal", "five_distinct", "grid", "line"],
)
def test_degenerate_points_are_one_cluster_without_noise(X):
    evidence = estimate_clusters(X)
    assert evidence.n_clusters == 1
    assert (evidence.labels == 0).all()
    assert not evidence.noise.is_noise.any()
    assert np.isfinite(evidence.noise.score).all()


def test_communities_of_cliques_are_the_cliques_and_their_modularity_is_known():
    W = np.kron(np.eye(5), np.ones((6, 6))) - np.eye(30)
    communities = louvain(sparse.csr_array(W))
    np.testing.assert_array_equal(communities.levels[-1], np.repeat(np.arange(5), 6))
    assert communities.modularity[-1] == pytest.approx(1 - 1 / 5)


def test_communities_agree_with_networkx_on_modularity():
    networkx = pytest.importorskip("networkx")
    X, _ = make_blobs(300, 4, centers=5, random_state=0)
    graph = knn(X, n_neighbors=10)
    weights = graph.to_scipy("strengths")
    communities = louvain(weights)
    other = graph.to_networkx()
    groups = [
        set(np.flatnonzero(communities.levels[-1] == c)) for c in np.unique(communities.levels[-1])
    ]
    quality = networkx.community.modularity(other, groups, weight=None)
    assert communities.modularity[-1] == pytest.approx(quality, abs=1e-9)
    best = networkx.community.louvain_communities(other, weight=None, seed=0)
    assert quality > networkx.community.modularity(other, best, weight=None) - 0.02


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_one_cluster_has_the_modularity_of_the_null(dim):
    X = np.random.default_rng(0).uniform(size=(800, dim))
    _, distances = NeighborSearch(X).nearest(20)
    dimension = intrinsic_dimension(distances, dim)
    communities = louvain(knn(X, n_neighbors=10).to_scipy("strengths")).modularity[-1]
    assert abs(communities - null_modularity(800, dimension, 10)) < 0.06


def test_a_graph_without_edges_has_a_community_per_node():
    np.testing.assert_array_equal(louvain(sparse.csr_array((4, 4))).levels[-1], np.arange(4))


def test_consensus_of_cliques_in_a_ring_is_the_cliques():
    W = np.kron(np.eye(6), np.ones((8, 8))) - np.eye(48)
    for c in range(6):
        i, j = 8 * c, (8 * c + 9) % 48
        W[i, j] = W[j, i] = 1.0
    found = consensus(sparse.csr_array(W), np.arange(48))
    np.testing.assert_array_equal(found.levels[-1], np.repeat(np.arange(6), 8))


@pytest.mark.parametrize("seed", range(8))
def test_communities_do_not_decide_on_a_thick_ring(seed):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, 2000)
    X = np.c_[np.cos(angles), np.sin(angles), np.zeros((2000, 2))]
    evidence = estimate_clusters(X + 0.05 * rng.normal(size=(2000, 4)))
    assert evidence.source != "communities"


def test_digits_are_found_in_any_order_of_rows_with_any_number_of_threads():
    X, truth = load_digits(return_X_y=True)
    evidence = estimate_clusters(X, n_jobs=1)
    assert evidence.source == "communities"
    assert 9 <= evidence.n_clusters <= 12
    assert normalized_mutual_info_score(truth, evidence.labels) > 0.85
    order = np.random.default_rng(0).permutation(len(X))
    other = estimate_clusters(3.0 * X[order], n_jobs=2)
    assert other.n_clusters == evidence.n_clusters
    assert adjusted_rand_score(other.labels, evidence.labels[order]) == 1.0


def test_background_noise_is_found_and_its_score_is_half_at_the_threshold():
    rng = np.random.default_rng(0)
    X, _ = make_blobs(600, 3, centers=3, cluster_std=0.5, random_state=1)
    X = np.r_[X, rng.uniform(X.min(axis=0), X.max(axis=0), size=(300, 3))]
    noise_estimate = estimate_clusters(X).noise
    noise = np.arange(900) >= 600
    assert f1_score(noise, noise_estimate.is_noise) > 0.9
    assert ((noise_estimate.score > 0.5) == noise_estimate.is_noise).all()
    assert noise_estimate.gain > 100


def test_points_are_clustered_again_without_noise():
    rng = np.random.default_rng(2)
    X, truth = make_moons(600, noise=0.05, random_state=0)
    noise = rng.uniform(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, size=(400, 2))
    points = np.r_[X, noise]
    evidence = estimate_clusters(points)
    is_noise = evidence.noise.is_noise
    assert f1_score(np.arange(1000) >= 600, is_noise) > 0.8
    alone = estimate_clusters(points[~is_noise])
    assert evidence.n_clusters == alone.n_clusters == 2
    assert adjusted_rand_score(evidence.labels[~is_noise], alone.labels) == 1.0
    kept = ~is_noise[:600]
    assert adjusted_rand_score(truth[kept], evidence.labels[:600][kept]) > 0.95
    # Noise gets the cluster of the nearest other point.
    nearest = NeighborSearch(points[~is_noise]).nearest(1, queries=points[is_noise])[0][:, 0]
    np.testing.assert_array_equal(evidence.labels[is_noise], evidence.labels[~is_noise][nearest])


def test_clusters_of_different_density_are_not_noise():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(300, 2)) * 0.1, [30, 0] + rng.normal(size=(300, 2)) * 4]
    evidence = estimate_clusters(X)
    assert evidence.n_clusters == 2
    assert evidence.noise.is_noise[:300].mean() < 0.05
    assert evidence.noise.is_noise[300:].mean() < 0.05


def test_a_sample_of_many_points_gives_clusters_and_noise_of_all(monkeypatch):
    X, _ = make_blobs(1500, 3, centers=5, cluster_std=0.3, random_state=0)
    X = np.r_[X, [[40.0, 40.0, 40.0]], X[:20]]
    whole = estimate_clusters(X)
    monkeypatch.setattr(sample, "MAX_POINTS", 500)
    sampled = estimate_clusters(X)
    assert sampled.n_clusters == whole.n_clusters == 5
    np.testing.assert_array_equal(sampled.labels, whole.labels)
    assert [len(layer.labels) for layer in sampled.layers] == [len(X)] * len(sampled.layers)
    assert sampled.noise.is_noise[1500]
    assert sampled.noise.is_noise.mean() < 0.02
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = estimate_clusters(X[order] * 8.0, n_jobs=1)
    np.testing.assert_array_equal(shuffled.noise.is_noise, sampled.noise.is_noise[order])
    assert adjusted_rand_score(shuffled.labels, sampled.labels[order]) == 1.0


@pytest.mark.parametrize("n", [100, 400])
def test_long_normal_clusters_in_many_columns_are_one_cluster(n):
    rng = np.random.default_rng(0)
    for dim in (5, 8, 15):
        X = rng.normal(size=(n, dim)) * np.geomspace(0.15, 1.0, dim)
        assert estimate_clusters(X).n_clusters == 1


def test_a_close_pair_is_not_hidden_by_far_clusters():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0], [6, 0], [60, 0], [0, 60], [60, 60]])
    truth = np.repeat(np.arange(5), 60)
    X = centers[truth] + 1.15 * rng.normal(size=(300, 2))
    evidence = estimate_clusters(X)
    assert evidence.source == "density"
    assert evidence.candidates[0][0] == evidence.n_clusters == 5
    assert adjusted_rand_score(truth, evidence.labels) > 0.95


def test_a_valley_across_a_border_divides_and_even_density_does_not():
    rng = np.random.default_rng(0)
    even = rng.uniform(size=(800, 2)) * [2.0, 1.0]
    # Half of the points in a strip across the middle are left out.
    thinned = even[(np.abs(even[:, 0] - 1.0) > 0.08) | (rng.random(800) < 0.3)]
    numbers = []
    for X in (even, thinned):
        indices, distances = NeighborSearch(X).nearest(16)
        weights = neighbor_weights(indices, distances, 2.0)
        parts = np.zeros(len(X), np.int64)
        valleys = find_valleys(weights, indices, distances, 2.0, parts)
        numbers.append(int(valleys.labels.max()) + 1)
    assert numbers == [1, 2]
    sides = valleys.labels == valleys.labels[0]
    assert adjusted_rand_score(sides, thinned[:, 0] > 1.0) > 0.9
    # The next merge ignores the valley, and says how deep it is.
    labels, depth = valleys.merges[-1]
    assert depth >= 1.0
    assert (labels == 0).all()


def test_ties_are_spread_between_their_neighbours():
    np.testing.assert_allclose(spread_ties(np.array([0.0, 1.0, 1.0, 2.0])), [0.0, 0.75, 1.25, 2.0])
    values = np.array([0.0, 0.5, 3.0])
    assert spread_ties(values) is values


def test_a_sample_without_groups_has_the_columns_and_correlations_of_the_points():
    rng = np.random.default_rng(0)
    X, _ = make_blobs(500, 4, centers=3, random_state=0)
    X[:, 3] = np.exp(X[:, 0] / 4) + 0.1 * rng.normal(size=500)
    found = without_groups(X, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X, axis=0))
    ranks = [np.corrcoef(points.argsort(axis=0).argsort(axis=0).T) for points in (X, found)]
    np.testing.assert_allclose(*ranks, atol=0.15)


SKEWED = {
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "chi_square": lambda rng, shape: rng.chisquare(1, size=shape),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
}


@pytest.mark.parametrize("shape", [(300, 2), (300, 8), (1000, 20)])
@pytest.mark.parametrize("kind", SKEWED)
def test_skewed_and_heavy_tailed_columns_are_one_cluster(kind, shape):
    X = SKEWED[kind](np.random.default_rng(3), shape)
    assert estimate_clusters(X).n_clusters == 1


def test_repeated_rows_change_nothing():
    X, _ = make_blobs(300, 3, centers=4, random_state=0)
    evidence = estimate_clusters(X)
    thrice = estimate_clusters(np.repeat(X, 3, axis=0))
    assert thrice.n_clusters == evidence.n_clusters == 4
    np.testing.assert_array_equal(thrice.labels[::3], evidence.labels)
    lattice = np.stack(np.meshgrid(range(10), range(10)), axis=-1).reshape(-1, 2).astype(float)
    counts = np.random.default_rng(0).integers(1, 30, 100)
    uneven = estimate_clusters(np.repeat(lattice, counts, axis=0))
    np.testing.assert_array_equal(
        uneven.labels, np.repeat(estimate_clusters(lattice).labels, counts)
    )


def test_layers_say_what_they_stand_by():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [4.5, 0], [60, 0], [64.5, 0]])
    X = np.repeat(centers, 200, axis=0) + rng.normal(size=(800, 2))
    evidence = estimate_clusters(X)
    layers = {layer.n_clusters: layer for layer in evidence.layers}
    assert (layers[1].source, layers[2].source) == ("none", "gap")
    assert layers[2].score > 1.0
    assert evidence.n_clusters == 4
    assert layers[4].source == evidence.source == "density"
    assert layers[4].score > 1.0
    assert "4 clusters by density among 800 rows" in repr(evidence)
