"""Scores of graphs without labels."""

from functools import partial

import numpy as np
import pytest

from vicinal import Graph, graphs
from vicinal.datasets import make_swiss_roll
from vicinal.metrics import graph_score
from vicinal.metrics._graph_score import RIDGES, _density_gain


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(400, noise=0.2, random_state=0)[0]


def literal_gain(affinity, values):
    """The best mean log density of a node given the others over a grid, from the joint precision matrix."""
    W = affinity.toarray()
    n, d = values.shape
    degrees = W.sum(axis=1)
    best = -np.inf
    for ridge in np.geomspace(*RIDGES, 400) * np.median(degrees[degrees > 0]):
        Q = np.diag(degrees + ridge) - W
        # The conditional distribution of one entry of a Gaussian vector with precision matrix s Q.
        means = -np.array([(Q[i] @ values - Q[i, i] * values[i]) / Q[i, i] for i in range(n)])
        errors = np.square(values - means)
        s = n * d / (np.diag(Q)[:, None] * errors).sum()
        density = 0.5 * np.log(s * np.diag(Q))[:, None] - 0.5 * s * np.diag(Q)[:, None] * errors
        best = max(best, density.mean() + 0.5)
    return best


@pytest.mark.parametrize("build", [partial(graphs.knn, n_neighbors=3), graphs.mst, graphs.gabriel])
def test_the_density_is_that_of_the_gaussian_prior(build, roll):
    values = roll[:60] - roll[:60].mean(axis=0)
    values /= np.sqrt(np.square(values).mean())
    affinity = build(roll[:60]).affinity(scale=np.inf)
    assert _density_gain(affinity, values) == pytest.approx(
        literal_gain(affinity, values), abs=1e-3
    )


def test_a_graph_without_edges_gains_nothing(roll):
    def empty(X):
        return Graph.from_edges(len(X), np.empty((0, 2), int), [])

    assert graph_score(empty, roll, n_replicates=1, random_state=0) == pytest.approx(0.0, abs=1e-9)


def test_shortcuts_and_single_trees_lose_on_a_roll(roll):
    scores = {
        name: graph_score(build, roll, random_state=0)
        for name, build in {
            "tree": graphs.mst,
            "trees": graphs.disjoint_mst,
            "all pairs": graphs.complete,
            "wide": partial(graphs.knn, n_neighbors=100),
        }.items()
    }
    assert max(scores, key=scores.get) == "trees"
    assert scores["all pairs"] < scores["wide"]


@pytest.mark.parametrize("factor", [1e-150, 1e-3, 1e150])
def test_units_do_not_matter(factor, roll):
    scores = [
        graph_score(graphs.disjoint_mst, X, n_replicates=2, random_state=0)
        for X in (roll, factor * roll)
    ]
    assert scores[1] == pytest.approx(scores[0], rel=1e-6)


def test_directed_graphs_are_made_symmetric(roll):
    directed = graph_score(
        partial(graphs.knn, n_neighbors=5, directed=True), roll, n_replicates=1, random_state=0
    )
    union = graph_score(partial(graphs.knn, n_neighbors=5), roll, n_replicates=1, random_state=0)
    assert directed == pytest.approx(union)


@pytest.mark.parametrize(
    ("build", "X", "message"),
    [
        ("knn", np.eye(4), "a function of points"),
        (graphs.mst, np.ones((5, 2)), "1 distinct row"),
        (lambda X: X, np.eye(4), "build returned ndarray"),
        (lambda X: graphs.mst(X[:3]), np.eye(4), "3 node"),
    ],
)
def test_bad_arguments_are_explained(build, X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        graph_score(build, X, random_state=0)
