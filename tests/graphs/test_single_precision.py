"""Lengths in single precision take half the memory and change no result beyond their rounding."""

import pickle

import numpy as np
import pytest

from vicinal import Graph, SpectralClustering, graphs
from vicinal.operators import shortest_paths
from vicinal.similarity import path_similarity

X = np.random.default_rng(0).normal(size=(200, 3))
EXACT = graphs.knn(X, 6)
SINGLE = EXACT.astype("float32")
# The same values in double precision.
ROUNDED = SINGLE.astype(np.float64)


def test_lengths_are_rounded_and_edges_kept():
    assert SINGLE.lengths.dtype == np.float32
    assert not SINGLE.lengths.flags.writeable
    assert SINGLE.lengths.nbytes == EXACT.lengths.nbytes // 2
    np.testing.assert_array_equal(SINGLE.lengths, EXACT.lengths.astype(np.float32))
    np.testing.assert_array_equal(SINGLE.edges(), EXACT.edges())
    assert SINGLE == ROUNDED
    assert hash(SINGLE) == hash(ROUNDED)
    assert SINGLE.astype(np.float32) is SINGLE
    assert np.shares_memory(SINGLE.points, EXACT.points)


def test_constructors_and_operations_keep_the_precision():
    given = Graph(SINGLE.indptr, SINGLE.indices, SINGLE.lengths)
    edges, rows = SINGLE.edges(), np.repeat(np.arange(200), SINGLE.degrees)
    listed = Graph.from_edges(200, edges, SINGLE.lengths[rows < SINGLE.indices])
    parts = (
        given,
        listed,
        Graph.from_scipy(SINGLE.to_scipy()),
        pickle.loads(pickle.dumps(SINGLE)),
        SINGLE | SINGLE,
        SINGLE & SINGLE,
        SINGLE.subgraph(np.arange(200)),
        graphs.knn(X, 6, directed=True).astype("float32").symmetrize("union"),
    )
    for graph in parts:
        assert graph.lengths.dtype == np.float32
        assert graph == SINGLE
    pieces = graphs.knn(np.concatenate([X[:50], X[:50] + 100]), 4).astype("float32")
    assert pieces.connect().lengths.dtype == np.float32
    assert (SINGLE | EXACT).lengths.dtype == np.float64


@pytest.mark.parametrize("scale", ["auto", "local", 0.5])
@pytest.mark.parametrize("kernel", ["gaussian", "inverse"])
def test_affinities_are_in_double_precision(scale, kernel):
    found, expected = (g.affinity(scale, kernel=kernel) for g in (SINGLE, ROUNDED))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_paths_and_clusters_are_those_of_the_rounded_lengths():
    np.testing.assert_array_equal(shortest_paths(SINGLE), shortest_paths(ROUNDED))
    np.testing.assert_array_equal(
        SpectralClustering(3, random_state=0).fit(SINGLE).labels_,
        SpectralClustering(3, random_state=0).fit(ROUNDED).labels_,
    )
    connected = SINGLE.connect(), ROUNDED.connect()
    found, expected = (path_similarity(graph).toarray() for graph in connected)
    np.testing.assert_array_equal(found, expected)


def test_large_lengths_do_not_overflow_in_single_precision():
    far = Graph.from_edges(3, [[0, 1], [1, 2]], np.array([3e38, 3e38], np.float32))
    assert shortest_paths(far)[0, 2] == 2 * float(np.float32(3e38))
    assert far.affinity().data.tolist() == far.astype("float64").affinity().data.tolist()


@pytest.mark.parametrize("length", [1e40, 1e-60])
def test_lengths_out_of_range_are_an_error(length):
    graph = Graph.from_edges(2, [[0, 1]], [length])
    with pytest.raises(ValueError, match=r"the length 1e[+-]\d+ is out of the range of float32"):
        graph.astype(np.float32)


@pytest.mark.parametrize("dtype", [np.int32, "float16", "single-ish", object()])
def test_other_types_are_an_error(dtype):
    with pytest.raises(ValueError, match="but 'float32' or 'float64' is needed"):
        SINGLE.astype(dtype)
