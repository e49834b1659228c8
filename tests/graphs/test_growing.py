"""Graphs after inserts and removals equal the graphs built at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import graphs
from vicinal.graphs import GrowingKNN, GrowingMST
from vicinal.graphs import growing as module

METRICS = ["euclidean", "manhattan", "cosine"]


@pytest.fixture(autouse=True)
def always_grow(monkeypatch):
    """Never build the graph again because many points are new."""
    monkeypatch.setattr(module, "MAX_NEW_FRACTION", 10.0)


def same(first, second):
    return (
        first.n_nodes == second.n_nodes
        and np.array_equal(first.indptr, second.indptr)
        and np.array_equal(first.indices, second.indices)
        and np.array_equal(first.lengths, second.lengths)
    )


def sets(seed, n, kind):
    rng = np.random.default_rng(seed)
    if kind == "grid":  # ties and duplicates
        return rng.integers(1, 4, size=(n, 2)).astype(float)
    if kind == "single":
        return rng.normal(size=(n, 3)).astype(np.float32)
    return rng.normal(size=(n, 3))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["normal", "grid", "single"]),
    st.sampled_from(METRICS),
    st.lists(st.one_of(st.integers(1, 4), st.just(-1), st.just(-2)), max_size=8),
)
def test_any_sequence_of_inserts_and_removals_gives_the_graph_of_the_points(
    seed, kind, metric, steps
):
    rng = np.random.default_rng(seed)
    X = sets(seed, 9, kind)
    lists, tree = GrowingKNN(X, 3, metric=metric), GrowingMST(X, metric=metric)
    for step in steps:
        if step > 0:
            new = sets(rng.integers(10**6), step, kind)
            expected = np.arange(len(X), len(X) + step)
            assert np.array_equal(lists.insert(new), expected)
            tree.partial_fit(new)
            X = np.concatenate([X, new])
        elif len(X) + step > 4:
            rows = rng.choice(len(X), -step, replace=False)
            lists.remove(rows)
            tree.remove(rows)
            X = np.delete(X, rows, axis=0)
        if rng.random() < 0.5:
            assert same(lists.graph, graphs.knn(X, 3, metric=metric))
    assert same(lists.graph, graphs.knn(X, 3, metric=metric))
    assert same(tree.graph, graphs.mst(X, metric=metric))
    assert np.array_equal(lists.points, X)


@pytest.mark.parametrize("options", [{"mutual": True}, {"directed": True}, {"duplicates": "keep"}])
def test_options_are_those_of_knn(options):
    X = sets(0, 60, "grid")
    growing = GrowingKNN(X[:40], 4, **options)
    growing.insert(X[40:])
    assert same(growing.graph, graphs.knn(X, 4, **options))


def test_many_new_points_are_built_at_once(monkeypatch):
    monkeypatch.setattr(module, "MAX_NEW_FRACTION", 0.01)
    X = sets(1, 300, "normal")
    lists, tree = GrowingKNN(X[:100], 5), GrowingMST(X[:100])
    for growing in (lists, tree):
        growing.insert(X[100:])
        growing.remove(np.arange(0, 200, 2))
    rest = np.delete(X, np.arange(0, 200, 2), axis=0)
    assert same(lists.graph, graphs.knn(rest, 5))
    assert same(tree.graph, graphs.mst(rest))


def test_points_of_another_magnitude_are_exact_too():
    X = 1e-160 * sets(0, 20, "normal")
    new = sets(1, 3, "normal")
    lists, tree = GrowingKNN(X, 3), GrowingMST(X)
    for growing in (lists, tree):
        growing.insert(new)
    both = np.concatenate([X, new])
    assert same(lists.graph, graphs.knn(both, 3))
    assert same(tree.graph, graphs.mst(both))


@pytest.mark.parametrize("kind", [lambda X: GrowingKNN(X, 3), GrowingMST])
def test_bad_input_is_explained(kind):
    X = sets(0, 10, "normal")
    growing = kind(X)
    with pytest.raises(ValueError, match="2 feature"):
        growing.insert(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        growing.insert([[np.nan, 0, 0]])
    with pytest.raises(ValueError, match="rows 0 to 9"):
        growing.remove([10])
    with pytest.raises(ValueError, match="more than once"):
        growing.remove([1, 1])
    with pytest.raises(ValueError, match="leaves fewer"):
        growing.remove(np.arange(10))
    with pytest.raises(TypeError, match="row numbers"):
        growing.remove([0.5])
    assert len(growing) == 10
    assert same(growing.remove([]).graph, kind(X).graph)


def test_zero_vectors_are_rejected_with_cosine():
    with pytest.raises(ValueError, match="zero"):
        GrowingMST(np.eye(3), metric="cosine").insert([[0.0, 0.0, 0.0]])


def test_other_metrics_are_rejected():
    with pytest.raises(ValueError, match="growing graphs need"):
        GrowingMST(np.eye(3), metric="chebyshev")
