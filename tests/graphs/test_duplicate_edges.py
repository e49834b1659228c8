"""Graphs of tables with many duplicates: kept as in the definition, or merged into a sparse subgraph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from vicinal import SpectralClustering, graphs
from vicinal._core import memory as _memory
from vicinal.graphs import empty_region

BUILDERS = {
    "epsilon_ball": lambda X, **options: graphs.epsilon_ball(X, 1.5, **options),
    "gabriel": graphs.gabriel,
    "relative_neighborhood": graphs.relative_neighborhood,
    "beta_skeleton": lambda X, **options: graphs.beta_skeleton(X, 1.5, **options),
}


def rounded(seed, n, n_values, d=2):
    return np.random.default_rng(seed).integers(0, n_values, (n, d)).astype(float)


def literal_ball(X, radius, metric):
    """Edges and lengths by the definition."""
    lengths = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    i, j = np.nonzero(np.triu(lengths <= radius, 1))
    return np.stack([i, j], axis=1), lengths[i, j]


def shortest_paths(graph):
    """Lengths of all shortest paths, by Floyd's method."""
    paths = np.full((graph.n_nodes,) * 2, np.inf)
    np.fill_diagonal(paths, 0.0)
    i, j = graph.edges().T
    lengths = graph.to_scipy("lengths").tocsr()
    for a, b in zip(i, j, strict=True):
        paths[a, b] = paths[b, a] = lengths[a, b]
    for w in range(graph.n_nodes):
        paths = np.minimum(paths, paths[:, [w]] + paths[[w]])
    return paths


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 4),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
)
def test_a_ball_with_duplicates_is_all_pairs_within_the_radius(seed, n, n_values, metric):
    X = rounded(seed, n, n_values)
    edges, lengths = literal_ball(X, 1.5, metric)
    graph = graphs.epsilon_ball(X, 1.5, metric=metric)
    np.testing.assert_array_equal(graph.edges(), edges)
    i, j = edges.T
    np.testing.assert_array_equal(graph.to_scipy().toarray()[i, j], lengths)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(BUILDERS)), st.integers(0, 10**6), st.integers(1, 40))
def test_merged_duplicates_keep_components_and_shortest_paths(name, seed, n):
    X = rounded(seed, n, 4)
    kept, merged = BUILDERS[name](X), BUILDERS[name](X, duplicates="merge")
    assert merged <= kept
    np.testing.assert_array_equal(merged.components, kept.components)
    np.testing.assert_allclose(shortest_paths(merged), shortest_paths(kept), rtol=1e-12)
    first = np.unique(X, axis=0, return_index=True)[1]
    assert merged.subgraph(np.sort(first)).n_edges <= kept.subgraph(np.sort(first)).n_edges
    distinct = BUILDERS[name](X[np.sort(first)])
    assert merged.n_edges <= n * (distinct.degrees.max(initial=0) + 1)


@pytest.mark.parametrize("name", BUILDERS)
def test_without_duplicates_both_treatments_agree(name):
    X = np.random.default_rng(0).random((60, 3))
    assert BUILDERS[name](X) == BUILDERS[name](X, duplicates="merge")


@pytest.mark.parametrize("name", BUILDERS)
def test_many_duplicates_are_merged_into_few_edges(name, monkeypatch):
    searched = []
    result = empty_region.point_edges
    monkeypatch.setattr(
        empty_region, "point_edges", lambda X, *more: searched.append(len(X)) or result(X, *more)
    )
    X = rounded(0, 20_000, 5, d=1)
    graph = BUILDERS[name](X, duplicates="merge")
    assert graph.n_components == 1
    assert graph.n_edges <= 3 * 20_000
    assert max(searched, default=5) == 5


@pytest.mark.parametrize("name", BUILDERS)
def test_too_many_pairs_of_duplicates_raise_with_their_number(name, monkeypatch):
    X = np.repeat([[0.0], [9.0]], 10_000, axis=0)
    n_edges = {"epsilon_ball": 2 * (10_000 * 9999 // 2)}.get(name, 20_000 * 19_999 // 2)
    monkeypatch.setattr(_memory, "free_memory", lambda: 2**30)
    words = f"20,000 rows, 2 of them distinct, with {n_edges:,} edges needs about .*'merge'"
    with pytest.raises(MemoryError, match=words):
        BUILDERS[name](X)


@pytest.mark.parametrize("name", [*BUILDERS, "knn"])
def test_unknown_treatments_are_rejected(name):
    with pytest.raises(ValueError, match=r"duplicates='drop'.*'keep', 'merge'"):
        BUILDERS.get(name, graphs.knn)(np.eye(3), duplicates="drop")


@pytest.mark.parametrize("duplicates", ["merge", "keep"])
def test_estimators_build_the_graph_of_the_function(duplicates):
    X = np.repeat(np.random.default_rng(0).random((20, 2)), 15, axis=0)
    options = {"n_neighbors": 10, "duplicates": duplicates}
    model = SpectralClustering(2, graph_params=options, random_state=0).fit(X)
    assert model.graph_ == graphs.knn(X, **options)
    assert SpectralClustering(2, random_state=0).fit(X).graph_ == graphs.knn(X)
    assert model.graph_.n_components == (1 if duplicates == "merge" else 20)
