"""Dask arrays that cannot be processed are rejected with the reason and a remedy."""

import numpy as np
import pytest

from vicinal import graphs, scale
from vicinal.neighbors import NeighborSearch

da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_first_invalid_value_is_named_by_row_and_chunk(value):
    X = np.zeros((50, 3))
    X[37, 1] = X[45, 2] = value
    with pytest.raises(
        ValueError, match=r"2 value\(s\) that are NaN.* at \[37, 1\], which is row 7 of chunk 3"
    ):
        graphs.knn(da.from_array(X, chunks=10))


def test_unknown_chunk_sizes_are_rejected():
    X = da.from_array(np.arange(20.0)[:, None], chunks=5)
    with pytest.raises(ValueError, match=r"unknown sizes; call X.compute_chunk_sizes\(\)"):
        graphs.knn(X[X[:, 0] > 3])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (da.zeros(10), r"X has 1 dimension\(s\)"),
        (da.zeros((0, 3)), r"X has shape \(0, 3\), but at least 1 point"),
        (da.zeros((5, 0)), r"X has shape \(5, 0\), but at least 1 point"),
        (da.zeros((5, 2), dtype=complex), "dtype complex128, but real numbers are needed"),
        (da.from_array(np.full((5, 2), "a")), "dtype <U1, but real numbers are needed"),
        (da.full((5, 2), 1e308) * np.array([[1], [-1], [1], [1], [1]]), "distances exceed 1.8e308"),
        (da.zeros((1, 2)), "X has 1 point, which has no neighbours"),
    ],
)
def test_arrays_that_are_not_points_are_rejected(X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        graphs.knn(X)


def test_too_many_neighbours_are_rejected():
    with pytest.raises(ValueError, match="n_neighbors=5"):
        graphs.knn(da.zeros((5, 2)), 5)


def test_unsupported_metrics_searches_and_graphs_are_named():
    X = da.from_array(np.arange(20.0)[:, None], chunks=5)
    for metric in ("chebyshev", "precomputed", np.dot):
        with pytest.raises(
            ValueError, match="dask arrays need 'euclidean', 'manhattan' or 'cosine'"
        ):
            graphs.knn(X, metric=metric)
    with pytest.raises(TypeError, match="not all points within a radius"):
        NeighborSearch(X).within(1.0)
    with pytest.raises(TypeError, match="X is a dask Array"):
        graphs.gabriel(X)
    with pytest.raises(ValueError, match=r"queries have shape \(4, 3\).*have 1 feature"):
        NeighborSearch(X).nearest(1, queries=da.zeros((4, 3)))


def test_zero_vectors_have_no_cosine_distance():
    X = np.ones((20, 2))
    X[13] = 0
    with pytest.raises(ValueError, match="row 13 of X is a zero vector"):
        graphs.knn(da.from_array(X, chunks=6), metric="cosine")


def test_points_of_a_graph_are_not_loaded_by_accident():
    graph = graphs.knn(da.from_array(np.arange(20.0)[:, None], chunks=5), 3)
    with pytest.raises(
        TypeError, match="processed in chunks, but this step needs all rows in memory"
    ):
        np.asarray(graph.points)
    assert graph.points.gather("all", "").shape == (20, 1)


@pytest.mark.parametrize("size", [0, 2.5, "a"])
def test_the_cell_size_is_checked(size):
    with pytest.raises((TypeError, ValueError), match="cell_size"), scale.config(cell_size=size):
        pass


@pytest.mark.parametrize("client", ["tcp://127.0.0.1:8786", 3])
def test_a_client_that_is_none_is_named(client):
    with pytest.raises(TypeError, match=r"client=.*, but a distributed.Client is needed"):
        scale.config(client=client)


def test_a_closed_client_is_named():
    distributed = pytest.importorskip("distributed")
    client = distributed.Client(processes=False, n_workers=1, dashboard_address=None)
    with scale.config(client=client):
        client.close()
        with pytest.raises(ValueError, match="client is closed; connect again"):
            graphs.knn(da.zeros((10, 2)), 3)
    with pytest.raises(ValueError, match="client is closed; connect again"):
        scale.config(client=client)


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_store_needs_the_name_of_a_folder(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for make in (scale.Store, lambda path: scale.config(store=path)):
        with pytest.raises(ValueError, match="is not the name of a folder or a URL"):
            make(path)
    assert list(tmp_path.iterdir()) == []
