"""Shortest paths against Floyd and Warshall's recurrence, written literally."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from vicinal import Graph, graphs
from vicinal.operators import shortest_paths
from vicinal.operators._shortest_paths import LANES, landmark_nodes


def floyd_warshall(graph):
    """All shortest paths by letting one more node be passed through at a time."""
    paths = np.full((graph.n_nodes,) * 2, np.inf)
    for (i, j), length in zip(edges_both_ways(graph), graph.lengths, strict=True):
        paths[i, j] = length
    np.fill_diagonal(paths, 0.0)
    for through in range(graph.n_nodes):
        paths = np.minimum(paths, paths[:, [through]] + paths[[through], :])
    return paths


def edges_both_ways(graph):
    return [
        (i, j)
        for i in range(graph.n_nodes)
        for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
    ]


def random_graph(n, n_edges, directed, seed):
    """Any graph: disconnected, with lengths of 0 and with ties."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(n, size=(n_edges, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    return Graph.from_edges(n, edges, rng.integers(0, 5, len(edges)) / 4.0, directed=directed)


@given(
    n=st.integers(1, 3 * LANES),
    degree=st.floats(0.2, 4.0),
    directed=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_paths_are_those_of_floyd_and_warshall(n, degree, directed, seed):
    graph = random_graph(n, int(degree * n), directed, seed)
    expected = floyd_warshall(graph)
    np.testing.assert_allclose(shortest_paths(graph), expected, rtol=1e-12, atol=0)
    some = np.random.default_rng(seed).integers(n, size=5)
    np.testing.assert_allclose(shortest_paths(graph, some), expected[some], rtol=1e-12, atol=0)


@pytest.mark.parametrize("n_sources", [5, LANES, 300, 1000])
def test_sources_together_and_one_by_one_agree_bit_for_bit(n_sources):
    X = np.random.default_rng(0).standard_normal((1000, 3))
    graph = graphs.knn(X, 8)
    sources = np.random.default_rng(1).permutation(1000)[:n_sources]
    alone = np.vstack([shortest_paths(graph, [source]) for source in sources[:50]])
    np.testing.assert_array_equal(shortest_paths(graph, sources)[:50], alone)


def test_agrees_with_scipy_on_a_neighbour_graph():
    graph = graphs.knn(np.random.default_rng(0).random((700, 2)), 6)
    np.testing.assert_allclose(shortest_paths(graph), dijkstra(graph.to_scipy()), rtol=1e-12)


def test_edge_directions_matter():
    arrows = Graph.from_edges(3, [[0, 1], [1, 2]], lengths=[1.0, 2.0], directed=True)
    expected = [[0, 1, 3], [np.inf, 0, 2], [np.inf, np.inf, 0]]
    np.testing.assert_array_equal(shortest_paths(arrows), expected)


def test_undirected_paths_are_symmetric_bit_for_bit():
    paths = shortest_paths(graphs.knn(np.random.default_rng(0).random((900, 3)), 7))
    np.testing.assert_array_equal(paths, paths.T)


def test_any_number_of_threads_gives_the_same_bits():
    graph = graphs.knn(np.random.default_rng(0).random((400, 2)), 5)
    for sources in (None, [7, 3, 3]):
        one, two = (shortest_paths(graph, sources, n_jobs=jobs) for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_sources_keep_their_order_and_may_be_given_twice():
    graph = graphs.mst(np.random.default_rng(0).random((60, 2)))
    everything = shortest_paths(graph)
    sources = np.r_[np.arange(59, -1, -1), 4, 4]
    np.testing.assert_allclose(shortest_paths(graph, sources), everything[sources], rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_any_unit_of_length(scale):
    graph = graphs.knn(scale * np.random.default_rng(0).random((100, 2)), 5)
    np.testing.assert_allclose(shortest_paths(graph), floyd_warshall(graph), rtol=1e-12)


def test_nodes_without_edges_are_infinitely_far():
    paths = shortest_paths(Graph.from_edges(40, [], []))
    np.testing.assert_array_equal(paths, np.where(np.eye(40), 0.0, np.inf))


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        ([-1], ValueError, "sources are from -1"),
        ([3], ValueError, "nodes are numbered from 0 to 2"),
        ([0.5], TypeError, "sources has shape"),
        ([], TypeError, "sources has shape"),
        ([[0]], TypeError, "sources has shape"),
        (0, TypeError, "sources has shape"),
    ],
)
def test_invalid_sources_are_rejected(sources, error, message):
    path = Graph.from_edges(3, [[0, 1], [1, 2]], lengths=[1.0, 2.0])
    with pytest.raises(error, match=message):
        shortest_paths(path, sources)


def test_a_matrix_is_rejected():
    with pytest.raises(TypeError, match=r"Graph\.from_scipy"):
        shortest_paths(np.eye(3))


def test_insufficient_memory_raises_before_the_computation(monkeypatch):
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="n_landmarks"):
        shortest_paths(graphs.mst(np.random.default_rng(0).random((50, 2))))


@given(n=st.integers(1, 60), n_landmarks=st.integers(1, 60), seed=st.integers(0, 2**32 - 1))
def test_each_landmark_is_the_farthest_from_those_before_it(n, n_landmarks, seed):
    graph = random_graph(n, 2 * n, False, seed)
    n_landmarks = min(n_landmarks, n)
    paths = floyd_warshall(graph)
    landmarks = landmark_nodes(graph, n_landmarks)
    assert len(set(landmarks)) == n_landmarks
    assert paths[0, landmarks[0]] == paths[0].max()
    for chosen in range(1, n_landmarks):
        near = paths[landmarks[:chosen]].min(axis=0)
        np.testing.assert_allclose(near[landmarks[chosen]], near.max(), rtol=1e-12)
