"""Trees of points many of which are equal are those of Kruskal's method on all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tree_oracles import edge_set, kruskal, make_points, squares_between

from vicinal.graphs import disjoint_mst, mst, perturbed_mst
from vicinal.graphs._build.connect import shortest_bridges
from vicinal.graphs._build.duplicates import find_duplicates, many_duplicates


@st.composite
def repeated(draw, most=40):
    """Few distinct points, zeros of both signs among them, in any order."""
    n, d = draw(st.integers(2, most)), draw(st.sampled_from([1, 2, 3, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    few = rng.integers(-1, 2, (draw(st.integers(1, 5)), d)) * rng.choice([1.0, 0.3], d)
    few = few + (0.0 if draw(st.booleans()) else rng.standard_normal(few.shape))
    X = few[rng.integers(0, len(few), n)]
    return np.where(rng.random(X.shape) < 0.5, X, -(-X + 0.0))


@settings(max_examples=60, deadline=None)
@given(repeated())
def test_groups_of_equal_rows_are_represented_by_their_first(X):
    rows = many_duplicates(X)
    if rows is None:
        assert len(np.unique(X + 0.0, axis=0)) > 0.9 * len(X)
        rows = find_duplicates(X)
    for i, row in enumerate(X):
        same = np.flatnonzero((row == X).all(axis=1))
        assert rows.representative[rows.group[i]] == same[0]
        assert rows.rank_within_group()[i] == np.searchsorted(same, i)
    assert (np.diff(rows.representative) > 0).all()


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_columns", [64, 65])
def test_wide_rows_are_grouped_like_narrow_ones(n_columns, as_given):
    rng = np.random.default_rng(0)
    X = np.zeros((300, n_columns), np.float32)
    X[:, :2] = rng.integers(-1, 2, (300, 2))
    X[:, -1] = rng.choice([0.0, -0.0, 1e-30], 300)
    rows = find_duplicates(as_given(X))
    for i, row in enumerate(X):
        same = np.flatnonzero((row == X).all(axis=1))
        assert rows.representative[rows.group[i]] == same[0]
    assert len(rows.representative) == 18


@settings(max_examples=60, deadline=None)
@given(repeated(), st.sampled_from(["euclidean", "manhattan"]))
def test_trees_with_duplicates_are_those_of_all_rows(X, metric):
    costs = squares_between(X)
    metric = (
        metric if X.shape[1] == 2 else "euclidean"
    )  # of each metric and dimension a kernel compiles
    if metric == "manhattan":
        costs = sum(np.abs(column[:, None] - column) for column in X.T)
    graph = mst(X, metric=metric)
    assert edge_set(graph) == set(kruskal(costs)[0])
    i, j = graph.edges().T
    lengths = costs if metric == "manhattan" else np.sqrt(costs)
    np.testing.assert_array_equal(graph.to_scipy()[i, j], lengths[i, j])


@settings(max_examples=60, deadline=None)
@given(repeated(), st.integers(0, 10**6), st.integers(1, 3))
def test_offset_trees_with_duplicates_are_those_of_all_rows(X, seed, n_values):
    b = np.random.default_rng(seed).integers(-1, n_values, len(X)) / 4.0
    costs = 0.5 * squares_between(X) + (b[:, None] + b)
    assert edge_set(mst(X, offsets=b, offset_scale=0.5)) == set(kruskal(costs)[0])


@settings(max_examples=60, deadline=None)
@given(repeated(60), st.integers(1, 4))
def test_disjoint_trees_with_duplicates_are_those_of_all_rows(X, n_trees):
    trees = kruskal(squares_between(X), n_trees)
    if all(len(tree) == len(X) - 1 for tree in trees):
        assert edge_set(disjoint_mst(X, n_trees)) == {edge for tree in trees for edge in tree}
    else:
        found = next(t for t, tree in enumerate(trees) if len(tree) < len(X) - 1)
        with pytest.raises(ValueError, match=rf"only {found} tree\(s\)|at most"):
            disjoint_mst(X, n_trees)


@settings(max_examples=60, deadline=None)
@given(repeated(), st.integers(0, 10**6), st.integers(2, 8))
def test_bridges_with_duplicates_are_those_of_all_rows(X, seed, n_parts):
    parts = np.random.default_rng(seed).integers(0, n_parts, len(X))
    parts = np.unique(parts, return_inverse=True)[1]
    costs = squares_between(X)
    i, j = np.triu_indices(len(X), 1)
    label, expected = parts.copy(), set()
    for e in np.lexsort((j, i, costs[i, j])):
        if label[i[e]] != label[j[e]]:
            expected.add((int(i[e]), int(j[e])))
            label[label == label[i[e]]] = label[j[e]]
    links, lengths = shortest_bridges(X, "euclidean", parts)
    assert {tuple(link) for link in links.tolist()} == expected
    np.testing.assert_array_equal(lengths, np.sqrt(costs[links[:, 0], links[:, 1]]))


def test_underflowing_squares_of_distinct_rows_change_nothing():
    X = np.array([[0.0], [1e-170], [1e-170], [0.0], [1.0], [1.0], [1.0], [1.0]])
    costs = squares_between(X)
    assert edge_set(mst(X)) == set(kruskal(costs)[0])
    trees = kruskal(costs, 2)
    assert edge_set(disjoint_mst(X, 2)) == {edge for tree in trees for edge in tree}
    links, _ = shortest_bridges(X, "euclidean", np.arange(8))
    assert {tuple(link) for link in links.tolist()} == set(kruskal(costs)[0])


def test_parallel_rows_are_duplicates_for_cosine_distances():
    X = np.outer(2.0 ** np.arange(-10, 10), [3.0, 1.0])
    X[::3] = X[::3, ::-1]
    tree = mst(X, metric="cosine")
    assert np.count_nonzero(tree.lengths) == 2
    assert set(np.flatnonzero(tree.degrees > 1)) <= {0, 1}


def test_duplicates_do_not_make_trees_quadratic(monkeypatch):
    from vicinal.graphs._build import spanning_trees as spanning

    searched = []
    search = spanning.foreign_neighbor_search

    def counted(X, *args, **kwargs):
        searched.append(len(X))
        return search(X, *args, **kwargs)

    monkeypatch.setattr(spanning, "foreign_neighbor_search", counted)
    X = np.random.default_rng(0).integers(0, 4, (20_000, 1)).astype(float)
    assert mst(X).lengths.sum() == 6.0
    assert disjoint_mst(X, 3).n_edges == 3 * 19_999
    assert perturbed_mst(X, 2, random_state=0).lengths.sum() == 6.0
    shortest_bridges(X, "euclidean", np.arange(20_000) % 50)
    assert max(searched) == 4 * 7
    distinct = make_points("random", 3000, 2, 0)
    mst(distinct)
    assert searched[-1] == 3000
