"""Sparse feature matrices: the same neighbours, graphs and estimates as for the dense array."""

import numpy as np
import pytest
from scipy import sparse

from vicinal import (
    GraphClassifier,
    GraphRegressor,
    Isomap,
    LaplacianEigenmaps,
    SpectralClustering,
    graphs,
)
from vicinal.neighbors import NeighborSearch


def table(n=120, d=40, density=0.15, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < density, rng.random((n, d)), 0.0) + np.eye(n, d)


@pytest.mark.parametrize("metric", ["euclidean", "l2", "cosine"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_neighbours_of_sparse_rows_are_those_of_the_dense_array(metric, form):
    X = table()[:100] + np.c_[np.ones(100), np.zeros((100, 39))]
    given = sparse.coo_array(X).asformat(form)
    ours, dense = NeighborSearch(given, metric=metric), NeighborSearch(X, metric=metric)
    queries = X[:7] * 1.1
    for given in (None, sparse.csr_matrix(queries), queries):
        known = given if given is None else queries
        result, expected = ours.nearest(6, given), dense.nearest(6, known)
        np.testing.assert_array_equal(result[0], expected[0])
        np.testing.assert_allclose(result[1], expected[1], atol=1e-14)
        radius = float(np.median(expected[1]))
        for a, b in zip(ours.within(radius, given), dense.within(radius, known), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-14)
    assert ours.method_ == "sparse"


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_distances_of_close_rows_far_from_the_origin_are_accurate(offset):
    X = table(60, 5, 1.0) * 1e-3 + offset
    result = NeighborSearch(sparse.csr_array(X)).nearest(4)
    expected = NeighborSearch(X).nearest(4)
    np.testing.assert_array_equal(result[0], expected[0])
    np.testing.assert_array_equal(result[1], expected[1])


def test_extreme_units_do_not_matter_and_equal_counts_tie_by_index():
    counts = sparse.csr_array(np.random.default_rng(0).integers(0, 2, (50, 6)).astype(float))
    expected = NeighborSearch(counts.toarray()).nearest(5)
    for unit in (1.0, 2.0**600, 2.0**-600):
        result = NeighborSearch(counts * unit).nearest(5)
        np.testing.assert_array_equal(result[0], expected[0])
        np.testing.assert_allclose(result[1] / unit, expected[1])


@pytest.mark.filterwarnings("ignore:no label reaches")
def test_graphs_and_estimators_agree_with_the_dense_array():
    X = np.kron(np.eye(3), table(30, 8) + 5.0 * np.eye(1, 8))
    y = np.repeat([0, 1, 2], 30)
    known = np.where(np.arange(90) % 10 == 0, y, -1)
    given = sparse.csr_matrix(X)
    graph, dense = graphs.knn(given, 4), graphs.knn(X, 4)
    assert (graph.edges() == dense.edges()).all()
    assert graph.n_components == 3
    assert (graph.connect().edges() == dense.connect().edges()).all()
    ball = graphs.epsilon_ball(given, 1.0)
    assert (ball.edges() == graphs.epsilon_ball(X, 1.0).edges()).all()
    params = {"graph_params": {"n_neighbors": 4}}
    for model in (GraphClassifier(**params), SpectralClustering(3, random_state=0, **params)):
        assert (model.fit(given, known).predict(given) == model.fit(X, known).predict(X)).all()
    ball = GraphClassifier(graph="epsilon_ball", graph_params={"radius": 2.0})
    far = np.vstack([X[:5] * 1.1, 2.0 * X[:5]])
    expected = ball.fit(X, known).predict_proba(far)
    np.testing.assert_allclose(
        ball.fit(given, known).predict_proba(sparse.csr_array(far)), expected
    )
    values = np.where(known >= 0, known, np.nan)
    model = GraphRegressor(**params)
    expected = model.fit(X, values).predict(X + 0.01)
    np.testing.assert_allclose(
        model.fit(given, values).predict(sparse.csr_array(X + 0.01)), expected
    )
    for model in (LaplacianEigenmaps(2, random_state=0, **params), Isomap(2, **params)):
        with pytest.warns(UserWarning, match="component"):
            expected = model.fit_transform(X).copy()
        with pytest.warns(UserWarning, match="component"):
            embedding = model.fit_transform(given)
        np.testing.assert_allclose(embedding, expected, atol=1e-8)


def test_duplicate_sparse_rows_are_connected_like_dense_ones():
    X = np.repeat(np.eye(6)[:, :5], 15, axis=0)
    result = GraphClassifier(graph_params={"n_neighbors": 3}).fit(
        sparse.csr_array(X), np.repeat(range(6), 15)
    )
    expected = GraphClassifier(graph_params={"n_neighbors": 3}).fit(X, np.repeat(range(6), 15))
    assert (result.graph_.edges() == expected.graph_.edges()).all()


def test_tags_declare_sparse_support_and_other_graphs_explain_the_error():
    X = sparse.csr_array(table(30))
    assert GraphClassifier().__sklearn_tags__().input_tags.sparse
    for options in (
        {"graph": "gabriel"},
        {"graph_params": {"metric": "manhattan"}},
        {"graph_params": {"method": "approximate"}},
    ):
        model = GraphClassifier(**options)
        assert not model.__sklearn_tags__().input_tags.sparse
        with pytest.raises(TypeError, match="toarray"):
            model.fit(X, np.arange(30) % 2)
    for call in (graphs.gabriel, graphs.delaunay, lambda X: graphs.knn(X, metric="manhattan")):
        with pytest.raises(TypeError, match="toarray"):
            call(X)
    with pytest.raises(ValueError, match="NaN"):
        graphs.knn(sparse.csr_array([[1.0, np.nan], [1.0, 0.0]]), 1)
    with pytest.raises(ValueError, match="zero vectors"):
        graphs.knn(sparse.csr_array(np.eye(4, 2)), 1, metric="cosine")
