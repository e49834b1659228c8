"""The blocked search is exact, bit for bit, on data designed to defeat its single precision filter."""

import neighbor_oracles as oracles
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vicinal.neighbors import _brute as brute
from vicinal.neighbors import _kdtree as kdtree

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
    one, two = (brute.nearest_others(X, 12, n_jobs=jobs) for jobs in (1, 2))
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
    monkeypatch.setattr(brute, "search_exhaustively", lambda *args: uncertain.extend(args[4]))
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
