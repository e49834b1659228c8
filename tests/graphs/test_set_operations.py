"""Set algebra, inclusion and symmetry of graphs."""

import operator

import numpy as np
import pytest
from graph_strategies import as_dict, graph_triples, graphs, path
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse


@given(graph_triples())
def test_union_and_intersection_equal_their_dictionaries(triple):
    a, b, _ = map(as_dict, triple)
    union, common = as_dict(triple[0] | triple[1]), as_dict(triple[0] & triple[1])
    none = (np.inf, 0.0)
    assert union == {
        pair: (
            min(a.get(pair, none)[0], b.get(pair, none)[0]),
            max(a.get(pair, none)[1], b.get(pair, none)[1]),
        )
        for pair in a.keys() | b.keys()
    }
    assert common == {
        pair: (min(a[pair][0], b[pair][0]), min(a[pair][1], b[pair][1]))
        for pair in a.keys() & b.keys()
    }


@given(graph_triples())
def test_set_algebra_is_commutative_associative_and_idempotent(triple):
    a, b, c = triple
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    assert a | a == a
    assert a & a == a


@given(graph_triples())
def test_inclusion_is_that_of_the_sets_of_edges(triple):
    a, b, _ = triple
    edges_a, edges_b = set(as_dict(a)), set(as_dict(b))
    assert (a <= b) == (edges_a <= edges_b)
    assert (a < b) == (edges_a < edges_b)
    assert (a >= b) == (edges_a >= edges_b)
    assert (a > b) == (edges_a > edges_b)
    assert a & b <= a <= a | b


@pytest.mark.parametrize("combine", ["or_", "and_", "le", "lt", "ge", "gt"])
def test_graphs_over_other_nodes_or_of_another_kind_cannot_be_combined(combine):
    with pytest.raises(ValueError, match=r"[45] nodes and the other [45]"):
        getattr(operator, combine)(path(4), path(5))
    with pytest.raises(ValueError, match="directed"):
        getattr(operator, combine)(path(4), path(4, directed=True))
    with pytest.raises(TypeError, match="int"):
        getattr(operator, combine)(path(4), 3)


@given(graphs(directed=True))
def test_symmetrize_equals_its_dictionary(graph):
    entries = as_dict(graph)
    pairs = {*entries, *(pair[::-1] for pair in entries)}
    none = (np.inf, 0.0)

    def both(pair):
        (length, strength), (back, weak) = entries.get(pair, none), entries.get(pair[::-1], none)
        return min(length, back), strength, weak

    merged = {pair: both(pair) for pair in pairs}
    union, common, mean = (as_dict(graph.symmetrize(h)) for h in ("union", "intersection", "mean"))
    assert union == {pair: (length, max(s, t)) for pair, (length, s, t) in merged.items()}
    assert mean == {pair: (length, (s + t) / 2) for pair, (length, s, t) in merged.items()}
    assert common == {
        pair: (length, min(s, t))
        for pair, (length, s, t) in merged.items()
        if pair in entries and pair[::-1] in entries
    }


@pytest.mark.parametrize("how", ["union", "intersection", "mean"])
def test_symmetrize_returns_undirected_graphs_unchanged(how):
    assert path().symmetrize(how) == path()


def test_symmetrize_rejects_unknown_methods():
    with pytest.raises(ValueError, match="how='max'"):
        path(directed=True).symmetrize("max")


@given(graphs(), st.data())
def test_a_subgraph_keeps_the_edges_between_its_nodes(graph, data):
    nodes = data.draw(st.permutations(range(graph.n_nodes)))
    nodes = nodes[: data.draw(st.integers(0, graph.n_nodes))]
    place = {node: i for i, node in enumerate(nodes)}
    part = graph.subgraph(nodes)
    assert part.n_nodes == len(nodes)
    assert as_dict(part) == {
        (place[i], place[j]): values
        for (i, j), values in as_dict(graph).items()
        if i in place and j in place
    }


def test_subgraph_accepts_a_mask_and_selects_its_points_and_distances():
    X = np.arange(8.0).reshape(4, 2)
    part = path(points=X).subgraph(np.array([True, False, True, True]))
    assert part.points.tolist() == X[[0, 2, 3]].tolist()
    distances = np.arange(16.0).reshape(4, 4)
    part = path(points=distances, metric="precomputed").subgraph([3, 1])
    assert part.points.tolist() == distances[np.ix_([3, 1], [3, 1])].tolist()
    part = path(points=sparse.csr_array(distances), metric="precomputed").subgraph([3, 1])
    assert part.points.toarray().tolist() == distances[np.ix_([3, 1], [3, 1])].tolist()


@pytest.mark.parametrize(
    ("nodes", "error", "message"),
    [
        ([0, 0], ValueError, "twice"),
        ([0, 4], ValueError, "from 0 to 4"),
        ([-1], ValueError, "from -1"),
        ([True, False], ValueError, "mask of 2 values, but the graph has 4"),
        ([0.5], TypeError, "float64"),
        ([[0, 1]], TypeError, "shape"),
    ],
)
def test_subgraph_rejects_invalid_nodes(nodes, error, message):
    with pytest.raises(error, match=message):
        path().subgraph(nodes)
