"""The contract of `Graph`: construction, immutability and properties."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from graph_strategies import as_dict, graphs, path
from hypothesis import given
from hypothesis import strategies as st

from vicinal import Graph
from vicinal import graphs as builders

# --- construction ------------------------------------------------------------------------------


def test_edges_given_in_any_direction_and_twice_become_one_with_shortest_and_strongest():
    graph = Graph.from_edges(4, [[2, 0], [0, 2], [3, 2]], [5.0, 4.0, 1.0], [0.2, 0.1, 1.0])
    assert as_dict(graph) == {
        (0, 2): (4.0, 0.2),
        (2, 0): (4.0, 0.2),
        (2, 3): (1.0, 1.0),
        (3, 2): (1.0, 1.0),
    }


@given(st.data(), st.integers(2, 8), st.booleans())
def test_from_edges_equals_a_dictionary_of_pairs(data, n, directed):
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    edges = data.draw(st.lists(pair, max_size=30))
    values = st.floats(0, 1, allow_subnormal=False)
    lengths = data.draw(st.lists(values, min_size=len(edges), max_size=len(edges)))
    strengths = data.draw(st.lists(values, min_size=len(edges), max_size=len(edges)))
    expected = {}
    for (i, j), length, strength in zip(edges, lengths, strengths, strict=True):
        for key in [(i, j)] if directed else [(i, j), (j, i)]:
            known = expected.get(key, (np.inf, 0.0))
            expected[key] = (min(known[0], length), max(known[1], strength))
    graph = Graph.from_edges(n, edges, lengths, strengths, directed=directed)
    assert as_dict(graph) == expected
    assert list(as_dict(graph)) == sorted(expected)
    assert graph.n_edges == (len(expected) if directed else len(expected) // 2)


@given(graphs(), st.randoms())
def test_the_constructor_sorts_rows_and_merges_repeated_entries(graph, random):
    entries = [(i, j, *values) for (i, j), values in as_dict(graph).items()]
    entries += [(i, j, length + 1, strength / 2) for i, j, length, strength in entries[::2]]
    random.shuffle(entries)
    entries.sort(key=lambda entry: entry[0])
    rows = np.array([entry[0] for entry in entries], dtype=int)
    rebuilt = Graph(
        np.searchsorted(rows, np.arange(graph.n_nodes + 1)),
        np.array([entry[1] for entry in entries], dtype=np.int64),
        np.array([entry[2] for entry in entries], dtype=float),
        np.array([entry[3] for entry in entries], dtype=float),
        directed=True,
    )
    assert as_dict(rebuilt) == as_dict(graph)


def test_an_explicit_zero_length_is_an_edge():
    graph = Graph.from_edges(3, [[0, 1]], [0.0])
    assert graph.n_edges == 1
    assert graph.n_components == 2
    assert graph.to_scipy().nnz == 2


def test_an_explicit_zero_strength_is_an_edge():
    assert Graph.from_edges(2, [[0, 1]], [1.0], [0.0]).n_components == 1


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_indices_are_int32_whatever_comes_in(dtype):
    graph = Graph(np.array([0, 1, 2], dtype), np.array([1, 0], dtype), [1, 1])
    assert graph.indptr.dtype == graph.indices.dtype == np.int32
    assert graph.lengths.dtype == graph.strengths.dtype == np.float64


def test_float32_int_read_only_and_strided_arrays_are_accepted_and_not_modified():
    lengths = np.array([1, 9, 2, 9], dtype=np.float32)[::2]
    edges = np.array([[0, 1], [1, 2]], dtype=np.int16)
    edges.flags.writeable = lengths.flags.writeable = False
    graph = Graph.from_edges(3, edges, lengths)
    assert graph.lengths.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_the_graph_does_not_share_the_arrays_it_is_given():
    lengths, indices = np.array([1.0, 1.0]), np.array([1, 0], dtype=np.int32)
    graph = Graph(np.array([0, 1, 2], dtype=np.int32), indices, lengths)
    lengths[:] = 7.0
    indices[:] = 0
    assert as_dict(graph) == {(0, 1): (1.0, 1.0), (1, 0): (1.0, 1.0)}


def test_points_are_referenced_and_read_only():
    X = np.zeros((4, 2))
    graph = path(points=X)
    assert np.shares_memory(graph.points, X)
    assert not graph.points.flags.writeable
    assert X.flags.writeable


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_without_edges(n):
    graph = Graph.from_edges(n, [], [])
    assert (graph.n_nodes, graph.n_edges) == (n, 0)
    assert graph.n_components == graph.n_isolates == n
    assert graph.edges().shape == (0, 2)
    assert graph.affinity().shape == (n, n)
    assert (graph | graph) == graph
    assert (graph & graph) == graph


BAD = {
    "asymmetric structure": (lambda: Graph([0, 1, 1], [1], [1.0]), r"\(0, 1\).*directed=True"),
    "asymmetric lengths": (lambda: Graph([0, 1, 2], [1, 0], [1.0, 2.0]), "symmetrize"),
    "asymmetric strengths": (lambda: Graph([0, 1, 2], [1, 0], [1, 1], [1, 0]), "symmetric"),
    "self-loop": (lambda: Graph.from_edges(3, [[1, 1]], [0.0]), "node 1 .*itself"),
    "self-loop in rows": (lambda: Graph([0, 0, 1], [1], [1.0], directed=True), "node 1 .*itself"),
    "negative length": (lambda: Graph.from_edges(2, [[0, 1]], [-1]), r"lengths\[0\] = -1"),
    "NaN length": (lambda: Graph.from_edges(2, [[0, 1]], [np.nan]), r"lengths\[0\] = nan"),
    "infinite length": (lambda: Graph.from_edges(2, [[0, 1]], [np.inf]), r"lengths\[0\] = inf"),
    "large strength": (lambda: Graph.from_edges(2, [[0, 1]], [1], [1.5]), r"strengths\[0\] = 1.5"),
    "NaN strength": (lambda: Graph.from_edges(2, [[0, 1]], [1], [np.nan]), "strengths"),
    "node out of range": (lambda: Graph.from_edges(2, [[0, 2]], [1.0]), "edges contains node 2"),
    "negative node": (lambda: Graph.from_edges(2, [[0, -1]], [1.0]), "edges contains node -1"),
    "column out of range": (lambda: Graph([0, 1, 2], [1, 5], [1, 1]), "indices contains node 5"),
    "too few lengths": (lambda: Graph.from_edges(3, [[0, 1], [1, 2]], [1.0]), r"lengths.*\(1,\)"),
    "triples": (lambda: Graph.from_edges(3, [[0, 1, 2]], [1.0]), r"edges has shape \(1, 3\)"),
    "pointers that fall": (lambda: Graph([0, 2, 1, 2], [1, 2], [1, 1]), "indptr"),
    "pointers that end early": (lambda: Graph([0, 1, 1], [1, 0], [1, 1]), "indptr"),
    "no pointers": (lambda: Graph([], [], []), "indptr has shape"),
    "points of another size": (lambda: path(points=np.zeros((3, 2))), "points has 3 rows"),
    "negative n_nodes": (lambda: Graph.from_edges(-1, [], []), "n_nodes=-1"),
}
BAD_TYPES = {
    "points that are not an array": (
        lambda: path(points=3),
        "points=3, but an array of the points",
    ),
    "float edges": (lambda: Graph.from_edges(2, [[0.0, 1.0]], [1.0]), "edges has dtype float64"),
    "text lengths": (lambda: Graph.from_edges(2, [[0, 1]], ["far"]), "lengths has dtype"),
    "boolean indices": (lambda: Graph([0, 1], [True], [1.0]), "indices has dtype bool"),
    "unknown keyword": (lambda: Graph.from_edges(2, [], [], weights=[]), "weights"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_invalid_value(case):
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("case", BAD_TYPES)
def test_errors_name_the_invalid_type(case):
    build, message = BAD_TYPES[case]
    with pytest.raises(TypeError, match=message):
        build()


@given(graphs(directed=True))
def test_the_asymmetric_edge_that_an_error_names_is_asymmetric(graph):
    entries = as_dict(graph)
    asymmetric = {pair for pair, values in entries.items() if entries.get(pair[::-1]) != values}
    arguments = graph.indptr, graph.indices, graph.lengths, graph.strengths
    if not asymmetric:
        assert as_dict(Graph(*arguments)) == entries
        return
    with pytest.raises(ValueError, match="symmetric") as caught:
        Graph(*arguments)
    named = {pair for pair in asymmetric if f"({pair[0]}, {pair[1]})" in str(caught.value)}
    assert named


# --- immutability ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["indptr", "indices", "lengths", "strengths", "components"])
def test_arrays_are_read_only(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(path(), name)[0] = 1


@pytest.mark.parametrize("name", ["lengths", "n_nodes", "directed", "anything"])
def test_attributes_can_neither_be_set_nor_deleted(name):
    with pytest.raises(AttributeError, match=name):
        setattr(path(), name, 1)
    with pytest.raises(AttributeError, match=name):
        delattr(path(), name)


def test_exported_matrices_can_be_modified_without_changing_the_graph():
    graph = path()
    for matrix in (graph.to_scipy(), graph.to_scipy("strengths"), graph.affinity()):
        matrix.data[:] = 0
        matrix.eliminate_zeros()
        matrix.indices[:] = 0
    assert graph == path()


@given(graphs())
def test_a_pickled_graph_is_the_same_and_as_immutable(graph):
    twin = pickle.loads(pickle.dumps(graph))
    assert twin == graph
    assert hash(twin) == hash(graph)
    assert not twin.lengths.flags.writeable


def test_equal_graphs_have_equal_hashes_at_any_length():
    a, b = (Graph.from_edges(3, [[0, 1], [1, 2]], [1e308, 1e308]) for _ in range(2))
    assert hash(a) == hash(b)
    assert len({a, b, path()}) == 2


def test_a_copy_is_the_same_object():
    graph = path()
    assert copy.copy(graph) is graph
    assert copy.deepcopy(graph) is graph


def test_graphs_differ_by_direction_size_edges_lengths_and_strengths():
    base = Graph.from_edges(3, [[0, 1]], [1.0])
    others = [
        Graph.from_edges(3, [[0, 1], [1, 0]], [1.0, 1.0], directed=True),
        Graph.from_edges(4, [[0, 1]], [1.0]),
        Graph.from_edges(3, [[0, 2]], [1.0]),
        Graph.from_edges(3, [[0, 1]], [2.0]),
        Graph.from_edges(3, [[0, 1]], [1.0], [0.5]),
    ]
    assert all(base != other for other in others)
    assert base != "graph"
    assert base == Graph.from_edges(3, [[1, 0]], [1], points=np.zeros((3, 1)))


# --- properties --------------------------------------------------------------------------------


@given(graphs())
def test_counts_and_components_agree_with_networkx(graph):
    other = nx.DiGraph() if graph.directed else nx.Graph()
    other.add_nodes_from(range(graph.n_nodes))
    other.add_edges_from(map(tuple, graph.edges().tolist()))
    component_sets = nx.weakly_connected_components if graph.directed else nx.connected_components
    assert graph.n_edges == other.number_of_edges()
    assert graph.n_isolates == len(list(nx.isolates(other)))
    labels = np.empty(graph.n_nodes, dtype=int)
    for label, component in enumerate(sorted(component_sets(other), key=min)):
        labels[list(component)] = label
    assert graph.components.tolist() == labels.tolist()
    assert graph.n_components == labels.max() + 1
    degrees = other.out_degree if graph.directed else other.degree
    assert graph.degrees.tolist() == [degrees[i] for i in range(graph.n_nodes)]


@given(graphs())
def test_edges_are_sorted_and_undirected_ones_come_once(graph):
    pairs = [tuple(pair) for pair in graph.edges().tolist()]
    expected = sorted(as_dict(graph))
    assert pairs == (expected if graph.directed else [(i, j) for i, j in expected if i < j])


def test_the_repr_shows_size_direction_components_and_isolates():
    edges = [[i, i + 1] for i in range(998)]
    graph = Graph.from_edges(1000, edges, np.ones(998))
    assert repr(graph) == "Graph(1,000 nodes, 998 edges, undirected, 2 components, 1 isolate)"
    arrow = Graph.from_edges(2, [[0, 1]], [1.0], directed=True)
    assert repr(arrow) == "Graph(2 nodes, 1 edge, directed, 1 component, 0 isolates)"


def test_a_notebook_shows_the_numbers_of_a_graph_in_a_table():
    html = Graph.from_edges(4, [[0, 1], [1, 2]], lengths=[1.0, 3.0])._repr_html_()
    assert "<th>components</th><td>2</td>" in html
    assert "<th>length</th><td>1 to 3, median 2</td>" in html
    assert "<th>degree</th><td>0 to 2, median 1</td>" in html


def test_empty_graphs_have_a_repr():
    assert "<th>nodes</th><td>3</td>" in Graph.from_edges(3, [], lengths=[])._repr_html_()


def test_strengths_that_are_all_one_take_no_memory():
    points = np.random.default_rng(0).normal(size=(50, 2))
    built = [
        builders.knn(points, 3),
        builders.mst(points),
        builders.epsilon_ball(points, 0.5),
        builders.complete(points),
        builders.perturbed_mst(points, 3, noise=0.0),
        builders.knn(points, 3) | builders.mst(points),
        Graph.from_edges(3, [[0, 1]], [1.0], strengths=[1.0]),
        pickle.loads(pickle.dumps(builders.mst(points))),
    ]
    for graph in built:
        assert graph.strengths.strides == (0,)
        assert not graph.strengths.flags.writeable
        np.testing.assert_array_equal(graph.strengths, np.ones(len(graph.indices)))
        matrix = graph.to_scipy("strengths")
        matrix.data *= 2.0
        assert (matrix @ np.ones(graph.n_nodes) == 2 * graph.degrees).all()
