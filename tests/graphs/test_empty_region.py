"""Empty-region graphs against their definitions, tried on every triple of points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from vicinal._core.parallel import map_threads
from vicinal.graphs import beta_skeleton, delaunay, gabriel, relative_neighborhood

BETAS = (0.3, 0.9, 1.0, 1.4, 2.0, 3.0, 50.0)
DIMENSIONS = (1, 2, 3, 5, 20)


def in_region(a, b, d2, dot, beta):
    """The open region by its definition; a, b, d2 are squared sides and dot = p.q."""
    if beta == 2:
        return (a < d2) & (b < d2)
    if beta >= 1:
        return beta * dot < (beta - 1) * np.minimum(a, b)
    return dot < -np.sqrt((1 - beta) * (1 + beta)) * (np.sqrt(a) * np.sqrt(b))


def edges_of_points(X, beta):
    """Every pair tried with every third point, sums taken in the order of the coordinates."""
    X = np.asarray(X, dtype=np.float64)
    result = set()
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            a, b, dot, d2 = np.zeros(len(X)), np.zeros(len(X)), np.zeros(len(X)), 0.0
            for column in X.T:
                p, q, gap = column - column[i], column - column[j], column[i] - column[j]
                a, b, dot, d2 = a + p * p, b + q * q, dot + p * q, d2 + gap * gap
            if not in_region(a, b, d2, dot, beta).any():
                result.add((i, j))
    return result


def edges_of_distances(M, beta):
    """The same with p.q from the law of cosines."""
    result = set()
    for i in range(len(M)):
        for j in range(i + 1, len(M)):
            a, b, d2 = M[i] * M[i], M[j] * M[j], M[i, j] * M[i, j]
            dot = 0.5 * ((np.maximum(a, b) - d2) + np.minimum(a, b))
            if not in_region(a, b, d2, dot, beta).any():
                result.add((i, j))
    return result


def edge_set(graph):
    return {(int(i), int(j)) for i, j in graph.edges()}


def make(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    if kind == "gridded":
        X = np.floor(4 * X)
    elif kind == "duplicated":
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]
        X[-5:] = X[0]
    elif kind == "collinear":
        X = np.outer(rng.integers(0, 3 * n, n), np.arange(1, d + 1)).astype(float)
    elif kind == "clustered":
        X = rng.normal(scale=1e-3, size=(n, d)) + rng.integers(0, 3, (n, 1)) * 1e3
    return X


KINDS = ("random", "gridded", "duplicated", "collinear", "clustered")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_edges_are_those_of_the_definition(kind, d):
    X = make(kind, 45, d, seed=d)
    for beta in BETAS:
        assert edge_set(beta_skeleton(X, beta)) == edges_of_points(X, beta), beta


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 24),
    d=st.sampled_from(DIMENSIONS),
    kind=st.sampled_from(KINDS[:3]),
    beta=st.one_of(st.sampled_from(BETAS), st.floats(0.05, 8.0)),
    seed=st.integers(0, 10**6),
)
def test_any_small_set_follows_the_definition(n, d, kind, beta, seed):
    X = make(kind, n, d, seed)
    assert edge_set(beta_skeleton(X, beta)) == edges_of_points(X, beta)


@pytest.mark.parametrize(
    ("d", "beta"), [(2, 1.0), (2, 0.6), (3, 2.0), (3, 1.5), (6, 1.0), (12, 2.0)]
)
def test_sets_of_many_leaves_follow_the_definition(d, beta):
    # Large enough for boxes to be left out, and uneven, so that witnesses lie on one side.
    rng = np.random.default_rng(d)
    n = 120 if d <= 3 else 90
    X = np.concatenate([rng.random((n, d)), 1e-3 * rng.random((n, d)), 5 + rng.random((10, d))])
    assert edge_set(beta_skeleton(X, beta)) == edges_of_points(X, beta)


@pytest.mark.parametrize("kind", KINDS)
def test_distance_matrices_follow_the_definition(kind):
    M = pairwise_distances(make(kind, 50, 3, seed=3), metric="manhattan")
    for beta in BETAS:
        graph = beta_skeleton(M, beta, metric="precomputed")
        assert edge_set(graph) == edges_of_distances(M, beta), beta


def test_distances_need_not_be_a_metric():
    M = np.random.default_rng(0).random((60, 60))
    M = np.triu(M, 1) + np.triu(M, 1).T
    for beta in BETAS:
        result = edge_set(beta_skeleton(M, beta, metric="precomputed"))
        assert result == edges_of_distances(M, beta), beta


@pytest.mark.parametrize("d", [2, 3, 12])
def test_precomputed_distances_give_the_graph_of_the_points(d):
    X = np.random.default_rng(d).random((700 if d <= 3 else 300, d))
    M = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    for beta in (0.8, 1.0, 1.2, 1.5, 2.0, 4.0):
        a, b = beta_skeleton(X, beta), beta_skeleton(M, beta, metric="precomputed")
        assert edge_set(a) == edge_set(b)
        np.testing.assert_allclose(a.lengths, b.lengths, rtol=1e-13)


def test_other_metrics_work_on_their_distances():
    X = np.random.default_rng(1).random((80, 4))
    for metric in ("manhattan", "cosine", "chebyshev"):
        M = pairwise_distances(X, metric=metric)
        M = np.minimum(M, M.T)
        np.fill_diagonal(M, 0)
        graph = relative_neighborhood(X, metric=metric)
        assert edge_set(graph) == edges_of_distances(M, 2.0)
        assert graph.metric == metric


def test_named_graphs_are_skeletons():
    X = np.random.default_rng(2).random((500, 3))
    assert edge_set(gabriel(X)) == edge_set(beta_skeleton(X, 1))
    assert edge_set(relative_neighborhood(X)) == edge_set(beta_skeleton(X, 2))


@pytest.mark.parametrize("d", [2, 3, 4])
def test_each_graph_contains_the_next(d):
    X = np.random.default_rng(d).normal(size=(600, d))
    assert relative_neighborhood(X) <= gabriel(X) <= delaunay(X)
    graphs = [beta_skeleton(X, beta) for beta in (0.5, 0.99, 1, 1.2, 1.99, 2, 2.01, 5, 1e6)]
    for larger, smaller in zip(graphs[1:], graphs[:-1], strict=True):
        assert larger <= smaller
    assert graphs[-1].n_edges < graphs[0].n_edges


@pytest.mark.parametrize("build", [gabriel, relative_neighborhood])
@pytest.mark.parametrize("d", [1, 2, 3, 11])
def test_order_of_points_does_not_matter(build, d):
    rng = np.random.default_rng(d)
    X = rng.random((300, d))
    X[:30] = X[30:60]
    order = rng.permutation(len(X))
    moved = {tuple(sorted((int(order[i]), int(order[j])))) for i, j in build(X[order]).edges()}
    assert moved == edge_set(build(X))


@pytest.mark.parametrize("build", [gabriel, relative_neighborhood, lambda X: beta_skeleton(X, 0.7)])
@pytest.mark.parametrize("d", [2, 3, 11])
def test_rigid_motions_and_scales_do_not_matter(build, d):
    rng = np.random.default_rng(d)
    X = rng.random((300, d))
    graph = build(X)
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    for moved in (X @ rotation, X + 1e6, X * 1e-9, X * 1e9, X * 1e200, X * 1e-200):
        assert edge_set(build(moved)) == edge_set(graph)
    np.testing.assert_allclose(build(X * 1e200).lengths, graph.lengths * 1e200, rtol=1e-12)
    np.testing.assert_allclose(build(X * 1e-9).lengths, graph.lengths * 1e-9, rtol=1e-12)


def test_huge_and_tiny_distances_keep_their_graph():
    X = np.random.default_rng(5).random((100, 3))
    M = pairwise_distances(X, metric="manhattan")
    graph = gabriel(M, metric="precomputed")
    for unit in (2.0**600, 2.0**-600):
        scaled = gabriel(M * unit, metric="precomputed")
        assert edge_set(scaled) == edge_set(graph)
        np.testing.assert_array_equal(scaled.lengths, graph.lengths * unit)


@pytest.mark.parametrize("d", [2, 9])
def test_number_of_threads_does_not_matter(d):
    X = np.random.default_rng(0).random((900, d))
    M = pairwise_distances(X)
    M = np.minimum(M, M.T)
    for one, two in (
        (beta_skeleton(X, 1.5, n_jobs=1), beta_skeleton(X, 1.5, n_jobs=2)),
        (
            gabriel(M, metric="precomputed", n_jobs=1),
            gabriel(M, metric="precomputed", n_jobs=2),
        ),
    ):
        np.testing.assert_array_equal(one.indptr, two.indptr)
        np.testing.assert_array_equal(one.indices, two.indices)
        np.testing.assert_array_equal(one.lengths, two.lengths)


def test_lengths_are_distances():
    X = np.random.default_rng(0).random((200, 3))
    graph = gabriel(X)
    i, j = graph.edges().T
    expected = np.zeros(len(i))
    for column in X.T:
        expected += (column[i] - column[j]) * (column[i] - column[j])
    matrix = graph.to_scipy("lengths").toarray()
    np.testing.assert_array_equal(matrix[i, j], np.sqrt(expected))


def test_duplicates_are_connected_and_share_their_neighbours():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    for build in (gabriel, relative_neighborhood):
        graph = build(X)
        assert edge_set(graph) == {(0, 2), (0, 3), (2, 3), (0, 1), (1, 2), (1, 3)}
        assert sorted(graph.lengths) == [0.0] * 6 + [1.0] * 6


def test_many_duplicates_cost_no_more_than_their_edges():
    X = np.repeat(np.random.default_rng(0).random((3000, 2)), 4, axis=0)
    graph = relative_neighborhood(X)
    assert graph.n_components == 1
    assert graph.n_edges == relative_neighborhood(X[::4]).n_edges * 16 + 3000 * 6


def test_points_on_the_boundary_do_not_block():
    # The right angle lies on the circle; the corners of the triangle are equally far apart.
    assert gabriel([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]).n_edges == 3
    square = [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert gabriel(square).n_edges == 6
    assert relative_neighborhood(square).n_edges == 4


def test_points_on_a_line_form_a_chain():
    x = np.random.default_rng(0).permutation(500.0 * np.arange(60))
    order = np.argsort(x)
    chain = {tuple(sorted((int(i), int(j)))) for i, j in zip(order[1:], order[:-1], strict=True)}
    for X in (x[:, None], np.stack([x, 2 * x, np.zeros(60)], axis=1)):
        for beta in (0.1, 1, 2, 9):
            assert edge_set(beta_skeleton(X, beta)) == chain


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_one_and_two_points(metric):
    assert gabriel([[0.0]], metric=metric).n_edges == 0
    assert gabriel([[0.0, 1.0], [1.0, 0.0]], metric=metric).n_edges == 1


def test_inputs_are_not_modified():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).integers(0, 50, (80, 3)).astype(np.float64)
    expected = edge_set(gabriel(X))
    locked = X.copy()
    locked.flags.writeable = False
    wide = np.zeros((160, 3))
    wide[::2] = X
    for given_ in (locked, np.asfortranarray(X), wide[::2], X.astype(np.float32), X.astype(int)):
        before = given_.copy()
        assert edge_set(gabriel(given_)) == expected
        np.testing.assert_array_equal(given_, before)
    assert edge_set(gabriel(pd.DataFrame(X))) == expected


def test_libpysal_agrees_in_the_plane():
    libpysal = pytest.importorskip("libpysal")
    X = np.random.default_rng(4).random((60, 2))
    for ours, theirs in (
        (gabriel(X), libpysal.weights.Gabriel(X)),
        (relative_neighborhood(X), libpysal.weights.Relative_Neighborhood(X)),
    ):
        pairs = {tuple(sorted((i, j))) for i, others in theirs.neighbors.items() for j in others}
        assert edge_set(ours) == pairs


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.0, np.nan]], r"X contains .* NaN"),
        ([[0.0, np.inf]], r"X contains .* infinite"),
        ([1.0, 2.0], r"X has shape .*reshape"),
        (np.empty((0, 2)), r"X has shape \(0, 2\)"),
        ([["a", "b"]], r"X has dtype"),
    ],
)
def test_errors_name_invalid_points(X, words):
    with pytest.raises((ValueError, TypeError), match=words):
        gabriel(X)


@pytest.mark.parametrize(
    ("M", "words"),
    [
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[0.0, 1.0], [2.0, 0.0]], "not symmetric"),
        ([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]], "square"),
    ],
)
def test_errors_name_invalid_distances(M, words):
    with pytest.raises(ValueError, match=words):
        gabriel(np.array(M), metric="precomputed")


def test_sparse_distances_are_rejected():
    from scipy import sparse

    with pytest.raises(TypeError, match="dense"):
        gabriel(sparse.csr_array(np.eye(3) * 0), metric="precomputed")


@pytest.mark.parametrize("beta", [0, -1, np.nan, np.inf, 1e10])
def test_errors_name_beta_out_of_range(beta):
    with pytest.raises(ValueError, match="beta="):
        beta_skeleton([[0.0], [1.0]], beta)


def test_unknown_names_are_rejected():
    X = [[0.0], [1.0], [3.0]]
    with pytest.raises(TypeError, match="beta="):
        beta_skeleton(X, "2")
    with pytest.raises(TypeError, match="radius"):
        gabriel(X, radius=1)
    with pytest.raises(ValueError, match="metric='nonsense'"):
        gabriel(X, metric="nonsense")


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("beta", [1.0, 0.05])
def test_graphs_that_do_not_fit_raise_after_the_first_block(beta, metric, monkeypatch):
    searched = []

    def counted(task, items, *args, **kwargs):
        searched.append(len(items))
        return map_threads(task, items, *args, **kwargs)

    X = np.random.default_rng(0).normal(size=(520, 12))
    X = X if metric == "euclidean" else pairwise_distances(X)
    monkeypatch.setattr("vicinal.graphs._build.empty_region_edges.map_threads", counted)
    n_edges = beta_skeleton(X, beta, metric=metric).n_edges
    assert searched
    searched.clear()
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match=r"about [0-9,]+ edges.*dimension") as error:
        beta_skeleton(X, beta, metric=metric)
    assert not searched
    foretold = int(str(error.value).split("about ")[1].split(" edges")[0].replace(",", ""))
    assert 0.5 * n_edges < foretold < 2 * n_edges
