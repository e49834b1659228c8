"""Properties of the k-d tree; its results are compared with those of the other backends in test_search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal.neighbors._kdtree import (
    build_kdtree,
    kdtree_from_order,
    nearest_others,
    nearest_to,
    tree_offsets,
)
from with_threads import with_threads


def literal_nearest(X, Q, k, p, exclude_self):
    gaps = [np.abs(q[:, None] - x) ** p for q, x in zip(Q.T, X.T, strict=True)]
    costs = sum(gaps[1:], start=gaps[0])
    if exclude_self:
        np.fill_diagonal(costs, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), costs.shape), costs))[:, :k]
    result = np.take_along_axis(costs, order, axis=1)
    return order, result if p == 1 else np.sqrt(result)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 1000])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_nodes_partition_the_points_and_their_boxes_are_tight(n, jobs):
    X = np.random.default_rng(n).standard_normal((n, 3))
    tree = with_threads(jobs, build_kdtree, X)
    np.testing.assert_array_equal(tree.points, X[tree.order])
    assert sorted(tree.order) == list(range(n))
    for node, (a, b) in enumerate(tree.bounds):
        assert a < b
        np.testing.assert_array_equal(tree.lower[node], tree.points[a:b].min(axis=0))
        np.testing.assert_array_equal(tree.upper[node], tree.points[a:b].max(axis=0))
        assert tree.first[node] == tree.order[a:b].min()
        if 2 * node + 2 < len(tree.bounds):
            left, right = tree.bounds[2 * node + 1], tree.bounds[2 * node + 2]
            assert (left[0], left[1], right[1]) == (a, right[0], b)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 120),
    st.sampled_from([1, 2, 3, 5, 9]),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_neighbours_are_those_of_a_full_sort(n, d, p, tied, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float) if tied else rng.standard_normal((n, d))
    Q = rng.integers(0, 3, (10, d)).astype(float) if tied else rng.standard_normal((10, d))
    k = min(7, n - 1)
    tree = build_kdtree(X)
    for result, expected in (
        (nearest_others(tree, k, p=p), literal_nearest(X, X, k, p, exclude_self=True)),
        (nearest_to(tree, Q, k, p=p), literal_nearest(X, Q, k, p, exclude_self=False)),
    ):
        np.testing.assert_array_equal(result[0], expected[0])
        np.testing.assert_array_equal(result[1], expected[1])


def test_many_duplicates_do_not_make_the_search_quadratic():
    X = np.ones((30_000, 2))
    indices, distances = nearest_others(build_kdtree(X), 3)
    assert indices[:4].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert (indices[4:] == [0, 1, 2]).all()
    assert not distances.any()


def test_several_points_with_many_duplicates_do_not_make_the_search_quadratic():
    X = np.random.default_rng(0).integers(0, 4, (200_000, 1)).astype(float)
    indices, distances = nearest_others(build_kdtree(X), 3)
    assert not distances.any()
    for value in range(4):
        same = np.flatnonzero(value == X)
        assert (indices[same[3:]] == same[:3]).all()


def test_node_offsets_are_the_minima_of_their_points():
    X = np.random.default_rng(0).standard_normal((333, 2))
    b = np.random.default_rng(1).standard_normal(333)
    tree = build_kdtree(X)
    offsets = tree_offsets(tree, 2.0, b)
    np.testing.assert_array_equal(offsets.points, b[tree.order])
    for node, (start, stop) in enumerate(tree.bounds):
        assert offsets.nodes[node] == b[tree.order[start:stop]].min()


@pytest.mark.parametrize("n", [1, 24, 25, 1000])
def test_a_tree_is_restored_from_its_order(n):
    X = np.round(np.random.default_rng(n).normal(size=(n, 3)), 1).astype(np.float32)
    tree = build_kdtree(X)
    restored = kdtree_from_order(X, tree.order.astype(np.int32))
    for expected, values in zip(tree, restored, strict=True):
        assert values.dtype == expected.dtype
        np.testing.assert_array_equal(values, expected)
