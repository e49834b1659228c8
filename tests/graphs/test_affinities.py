"""Affinities equal their formulas at scales that follow the data."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import Graph
from vicinal.graphs import affinity, edge_scale

LENGTHS = st.sampled_from([0.0, 1e-200, 1e-9, 0.5, 1.0, 3.0, 1e9, 1e200])


@st.composite
def weighted_graphs(draw, lengths=LENGTHS):
    n = draw(st.integers(1, 8))
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    values = draw(st.lists(lengths, min_size=len(edges), max_size=len(edges)))
    strengths = draw(
        st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=len(edges), max_size=len(edges))
    )
    return Graph.from_edges(n, edges, values, strengths, directed=draw(st.booleans()))


def node_scale_oracle(graph, i):
    """Mean of the ten shortest positive lengths at node i; None if there is none."""
    lengths = sorted(graph.lengths[graph.indptr[i] : graph.indptr[i + 1]])
    lengths = [length for length in lengths if length > 0][:10]
    return sum(length / len(lengths) for length in lengths) if lengths else None


def complete_graph(n, lengths):
    edges = [(i, j) for i in range(n) for j in range(i)]
    return Graph.from_edges(n, edges, lengths[: len(edges)])


FORMULAS = {
    "gaussian": lambda d, s: math.exp(-0.5 * (d / s) ** 2),
    "inverse": lambda d, s: 1 / (1 + d / s),
    "binary": lambda d, s: 1.0,
}


@pytest.mark.parametrize("kernel", FORMULAS)
@pytest.mark.parametrize("scale", [0.7, 2, np.float32(3.5), math.inf])
def test_affinity_is_strength_times_the_kernel(kernel, scale):
    graph = Graph.from_edges(4, [[0, 1], [1, 2], [3, 0]], [0.0, 1.5, 4.0], [0.5, 1.0, 0.25])
    result = affinity(graph, scale, kernel=kernel)
    assert result.nnz == 6
    for i, j, length, strength in [(0, 1, 0.0, 0.5), (1, 2, 1.5, 1.0), (0, 3, 4.0, 0.25)]:
        expected = strength * FORMULAS[kernel](length, float(scale))
        assert result[i, j] == result[j, i] == pytest.approx(expected)


@settings(deadline=None)
@given(weighted_graphs(st.sampled_from([0.0, 0.5, 1.0, 3.0, 40.0, 1e4])))
def test_auto_affinity_compares_with_a_third_of_the_scale_of_the_sparser_end(graph):
    typical, result = edge_scale(graph), affinity(graph)
    for i in range(graph.n_nodes):
        for at in range(graph.indptr[i], graph.indptr[i + 1]):
            j = graph.indices[at]
            scales = [node_scale_oracle(graph, node) or 0.0 for node in (i, j)]
            expected = FORMULAS["gaussian"](graph.lengths[at], max(typical, max(scales) / 3))
            assert result.data[at] == pytest.approx(graph.strengths[at] * expected)


@settings(deadline=None)
@given(weighted_graphs())
def test_auto_is_the_median_of_the_node_scales(graph):
    scales = [node_scale_oracle(graph, i) for i in range(graph.n_nodes)]
    known = [scale for scale in scales if scale is not None]
    assert edge_scale(graph) == pytest.approx(np.median(known) if known else 1.0)


@settings(deadline=None)
@given(weighted_graphs())
def test_local_scales_are_per_node_with_the_common_scale_as_fallback(graph):
    scales = [node_scale_oracle(graph, i) for i in range(graph.n_nodes)]
    expected = [edge_scale(graph) if scale is None else scale for scale in scales]
    assert edge_scale(graph, "local") == pytest.approx(expected)


def test_a_node_scale_uses_its_ten_shortest_edges():
    lengths = np.arange(1.0, 31.0)
    star = Graph.from_edges(31, [[0, i] for i in range(1, 31)], lengths)
    assert edge_scale(star, "local")[0] == pytest.approx(5.5)


@settings(deadline=None)
@given(weighted_graphs(), st.sampled_from(["auto", "local", 1e-200, 1.0, 1e200, math.inf]))
@pytest.mark.parametrize("kernel", FORMULAS)
def test_affinities_are_numbers_on_every_edge_and_symmetric_when_the_graph_is(kernel, graph, scale):
    result = graph.affinity(scale, kernel=kernel)
    assert (result.indices == graph.indices).all()
    assert (result.indptr == graph.indptr).all()
    assert (result.data >= 0).all()
    assert (result.data <= graph.strengths).all()
    zero = graph.lengths == 0
    assert (result.data[zero] == graph.strengths[zero]).all()
    if not graph.directed:
        assert (result.toarray() == result.toarray().T).all()


@settings(deadline=None)
@given(
    weighted_graphs(st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    st.sampled_from([1e-200, 1e-9, 1e9, 1e200]),
)
@pytest.mark.parametrize("scale", ["auto", "local"])
@pytest.mark.parametrize("kernel", ["gaussian", "inverse"])
def test_data_driven_scales_do_not_depend_on_the_unit(kernel, scale, graph, unit):
    other = Graph(
        graph.indptr, graph.indices, graph.lengths * unit, graph.strengths, directed=graph.directed
    )
    # Without any length above 0 there is no unit either.
    assert other.affinity(scale, kernel=kernel).data == pytest.approx(
        graph.affinity(scale, kernel=kernel).data
    )


def test_local_affinity_uses_the_geometric_mean_of_both_ends():
    graph = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 8.0])
    scales = [1.0, 1.5, 5.0, 8.0]
    expected = math.exp(-0.5 * 2.0**2 / (scales[1] * scales[2]))
    assert graph.affinity("local")[1, 2] == pytest.approx(expected)


def test_duplicates_do_not_shrink_the_scale():
    X = np.repeat(np.arange(10.0), 3)
    lengths = [abs(X[i] - X[j]) for i in range(30) for j in range(i)]
    close = [(i, j) for i in range(30) for j in range(i) if abs(X[i] - X[j]) <= 1]
    graph = Graph.from_edges(30, close, [abs(X[i] - X[j]) for i, j in close])
    assert edge_scale(graph) == 1.0
    assert edge_scale(complete_graph(30, np.zeros(len(lengths)))) == 1.0


def test_a_few_outliers_do_not_move_the_scale():
    plain = Graph.from_edges(20, [[i, i + 1] for i in range(19)], np.ones(19))
    edges = [[i, i + 1] for i in range(19)] + [[19, 20], [19, 21]]
    assert edge_scale(Graph.from_edges(22, edges, [*np.ones(19), 1e6, 1e9])) == edge_scale(plain)


def test_a_dense_graph_has_a_scale_near_that_of_a_sparse_one():
    X = np.random.default_rng(0).normal(size=(300, 2))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    i, j = np.triu_indices(300, 1)
    dense = Graph.from_edges(300, np.column_stack([i, j]), distances[i, j])
    near = np.argsort(distances, axis=1)[:, :11]
    sparse = Graph.from_kneighbors(near, np.take_along_axis(distances, near, axis=1))
    assert edge_scale(dense) == pytest.approx(edge_scale(sparse), rel=0.01)


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, "median", -math.inf])
def test_errors_name_the_invalid_scale(scale):
    graph = Graph.from_edges(2, [[0, 1]], [1.0])
    with pytest.raises(ValueError, match="scale="):
        edge_scale(graph, scale)
    with pytest.raises(ValueError, match="scale="):
        graph.affinity(scale)


@pytest.mark.parametrize("scale", [None, [1.0], True])
def test_errors_name_scales_of_the_wrong_type(scale):
    with pytest.raises(TypeError, match="scale="):
        edge_scale(Graph.from_edges(2, [[0, 1]], [1.0]), scale)


def test_unknown_kernels_are_rejected():
    with pytest.raises(ValueError, match="kernel='cauchy'"):
        Graph.from_edges(2, [[0, 1]], [1.0]).affinity(kernel="cauchy")
