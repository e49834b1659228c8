"""Spanning trees of dask arrays have the edges and lengths, bit for bit, of those of arrays in memory."""

import pytest

from vicinal import graphs, scale

da = pytest.importorskip("dask.array")
from inputs import HARD  # noqa: E402


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)


def chunked(X):
    return da.from_array(X, chunks=(len(X) // 3 + 1, -1))


@pytest.mark.parametrize("X", HARD.values(), ids=HARD)
@pytest.mark.parametrize("n_cells", [1, 4, 13])
def test_the_tree_is_that_of_memory(X, n_cells):
    with scale.config(cell_size=-(-len(X) // n_cells)):
        assert graphs.mst(chunked(X)) == graphs.mst(X)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
@pytest.mark.parametrize("name", ["normal", "grid", "float32", "huge", "tiny", "many dimensions"])
def test_the_tree_of_every_metric_is_that_of_memory(name, metric):
    X = HARD[name][1:]  # the grid starts with a zero vector
    with scale.config(cell_size=50):
        assert graphs.mst(chunked(X), metric=metric) == graphs.mst(X, metric=metric)


@pytest.mark.parametrize(
    "name", ["normal", "curved", "float32", "grid", "duplicates", "huge", "many dimensions"]
)
@pytest.mark.parametrize("n_cells", [1, 6])
def test_disjoint_trees_are_those_of_memory(name, n_cells):
    X = HARD[name]
    with scale.config(cell_size=-(-len(X) // n_cells)):
        assert graphs.disjoint_mst(chunked(X), 3) == graphs.disjoint_mst(X, 3)
