"""Neighbours of dask arrays have the same bits as those of arrays in memory."""

import numpy as np
import pytest

from vicinal import graphs, scale
from vicinal.neighbors import NeighborSearch

da = pytest.importorskip("dask.array")
from inputs import HARD, curved  # noqa: E402


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)


def assert_same(lists, expected):
    for values, known in zip(lists, expected, strict=True):
        values = values.compute() if hasattr(values, "compute") else values
        np.testing.assert_array_equal(values, known)


@pytest.mark.parametrize("X", HARD.values(), ids=HARD)
@pytest.mark.parametrize("n_cells", [1, 4, 13])
def test_lists_have_the_same_bits_as_in_memory(X, n_cells):
    k = min(9, len(X) - 1)
    with scale.config(cell_size=-(-len(X) // n_cells)):
        lists = NeighborSearch(da.from_array(X, chunks=(len(X) // 3 + 1, -1))).nearest(k)
    assert_same(lists, NeighborSearch(X).nearest(k))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("name", ["normal", "grid", "float32", "huge", "tiny"])
def test_every_metric_has_the_same_bits_for_points_and_queries(name, metric):
    X = HARD[name][1:]  # the grid starts with a zero vector
    queries = np.concatenate([X[:20], 1.5 * X[:30]])
    with scale.config(cell_size=50):
        search = NeighborSearch(da.from_array(X, chunks=250), metric=metric)
        lists = search.nearest(6)
    known = NeighborSearch(X, metric=metric)
    assert search.method_ == "cells"
    assert_same(lists, known.nearest(6))
    assert_same(search.nearest(4, queries=queries), known.nearest(4, queries=queries))
    lazy = search.nearest(4, queries=da.from_array(queries, chunks=(17, 1)))
    assert lazy[0].chunks[0] == (17, 17, 16)
    assert_same(lazy, known.nearest(4, queries=queries))


@pytest.mark.parametrize("chunks", [1, 7, (100, 1, 99, 50), 250], ids=str)
def test_results_have_the_chunks_of_the_input_and_do_not_depend_on_them(chunks):
    X = curved(250)
    array = da.from_array(X, chunks=(chunks if isinstance(chunks, int) else 250, -1))
    if not isinstance(chunks, int):
        array = array.rechunk((chunks, (16,)))
    with scale.config(cell_size=70):
        indices, distances = NeighborSearch(array).nearest(5)
    assert indices.chunks == distances.chunks == (array.chunks[0], (6,))
    assert_same((indices, distances), NeighborSearch(X).nearest(5))


def test_far_queries_find_their_neighbours():
    X = curved(500)
    queries = X[:40] * 1e6
    with scale.config(cell_size=30):
        search = NeighborSearch(da.from_array(X, chunks=200))
    assert_same(search.nearest(3, queries=queries), NeighborSearch(X).nearest(3, queries=queries))


@pytest.mark.parametrize("name", ["normal", "duplicates", "grid", "one place", "huge"])
@pytest.mark.parametrize("options", [{}, {"mutual": True}, {"directed": True}], ids=str)
def test_the_graph_is_that_of_the_array_in_memory(name, options):
    X = HARD[name]
    with scale.config(cell_size=60):
        graph = graphs.knn(da.from_array(X, chunks=170), 5, **options)
    assert graph == graphs.knn(X, 5, **options)


def test_points_that_are_many_more_than_their_cells_prune_most_cells(monkeypatch):
    from vicinal.scale import _lists

    searched = []
    search_cell = _lists._search_cell

    def count(cells, cell, points, queries, lists):
        searched.append(len(queries))
        search_cell(cells, cell, points, queries, lists)

    monkeypatch.setattr(_lists, "_search_cell", count)
    X = curved(20_000, d=8, n_clusters=20)
    with scale.config(cell_size=1000):
        NeighborSearch(da.from_array(X, chunks=5000)).nearest(10)
    # A search of all cells would make 19 per point.
    assert sum(searched) < 3 * len(X)


def test_points_inside_a_cell_are_compared_with_no_other_cell(monkeypatch):
    from vicinal.scale import _lists

    compared = []
    next_cell = _lists.next_cell

    def count(at, points, *args):
        compared.append(len(points) if at == 0 else 0)
        return next_cell(at, points, *args)

    monkeypatch.setattr(_lists, "next_cell", count)
    X = np.random.default_rng(0).uniform(size=(20_000, 2))
    with scale.config(cell_size=5000):
        lists = NeighborSearch(da.from_array(X, chunks=5000)).nearest(5)
    # The other points are at least a few neighbours away from the border of their cell.
    assert 0 < sum(compared) < 0.3 * len(X)
    assert_same(lists, NeighborSearch(X).nearest(5))


def test_a_tree_on_the_store_is_not_built_again(tmp_path, monkeypatch):
    from vicinal.scale import _layout

    X = curved(2000, d=3)
    array = da.from_array(X, chunks=500)
    with scale.config(store=tmp_path, cell_size=400):
        NeighborSearch(array).nearest(4)
        # As in another process, which has no cells in memory.
        monkeypatch.setattr(_layout, "_RECENT", _layout._RecentPoints(2**28))
        monkeypatch.setattr(_layout, "build_kdtree", None)
        assert_same(NeighborSearch(array).nearest(7), NeighborSearch(X).nearest(7))


def test_longer_lists_on_the_store_serve_shorter_ones(tmp_path, monkeypatch):
    X = curved(400)
    array = da.from_array(X, chunks=100)
    with scale.config(store=tmp_path, cell_size=50):
        NeighborSearch(array).nearest(8)
        from vicinal.scale import _lists

        monkeypatch.setattr(_lists, "neighbors_in_cell", None)
        assert_same(NeighborSearch(array).nearest(5), NeighborSearch(X).nearest(5))


def test_progress_bars_name_the_steps(capsys):
    with scale.config(cell_size=50):
        graphs.knn(da.from_array(curved(300), chunks=100), 4, verbose=1)
    shown = capsys.readouterr().err
    for step in ("reading X", "sorting rows into cells", "collecting cells", "neighbours"):
        assert step in shown
