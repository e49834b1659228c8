"""The blocked search is exact, bit for bit, on data designed to defeat its single precision filter."""

import neighbor_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vicinal.neighbors import _brute as brute
from vicinal.neighbors import _kdtree as kdtree
from vicinal.neighbors._brute import empty_lists, passive_lists
from vicinal.neighbors._brute_kernels import squared_distance
from vicinal.neighbors._product_kernels import fill_empty, scan, squared_distances
from with_threads import with_threads

NAMES = list(oracles.shapes(40, 2))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 5, 20, 128])
def test_neighbours_are_those_of_a_full_sort(name, d):
    X = oracles.shapes(300, d)[name]
    for k in (1, 15, 299):
        indices, lengths = brute.nearest_others(X, k)
        expected = oracles.nearest_points(X, X, k, exclude_self=True)
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(lengths, expected[1])


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_of_queries_are_those_of_a_full_sort(name):
    X = oracles.shapes(300, 20)[name]
    rng = np.random.default_rng(1)
    noise = (np.abs(X).max() * 0.1 * rng.normal(size=(50, 20))).astype(X.dtype)
    for queries in (X[:50], X[:50] + noise, 1e12 * noise):
        for k in (1, 15, 300):
            expected = oracles.nearest_points(queries, X, k)
            for prepared in (None, brute.prepare(X)):
                result = brute.nearest_to(X, queries, k, prepared=prepared)
                np.testing.assert_array_equal(result[0], expected[0])
                np.testing.assert_array_equal(result[1], expected[1])


def test_many_blocks_are_bit_identical_to_the_tree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(2500, 5))
    monkeypatch.setattr(brute, "BLOCK_ROWS", 300)
    monkeypatch.setattr(brute, "STRIP_ROWS", 70)
    monkeypatch.setattr(brute, "STRIP_COLUMNS", 130)
    blocked = brute.nearest_others(X, 10)
    tree = kdtree.nearest_others(kdtree.build_kdtree(X), 10)
    np.testing.assert_array_equal(blocked[0], tree[0])
    np.testing.assert_array_equal(blocked[1], tree[1])


def test_number_of_threads_does_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(brute, "BLOCK_ROWS", 200)
    X = oracles.shapes(2000, 20)["grid"]
    one, two = (with_threads(jobs, brute.nearest_others, X, 12) for jobs in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("n_blocks", range(1, 12))
def test_tournament_pairs_contain_every_pair_of_blocks_once(n_blocks):
    pairs = brute.tournament_pairs(n_blocks)
    every = {(i, j) for j in range(n_blocks) for i in range(j + 1)}
    assert set(pairs) == every
    assert len(pairs) == len(every)


def test_ordinary_data_need_no_exhaustive_search(monkeypatch):
    # The complete search is a safety net: if it did the work, the result would be correct but slow.
    uncertain = []
    monkeypatch.setattr(brute, "search_exhaustively", lambda *args: uncertain.extend(args[3]))
    brute.nearest_others(np.random.default_rng(0).normal(size=(2000, 64)), 15)
    assert not uncertain


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 30), st.integers(1, 6)),
        elements=st.one_of(
            st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1e-9, 1e9, -1e9]), st.floats(-1e3, 1e3, width=32)
        ),
    ),
    st.integers(1, 29),
)
@settings(max_examples=150, deadline=None)
def test_any_points_give_the_neighbours_of_a_full_sort(X, k):
    k = min(k, len(X) - 1)
    result = brute.nearest_others(X, k)
    expected = oracles.nearest_points(X, X, k, exclude_self=True)
    np.testing.assert_array_equal(result[0], expected[0])
    np.testing.assert_array_equal(result[1], expected[1])


def test_empty_lists_are_filled_with_the_smallest_keys():
    rng = np.random.default_rng(0)
    # Few different values: many keys are equal.
    products = rng.integers(0, 5, (40, 90)).astype(np.float32)
    products[:20] = rng.standard_normal((20, 90))
    halves = rng.integers(0, 2, 90).astype(np.float32)
    rows = empty_lists(40, 12, np.zeros(40), np.arange(40, dtype=np.int32))
    fill_empty(products, np.arange(40), rows, passive_lists(halves, np.arange(90, dtype=np.int32)))
    _, reach, keys, ids, _ = rows
    expected = halves - products
    expected[np.arange(40), np.arange(40)] = np.inf
    np.testing.assert_array_equal(np.sort(keys, axis=1), np.sort(expected, axis=1)[:, :20])
    np.testing.assert_array_equal(np.take_along_axis(expected, ids, axis=1), keys)
    np.testing.assert_array_equal(reach, keys.max(axis=1))
    assert all(len(set(row)) == 20 for row in ids.tolist())


@pytest.mark.parametrize("k", [3, 12, 40, 60])
@pytest.mark.parametrize("tied", [False, True])
def test_lists_of_rows_and_columns_keep_the_smallest_keys(k, tied):
    # Their lengths are 11, 20, 50 and 75: heaps and unordered lists.
    rng = np.random.default_rng(k)
    n = 150
    products = rng.standard_normal((n, n)).astype(np.float32)
    products = np.rint(products) if tied else products
    halves = rng.integers(0, 2, (2, n)).astype(np.float32)
    numbers = np.arange(n, dtype=np.int32)
    rows = empty_lists(n, k, halves[0], numbers)
    columns = empty_lists(n, k, halves[1], n + numbers)
    for a in range(0, n, 50):  # of a strip, the lists start with the keys of those before
        scan(products[a : a + 50], np.arange(a, a + 50), rows, columns)
    for lists, all_keys, first in (
        (rows, halves[1] - products, n),
        (columns, halves[0] - products.T, 0),
    ):
        _, reach, keys, ids, _ = lists
        smallest = np.sort(all_keys, axis=1)[:, : keys.shape[1]]
        np.testing.assert_array_equal(np.sort(keys, axis=1), smallest)
        np.testing.assert_array_equal(np.take_along_axis(all_keys, ids - first, axis=1), keys)
        np.testing.assert_array_equal(reach, keys.max(axis=1))
        assert all(len(set(row)) == keys.shape[1] for row in ids.tolist())


def test_distances_to_several_points_have_the_bits_of_single_ones():
    X = np.random.default_rng(0).standard_normal((12, 7))
    squares = np.empty(11)
    squared_distances(X, 0, X, np.arange(1, 12), squares)
    assert squares.tolist() == [squared_distance(X, 0, X, j) for j in range(1, 12)]
