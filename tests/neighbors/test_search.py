"""One interface: every backend finds the same neighbours."""

from itertools import pairwise

import neighbor_oracles as oracles
import numpy as np
import pytest
from scipy import sparse

from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._exact import nearest_to_new

RNG = np.random.default_rng(0)


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def lists_of(indptr, indices, distances):
    return [list(zip(indices[a:b], distances[a:b], strict=True)) for a, b in pairwise(indptr)]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 20, 128])
@pytest.mark.parametrize("name", ["random", "grid", "duplicates", "collinear", "tight clusters"])
def test_nearest_and_within_follow_the_definition(name, d, metric):
    X = oracles.shapes(120, d)[name]
    p = 1 if metric == "manhattan" else 2
    distances = oracles.distances_between(X, X, p)
    search = NeighborSearch(X, metric=metric)
    indices, lengths = search.nearest(7)
    np.testing.assert_array_equal(indices[:, 0], np.arange(120))
    assert not lengths[:, 0].any()
    assert_same(
        (indices[:, 1:], lengths[:, 1:]), oracles.nearest_points(X, X, 7, p, exclude_self=True)
    )
    radius = float(np.median(distances))
    assert lists_of(*search.within(radius)) == oracles.within(distances, radius, exclude_self=True)


@pytest.mark.parametrize("pays", [True, False])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_tree_and_blocks_are_bit_identical(metric, pays, monkeypatch):
    X, queries = RNG.normal(size=(400, 6)), RNG.normal(size=(30, 6))
    chosen = NeighborSearch(X, metric=metric)
    forced = NeighborSearch(X, metric=metric)
    monkeypatch.setattr(forced._backend, "tree_is_faster", lambda *args, **kwargs: pays)
    radius = 0.2 if metric == "cosine" else 2.0
    assert_same(chosen.nearest(9), forced.nearest(9))
    assert_same(chosen.nearest(9, queries), forced.nearest(9, queries))
    assert_same(chosen.within(radius), forced.within(radius))
    assert_same(chosen.within(radius, queries), forced.within(radius, queries))


def test_the_backend_is_chosen_by_intrinsic_dimension():
    flat = RNG.normal(size=(20_000, 2)) @ RNG.normal(size=(2, 30))
    full = RNG.normal(size=(5_000, 30))
    search = NeighborSearch(flat)
    search.nearest(5)
    assert search.method_ == "kdtree"
    search = NeighborSearch(full)
    search.nearest(5)
    assert search.method_ == "blocked"


@pytest.mark.parametrize(("d", "metric"), [(3, "euclidean"), (40, "euclidean"), (40, "manhattan")])
def test_queries_follow_the_definition(d, metric):
    X, queries = RNG.normal(size=(200, d)), RNG.normal(size=(20, d))
    p = 1 if metric == "manhattan" else 2
    distances = oracles.distances_between(queries, X, p)
    search = NeighborSearch(X, metric=metric)
    assert_same(search.nearest(5, queries), oracles.nearest_points(queries, X, 5, p))
    radius = float(np.median(distances))
    assert lists_of(*search.within(radius, queries)) == oracles.within(distances, radius)


@pytest.mark.parametrize("d", [3, 40])
def test_a_permutation_only_renumbers_the_neighbours(d):
    X = RNG.normal(size=(300, d))
    order = RNG.permutation(300)
    plain, shuffled = NeighborSearch(X).nearest(6), NeighborSearch(X[order]).nearest(6)
    np.testing.assert_array_equal(order[shuffled[0]], plain[0][order])
    np.testing.assert_array_equal(shuffled[1], plain[1][order])


@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("factor", [1e-9, 1e9, 2.0**600, 2.0**-600, 1e-200, 1e200, 1e307])
def test_scale_does_not_matter(d, factor):
    X = RNG.uniform(-1, 1, size=(200, d))
    plain, scaled = NeighborSearch(X).nearest(5), NeighborSearch(X * factor).nearest(5)
    np.testing.assert_array_equal(scaled[0], plain[0])
    np.testing.assert_allclose(scaled[1], plain[1] * factor, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_a_huge_radius_reaches_every_point(d, scale):
    X = RNG.normal(size=(30, d)) * scale
    indptr, indices, _ = NeighborSearch(X).within(1e250)
    np.testing.assert_array_equal(np.diff(indptr), 29)
    np.testing.assert_array_equal(indices[:29], np.arange(1, 30))


def test_queries_whose_distances_overflow_are_rejected():
    with pytest.raises(ValueError, match=r"queries contains values up to 1e\+200"):
        NeighborSearch(np.eye(3)).nearest(1, [[1e200, 0.0, 0.0]])


@pytest.mark.parametrize("d", [2, 40])
def test_translation_does_not_matter(d):
    X = np.round(RNG.normal(size=(200, d)), 3)
    plain, moved = NeighborSearch(X).nearest(5), NeighborSearch(X + 1e6).nearest(5)
    np.testing.assert_allclose(moved[1], plain[1], atol=1e-8)


def test_near_duplicates_keep_accurate_distances():
    X = np.repeat(RNG.normal(size=(100, 50)), 2, axis=0)
    X[1::2] *= 1 + 1e-9
    indices, distances = NeighborSearch(X).nearest(1)
    np.testing.assert_array_equal(indices[:, 1], np.arange(200) ^ 1)
    expected = np.sqrt(np.square(X - X[np.arange(200) ^ 1]).sum(axis=1))
    np.testing.assert_allclose(distances[:, 1], expected, rtol=1e-12)


def test_self_is_first_among_duplicates():
    indices, distances = NeighborSearch(np.ones((6, 2))).nearest(3)
    np.testing.assert_array_equal(indices[:, 0], np.arange(6))
    np.testing.assert_array_equal(indices[4, 1:], [0, 1, 2])
    np.testing.assert_array_equal(indices[1, 1:], [0, 2, 3])
    assert not distances.any()


def test_cosine_agrees_with_scikit_learn():
    from sklearn.metrics.pairwise import cosine_distances

    X = RNG.normal(size=(200, 12)) * 10.0 ** RNG.integers(-150, 150, size=(200, 1))
    unit = X / np.abs(X).max(axis=1, keepdims=True)
    distances = cosine_distances(unit)
    indices, lengths = NeighborSearch(X, metric="cosine").nearest(5)
    expected = oracles.nearest(distances, 5, exclude_self=True)
    np.testing.assert_array_equal(indices[:, 1:], expected[0])
    np.testing.assert_allclose(lengths[:, 1:], expected[1], atol=1e-12)
    result = lists_of(*NeighborSearch(X, metric="cosine").within(0.5))
    assert [[j for j, _ in row] for row in result] == [
        [j for j, _ in row] for row in oracles.within(distances, 0.5, exclude_self=True)
    ]


@pytest.mark.parametrize("d", [3, 30])
def test_neighbours_agree_with_scikit_learn(d):
    from sklearn.neighbors import NearestNeighbors

    X = RNG.normal(size=(500, d))
    peer = NearestNeighbors(n_neighbors=8).fit(X).kneighbors()
    indices, distances = NeighborSearch(X).nearest(8)
    np.testing.assert_array_equal(indices[:, 1:], peer[1])
    np.testing.assert_allclose(distances[:, 1:], peer[0], rtol=1e-9)


def chebyshev(a, b):
    return np.abs(a - b).max()


@pytest.mark.parametrize(
    "metric", ["chebyshev", "canberra", "seuclidean", "mahalanobis", "jaccard", chebyshev]
)
def test_other_metrics_are_those_of_scikit_learn(metric, monkeypatch):
    from sklearn.metrics import pairwise_distances

    from vicinal.neighbors import _pairwise as tables

    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 1000)
    X = RNG.normal(size=(80, 4))
    if metric == "jaccard":
        X = X > 0
    distances = pairwise_distances(X, metric=metric)
    search = NeighborSearch(X, metric=metric)
    indices, lengths = search.nearest(5)
    expected = oracles.nearest(distances, 5, exclude_self=True)
    np.testing.assert_allclose(lengths[:, 1:], expected[1], rtol=1e-12)
    if metric != "jaccard":
        np.testing.assert_array_equal(indices[:, 1:], expected[0])
    radius = float(np.median(distances)) * (1 + 1e-9)
    counts = [len(row) for row in oracles.within(distances, radius, exclude_self=True)]
    np.testing.assert_array_equal(np.diff(search.within(radius)[0]), counts)


@pytest.mark.parametrize("metric", ["chebyshev", "seuclidean", "jaccard", "manhattan"])
def test_precomputed_lists_have_the_distances_of_their_points(metric):
    from vicinal.neighbors._pairwise import PairwisePoints

    X = RNG.normal(size=(70, 4)).astype(np.float32)
    other = PairwisePoints(X > 0 if metric == "jaccard" else X, metric)
    rows, lists = RNG.permutation(70)[:50], RNG.integers(0, 70, (50, 6))
    table = other.distances(other.X)
    np.testing.assert_array_equal(other.lengths_of(rows, lists), table[rows[:, None], lists])


def test_distance_matrix_gives_the_neighbours_of_its_points():
    X = oracles.shapes(100, 3)["grid"]
    distances = oracles.distances_between(X, X)
    search = NeighborSearch(distances, metric="precomputed")
    assert_same(search.nearest(6), NeighborSearch(X).nearest(6))
    assert_same(search.within(1.5), NeighborSearch(X).within(1.5))
    rows = distances[:10]
    assert_same(search.nearest(4, rows), oracles.nearest(rows, 4))
    assert search.method_ == "precomputed"


def test_stored_zeros_of_a_sparse_matrix_are_distances():
    matrix = sparse.csr_array(([0.0, 0.0, 2.0, 2.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    search = NeighborSearch(matrix, metric="precomputed")
    indices, distances = search.nearest(1)
    np.testing.assert_array_equal(indices[:, 1], [1, 0, 1])
    np.testing.assert_array_equal(distances[:, 1], [0, 0, 2])
    assert lists_of(*search.within(1.0)) == [[(1, 0.0)], [(0, 0.0)], []]
    with pytest.raises(ValueError, match=r"n_neighbors=2, but row 0 .* contains only 1"):
        search.nearest(2)
    lonely = NeighborSearch(sparse.csr_array((3, 3)), metric="precomputed")
    with pytest.raises(ValueError, match=r"n_neighbors=1, but row 0 of X contains no distance"):
        lonely.nearest(1)


def test_a_full_sparse_matrix_is_the_dense_one():
    X = oracles.shapes(60, 2)["grid"]
    distances = oracles.distances_between(X, X)
    full = sparse.csr_array(
        (distances.ravel(), np.tile(np.arange(60), 60), np.arange(0, 3601, 60)), shape=(60, 60)
    )
    search = NeighborSearch(full, metric="precomputed")
    assert_same(search.nearest(9), NeighborSearch(X).nearest(9))
    assert_same(search.within(1.0), NeighborSearch(X).within(1.0))
    rows = full[[3, 7]]
    assert_same(search.nearest(9, rows), oracles.nearest(distances[[3, 7]], 9))


def test_a_precomputed_pair_is_sorted_with_the_point_itself_first():
    X = RNG.normal(size=(50, 3))
    expected = NeighborSearch(X).nearest(6)
    shuffle = RNG.permutation(7)
    search = NeighborSearch((expected[0][:, shuffle], expected[1][:, shuffle]))
    assert_same(search.nearest(6), expected)
    without_self = NeighborSearch((expected[0][:, 1:], expected[1][:, 1:]))
    assert_same(without_self.nearest(4), (expected[0][:, :5], expected[1][:, :5]))
    with pytest.raises(ValueError, match=r"n_neighbors=7, but row 0 .* contains only 6"):
        search.nearest(7)
    with pytest.raises(ValueError, match="queries were given, but X is a pair"):
        search.nearest(1, X)
    with pytest.raises(ValueError, match=r"radius=0\.5"):
        search.within(0.5)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (([[1], [0]], [[1.0, 2.0], [1.0, 2.0]]), "same shape"),
        (([[1.0], [0.0]], [[1.0], [1.0]]), "indices of dtype float64"),
        (([[2], [0]], [[1.0], [1.0]]), "index 2"),
        (([[-1], [0]], [[1.0], [1.0]]), "index -1"),
        (([[1], [0]], [[-1.0], [1.0]]), "negative"),
        (([[1, 1], [0, 1]], [[1.0, 1.0], [1.0, 0.0]]), "row 0 .* twice"),
    ],
)
def test_an_invalid_pair_is_rejected(pair, message):
    with pytest.raises((TypeError, ValueError), match=message):
        NeighborSearch(tuple(map(np.array, pair)))


def test_every_kind_of_input_is_accepted_and_unchanged():
    import pandas as pd

    whole = RNG.integers(0, 50, size=(60, 8))
    expected = NeighborSearch(whole.astype(float)).nearest(4)
    readonly = whole.astype(float)
    readonly.flags.writeable = False
    wide = np.zeros((60, 16))
    wide[:, ::2] = whole
    fortran = np.asfortranarray(whole.astype(np.float32))
    kinds = [whole, readonly, wide[:, ::2], fortran, whole.tolist(), pd.DataFrame(whole)]
    for X in kinds:
        before = np.array(X)
        search = NeighborSearch(X)
        assert_same(search.nearest(4), expected)
        search.nearest(4, X)
        search.within(3.0)
        np.testing.assert_array_equal(np.array(X), before)


@pytest.mark.parametrize("d", [2, 30])
def test_two_points_and_one_point(d):
    indices, distances = NeighborSearch(np.eye(2, d)).nearest(1)
    np.testing.assert_array_equal(indices, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(distances[:, 1], np.sqrt([2.0, 2.0]))
    alone = NeighborSearch(np.ones((1, d)))
    assert lists_of(*alone.within(1.0)) == [[]]
    np.testing.assert_array_equal(alone.nearest(1, np.zeros((1, d)))[1], [[np.sqrt(d)]])
    with pytest.raises(
        ValueError, match=r"n_neighbors=1, but X has 1 point, which has no neighbours"
    ):
        alone.nearest(1)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("d", [3, 30])
def test_number_of_threads_does_not_matter(d, n_jobs):
    X = np.random.default_rng(3).normal(size=(3000, d))
    reference = NeighborSearch(X)
    search = NeighborSearch(X, n_jobs=n_jobs)
    assert_same(search.nearest(8), reference.nearest(8))
    radius = 0.3 if d == 3 else 5.5
    assert_same(search.within(radius), reference.within(radius))


@pytest.mark.parametrize("d", [2, 30])
def test_progress_is_shown_only_on_request(d, capfd):
    X = RNG.normal(size=(5000, d))
    NeighborSearch(X).nearest(1)
    assert capfd.readouterr().err == ""
    NeighborSearch(X, verbose=1).nearest(1)
    assert ("neighbours" in capfd.readouterr().err) == (d == 30)


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev"])
@pytest.mark.parametrize("n_features", [3, 40])
def test_one_new_point_has_the_neighbours_that_a_search_finds(metric, unit, n_features):
    rng = np.random.default_rng(0)
    X, queries = (unit * rng.normal(size=(n, n_features)) for n in (100, 5))
    search = NeighborSearch(X, metric=metric, n_jobs=1)
    expected = search.nearest(4, queries=queries)
    for i in range(len(queries)):
        for query in (queries[i : i + 1], np.asfortranarray(queries)[i : i + 1]):
            found = nearest_to_new(search, query, 4)
            np.testing.assert_array_equal(found[0][0], expected[0][i])
            np.testing.assert_array_equal(found[1][0], expected[1][i])


def test_one_new_point_is_checked_as_by_a_search():
    search = NeighborSearch(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(ValueError, match="NaN"):
        nearest_to_new(search, np.array([[0.0, np.nan]]), 2)
    with pytest.raises(ValueError, match="overflow"):
        nearest_to_new(search, np.array([[0.0, 1e200]]), 2)
    with pytest.raises(ValueError, match="3 feature"):
        nearest_to_new(search, np.zeros((1, 3)), 2)
