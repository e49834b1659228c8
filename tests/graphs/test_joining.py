"""Links between components against a search through all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import Graph
from vicinal.graphs import knn
from vicinal.graphs.joining import shortest_links


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
        links, lengths = shortest_links(points, metric, groups)
        assert {tuple(link) for link in links.tolist()} == set(expected)
        np.testing.assert_allclose(lengths, D[links[:, 0], links[:, 1]], rtol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_several_links_are_the_shortest_between_joined_components(metric):
    X, groups = components_and_points(3, 60, 2, 3)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    links, _ = shortest_links(D if metric == "precomputed" else X, metric, groups, 4)
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


def test_connect_makes_one_piece_and_keeps_what_was_there():
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
