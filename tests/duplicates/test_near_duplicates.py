"""Near-duplicates: all pairs of a literal search, groups, thresholds, and what is rejected."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from vicinal import near_duplicates
from vicinal.duplicates import _near_duplicates
from vicinal.duplicates.result import complete_groups
from vicinal.exceptions import InsufficientMemoryError, InvalidTypeError, InvalidValueError


def literal_pairs(X, threshold, metric="euclidean"):
    distances = squareform(pdist(X, metric))
    return {
        (i, j) for i, j in itertools.combinations(range(len(X)), 2) if distances[i, j] <= threshold
    }


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


def with_copies(rng, n=300, n_features=6, noise=0.01):
    """Rows, some of which are noisy or exact copies of others."""
    X = rng.normal(size=(n, n_features))
    X[n // 2 : n // 2 + 20] = X[:20] + noise * rng.normal(size=(20, n_features))
    X[-30:] = X[rng.integers(0, 5, 30)]
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_pairs_within_a_threshold_are_found_with_their_distances(metric, dtype):
    X = with_copies(np.random.default_rng(0)).astype(dtype)
    distances = pdist(X.astype(np.float64), {"manhattan": "cityblock"}.get(metric, metric))
    # Thresholds between two distances, so that rounding does not decide.
    values = np.unique(np.round(distances, 6))
    for threshold in (values[3:5].mean(), values[500:502].mean()):
        result = near_duplicates(X, metric=metric, threshold=threshold, max_pairs=10**6)
        expected = {
            pair
            for pair, distance in zip(
                itertools.combinations(range(len(X)), 2), distances, strict=True
            )
            if distance <= threshold
        }
        assert as_set(result.pairs) == expected
        assert result.n_pairs == len(expected)
        square = squareform(distances)
        np.testing.assert_allclose(
            result.distances, square[tuple(result.pairs.T)], rtol=1e-5, atol=1e-6
        )
        assert (np.diff(result.distances) >= 0).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.sampled_from([1, 2, 3]))
def test_pairs_of_lattice_points_with_ties_and_copies_equal_a_literal_search(seed, n, width):
    X = np.random.default_rng(seed).integers(0, 4, (n, width)).astype(float)
    for threshold in (0.0, 1.0, 1.5):
        result = near_duplicates(X, threshold=threshold, max_pairs=10**6)
        assert as_set(result.pairs) == literal_pairs(X, threshold)
        again = near_duplicates(X, threshold=1.5, max_pairs=10**6).rethreshold(threshold)
        assert as_set(again.pairs) == literal_pairs(X, threshold)
        assert [group.tolist() for group in again.groups] == [g.tolist() for g in result.groups]


def test_groups_larger_than_the_neighbour_lists_are_complete():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[:100] = 0.001 * rng.normal(size=(100, 3))
    result = near_duplicates(X, threshold=0.01, max_pairs=10**5)
    assert as_set(result.pairs) == literal_pairs(X, 0.01)
    assert len(result.groups[0]) == 100


def test_sparse_rows_and_precomputed_distances_give_the_same_pairs():
    X = with_copies(np.random.default_rng(1))
    X[np.abs(X) < 0.7] = 0.0
    X[:, 0] = 1.0
    expected = as_set(near_duplicates(X, threshold=0.5).pairs)
    assert as_set(near_duplicates(sparse.csr_matrix(X), threshold=0.5).pairs) == expected
    distances = squareform(pdist(X))
    precomputed = near_duplicates(distances, metric="precomputed", threshold=0.5)
    assert as_set(precomputed.pairs) == expected
    assert near_duplicates(X).threshold == pytest.approx(
        near_duplicates(sparse.csr_array(X)).threshold
    )


def test_connected_groups_are_the_components_of_the_pairs():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [10.5], [20.0], [20.0]])
    result = near_duplicates(X, threshold=1.0)
    assert [group.tolist() for group in result.groups] == [[0, 1, 2], [3, 4], [5, 6]]
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert result.representatives.tolist() == [1, 3, 5]
    assert result.keep.tolist() == [False, True, False, True, False, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_complete_groups_equal_those_of_scipy(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    result = near_duplicates(X, threshold=0.8, linkage="complete", max_pairs=10**5)
    expected = fcluster(linkage(X, "complete"), 0.8, "distance")
    groups = {tuple(np.flatnonzero(expected == c)) for c in np.unique(expected)}
    assert {tuple(g.tolist()) for g in result.groups} == {g for g in groups if len(g) > 1}


def test_rows_in_a_chain_are_not_all_in_one_complete_group():
    labels = complete_groups(4, np.array([[0, 1], [1, 2], [2, 3]]))
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_many_equal_rows_need_no_list_of_pairs(monkeypatch):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 2000, axis=0)
    result = near_duplicates(X)
    assert result.threshold == 0.0
    assert result.n_pairs == 10 * 2000 * 1999 // 2
    assert len(result.groups) == 10
    assert result.keep.sum() == 10
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 2**20)
    with pytest.raises(InsufficientMemoryError, match="list of 19,990,000 pairs"):
        _ = result.pairs


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_search_that_does_not_fit_into_memory_is_rejected_before_it_starts(monkeypatch, metric):
    X = np.random.default_rng(0).normal(size=(2000, 100)).astype(np.float32)
    per_row = 1000 + 100 * (4 + {"euclidean": 4, "cosine": 8}[metric])
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: per_row * 2000)
    near_duplicates(X, metric=metric)
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: per_row * 2000 - 1)
    with pytest.raises(InsufficientMemoryError, match=r"among 2,000 distinct rows .*float32"):
        near_duplicates(X, metric=metric)
    near_duplicates(np.repeat(X[:100], 20, axis=0), metric=metric)  # equal rows need no search


def test_pairs_of_equal_rows_are_listed_once_with_distance_zero():
    result = near_duplicates(np.zeros((4, 2)))
    assert as_set(result.pairs) == set(itertools.combinations(range(4), 2))
    assert result.distances.tolist() == [0.0] * 6


def test_pairs_between_two_tables_are_those_of_a_literal_search():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 5)), rng.normal(size=(60, 5))
    Y[:10] = X[:10] + 0.001
    Y[10:13], X[50], Y[20] = X[20], X[20], Y[0]
    result = near_duplicates(X, against=Y)
    distances = np.linalg.norm(X[:, None] - Y, axis=2)
    assert as_set(result.pairs) == as_set(np.argwhere(distances <= result.threshold))
    assert result.n_pairs == len(result.pairs) == 10 + 1 + 6
    assert result.keep.tolist() == (~(distances <= result.threshold).any(axis=1)).tolist()
    assert result.groups[0].tolist() == [0, 100, 120]
    assert [20, 50, 110, 111, 112] in [group.tolist() for group in result.groups]
    assert result.representatives[0] == 0


def test_least_similar_pairs_are_the_last_accepted():
    X = np.array([[0.0], [1.0], [5.0], [5.5], [20.0]])
    pairs, distances = near_duplicates(X, threshold=2.0).least_similar(1)
    assert pairs.tolist() == [[0, 1]]
    assert distances.tolist() == [1.0]


def test_the_result_depends_neither_on_threads_nor_on_units_nor_on_the_order_of_rows():
    rng = np.random.default_rng(3)
    X = with_copies(rng)
    result, order = near_duplicates(X, n_jobs=1), rng.permutation(len(X))
    assert (near_duplicates(X, n_jobs=2).pairs == result.pairs).all()
    scaled = near_duplicates(X * 1024.0)
    assert (scaled.pairs == result.pairs).all()
    assert scaled.threshold == pytest.approx(1024.0 * result.threshold)
    shuffled = near_duplicates(X[order])
    back = np.sort(order[shuffled.pairs], axis=1)
    assert as_set(back) == as_set(result.pairs)


def test_the_input_is_not_changed():
    X = with_copies(np.random.default_rng(0))
    X.setflags(write=False)
    before = X.copy()
    near_duplicates(X, metric="cosine")
    assert (before == X).all()


def test_an_approximate_search_states_its_recall(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12)).astype(np.float32)
    X[:100] = X[100:200] + 1e-3
    exact = near_duplicates(X)
    monkeypatch.setattr(_near_duplicates, "EXACT_MAX_ROWS", 1000)
    result = near_duplicates(X)
    wanted = as_set(exact.rethreshold(min(exact.search_radius, result.search_radius)).pairs)
    found = as_set(result.rethreshold(min(exact.search_radius, result.search_radius)).pairs)
    assert exact.recall == 1.0
    assert 0.95 <= result.recall <= 1.0
    assert len(found & wanted) >= 0.95 * len(wanted)
    assert as_set(result.pairs) == as_set(exact.pairs)


@pytest.mark.parametrize("n", [300, 3000])
def test_a_threshold_that_accepts_too_many_pairs_is_rejected_with_their_number(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    with pytest.raises(InvalidValueError, match=f"accepts {n * (n - 1) // 2:,} pairs"):
        near_duplicates(X, threshold=100.0)
    assert near_duplicates(X[:300], threshold=100.0, max_pairs=50_000).n_pairs == 300 * 299 // 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threshold": -1.0}, InvalidValueError, "threshold"),
        ({"threshold": "none"}, InvalidValueError, "threshold"),
        ({"threshold": np.nan}, InvalidValueError, "threshold"),
        ({"linkage": "single"}, InvalidValueError, "linkage"),
        ({"against": np.zeros((3, 4))}, InvalidValueError, "X has 2 feature"),
        ({"against": np.full((3, 2), np.nan)}, InvalidValueError, "against contains 6"),
        ({"against": np.zeros((3, 2)), "linkage": "complete"}, InvalidValueError, "linkage"),
        ({"max_pairs": 0}, InvalidValueError, "max_pairs"),
    ],
)
def test_invalid_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        near_duplicates(np.arange(24.0).reshape(12, 2), **options)


def test_zero_vectors_are_named_with_cosine():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[4] = 0.0
    with pytest.raises(InvalidValueError, match=r"zero vectors.*\[4\]"):
        near_duplicates(X, metric="cosine")


def test_sparse_rows_need_a_metric_that_accepts_them():
    with pytest.raises(InvalidTypeError, match="manhattan"):
        near_duplicates(sparse.csr_array(np.eye(5)), metric="manhattan")


def test_thresholds_beyond_the_search_are_rejected():
    result = near_duplicates(np.random.default_rng(0).normal(size=(50, 3)))
    with pytest.raises(InvalidValueError, match="pairs were searched up to"):
        result.rethreshold(1000.0)


@pytest.mark.parametrize("X", [np.zeros((1, 3)), np.zeros((7, 1)), np.arange(6.0).reshape(3, 2)])
def test_tiny_tables_have_a_result(X):
    result = near_duplicates(X)
    assert result.threshold == 0.0
    assert result.n_pairs == len(X) * (len(X) - 1) // 2 * (len(np.unique(X)) == 1)
    assert result.rethreshold(0.0).n_pairs == result.n_pairs


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_zero_vector_is_named_with_its_table(convert):
    X, zero = np.eye(4), np.eye(4)
    zero[2] = 0.0
    message = r"1 row\(s\) of against are zero vectors.*the first at \[2\]"
    with pytest.raises(ValueError, match=message):
        near_duplicates(convert(X), against=convert(zero), metric="cosine")


def test_zero_vectors_are_named_by_their_rows_although_equal_rows_are_dropped():
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[3], X[[7, 9]] = X[2], 0.0
    with pytest.raises(InvalidValueError, match=r"2 row\(s\) of X are zero .* at \[7, 9\]"):
        near_duplicates(X, metric="cosine")


def test_a_column_of_vectors_is_recognised():
    X = np.random.default_rng(0).normal(size=(50, 4))
    column = pd.Series(list(X))
    for table in (column, column.to_frame("vector")):
        with pytest.raises(TypeError, match=r"numpy\.stack"):
            near_duplicates(table)
    assert near_duplicates(np.stack(column)).n_rows == 50


@pytest.mark.parametrize("X", [None, 3.0])
def test_a_single_value_is_not_a_table(X):
    with pytest.raises(InvalidValueError, match=f"X is a single value of type {type(X).__name__}"):
        near_duplicates(X)
