"""Estimators fitted on dask arrays give the results of arrays in memory, in the chunks of the input."""

import pickle

import numpy as np
import pytest

from vicinal import LaplacianEigenmaps, PerceptualClustering, SpectralClustering, graphs, scale
from vicinal.datasets import make_spirals

da = pytest.importorskip("dask.array")
from inputs import curved  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:the graph is not fully connected")
X = curved(900, d=5, n_clusters=3)
NEW = X[::7] + 0.02
CHUNKS = (300, 250, 350)
SPIRALS = make_spirals(300, random_state=0)[0]


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)


def chunked(points):
    return da.from_array(points, chunks=(CHUNKS, -1) if len(points) == 900 else (40, 2))


@pytest.fixture
def cells():
    with scale.config(cell_size=150):
        yield


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("points", [X, X.astype(np.float32), SPIRALS], ids=["f8", "f4", "spirals"])
@pytest.mark.parametrize("n_clusters", ["auto", 2, 3, 7])
def test_clusters_are_those_of_memory(points, n_clusters):
    model = SpectralClustering(n_clusters, random_state=0).fit(chunked(points))
    known = SpectralClustering(n_clusters, random_state=0).fit(points)
    assert model.n_clusters_ == known.n_clusters_
    assert model.labels_.chunks[0] == chunked(points).chunks[0]
    np.testing.assert_array_equal(model.labels_.compute(), known.labels_)
    np.testing.assert_array_equal(model.probabilities_.compute(), known.probabilities_)
    assert model.graph_ == known.graph_
    new = (points[::7] + 0.02).astype(points.dtype)
    for method in ("predict", "predict_proba"):
        expected = getattr(known, method)(new)
        np.testing.assert_array_equal(getattr(model, method)(new), expected)
        lazy = getattr(model, method)(da.from_array(new, chunks=(25, 1)))
        assert lazy.chunks[0] == da.from_array(new, chunks=25).chunks[0]
        np.testing.assert_array_equal(lazy.compute(), expected)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_embeddings_are_those_of_memory(dtype):
    points = SPIRALS.astype(dtype)
    model = LaplacianEigenmaps(2, random_state=0, graph_params={"n_neighbors": 12})
    known = LaplacianEigenmaps(2, random_state=0, graph_params={"n_neighbors": 12}).fit(points)
    embedding = model.fit_transform(chunked(points))
    assert embedding.chunks == (chunked(points).chunks[0], (2,))
    assert embedding.dtype == dtype
    np.testing.assert_array_equal(embedding.compute(), known.embedding_)
    new = da.from_array(points[::3] + dtype(0.01), chunks=30)
    np.testing.assert_array_equal(
        model.transform(new).compute(), known.transform(points[::3] + dtype(0.01))
    )


@pytest.mark.usefixtures("cells")
@pytest.mark.filterwarnings("ignore:the graph is not fully connected")
def test_a_disconnected_graph_is_connected_as_in_memory():
    points = np.concatenate([SPIRALS, SPIRALS + 100])
    model = LaplacianEigenmaps(random_state=0).fit(da.from_array(points, chunks=130))
    known = LaplacianEigenmaps(random_state=0).fit(points)
    np.testing.assert_array_equal(model.embedding_.compute(), known.embedding_)
    np.testing.assert_array_equal(model.transform(points[:9]), known.transform(points[:9]))


@pytest.mark.usefixtures("cells")
@pytest.mark.filterwarnings("ignore:noise could not be separated")
@pytest.mark.parametrize("options", [{}, {"n_clusters": 2, "noise": 20}], ids=str)
def test_perceptual_clusters_and_noise_are_those_of_memory(options):
    points = np.concatenate([X[:400], X[:30], np.random.default_rng(0).uniform(-9, 9, (60, 5))])
    array = da.from_array(points, chunks=(130, 3))
    model = PerceptualClustering(random_state=0, **options).fit(array)
    known = PerceptualClustering(random_state=0, **options).fit(points)
    assert model.labels_.chunks == (array.chunks[0],)
    for name in ("labels_", "noise_score_", "probabilities_", "stationary_", "embedding_"):
        np.testing.assert_array_equal(getattr(model, name).compute(), getattr(known, name))
    new = points[::9] + 0.03
    for method in ("predict", "predict_proba"):
        lazy = getattr(model, method)(da.from_array(new, chunks=20))
        np.testing.assert_array_equal(lazy.compute(), getattr(known, method)(new))


@pytest.mark.usefixtures("cells")
def test_a_second_fit_in_memory_forgets_the_chunks():
    model = SpectralClustering(3, random_state=0).fit(chunked(X))
    model.fit(X)
    assert isinstance(model.labels_, np.ndarray)
    assert isinstance(model.probabilities_, np.ndarray)


def test_a_model_on_a_named_store_can_be_pickled(tmp_path):
    with scale.config(cell_size=150, store=tmp_path):
        model = SpectralClustering(3, random_state=0).fit(chunked(X))
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(loaded.labels_.compute(), model.labels_.compute())


def test_graphs_that_need_all_points_are_named():
    with pytest.raises(ValueError, match="graph='gabriel' needs all points in memory; use 'knn'"):
        SpectralClustering(2, graph="gabriel").fit(chunked(X))
    with pytest.raises(ValueError, match="'knn'"):
        SpectralClustering(2, graph=graphs.knn).fit(chunked(X))
    with pytest.raises(TypeError, match=r"X is a dask Array.*X.compute\(\)"):
        SpectralClustering(2, graph="precomputed").fit(chunked(X))


def test_all_points_are_gathered_only_if_they_fit(monkeypatch):
    from vicinal._core import memory
    from vicinal.exceptions import InsufficientMemoryError

    monkeypatch.setattr(memory, "free_memory", lambda: 72 * 10 * len(X) + 1)
    wide = da.from_array(np.tile(X, 20), chunks=100)
    with scale.config(cell_size=50):
        SpectralClustering(3, random_state=0).fit(wide)
        with pytest.raises(
            InsufficientMemoryError, match=r"n_clusters=.auto.*Pass the number of clusters"
        ):
            SpectralClustering(random_state=0).fit(wide)
