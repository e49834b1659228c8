"""Labels, outliers, rankings and smoothed similarities of dask arrays are those of arrays in memory."""

import numpy as np
import pytest

from vicinal import (
    ClusterPreservingEmbedding,
    GraphClassifier,
    LabelPropagation,
    OutlierDetector,
    PerceptualRanking,
    SpectralClustering,
    scale,
)
from vicinal.similarity import SelfSmoothing

da = pytest.importorskip("dask.array")
from inputs import curved  # noqa: E402

X = curved(400, d=4, n_clusters=3)
NEW = X[::7] + 0.02
CHUNKS = (130, 20, 250)


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)
    with scale.config(cell_size=90):
        yield


def chunked(points):
    return da.from_array(points, chunks=(CHUNKS, -1))


def assert_same(values, expected, chunks=CHUNKS):
    assert values.chunks[0] == chunks
    computed = values.compute()
    assert computed.dtype == expected.dtype == values.dtype
    np.testing.assert_array_equal(computed, expected)


@pytest.mark.filterwarnings("ignore:the graph is not fully connected")
@pytest.mark.parametrize("graph", ["knn", "mst", "disjoint_mst"])
def test_clusters_on_every_graph_are_those_of_memory(graph):
    model = SpectralClustering(3, graph=graph, random_state=0).fit(chunked(X))
    known = SpectralClustering(3, graph=graph, random_state=0).fit(X)
    assert model.graph_ == known.graph_
    assert_same(model.labels_, known.labels_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("names", [np.array([3, 5, 9]), np.array(["a", "b", "c"], dtype=object)])
def test_classes_are_those_of_memory(names):
    y = np.full(400, -1, dtype=names.dtype)
    y[:40] = names[(X[:40, 0] > np.median(X[:, 0])).astype(int)]
    y[390] = names[2]
    model, known = GraphClassifier().fit(chunked(X), y), GraphClassifier().fit(X, y)
    for name in ("transduction_", "label_distributions_", "reached_"):
        assert_same(getattr(model, name), getattr(known, name))
    new = da.from_array(NEW, chunks=20)
    for method in ("predict", "predict_proba"):
        assert_same(getattr(model, method)(new), getattr(known, method)(NEW), (20, 20, 18))
        np.testing.assert_array_equal(getattr(model, method)(NEW), getattr(known, method)(NEW))
    np.testing.assert_array_equal(model.suggest_queries(3), known.suggest_queries(3))
    np.testing.assert_array_equal(model.doubtful_labels()[0], known.doubtful_labels()[0])


def test_classes_may_be_a_dask_array():
    y = np.where(np.arange(400) < 30, (X[:, 0] > 0).astype(int), -1)
    labels = GraphClassifier().fit(chunked(X), da.from_array(y, chunks=100)).transduction_
    np.testing.assert_array_equal(labels.compute(), GraphClassifier().fit(X, y).transduction_)


@pytest.mark.parametrize("points", [X, X.round(), np.floor(X[:, :1]), X.astype(np.float32)])
@pytest.mark.parametrize("options", [{}, {"contamination": 0.1}], ids=str)
def test_outliers_are_those_of_memory(points, options):
    model = OutlierDetector(**options).fit(chunked(points))
    known = OutlierDetector(**options).fit(points)
    assert_same(model.labels_, known.labels_)
    assert model.offset_ == pytest.approx(known.offset_, rel=1e-9)
    new = da.from_array((points[::7] + 0.5).astype(points.dtype), chunks=20)
    np.testing.assert_allclose(model.outlier_score_.compute(), known.outlier_score_, rtol=1e-9)
    for method in ("predict", "score_samples", "decision_function", "outlier_score"):
        values = getattr(model, method)(new)
        expected = getattr(known, method)((points[::7] + 0.5).astype(points.dtype))
        assert values.chunks[0] == (20, 20, 18)
        np.testing.assert_allclose(values.compute(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alpha", ["auto", 0.9])
def test_rankings_are_those_of_memory(alpha):
    points = np.concatenate([X[:-9], X[:9]])
    model, known = (PerceptualRanking(alpha=alpha).fit(data) for data in (chunked(points), points))
    assert model.alpha_ == known.alpha_
    assert_same(model.stationary_, known.stationary_)
    for found, expected in zip(model.rank([3, 77], 12), known.rank([3, 77], 12), strict=True):
        np.testing.assert_array_equal(found, expected)
    lazy = model.rank(da.from_array(NEW, chunks=30), 5)
    for found, expected in zip(lazy, known.rank(NEW, 5), strict=True):
        assert_same(found, expected, (30, 28))


def test_smoothed_neighbours_are_those_of_memory():
    model = SelfSmoothing(random_state=0).fit(chunked(X))
    known = SelfSmoothing(random_state=0, method="sparse").fit(X)
    assert model.t_ == known.t_
    for found, expected in zip(model.kneighbors(), known.kneighbors(), strict=True):
        assert_same(found, expected)
    lazy = model.kneighbors(da.from_array(NEW, chunks=30), 5)
    for found, expected in zip(lazy, known.kneighbors(NEW, 5), strict=True):
        assert_same(found, expected, (30, 28))
    assert_same(model.transform(da.from_array(NEW, chunks=30)), known.transform(NEW), (30, 28))


def test_all_pairs_of_a_dask_array_are_rejected():
    for options in ({"method": "dense"}, {"metric": "precomputed"}, {"metric": "similarity"}):
        with pytest.raises(ValueError, match=r"X is a dask Array.*method='sparse'"):
            SelfSmoothing(**options).fit(chunked(X))


def test_a_second_fit_in_memory_forgets_the_chunks():
    model = SelfSmoothing(random_state=0).fit(chunked(X)).fit(X)
    assert isinstance(model.kneighbors()[0], np.ndarray)


def test_propagated_labels_are_those_of_memory():
    y = np.where(np.arange(400) < 30, (X[:, 0] > 0).astype(int), -1)
    model, known = (LabelPropagation().fit(data, y) for data in (chunked(X), X))
    assert_same(model.transduction_, known.transduction_)
    assert_same(model.predict(da.from_array(NEW, chunks=30)), known.predict(NEW), (30, 28))


@pytest.mark.parametrize("method", ["laplacian", "mds"])
@pytest.mark.parametrize("unit", [1.0, 1e200])
@pytest.mark.parametrize("robust", [True, False])
def test_cluster_preserving_embeddings_are_those_of_memory(method, unit, robust):
    options = {"method": method, "random_state": 0, "robust": robust}
    model = ClusterPreservingEmbedding(**options).fit(chunked(X * unit))
    known = ClusterPreservingEmbedding(**options).fit(X * unit)
    assert model.sigma_ == known.sigma_
    assert_same(model.embedding_, known.embedding_)
    new = NEW * unit
    assert_same(model.transform(da.from_array(new, chunks=30)), known.transform(new), (30, 28))
