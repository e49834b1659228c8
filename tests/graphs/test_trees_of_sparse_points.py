"""Trees of sparse points are those of the same points as a dense table, without a dense copy of it."""

import numpy as np
import pytest
from scipy import sparse

import vicinal
from vicinal._core import memory
from vicinal.exceptions import InvalidTypeError
from vicinal.graphs import disjoint_mst, knn, mst, perturbed_mst
from vicinal.neighbors import _sparse_points as sparse_points

METRICS = ("euclidean", "cosine")


def random_table(n=70, n_features=40, seed=0):
    rng = np.random.default_rng(seed)
    table = sparse.random_array((n, n_features - 1), density=0.2, random_state=rng)
    # No row is zero, which cosine distances reject.
    return sparse.csr_array(sparse.hstack([table, np.ones((n, 1))]))


def tied_table(seed=0):
    """Small integers, so that very many distances tie, and duplicate rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (50, 7)).astype(float)
    rows[:, 0] = 1.0
    return sparse.csr_array(rows)


def assert_same_graph(first, second):
    np.testing.assert_array_equal(first.edges(), second.edges())
    np.testing.assert_allclose(first.lengths, second.lengths, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(first.strengths, second.strengths)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block", [100, 2_000_000])
@pytest.mark.parametrize("table", [random_table(), random_table(seed=1)])
def test_spanning_trees_are_those_of_the_dense_points(table, metric, block, monkeypatch):
    monkeypatch.setattr(sparse_points, "BLOCK_ENTRIES", block)
    for build in (mst, disjoint_mst):
        assert_same_graph(build(table, metric=metric), build(table.toarray(), metric=metric))


@pytest.mark.parametrize("seed", range(3))
def test_ties_are_broken_as_among_dense_points(seed):
    table = tied_table(seed)
    assert_same_graph(mst(table), mst(table.toarray()))
    assert_same_graph(disjoint_mst(table, 2), disjoint_mst(table.toarray(), 2))


def test_offsets_count_among_sparse_points():
    table, offsets = random_table(), np.random.default_rng(1).exponential(size=70)
    options = {"offsets": offsets, "offset_scale": 0.3}
    assert_same_graph(mst(table, **options), mst(table.toarray(), **options))
    assert mst(table, **options).edges().tolist() != mst(table).edges().tolist()


@pytest.mark.parametrize("metric", METRICS)
def test_perturbed_trees_are_those_of_the_dense_points(metric):
    table = random_table()
    options = {"metric": metric, "n_trees": 5, "random_state": 0}
    assert_same_graph(perturbed_mst(table, **options), perturbed_mst(table.toarray(), **options))


def test_points_too_wide_to_be_perturbed_are_rejected_before_they_are_made_dense(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000_000)
    wide = sparse.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [5, 10**6, 3])), shape=(3, 10**7))
    with pytest.raises(
        MemoryError, match=r"10,000,000 features, which makes them dense, .* Truncated"
    ):
        perturbed_mst(wide)
    assert mst(wide).edges().tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("magnitude", [1e-200, 1e200])
def test_extreme_scales_keep_the_tree(magnitude):
    table = random_table()
    expected, tree = mst(table), mst(table * magnitude)
    np.testing.assert_array_equal(tree.edges(), expected.edges())
    np.testing.assert_allclose(tree.lengths, expected.lengths * magnitude, rtol=1e-12)


def test_components_of_sparse_points_are_connected_by_the_same_edges():
    groups = sparse.block_diag([random_table(30, 10, seed) for seed in range(3)], format="csr")
    graph = knn(groups, 3)
    assert graph.n_components > 1
    dense = knn(groups.toarray(), 3)
    assert_same_graph(graph.connect(), dense.connect())
    assert_same_graph(graph.connect(n_links=2), dense.connect(n_links=2))


def test_a_metric_without_sparse_rows_says_so():
    for build in (mst, disjoint_mst, perturbed_mst):
        with pytest.raises(InvalidTypeError, match=r"X is a sparse matrix, .* X\.toarray"):
            build(random_table(), metric="manhattan")


@pytest.mark.parametrize("graph", ["mst", "disjoint_mst", "perturbed_mst"])
def test_estimators_build_trees_of_sparse_points(graph):
    table = sparse.vstack(
        [
            random_table(30, seed=s) + sparse.csr_array(np.eye(40)[[s]].repeat(30, 0) * 9)
            for s in (1, 2)
        ]
    ).tocsr()
    sparse_model, dense_model = (
        vicinal.SpectralClustering(2, graph=graph, random_state=0).fit(X)
        for X in (table, table.toarray())
    )
    np.testing.assert_array_equal(sparse_model.labels_, dense_model.labels_)
    np.testing.assert_array_equal(
        sparse_model.predict(table[:5]), dense_model.predict(table[:5].toarray())
    )
    y = np.full(60, -1)
    y[[0, 59]] = 0, 1
    labels = vicinal.GraphClassifier(graph=graph, random_state=0).fit(table, y).predict(table[::7])
    np.testing.assert_array_equal(labels, np.arange(0, 60, 7) // 30)
