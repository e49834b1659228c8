"""Contextual distances, and what is built on them, accept sparse points."""

import numpy as np
import pytest
from scipy import sparse

from vicinal import (
    OutlierDetector,
    PerceptualClustering,
    PerceptualEmbedding,
    PerceptualRanking,
    contextual_distance,
)
from vicinal.graphs import _contributions as module
from vicinal.graphs import contextual


def random_table(n=60, n_features=30, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    return sparse.random_array((n, n_features), density=density, random_state=rng, format="csr")


def clusters(n=60, n_features=30):
    """Two groups on different columns."""
    first, second = (random_table(n, n_features, seed, 0.5) for seed in (0, 1))
    return sparse.csr_array(sparse.block_diag([first, second]))


@pytest.mark.parametrize("entries", [1, 1 << 18])
@pytest.mark.parametrize("descriptor", ["coding_length", "centroid", lambda X: X.std(axis=0)])
@pytest.mark.parametrize("n_features", [4, 30])
def test_distances_are_those_of_the_dense_points(descriptor, entries, n_features, monkeypatch):
    monkeypatch.setattr(module, "DENSE_ENTRIES", entries)
    table = random_table(n_features=n_features)
    for X in (table, table * 1e6):  # widely spread contexts are computed literally
        indices, distances = contextual_distance(X, 7, descriptor=descriptor)
        expected_indices, expected = contextual_distance(X.toarray(), 7, descriptor=descriptor)
        np.testing.assert_array_equal(indices, expected_indices)
        np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-11 * expected.max())


def test_the_trivial_descriptor_of_sparse_points_is_the_distance():
    table = random_table()
    distances = contextual_distance(table, 1, descriptor="trivial")[1]
    expected = contextual_distance(table.toarray(), 1, descriptor="trivial")[1]
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


def test_contexts_of_zero_rows_are_defined():
    table = sparse.csr_array(([1.0], ([4], [3])), shape=(5, 8))
    for descriptor in ("coding_length", "centroid"):
        found = contextual_distance(table, 3, descriptor=descriptor)[1]
        expected = contextual_distance(table.toarray(), 3, descriptor=descriptor)[1]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_the_digraph_keeps_sparse_points():
    graph = contextual(random_table(), 5)
    assert sparse.issparse(graph.points)
    dense = contextual(random_table().toarray(), 5)
    assert graph.metadata["sigma"] == pytest.approx(dense.metadata["sigma"])


def same_up_to_sign(first, second):
    signs = np.sign((first * second).sum(axis=0))
    np.testing.assert_allclose(first, second * signs, atol=1e-6 * np.abs(second).max())


@pytest.mark.parametrize("repeats", [1, 2])
def test_perceptual_estimators_give_the_results_of_dense_points(repeats):
    table = sparse.csr_array(sparse.vstack([clusters()] * repeats))
    X, new = table.toarray(), clusters()[::9] * 1.01
    pair = [PerceptualClustering(2, n_neighbors=6, random_state=0).fit(Z) for Z in (table, X)]
    np.testing.assert_array_equal(pair[0].labels_, pair[1].labels_)
    expected = pair[1].predict(new.toarray())
    for queries in (new, new.toarray()):
        np.testing.assert_array_equal(pair[0].predict(queries), expected)
    pair = [PerceptualEmbedding(2, n_neighbors=6).fit(Z) for Z in (table, X)]
    same_up_to_sign(pair[0].embedding_, pair[1].embedding_)
    same_up_to_sign(pair[0].transform(new), pair[1].transform(new.toarray()))
    pair = [PerceptualRanking(6, alpha=0.9).fit(Z) for Z in (table, X)]
    for queries, dense_queries in (([3, 70], [3, 70]), (new, new.toarray())):
        indices, scores = pair[0].rank(queries, 5)
        expected_indices, expected_scores = pair[1].rank(dense_queries, 5)
        np.testing.assert_allclose(scores, expected_scores, rtol=1e-6)
        np.testing.assert_array_equal(indices, expected_indices)


def test_the_number_of_clusters_among_sparse_points_is_that_of_their_digraph():
    table = clusters()
    of_points, of_digraph = (
        PerceptualClustering(n_neighbors=6, random_state=0).fit(X)
        for X in (table, contextual(table, 6))
    )
    assert of_points.n_clusters_ == of_digraph.n_clusters_ == 2
    np.testing.assert_array_equal(of_points.labels_, of_digraph.labels_)
    assert ((of_points.noise_score_ > 0.5) == (of_points.labels_ < 0)).all()


def test_wide_tables_are_never_dense():
    """A dense copy would need 8 GB, a dense context 800 MB."""
    rng = np.random.default_rng(0)
    table = sparse.csr_array(
        (rng.random(500), (np.repeat(np.arange(100), 5), rng.integers(0, 10**7, 500))),
        shape=(100, 10**7),
    )
    assert np.isfinite(contextual_distance(table, 5)[1]).all()
    assert PerceptualClustering(2, n_neighbors=5, noise=0).fit(table).labels_.shape == (100,)


def test_outliers_of_sparse_points_are_rejected_with_a_remedy():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        OutlierDetector().fit(clusters())
