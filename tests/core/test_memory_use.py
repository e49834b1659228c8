"""Memory is estimated before the work starts, and close to what it uses."""

import tracemalloc

import numpy as np
import pytest

from vicinal import ManifoldRanking, PerceptualRanking, graphs
from vicinal._core import memory as _memory
from vicinal.graphs import _complete
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors import _radius as radius
from vicinal.operators import digraph as digraphs
from vicinal.operators import digraph_laplacian


def points(n, d=2):
    # Gaussian, so that some points are far out and have larger scales.
    return np.random.default_rng(0).normal(size=(n, d))


BUILDERS = {
    "epsilon_ball by the tree": (lambda: graphs.epsilon_ball(points(3000), 0.8), radius),
    "epsilon_ball by products": (lambda: graphs.epsilon_ball(points(3000, 20), 5.5), radius),
    "gaussian": (lambda: graphs.gaussian(points(1200)), _complete),
    "gaussian of a given scale": (lambda: graphs.gaussian(points(1200), 0.5), _complete),
    "gaussian of local scales": (lambda: graphs.gaussian(points(1200), "local"), _complete),
    "gaussian of cosines": (lambda: graphs.gaussian(points(1200), metric="cosine"), _complete),
    "complete": (lambda: graphs.complete(points(1200)), _complete),
    "complete of cosines": (lambda: graphs.complete(points(1200), metric="cosine"), _complete),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_the_estimate_is_within_20_percent_of_the_peak(name, monkeypatch):
    build, module = BUILDERS[name]
    build()  # compiles
    needed = []
    monkeypatch.setattr(module, "require_memory", lambda n_bytes, *words: needed.append(n_bytes))
    # Blocks are of a fixed size, which would count among so few points.
    monkeypatch.setattr(_complete, "ENTRIES_PER_TASK", 1 << 14)
    tracemalloc.start()
    build()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(needed) == pytest.approx(peak, rel=0.2)


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(_memory, "free_memory", lambda: 10_000_000)


SEARCHES = {
    "tree": lambda X: NeighborSearch(X).within(9.0),
    "tree and queries": lambda X: NeighborSearch(X[:50]).within(9.0, queries=X),
    "graph": lambda X: graphs.epsilon_ball(X, 9.0),
    "products": lambda X: NeighborSearch(np.tile(X, 20)).within(90.0),
    "rows of distances": lambda X: NeighborSearch(X, metric="chebyshev").within(9.0),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_sample_of_rows_detects_lists_that_do_not_fit(name, monkeypatch, little_memory):
    X, searched = points(20_000), []

    def count(function, n_rows):
        def counted(*args):
            searched.append(n_rows(*args))
            return function(*args)

        return counted

    monkeypatch.setattr(radius, "walk_within", count(radius.walk_within, lambda *a: len(a[3])))
    monkeypatch.setattr(
        radius, "measure_below", count(radius.measure_below, lambda *a: a[0].size / len(X))
    )
    monkeypatch.setattr(
        "vicinal.neighbors._pairwise.rows_of", count(radius.rows_of, lambda *a: len(a[0]))
    )
    with pytest.raises(MemoryError, match=r"pairs within the radius needs about .* smaller radius"):
        SEARCHES[name](X)
    assert 0 < sum(searched) < 65


def test_a_few_long_rows_do_not_reject_lists_that_fit(monkeypatch):
    # A dense cluster of few points: the estimate from the sample is very uncertain.
    X = np.concatenate([points(1900) * 1e6, points(100)])
    expected = NeighborSearch(X).within(9.0)
    monkeypatch.setattr(_memory, "free_memory", lambda: 21 * len(expected[1]))
    for one, two in zip(NeighborSearch(X).within(9.0), expected, strict=True):
        np.testing.assert_array_equal(one, two)


def unexpected(*args, **kwargs):
    raise AssertionError("work before the check")


def test_a_digraph_is_not_solved_for_a_matrix_that_does_not_fit(monkeypatch, little_memory):
    graph = graphs.knn(points(2000), 5, directed=True)
    monkeypatch.setattr(digraphs, "stationary_distribution", unexpected)
    with pytest.raises(MemoryError, match=r"matrix of 2,000 nodes needs about .* operator"):
        digraph_laplacian(graph, as_matrix=True)


@pytest.mark.parametrize("model", [ManifoldRanking(), PerceptualRanking()])
def test_memory_of_query_results_is_checked_before_the_search(model, monkeypatch, little_memory):
    model.fit(points(200))
    monkeypatch.setattr(type(model), "_start_vectors_of_new", unexpected)
    with pytest.raises(MemoryError, match="Scores of 200 points for 9,000 queries needs"):
        model.scores(points(9000))
    with pytest.raises(MemoryError, match="results of 9,000 queries needs"):
        model.rank(points(9000), 150)
