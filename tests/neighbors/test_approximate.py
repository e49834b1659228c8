"""Approximate search finds the fraction of neighbours that it reports."""

import numpy as np
import pytest

from vicinal.neighbors import NeighborSearch, _approximate
from vicinal.neighbors._exact import release_copies


def mixture(n, d, seed=0):
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(60, d))
    return (centres[rng.integers(0, 60, n)] + rng.normal(size=(n, d))).astype(np.float32)


def share_found(found, true):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, true, strict=True)])


@pytest.fixture(scope="module")
def X():
    return mixture(15_000, 32)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("recall", [0.9, 0.99])
def test_the_reported_recall_is_reached(X, metric, recall):
    search = NeighborSearch(X, metric=metric, method="approximate", recall=recall, random_state=0)
    indices, distances = search.nearest(10)
    assert search.method_ == "ivf"
    assert recall <= search.recall_ <= 1.0
    true = NeighborSearch(X, metric=metric).nearest(10)
    assert share_found(indices[:, 1:], true[0][:, 1:]) >= recall - 0.005
    np.testing.assert_array_equal(indices[:, 0], np.arange(len(X)))
    assert (indices[:, 1:] != np.arange(len(X))[:, None]).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    # Distances of the results are exact.
    same = indices == true[0]
    np.testing.assert_array_equal(distances[same], true[1][same])


def test_unit_vectors_of_very_many_points_keep_single_precision(X, monkeypatch):
    X = X.astype(np.float32)
    true = NeighborSearch(X, metric="cosine").nearest(10)
    monkeypatch.setattr(_approximate, "MAX_DOUBLE_BYTES", 0)
    search = NeighborSearch(X, metric="cosine", method="approximate", random_state=0)
    indices, distances = search.nearest(10)
    assert search._backend.X.dtype == np.float32
    assert share_found(indices[:, 1:], true[0][:, 1:]) >= 0.985
    same = indices == true[0]
    np.testing.assert_allclose(distances[same], true[1][same], rtol=1e-5)


def test_copies_of_large_tables_are_computed_again_when_they_are_needed(monkeypatch):
    rng = np.random.default_rng(0)
    X = mixture(12_000, 8) @ rng.normal(size=(8, 40)).astype(np.float32)  # few axes are enough

    def answers(search):
        lists = search.nearest(10)
        copied = search._backend._rescaled is not None
        queries = X[:100] + np.float32(0.1)
        return [
            lists,
            search.nearest(12),
            search.nearest(9, queries),
            search.within(4, queries),
        ], copied

    expected, copied = answers(NeighborSearch(X, method="approximate", random_state=0))
    assert copied
    monkeypatch.setattr(_approximate, "MAX_KEPT_BYTES", 0)
    result, copied = answers(NeighborSearch(X, method="approximate", random_state=0))
    assert not copied
    for arrays, expected_arrays in zip(result, expected, strict=True):
        for array, expected_array in zip(arrays, expected_arrays, strict=True):
            np.testing.assert_array_equal(array, expected_array)


def test_a_search_continues_after_its_copies_were_released(X):
    search = NeighborSearch(X, method="approximate", random_state=0)
    search.nearest(10)
    pairs = search.within(4.0, X[:50])
    release_copies(search)
    assert search._backend._index is search._backend._rescaled is None
    for array, expected in zip(search.within(4.0, X[:50]), pairs, strict=True):
        np.testing.assert_array_equal(array, expected)
    true = NeighborSearch(X).nearest(10)[0]
    assert share_found(search.nearest(10)[0], true) >= 0.985


def test_queries_reach_the_reported_recall(X):
    search = NeighborSearch(X, method="approximate", random_state=0)
    queries = mixture(3500, 32) + 0.1
    result, distances = search.nearest(10, queries)
    true = NeighborSearch(X).nearest(10, queries)
    assert search.method_ == "ivf"
    assert 0.99 <= search.recall_ <= 1.0
    assert share_found(result, true[0]) >= 0.985
    same = result == true[0]
    np.testing.assert_array_equal(distances[same], true[1][same])


@pytest.mark.parametrize(("n_queries", "spread"), [(200, 5.0), (3500, 5.0), (3500, 1e60)])
def test_outlying_queries_reach_the_reported_recall(X, n_queries, spread):
    search = NeighborSearch(X, method="approximate", random_state=0)
    search.nearest(10)
    queries = spread * np.random.default_rng(1).normal(size=(n_queries, 32))
    result = search.nearest(10, queries)[1]
    true = NeighborSearch(X).nearest(10, queries)[1]
    share = (result <= true[:, -1:]).mean()
    assert share >= 0.985
    assert search.recall_ == pytest.approx(share, abs=0.01)


def test_incomplete_lists_are_exact_for_queries_beside_integers():
    points = np.random.default_rng(0).integers(0, 9, (12_000, 12)).astype(float)
    search = NeighborSearch(points, method="approximate", recall=0.05, random_state=0)
    # So near to whole numbers that single precision cannot distinguish them from such.
    queries = points[:3100] + 1e-9 * np.random.default_rng(1).normal(size=(3100, 12))
    distances = search.nearest(400, queries)[1]
    assert search.method_ == "ivf"
    np.testing.assert_array_equal(distances, NeighborSearch(points).nearest(400, queries)[1])


@pytest.mark.parametrize("k", [5, 40])
def test_points_near_a_plane_are_projected_to_few_axes(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 6)) @ rng.normal(size=(6, 80)) + 0.1 * rng.normal(
        size=(12_000, 80)
    )
    search = NeighborSearch(X, method="approximate", random_state=0)
    # The axes were chosen for 15 neighbours; their loss for k of them is measured too.
    search.nearest(15)
    result, distances = search.nearest(k)
    assert len(search._backend._index.axes) <= 40
    true = NeighborSearch(X).nearest(k)
    assert share_found(result[:, 1:], true[0][:, 1:]) >= 0.985
    same = result == true[0]
    np.testing.assert_array_equal(distances[same], true[1][same])


@pytest.mark.parametrize("kind", ["integers", "bits", "copies", "few copies"])
def test_duplicates_do_not_bias_the_estimated_recall(kind):
    rng = np.random.default_rng(0)
    X = {
        "integers": rng.integers(0, 3, (12_000, 5)),
        "bits": rng.integers(0, 2, (12_000, 10)),
        "copies": np.repeat(rng.normal(size=(300, 32)), 40, axis=0),
        "few copies": np.repeat(rng.normal(size=(1200, 4)), 10, axis=0),
    }[kind].astype(float)
    search = NeighborSearch(X, method="approximate", random_state=0)
    distances = search.nearest(4)[1]
    reach = NeighborSearch(X).nearest(4)[1][:, -1:]
    assert (distances[:, 1:] <= reach).mean() >= 0.985


def test_a_single_neighbour_can_be_searched(X):
    search = NeighborSearch(X, method="approximate", random_state=0)
    true = NeighborSearch(X).nearest(1)[0]
    assert share_found(search.nearest(1)[0][:, 1:], true[:, 1:]) >= 0.98
    assert search.nearest(1, X[:5])[0].shape == (5, 1)


def test_a_seed_gives_the_same_bits_for_any_number_of_threads(X):
    one, two = (
        NeighborSearch(X, method="approximate", random_state=7, n_jobs=jobs).nearest(5)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("n", [500, 12_000])
def test_exact_search_is_used_where_clusters_do_not_pay(n):
    X = np.random.default_rng(0).normal(size=(n, 60))
    search = NeighborSearch(X, method="approximate", random_state=0)
    result = search.nearest(5)
    assert search.method_ == "blocked"
    assert search.recall_ == 1.0
    np.testing.assert_array_equal(result[0], NeighborSearch(X).nearest(5)[0])


def test_a_table_of_duplicates_is_searched():
    X = np.vstack([np.zeros((11_000, 20)), mixture(1000, 20)])
    indices, distances = NeighborSearch(X, method="approximate", random_state=0).nearest(5)
    assert not distances[:11_000].any()
    assert (indices[:, 1:] != np.arange(12_000)[:, None]).all()


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", lambda x, y: abs(x - y).max()])
def test_other_metrics_have_no_approximate_search(metric):
    with pytest.raises(ValueError, match=r"no approximate search.* a pair \(indices, distances\)"):
        NeighborSearch(np.eye(3), metric=metric, method="approximate")


def test_radius_search_stays_exact(X):
    search = NeighborSearch(X, method="approximate", random_state=0)
    for a, b in zip(search.within(5.0), NeighborSearch(X).within(5.0), strict=True):
        np.testing.assert_array_equal(a, b)


def test_clusters_smaller_than_the_lists_still_fill_them(X):
    search = NeighborSearch(X, method="approximate", recall=0.05, random_state=0)
    indices, distances = search.nearest(80)
    assert search.method_ == "ivf"
    assert min(search._backend._index.sizes) < 80
    assert (indices >= 0).all()
    assert (indices[:, 1:] != np.arange(len(X))[:, None]).all()
    assert np.isfinite(distances).all()
