"""The shortest links between the components of a graph."""

import numpy as np
import pytest
from graph_strategies import graphs, path
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import Graph


def shortest_link_oracle(X, components):
    """Lengths of the shortest edges that connect all components, by Kruskal's method over all pairs."""
    n = len(X)
    piece = list(components)
    lengths = []
    pairs = sorted((np.sqrt(((X[i] - X[j]) ** 2).sum()), i, j) for i in range(n) for j in range(i))
    for length, i, j in pairs:
        if piece[i] != piece[j]:
            piece = [piece[i] if label == piece[j] else label for label in piece]
            lengths.append(length)
    return lengths


@pytest.fixture
def scattered():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 2))
    return Graph.from_edges(30, [[i, i + 1] for i in range(0, 30, 3)], np.ones(10), points=X)


def test_connect_adds_the_shortest_links_that_join_the_components(scattered):
    joined = scattered.connect()
    assert joined.n_components == 1
    assert scattered < joined
    X = scattered.points
    added = {tuple(e) for e in joined.edges().tolist()} - {
        tuple(e) for e in scattered.edges().tolist()
    }
    lengths = joined.to_scipy()
    expected = shortest_link_oracle(X, scattered.components)
    assert sorted(lengths[i, j] for i, j in added) == pytest.approx(sorted(expected))
    assert (joined.strengths == 1).all()


def test_connect_uses_the_given_points(scattered):
    X = np.random.default_rng(5).normal(size=(30, 3))
    bare = Graph.from_edges(30, scattered.edges(), np.ones(10))
    lengths = bare.connect(X.tolist()).lengths
    assert lengths.sum() / 2 - 10 == pytest.approx(sum(shortest_link_oracle(X, bare.components)))


def test_connect_gives_a_directed_graph_links_in_both_directions():
    arrows = Graph.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0], directed=True)
    joined = arrows.connect([[0.0], [1.0], [5.0], [6.0]])
    assert joined.directed
    assert joined.edges().tolist() == [[0, 1], [1, 2], [2, 1], [2, 3]]


def test_connect_returns_a_connected_graph_as_it_is():
    graph = path()
    assert graph.connect() is graph


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "X=None.*connect"),
        ({"X": np.zeros((3, 2))}, "X has 3 rows.*5 nodes"),
        ({"X": np.full((5, 2), np.nan)}, "NaN"),
        ({"X": np.zeros((5, 2)), "n_links": 0}, "n_links=0"),
    ],
)
def test_connect_rejects_invalid_points_and_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        Graph.from_edges(5, [[0, 1]], [1.0]).connect(**arguments)


@settings(max_examples=20)
@given(graphs(directed=False), st.integers(0, 2**31))
def test_connect_always_leaves_one_component_and_every_old_edge(graph, seed):
    X = np.random.default_rng(seed).normal(size=(graph.n_nodes, 2))
    joined = graph.connect(X)
    assert joined.n_components == 1
    assert graph <= joined
    assert joined.n_edges == graph.n_edges + graph.n_components - 1
