"""Path-based similarities against the literal max-min over all paths, and their invariants."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from path_oracles import best_paths, dense_paths, distances_of, step_weights
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage
from scipy.spatial.distance import squareform

from vicinal import Graph, graphs, path_similarity
from vicinal.datasets import make_spirals
from vicinal.neighbors import _kdtree as kdtree
from vicinal.similarity.paths import _steps as steps_module
from vicinal.similarity.paths import similarity as paths


def clustered(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * 0.3 + rng.integers(0, 3, (n, 1)) * 2.0


POINTS = {
    "random": np.random.default_rng(0).random((70, 3)),
    "clustered": clustered(1),
    "duplicated": np.repeat(clustered(2, 20), 3, axis=0),
    "tied": np.argwhere(np.ones((7, 7))).astype(float),
    "line": np.arange(25.0)[:, None],
    "high-dimensional": np.random.default_rng(3).normal(size=(40, 60)),
    "two": np.array([[0.0], [1.0]]),
}


@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("name", POINTS)
def test_equals_the_max_min_over_all_paths(name, sigma, robust):
    X = POINTS[name]
    expected = dense_paths(X, sigma, robust)
    by_points = path_similarity(X, sigma, robust=robust)
    np.testing.assert_allclose(by_points.toarray(), expected, rtol=1e-12, atol=1e-12)
    by_distances = path_similarity(distances_of(X), sigma, robust=robust, metric="precomputed")
    np.testing.assert_allclose(by_distances.toarray(), expected, rtol=1e-12, atol=1e-12)
    by_graph = path_similarity(graphs.complete(X), sigma, robust=robust)
    np.testing.assert_allclose(by_graph.toarray(), expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    grid=st.booleans(),
    robust=st.booleans(),
    k=st.integers(1, 12),
    sigma=st.floats(0.2, 10.0),
)
def test_random_points_agree_with_the_definition(seed, n, grid, robust, k, sigma):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    S = path_similarity(X, sigma, robust=robust, n_neighbors=k)
    A = S.toarray()
    np.testing.assert_allclose(A, dense_paths(X, sigma, robust, k), rtol=1e-12, atol=1e-12)
    # Ultrametric: no detour is better than the best path.
    detour = np.minimum(A[:, :, None], A[None]).max(axis=1)
    assert (detour <= A).all()
    assert np.linalg.eigvalsh(A).min() > -1e-12 * n
    i, j = rng.integers(0, n, (2, 50))
    np.testing.assert_array_equal(S.pairs(i, j), A[i, j])
    B = rng.normal(size=(n, 3))
    np.testing.assert_allclose(S @ B, A @ B, rtol=1e-12, atol=1e-12 * n)
    np.testing.assert_allclose(S @ B[:, 0], A @ B[:, 0], rtol=1e-12, atol=1e-12 * n)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), robust=st.booleans(), factor=st.sampled_from([1e-8, 3.0, 1e9]))
def test_row_order_units_rotation_and_position_do_not_matter_with_automatic_sigma(
    seed, robust, factor
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    order = rng.permutation(50)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    base = path_similarity(X, robust=robust)
    moved = path_similarity(factor * (X @ turn)[order], robust=robust)
    np.testing.assert_allclose(moved.toarray(), base.toarray()[np.ix_(order, order)], atol=1e-7)
    assert moved.sigma == pytest.approx(factor * base.sigma, rel=1e-7)


def test_pairs_rows_and_products_agree_for_many_points():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    S = path_similarity(X, 0.5)
    rows = S.rows([0, 7, 2999])
    i, j = np.random.default_rng(1).integers(0, 3000, (2, 2000))
    i[:1000] = np.repeat([0, 7], 500)
    np.testing.assert_array_equal(
        S.pairs(i[:1000], j[:1000]), rows[np.repeat([0, 1], 500), j[:1000]]
    )
    np.testing.assert_array_equal(S.pairs(i, j), S.pairs(j, i))
    np.testing.assert_allclose((S @ np.eye(3000)[:, [0, 7, 2999]]).T, rows, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits():
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    one, two = path_similarity(X, n_jobs=1), path_similarity(X, n_jobs=2)
    assert one.sigma == two.sigma
    np.testing.assert_array_equal(one.to_linkage(), two.to_linkage())


@pytest.mark.parametrize("robust", [True, False])
def test_automatic_sigma_gives_an_average_pair_nine_tenths_of_the_largest_similarity(robust):
    X, _ = make_spirals(500, random_state=0)
    S = path_similarity(X, robust=robust)
    A = S.toarray() / S.pairs(0, 0)
    mean = A[np.triu_indices(500, 1)].mean()
    # Without weights, exact up to the most similar pair; with weights, approximate: sigma is chosen for the
    # paths of an infinitely wide kernel.
    assert mean == pytest.approx(0.9, abs=0.02 if robust else 1e-5)
    sigmas, means = S.sigma_curve
    assert (np.diff(means) > 0).all()
    assert np.interp(S.sigma, sigmas, means) == pytest.approx(0.9)
    assert path_similarity(X, 0.1).sigma_curve is None


@pytest.mark.parametrize("name", ["random", "clustered", "duplicated", "high-dimensional"])
def test_steps_to_neighbours_choose_nearly_the_same_sigma(name, monkeypatch):
    X = POINTS[name]
    by_all = path_similarity(X, n_neighbors=5)
    monkeypatch.setattr(paths, "ALL_STEPS_MAX_POINTS", 1)
    by_neighbors = path_similarity(X, n_neighbors=5)
    # Fewer steps cannot make a best path better, so a pair is never more similar.
    assert 1 - 1e-12 <= by_neighbors.sigma / by_all.sigma < 1.1


def test_duplicates_do_not_determine_the_automatic_sigma():
    X = np.concatenate([np.zeros(500), [1.0, 2.0, 4.0]])[:, None]
    few = path_similarity(X[499:], robust=False)
    many = path_similarity(X, robust=False)
    assert 0.5 < many.sigma / few.sigma < 2.0
    assert many.sigma_curve.mean_similarity[-1] > 0.99


def test_the_worst_step_of_a_path_has_the_similarity_of_its_ends():
    X = clustered(5)
    S = path_similarity(X, 0.7)
    w = step_weights(distances_of(X), 0.7, True)
    for i, j in [(0, 1), (3, 50), (59, 0), (17, 17)]:
        path = S.path(i, j)
        assert (path[0], path[-1]) == (i, j)
        assert len(set(path.tolist())) == len(path)
        if i != j:
            assert w[path[:-1], path[1:]].min() == pytest.approx(S.pairs(i, j), rel=1e-12)


def test_only_edges_of_a_graph_are_steps():
    graph = Graph.from_edges(
        6, [[0, 1], [1, 2], [0, 2], [3, 4]], lengths=[1.0, 2.0, 3.0, 0.0], strengths=[1, 0.5, 1, 1]
    )
    S = path_similarity(graph, 2.0, robust=False)
    w = graph.affinity(2.0).toarray()
    np.testing.assert_allclose(S.toarray(), best_paths(w), rtol=1e-12)
    assert S.pairs(0, 3) == 0.0
    assert S.pairs(0, 3, log=True) == -np.inf
    assert S.pairs(3, 4) == 1.0
    with pytest.raises(ValueError, match="there is no path from 0 to 5"):
        S.path(0, 5)
    np.testing.assert_array_equal(S.path(2, 0), [2, 0] if w[0, 2] > 0.303 else [2, 1, 0])
    np.testing.assert_array_equal(S.clusters(1e-9), [0, 0, 0, 1, 1, 2])
    np.testing.assert_allclose(S @ np.ones(6), S.toarray().sum(axis=1))


def test_weights_of_a_graph_come_from_adjacent_nodes():
    X = clustered(6)
    graph = graphs.knn(X, 4)
    S = path_similarity(graph, 0.6, n_neighbors=3)
    squares = graph.to_scipy("lengths").toarray() ** 2
    linked = graph.to_scipy("strengths").toarray() > 0
    near = np.sort(np.where(linked, squares, np.inf), axis=1)[:, :3]
    alpha = np.exp(-near / (2 * 0.36)).sum(axis=1)
    alpha /= alpha.max()
    np.testing.assert_allclose(S.weights, alpha, rtol=1e-12)
    w = np.where(linked, np.exp(-squares / 0.72), 0.0) * alpha[:, None] * alpha
    np.testing.assert_allclose(S.toarray(), best_paths(w), rtol=1e-12, atol=1e-15)


def test_clusters_and_linkage_agree_with_scipy():
    X = clustered(7)
    S = path_similarity(X, 0.5)
    linkage = S.to_linkage()
    assert is_valid_linkage(linkage)
    A = S.toarray()
    np.testing.assert_allclose(
        squareform(cophenet(linkage)) + np.diag(-np.log(np.diag(A))), -np.log(A), rtol=1e-9
    )
    for threshold in (0.01, 0.2, 0.5):
        labels = S.clusters(threshold)
        together = labels[:, None] == labels
        np.testing.assert_array_equal(together, (threshold <= A) | np.eye(60, dtype=bool))
        assert labels[0] == 0
    for count in (1, 2, 5):
        theirs = fcluster(linkage, count, "maxclust")
        labels = S.clusters(n_clusters=count)
        np.testing.assert_array_equal(labels[:, None] == labels, theirs[:, None] == theirs)
    # Literal, because before scipy 1.15 fcluster merges two of this many clusters.
    np.testing.assert_array_equal(S.clusters(n_clusters=60), np.arange(60))


def test_dissimilarity_is_a_squared_distance():
    S = path_similarity(clustered(8), 0.5)
    A = S.toarray()
    diagonal = np.diag(A)
    np.testing.assert_allclose(S.dissimilarity(), diagonal[:, None] - 2 * A + diagonal, atol=1e-14)


def test_a_tiny_sigma_warns_and_keeps_finite_logarithms():
    X = clustered(9)
    with pytest.warns(UserWarning, match="so small that all similarities underflow to 0"):
        S = path_similarity(X, 1e-4)
    logs = S.pairs(np.zeros(59, int), np.arange(1, 60), log=True)
    assert np.isfinite(logs).all()
    assert (logs < -745).all()
    # Formula (3) is then dominated by the nearest neighbour.
    D = distances_of(X)
    near = np.sort(D, axis=1)[:, 1:11] ** 2
    wide = best_paths(-(D**2 + near[:, :1] + near[:, 0]) + near[:, 0].min() * 2)
    np.testing.assert_allclose(logs * 2e-8, wide[0, 1:], rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match=r"sigma=1e-300 is so small"):
        path_similarity(X, 1e-300)


def test_one_point_and_equal_points_have_similarity_one():
    one = path_similarity([[3.0, 4.0]])
    np.testing.assert_array_equal(one.toarray(), [[1.0]])
    np.testing.assert_array_equal(one @ [2.0], [2.0])
    assert one.path(0, 0).tolist() == [0]
    assert one.to_linkage().shape == (0, 4)
    same = path_similarity(np.ones((12, 2)))
    np.testing.assert_array_equal(same.toarray(), np.ones((12, 12)))
    assert same.sigma == 1.0


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_units_do_not_change_similarities(scale):
    X = clustered(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        S = path_similarity(X * scale)
    np.testing.assert_allclose(S.toarray(), path_similarity(X).toarray(), rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sigma": 0.0}, "sigma=0.0.*> 0.*auto"),
        ({"sigma": -1}, "sigma=-1"),
        ({"sigma": np.nan}, "sigma=nan"),
        ({"sigma": "wide"}, "sigma='wide'.*'auto'"),
        ({"sigma": None}, "sigma=None"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"metric": "manhattan"}, "metric='manhattan'"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        path_similarity(np.eye(4), **arguments)


def test_invalid_input_is_named_in_the_error():
    with pytest.raises(ValueError, match="NaN"):
        path_similarity([[0.0], [np.nan]])
    with pytest.raises(TypeError, match=r"Graph\.from_scipy"):
        path_similarity(sparse.eye_array(3) * 0, metric="precomputed")
    with pytest.raises(ValueError, match="directed"):
        path_similarity(graphs.knn(np.eye(4), 2, directed=True))
    S = path_similarity(np.eye(4))
    with pytest.raises(ValueError, match="node 4"):
        S.pairs(0, 4)
    with pytest.raises(TypeError, match="integer row numbers"):
        S.rows([0.5])
    with pytest.raises(TypeError, match="exactly one is needed"):
        S.clusters()


def test_a_sigma_too_large_for_the_data_is_named_in_the_error():
    with pytest.raises(ValueError, match="sigma is so large, relative to the distances in X"):
        path_similarity(clustered(11) * 1e-300, 1e100)


@pytest.mark.parametrize("n", [300, 5500])
def test_the_kd_tree_is_built_once(monkeypatch, n):
    build, n_built = kdtree.build_kdtree, 0

    def counted(X, *args, **options):
        nonlocal n_built
        n_built += 1
        return build(X, *args, **options)

    monkeypatch.setattr(kdtree, "build_kdtree", counted)
    # Two distant groups: neighbours alone do not connect the points.
    X = np.random.default_rng(0).normal(size=(n, 2)) + 100.0 * (np.arange(n) % 2)[:, None]
    path_similarity(X)
    assert n_built == 1


@pytest.mark.parametrize("robust", [True, False])
def test_a_spanning_tree_is_computed_and_measured_once(monkeypatch, robust):
    calls = []
    trees = steps_module.tree_edges

    def recorded(*args, **options):
        calls.append(args)
        return trees(*args, **options)

    monkeypatch.setattr(steps_module, "tree_edges", recorded)
    path_similarity(clustered(12), robust=robust)
    # With weights, one tree for the choice of sigma and one at the chosen sigma.
    assert len(calls) == (2 if robust else 1)


def test_a_matrix_too_large_for_memory_raises(monkeypatch):
    S = path_similarity(np.arange(1000.0)[:, None])
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 1e6)
    for form in (S.toarray, S.dissimilarity):
        with pytest.raises(MemoryError, match=r"pairs\(i, j\)"):
            form()
