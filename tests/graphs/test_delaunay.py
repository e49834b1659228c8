"""The Delaunay graph against empty spheres, and where there is no triangulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal.graphs import delaunay, gabriel, relative_neighborhood


def edge_set(graph):
    return {(int(i), int(j)) for i, j in graph.edges()}


def edges_of_empty_spheres(X):
    """Every D + 1 points, tried with all others: literal, for general position only."""
    n, d = X.shape
    result = set()
    for corners in combinations(range(n), d + 1):
        base, rest = X[corners[0]], X[list(corners[1:])]
        centre = np.linalg.solve(2 * (rest - base), (rest**2).sum(axis=1) - (base**2).sum())
        squares = ((X - centre) ** 2).sum(axis=1)
        others = np.delete(squares, corners)
        if (others > ((base - centre) ** 2).sum()).all():
            result.update(combinations(corners, 2))
    return result


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 12), d=st.sampled_from([2, 3, 5]), seed=st.integers(0, 10**6))
def test_edges_are_those_of_empty_spheres(n, d, seed):
    X = np.random.default_rng(seed).random((n, d))
    if n <= d + 1:
        assert delaunay(X).n_edges == n * (n - 1) // 2
    else:
        assert edge_set(delaunay(X)) == edges_of_empty_spheres(X)


def test_points_on_a_line_form_a_chain():
    x = np.random.default_rng(0).permutation(30.0 * np.arange(20))
    graph = delaunay(x[:, None])
    assert graph.n_edges == 19
    np.testing.assert_array_equal(graph.lengths, np.full(38, 30.0))


def test_duplicates_are_connected_and_share_their_neighbours():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    rows = np.concatenate([np.arange(60), np.arange(20), np.arange(5)])
    distinct = edge_set(delaunay(X))
    expected = {
        (i, j)
        for i in range(85)
        for j in range(i + 1, 85)
        if rows[i] == rows[j] or tuple(sorted((rows[i], rows[j]))) in distinct
    }
    graph = delaunay(X[rows])
    assert edge_set(graph) == expected
    assert (graph.lengths == 0).sum() == 2 * (15 + 5 * 3)


def test_equal_points_are_all_connected_or_in_a_ring_of_length_zero():
    graph = delaunay(np.ones((4, 3)))
    assert edge_set(graph) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert not graph.lengths.any()
    ring = delaunay(np.ones((4, 3)), duplicates="merge")
    assert edge_set(ring) == {(0, 1), (1, 2), (2, 3), (0, 3)}
    with pytest.raises(ValueError, match="duplicates='drop'"):
        delaunay(np.ones((4, 3)), duplicates="drop")


@pytest.mark.parametrize("duplicates", ["keep", "merge"])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_gabriel_graph_is_a_subgraph_with_duplicates(duplicates, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((50, d))[rng.integers(0, 50, 150)]
    outer = delaunay(X, duplicates=duplicates)
    inner = [build(X, duplicates=duplicates) for build in (gabriel, relative_neighborhood)]
    assert inner[1] <= inner[0] <= outer
    assert outer.n_components == 1


@pytest.mark.parametrize("d", [2, 3])
def test_cospherical_points_get_one_of_their_triangulations(d):
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * d), axis=-1).reshape(-1, d)
    graph = delaunay(grid)
    assert graph.n_components == 1
    sides = np.argwhere(np.abs(grid[:, None] - grid[None]).sum(axis=2) == 1)
    assert {(int(i), int(j)) for i, j in sides if i < j} <= edge_set(graph)


@pytest.mark.parametrize("n", [3, 30])
def test_coplanar_points_raise_or_are_joggled(n):
    X = np.outer(np.arange(n), [1.0, 2.0])
    with pytest.raises(ValueError, match="coplanar='joggle'"):
        delaunay(X)
    graph = delaunay(X, coplanar="joggle")
    assert graph.n_components == 1
    assert {(i, i + 1) for i in range(n - 1)} <= edge_set(graph)
    assert graph.lengths.min() == np.sqrt(5.0)
    assert edge_set(delaunay(X, coplanar="joggle")) == edge_set(graph)


def test_near_duplicates_raise_instead_of_being_lost():
    rng = np.random.default_rng(0)
    X = np.concatenate([1e-12 * rng.random((30, 2)), [[1.0, 0.0], [0.0, 1.0]]])
    with pytest.raises(ValueError, match="near-duplicates"):
        delaunay(X)
    assert delaunay(X, coplanar="joggle").n_isolates == 0


@pytest.mark.parametrize("d", [2, 3])
def test_rigid_motions_and_scales_do_not_matter(d):
    rng = np.random.default_rng(d)
    X = rng.random((200, d))
    graph = delaunay(X)
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    for moved in (X @ rotation, X + 1e6, X * 1e-9, X * 1e9, X * 1e200, X * 1e-200):
        assert edge_set(delaunay(moved)) == edge_set(graph)
    np.testing.assert_allclose(delaunay(X * 1e200).lengths, graph.lengths * 1e200, rtol=1e-12)


def test_lengths_are_those_of_the_gabriel_graph():
    X = np.random.default_rng(0).random((200, 3))
    inner, outer = gabriel(X), delaunay(X)
    i, j = inner.edges().T
    np.testing.assert_array_equal(
        inner.to_scipy("lengths").toarray()[i, j], outer.to_scipy("lengths").toarray()[i, j]
    )


def test_too_many_dimensions_raise_before_any_work():
    X = np.random.default_rng(0).random((20_000, 12))
    with pytest.raises(MemoryError, match="12 dimensions"):
        delaunay(X)


def test_errors_name_the_invalid_input():
    with pytest.raises(ValueError, match=r"X contains .* NaN"):
        delaunay([[0.0, np.nan]])
    with pytest.raises(ValueError, match="coplanar='jitter'"):
        delaunay([[0.0, 1.0]], coplanar="jitter")
    with pytest.raises(TypeError, match="metric"):
        delaunay([[0.0, 1.0]], metric="precomputed")


def test_input_is_not_changed():
    X = np.random.default_rng(0).random((50, 2))
    before = X.copy()
    X.flags.writeable = False
    delaunay(X)
    np.testing.assert_array_equal(X, before)
