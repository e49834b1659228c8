"""Links between components against a search through all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vicinal import Graph
from vicinal.graphs import knn
from vicinal.graphs._build.connect import shortest_bridges


def components_and_points(seed, n, d, n_groups):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    return X, groups


def literal_links(D, groups):
    """Kruskal's method over all pairs, starting from the groups."""
    groups = groups.copy()
    i, j = np.triu_indices(len(D), 1)
    links = []
    for e in np.lexsort((j, i, D[i, j])):
        a, b = groups[i[e]], groups[j[e]]
        if a != b:
            links.append((int(i[e]), int(j[e])))
            groups[groups == b] = a
    return links


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 20]), st.integers(2, 8))
def test_links_are_the_shortest_that_join_all_components(seed, d, n_groups):
    X, groups = components_and_points(seed, 40, d, n_groups)
    D = np.sqrt(sum((column[:, None] - column) ** 2 for column in X.T))
    expected = literal_links(D, groups)
    for points, metric in ((X, "euclidean"), (D, "precomputed")):
        links, lengths = shortest_bridges(points, metric, groups)
        assert {tuple(link) for link in links.tolist()} == set(expected)
        np.testing.assert_allclose(lengths, D[links[:, 0], links[:, 1]], rtol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_several_links_are_the_shortest_between_joined_components(metric):
    X, groups = components_and_points(3, 60, 2, 3)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    links, _ = shortest_bridges(D if metric == "precomputed" else X, metric, groups, 4)
    joined = {tuple(sorted(groups[list(link)])) for link in literal_links(D, groups)}
    expected = set()
    for a, b in joined:
        pairs = [
            (D[i, j], *sorted((i, j)))
            for i in np.flatnonzero(groups == a)
            for j in np.flatnonzero(groups == b)
        ]
        expected |= {(int(i), int(j)) for _, i, j in sorted(pairs)[:4]}
    assert {tuple(link) for link in links.tolist()} == expected


def test_connect_gives_one_component_and_keeps_all_edges():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((50, 2)) + 20 * c for c in range(4)])
    graph = knn(X, 3)
    joined = graph.connect()
    assert graph.n_components >= 4
    assert joined.n_components == 1
    assert graph <= joined
    assert joined.n_edges == graph.n_edges + graph.n_components - 1
    assert joined.connect() == joined
    assert graph.connect(n_links=3).n_edges > joined.n_edges


def test_isolated_nodes_have_as_many_links_as_exist():
    lonely = Graph.from_edges(3, np.empty((0, 2), int), [])
    joined = lonely.connect([[0.0], [1.0], [5.0]], n_links=10)
    assert joined.edges().tolist() == [[0, 1], [1, 2]]


@st.composite
def stored_distances(draw):
    """A sparse distance matrix with ties and stored zeros, perhaps of one triangle, and components."""
    n = draw(st.integers(3, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    i, j = np.triu_indices(n, 1)
    chosen = rng.random(len(i)) < draw(st.sampled_from([0.1, 0.3, 1.0]))
    i, j = i[chosen], j[chosen]
    values = rng.integers(0, 4, len(i)).astype(float)
    both = draw(st.booleans())
    rows, columns = (np.r_[i, j], np.r_[j, i]) if both else (i, j)
    matrix = sparse.csr_array((np.tile(values, 1 + both), (rows, columns)), shape=(n, n))
    parts = np.unique(rng.integers(0, draw(st.integers(2, 6)), n), return_inverse=True)[1]
    return matrix, parts


@settings(max_examples=60, deadline=None)
@given(stored_distances(), st.sampled_from([1, 2, 5]))
def test_links_of_sparse_distances_are_the_shortest_stored_ones(made, n_links):
    matrix, parts = made
    D = np.full(matrix.shape, np.inf)
    entries = matrix.tocoo()
    D[entries.row, entries.col] = entries.data
    D = np.minimum(D, D.T)
    tree = [link for link in literal_links(D, parts) if np.isfinite(D[link])]
    if len(tree) < parts.max():
        with pytest.raises(ValueError, match=r"stored distances merge the .* dense matrix"):
            shortest_bridges(matrix, "precomputed", parts, n_links)
        return
    expected = set()
    for a, b in {tuple(sorted(parts[list(link)])) for link in tree}:
        i, j = np.triu_indices(len(D), 1)
        across = (np.minimum(parts[i], parts[j]) == a) & (np.maximum(parts[i], parts[j]) == b)
        pairs = sorted(zip(D[i, j][across], i[across], j[across], strict=True))
        expected |= {(int(u), int(v)) for d, u, v in pairs[:n_links] if np.isfinite(d)}
    links, lengths = shortest_bridges(matrix, "precomputed", parts, n_links)
    assert {tuple(link) for link in links.tolist()} == (set(tree) if n_links == 1 else expected)
    np.testing.assert_array_equal(lengths, D[links[:, 0], links[:, 1]])


def test_a_graph_of_sparse_distances_connects_by_stored_ones():
    X = np.concatenate([np.arange(5.0), 20 + np.arange(5.0)])
    D = np.abs(X[:, None] - X)
    graph = knn(sparse.csr_array(D), 1, metric="precomputed")
    assert graph.n_components == 2
    joined = graph.connect()
    assert joined.n_components == 1
    assert joined.to_scipy()[4, 5] == 16.0
    near = knn(sparse.csr_array(np.where(D < 5, D, 0)), 1, metric="precomputed")
    with pytest.raises(ValueError, match="row 0 to that of row 5"):
        near.connect()
    assert near.connect(D) == joined
