"""Sparse points give what the same points give as a dense table, without a dense copy of it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_distances, rbf_kernel

import vicinal
from vicinal.exceptions import InvalidTypeError
from vicinal.graphs import complete, gaussian


@pytest.fixture
def table():
    return sparse.random_array((60, 40), density=0.2, random_state=0, format="csr")


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_all_pairs_of_sparse_points_are_those_of_the_dense_ones(table, metric):
    graph = complete(table, metric=metric)
    expected = pairwise_distances(table, metric=metric)
    np.testing.assert_allclose(graph.to_scipy().toarray(), expected, atol=1e-7)
    assert not graph.directed
    dense = gaussian(table.toarray(), scale=0.7, metric=metric)
    np.testing.assert_allclose(
        gaussian(table, scale=0.7, metric=metric).strengths, dense.strengths, atol=1e-7
    )


def test_a_metric_without_sparse_rows_says_so_for_all_pairs(table):
    for function in (complete, gaussian):
        with pytest.raises(InvalidTypeError, match="X is a sparse matrix"):
            function(table, metric="manhattan")
    with pytest.raises(InvalidTypeError, match="needs the distance of every pair"):
        complete(table[:, :1] @ table[:, :1].T, metric="precomputed")


def test_labels_spread_over_a_gaussian_kernel_of_sparse_points(table):
    y = np.full(60, -1)
    y[:20] = np.arange(20) % 2
    options = {"graph": "complete", "scale": 1.0}
    few, all_of_it = (
        vicinal.LabelPropagation(**options).fit(X, y).label_distributions_
        for X in (table, table.toarray())
    )
    np.testing.assert_allclose(few, all_of_it, atol=1e-7)
    model = vicinal.LabelPropagation(**options).fit(table, y)
    weights = rbf_kernel(table, gamma=0.5)
    np.fill_diagonal(weights, 0.0)
    np.testing.assert_allclose(model.affinity_.toarray(), weights, atol=1e-7)
    np.testing.assert_array_equal(model.predict(table[:5]), model.predict(table[:5].toarray()))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_smoothed_similarities_of_sparse_points_are_those_of_the_dense_ones(table, method, metric):
    def fitted(X):
        return vicinal.SelfSmoothing(5, metric=metric, method=method, n_neighbors=8).fit(X)

    new = table[:7] * 1.5
    on_sparse, on_dense = fitted(table), fitted(table.toarray())
    for X in (new, new.toarray()):
        np.testing.assert_allclose(
            on_sparse.transform(X), on_dense.transform(new.toarray()), atol=1e-7
        )
    np.testing.assert_array_equal(on_sparse.kneighbors()[1], on_dense.kneighbors()[1])


def test_smoothing_rejects_sparse_points_under_another_metric(table):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        vicinal.SelfSmoothing(5, metric="manhattan").fit(table)
