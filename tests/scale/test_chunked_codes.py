"""Sparse codes of dask arrays are those of arrays in memory."""

import numpy as np
import pytest

from vicinal import SpectralClustering, graphs, scale
from vicinal.codes import _sparse_codes
from vicinal.exceptions import InsufficientMemoryError

da = pytest.importorskip("dask.array")
from inputs import curved  # noqa: E402

X = curved(300, d=5, n_clusters=3)


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure; ranges of rows are short."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)
    monkeypatch.setattr(_sparse_codes, "ROWS_PER_BLOCK", 16)
    with scale.config(cell_size=90):
        yield


def assert_same_codes(graph, known):
    assert graph == known
    np.testing.assert_array_equal(graph.strengths, known.strengths)
    np.testing.assert_array_equal(graph.lengths, known.lengths)
    for field, value in graph.metadata["codes"]._asdict().items():
        np.testing.assert_array_equal(value, getattr(known.metadata["codes"], field))


@pytest.mark.parametrize("chunks", [1, 37, 300, (130, 20, 150)], ids=str)
def test_chunks_do_not_matter(chunks):
    assert_same_codes(graphs.l1(da.from_array(X, chunks=(chunks, 2))), graphs.l1(X))


@pytest.mark.parametrize("points", [X, X.astype(np.float32), X * 1e100, X * 1e-100, X.round()])
@pytest.mark.parametrize(
    "options", [{"equality": True}, {"normalize": False}, {"penalty": 0.05}], ids=str
)
def test_codes_are_those_of_memory(points, options):
    points = points[np.abs(points).max(axis=1) > 0]
    assert_same_codes(
        graphs.l1(da.from_array(points, chunks=(90, -1)), **options), graphs.l1(points, **options)
    )


@pytest.mark.parametrize("points", [X, X.astype(np.float32)], ids=["f8", "f4"])
@pytest.mark.parametrize(
    "options",
    [
        {"ranking": "euclidean", "n_atoms": 12},
        {"ranking": "manifold"},
        {"ranking": "manifold", "n_atoms": 20, "n_neighbors": 6},
        {"ranking": "perceptual", "n_atoms": 15},
    ],
    ids=str,
)
def test_structure_aware_codes_are_those_of_memory(points, options):
    found = graphs.structure_aware_l1(da.from_array(points, chunks=(90, -1)), **options)
    assert_same_codes(found, graphs.structure_aware_l1(points, **options))


@pytest.mark.filterwarnings("ignore:the graph is not fully connected")
@pytest.mark.parametrize("graph", ["l1", "structure_aware_l1"])
def test_clusters_are_those_of_memory(graph):
    model = SpectralClustering(3, graph=graph, random_state=0).fit(da.from_array(X, chunks=70))
    known = SpectralClustering(3, graph=graph, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_.compute(), known.labels_)
    np.testing.assert_array_equal(model.predict(X[:9] + 0.01), known.predict(X[:9] + 0.01))


def test_codes_on_a_store_are_computed_once(tmp_path, monkeypatch):
    array = da.from_array(X, chunks=70)
    with scale.config(store=tmp_path):
        first = graphs.l1(array)
        monkeypatch.setattr(_sparse_codes.CodeProblem, "code", None)
        assert_same_codes(graphs.l1(array), first)


def test_zero_rows_are_named():
    points = X.copy()
    points[[13, 250]] = 0
    with pytest.raises(ValueError, match=r"2 row\(s\) of zeros, row\(s\) 13, 250"):
        graphs.l1(da.from_array(points, chunks=70))


def test_what_does_not_fit_into_memory_is_rejected(monkeypatch):
    from vicinal._core import memory

    monkeypatch.setattr(memory, "free_memory", lambda: 10**6)
    with pytest.raises(InsufficientMemoryError, match="L1 graph of 300 points needs about"):
        graphs.l1(da.from_array(X, chunks=70))
    monkeypatch.setattr(memory, "free_memory", lambda: 300 * 60 * 16 - 1)
    with pytest.raises(InsufficientMemoryError, match=r"300 dictionaries.*ranking='euclidean'"):
        graphs.structure_aware_l1(da.from_array(X, chunks=70))
