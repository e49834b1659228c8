"""Spanning trees against Kruskal's method on the full edge list, and their invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_oracles import DIMENSIONS, LAYOUTS, edge_set, kruskal, make_points, squares_between

from vicinal import graphs
from vicinal.graphs import disjoint_mst, mst, perturbed_mst
from vicinal.graphs import trees as trees_module
from vicinal.neighbors import NeighborSearch


@pytest.fixture(autouse=True, scope="module")
def search_as_among_many_points():
    """Few points are connected by the matrix of their costs, see test_trees_of_few_points.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vicinal.graphs._build.nearest_foreign.MAX_POINTS_OF_MATRIX", 0)
        yield


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_mst_is_the_tree_of_kruskal(layout, d):
    for n, seed in ((2, 0), (3, 1), (17, 2), (90, 3), (150, 4)):
        X = make_points(layout, n, d, seed)
        (tree,) = kruskal(squares_between(X))
        graph = mst(X)
        assert edge_set(graph) == set(tree)
        i, j = graph.edges().T
        np.testing.assert_array_equal(
            np.asarray(graph.to_scipy("lengths")[i, j]).ravel(), np.sqrt(squares_between(X)[i, j])
        )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 60), st.sampled_from(DIMENSIONS), st.sampled_from(LAYOUTS), st.integers(0, 10**6)
)
def test_mst_is_the_tree_of_kruskal_on_any_points(n, d, layout, seed):
    X = make_points(layout, n, d, seed)
    assert edge_set(mst(X)) == set(kruskal(squares_between(X))[0])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(8, 50),
    st.integers(1, 4),
    st.sampled_from(DIMENSIONS),
    st.sampled_from(["random", "grid", "clustered"]),
    st.integers(0, 10**6),
)
def test_disjoint_trees_are_kruskal_without_replacement(n, n_trees, d, layout, seed):
    X = make_points(layout, n, d, seed)
    trees = kruskal(squares_between(X), n_trees)
    complete = [tree for tree in trees if len(tree) == n - 1]
    if len(complete) == n_trees:
        assert edge_set(disjoint_mst(X, n_trees)) == {edge for tree in trees for edge in tree}
    else:
        found = next(t for t, tree in enumerate(trees) if len(tree) < n - 1)
        with pytest.raises(ValueError, match=rf"only {found} tree\(s\)|at most"):
            disjoint_mst(X, n_trees)


@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize("n_trees", [1, 2, 4])
def test_both_searches_find_the_same_disjoint_trees(d, n_trees):
    from vicinal.graphs._build.boruvka import spanning_edges
    from vicinal.graphs._build.nearest_foreign import (
        ForeignNeighborProducts,
        ForeignNeighborRows,
        ForeignNeighborTree,
    )
    from vicinal.neighbors._kdtree import build_kdtree

    X = make_points("clustered", 700, d, 5)
    costs = squares_between(X)
    searches = [
        ForeignNeighborTree(build_kdtree(X), 3),
        ForeignNeighborProducts(X, 3),
        ForeignNeighborRows(costs.__getitem__, len(X), 3),
        ForeignNeighborTree(build_kdtree(X), 0),
        ForeignNeighborProducts(X, 0),
        ForeignNeighborRows(costs.__getitem__, len(X), 0),
    ]
    trees = [{tuple(edge) for edge in spanning_edges(s).edges.tolist()} for s in searches]
    assert all(tree == trees[0] for tree in trees)
    assert edge_set(mst(X)) == trees[0]
    assert edge_set(disjoint_mst(X, n_trees)) == edge_set(
        disjoint_mst(np.sqrt(costs), n_trees, metric="precomputed")
    )


@pytest.mark.parametrize("with_lists", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 3, 20])
def test_offsets_minimise_the_weighted_cost(layout, d, with_lists, monkeypatch):
    if with_lists:
        monkeypatch.setattr(trees_module, "MIN_POINTS_FOR_OFFSET_LISTS", 0)
    X = make_points(layout, 120, d, 7)
    b = np.random.default_rng(8).normal(scale=3.0, size=120)
    costs = 0.5 * squares_between(X) + (b[:, None] + b)
    i, j = np.array(kruskal(costs)[0]).T
    graph = mst(X, offsets=b, offset_scale=0.5)
    u, v = graph.edges().T
    assert np.isclose(costs[u, v].sum(), costs[i, j].sum(), rtol=1e-12)
    assert graph.n_edges == 119
    assert graph.n_components == 1
    D = np.sqrt(squares_between(X))
    given_distances = mst(D, metric="precomputed", offsets=b, offset_scale=0.5)
    u, v = given_distances.edges().T
    assert np.isclose(costs[u, v].sum(), costs[i, j].sum(), rtol=1e-12)


@pytest.mark.parametrize("search", ["tree", "products"])
def test_offset_searches_agree_with_kruskal(search):
    from vicinal.graphs._build.boruvka import spanning_edges
    from vicinal.graphs._build.nearest_foreign import ForeignNeighborProducts, ForeignNeighborTree
    from vicinal.neighbors._kdtree import build_kdtree, tree_offsets
    from vicinal.neighbors._kdtree_kernels import Offsets

    X = make_points("clustered", 300, 4, 9)
    b = np.random.default_rng(1).exponential(5.0, 300)
    costs = 2.0 * squares_between(X) + (b[:, None] + b)
    if search == "tree":
        tree = build_kdtree(X)
        result = ForeignNeighborTree(tree, 4, offsets=tree_offsets(tree, 2.0, b))
    else:
        result = ForeignNeighborProducts(X, 4, offsets=Offsets(2.0, b, np.array([b.min()])))
    edges = {tuple(edge) for edge in spanning_edges(result).edges.tolist()}
    assert edges == set(kruskal(costs)[0])


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
@pytest.mark.parametrize("d", [2, 12])
def test_other_metrics_give_the_tree_of_their_distances(metric, d):
    from sklearn.metrics import pairwise_distances

    X = np.random.default_rng(3).standard_normal((80, d))
    D = pairwise_distances(X, metric=metric)
    i, j = np.array(kruskal(D)[0]).T
    graph = mst(X, metric=metric)
    assert np.isclose(graph.lengths.sum() / 2, D[i, j].sum(), rtol=1e-9)


def test_mst_weight_equals_scipy():
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform

    for d in (2, 16):
        X = np.random.default_rng(d).standard_normal((500, d))
        peer = minimum_spanning_tree(squareform(pdist(X))).sum()
        assert np.isclose(mst(X).lengths.sum() / 2, peer, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([2, 3, 5, 20]), st.integers(0, 10**6))
def test_trees_do_not_depend_on_the_order_of_points(d, seed):
    X = make_points("random", 60, d, seed)
    order = np.random.default_rng(seed).permutation(60)
    for build in (mst, lambda X: disjoint_mst(X, 3)):
        moved = {tuple(sorted(order[list(edge)].tolist())) for edge in edge_set(build(X[order]))}
        assert moved == edge_set(build(X))


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([1, 2, 3, 5, 20]),
    st.sampled_from([1e-9, 1e9, 1e200, 1e-200]),
    st.integers(0, 99),
)
def test_trees_follow_scale_rotation_and_translation(d, scale, seed):
    X = make_points("random", 70, d, seed)
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    for build in (mst, lambda X: disjoint_mst(X, 3)):
        edges = edge_set(build(X))
        assert edge_set(build(X * scale)) == edges
        assert edge_set(build(X @ rotation)) == edges
        assert edge_set(build(X + 1e6)) == edges
    np.testing.assert_allclose(
        mst(X * scale).lengths / scale, mst(X).lengths, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(("n", "d"), [(20_000, 2), (3_000, 3), (1_500, 20)])
def test_trees_have_the_same_bits_for_any_number_of_threads(n, d):
    X = make_points("random", n, d, 1)
    X[: n // 10] = np.round(X[: n // 10], 1)
    builders = [
        lambda jobs: mst(X, n_jobs=jobs),
        lambda jobs: disjoint_mst(X, 3, n_jobs=jobs),
        lambda jobs: perturbed_mst(X, 4, random_state=0, n_jobs=jobs),
    ]
    for build in builders:
        one, two = build(1), build(2)
        for name in ("indptr", "indices", "lengths", "strengths"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_mst_is_a_subgraph_of_the_disjoint_trees_and_the_relative_neighbourhood_graph():
    X = make_points("random", 300, 3, 0)
    tree = mst(X)
    assert tree <= disjoint_mst(X, 2) <= disjoint_mst(X, 4)
    assert tree <= graphs.relative_neighborhood(X) <= graphs.gabriel(X) <= graphs.delaunay(X)
    assert disjoint_mst(X, 4).n_edges == 4 * 299


def test_duplicates_are_joined_by_edges_of_length_zero():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 40, axis=0)
    tree = mst(X)
    assert tree.n_edges == 119
    assert tree.n_components == 1
    assert np.count_nonzero(tree.lengths == 0) == 2 * 117
    all_alike = mst(np.ones((500, 4)))
    assert (all_alike.n_edges, all_alike.n_components, all_alike.lengths.max()) == (499, 1, 0.0)


def test_one_and_two_points_have_their_trees():
    assert mst([[3.0, 1.0]]).n_edges == 0
    assert disjoint_mst([[3.0]], 4).n_edges == 0
    assert perturbed_mst([[3.0]]).n_edges == 0
    two = mst([[0.0], [2.0]])
    assert two.edges().tolist() == [[0, 1]]
    assert two.lengths.tolist() == [2.0, 2.0]
    assert perturbed_mst([[0.0], [2.0]], random_state=0).strengths.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: disjoint_mst(X, 0), "n_trees=0"),
        (lambda X: disjoint_mst(X, 11), "at most 10"),
        (lambda X: perturbed_mst(X, 0), "n_trees=0"),
        (lambda X: perturbed_mst(X, noise=1.5), "noise=1.5"),
        (lambda X: perturbed_mst(X, noise=-0.1), "noise=-0.1"),
        (lambda X: perturbed_mst(X, n_neighbors=0), "n_neighbors=0"),
        (lambda X: mst(X, offsets=[1.0, 2.0]), "offsets has 2 values"),
        (lambda X: mst(X, offsets=np.full(20, np.nan)), "offsets contains 20"),
        (lambda X: mst(X, offsets=np.ones(20), offset_scale=0.0), "offset_scale=0.0"),
        (lambda X: mst(X, offsets=np.ones(20), metric="manhattan"), "metric='precomputed'"),
        (lambda X: mst(X, metric="precomputed"), "square"),
        (lambda X: mst(-squares_between(X), metric="precomputed"), "negative"),
        (lambda X: mst(np.triu(squares_between(X)), metric="precomputed"), "not symmetric"),
        (lambda X: mst(X, n_jobs=0), "n_jobs=0"),
        (lambda X: mst(X, metric="no such metric"), "no such metric"),
        (lambda X: mst(X, metric=lambda a, b: float(a[0] - b[0])), "gives the distance -"),
    ],
)
def test_errors_name_the_invalid_input(call, message):
    X = make_points("random", 20, 3, 0)
    with pytest.raises((ValueError, TypeError), match=message):
        call(X)


def test_sparse_distances_raise_with_a_remedy():
    from scipy import sparse

    with pytest.raises(TypeError, match="dense"):
        mst(sparse.csr_array(np.ones((4, 4)) - np.eye(4)), metric="precomputed")


@pytest.mark.parametrize("X", [np.eye(20), np.zeros((20, 2)), np.ones((20, 1))])
def test_errors_explain_ties_that_make_the_first_tree_a_star(X):
    with pytest.raises(ValueError, match=r"n_trees=4, but only 1 .*tie.*star .*row 0.*[Jj]itter"):
        disjoint_mst(X)


def test_errors_give_the_number_of_disjoint_trees():
    hub = np.vstack([np.zeros((1, 6)), np.diag([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])])
    with pytest.raises(ValueError, match=r"only 1 tree\(s\) .*no longer connect the 7 points"):
        disjoint_mst(hub, 2)


@pytest.mark.parametrize("build", [disjoint_mst, perturbed_mst])
def test_trees_that_do_not_fit_raise_before_any_work(build, monkeypatch):
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"300 trees of 900 points.*fewer trees"):
        build(make_points("random", 900, 2, 0), 300)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("d", [2, 30])
def test_offsets_follow_extreme_scales(d, scale):
    X = make_points("random", 50, d, 0)
    D = np.sqrt(squares_between(X))
    plain = mst(X)
    for points, metric in ((X, "euclidean"), (D, "precomputed")):
        scaled = mst(points * scale, metric=metric, offsets=np.zeros(50))
        assert edge_set(scaled) == edge_set(plain)
        np.testing.assert_allclose(scaled.lengths / scale, plain.lengths, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("power", [-250, -75, 75, 250])
def test_offsets_scale_with_squares(power, metric):
    X = make_points("random", 60, 3, 1)
    X = X if metric == "euclidean" else np.sqrt(squares_between(X))
    b = np.random.default_rng(2).exponential(0.2, 60)
    plain = edge_set(mst(X, metric=metric, offsets=b))
    assert edge_set(mst(X, metric=metric, offsets=b * 2.0**power, offset_scale=2.0**power)) == plain
    assert edge_set(mst(X * 2.0**power, metric=metric, offsets=b * 2.0 ** (2 * power))) == plain
    far = mst(X * 2.0**power, metric=metric, offsets=b, offset_scale=2.0**-power * 2.0**-power)
    assert edge_set(far) == plain


def test_dominating_offsets_give_a_star_around_the_smallest():
    X = make_points("random", 30, 2, 0)
    b = np.random.default_rng(0).permutation(np.arange(30.0))
    for X_scale, b_scale in ((1e-200, 1.0), (1.0, 1e300), (1e-300, 1e300)):
        graph = mst(X * X_scale, offsets=b * b_scale)
        assert graph.degrees[np.argmin(b)] == 29


@pytest.mark.parametrize("n_listed", [3, 14, 40])
@pytest.mark.parametrize("d", [3, 60])
def test_known_neighbors_give_the_same_disjoint_trees(d, n_listed):
    X = np.random.default_rng(0).normal(size=(300, d))
    lists = NeighborSearch(X).nearest(n_listed)[0][:, 1:]
    expected = disjoint_mst(X, n_trees=4)
    found = trees_module.max_disjoint_mst(X, 4, lists=lists)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.lengths, expected.lengths)
