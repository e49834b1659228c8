"""Lower bounds of the distances between components, and trees whose search they shorten."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from vicinal import graphs
from vicinal.graphs._build import nearest_foreign
from vicinal.graphs._build.separation import distances_to_others
from vicinal.neighbors._brute import fit_rescaling


def separated_points(n, n_clusters, n_features, seed, spread=8.0):
    rng = np.random.default_rng(seed)
    centers = spread * rng.normal(size=(n_clusters, n_features))
    cluster = rng.integers(0, n_clusters, n)
    return centers[cluster] + rng.normal(size=(n, n_features)), cluster


@settings(max_examples=60)
@given(
    st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 12), st.sampled_from([0.0, 1.0, 20.0])
)
def test_bounds_never_exceed_the_distance_to_another_component(seed, n_cells, n_features, spread):
    rng = np.random.default_rng(seed)
    X, cell = separated_points(80, n_cells, n_features, seed, spread)
    rescaling = fit_rescaling(X)
    cell = np.unique(cell, return_inverse=True)[1]
    component = rng.integers(0, 3, cell.max() + 1)
    bounds = distances_to_others(X, rescaling, cell, component) / rescaling.scale
    is_other = component[cell][:, None] != component[cell]
    distances = np.where(is_other, cdist(X, X), np.inf).min(axis=1)
    assert (bounds <= distances).all()


def test_bounds_of_separated_clusters_are_near_their_distances():
    X, cell = separated_points(600, 4, 5, 0, spread=40.0)
    rescaling = fit_rescaling(X)
    bounds = distances_to_others(X, rescaling, cell, np.arange(4)) / rescaling.scale
    distances = np.where(cell[:, None] != cell, cdist(X, X), np.inf).min(axis=1)
    assert (bounds > 0.8 * distances).all()


@pytest.mark.parametrize("n_clusters", [2, 3, 9])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_bounds_do_not_change_the_trees(monkeypatch, n_clusters, offset):
    X, _ = separated_points(1200, n_clusters, 40, n_clusters)
    X += offset
    weights = np.random.default_rng(0).random(len(X))
    bounded = graphs.disjoint_mst(X, 3), graphs.mst(X, offsets=weights, offset_scale=0.1)
    monkeypatch.setattr(nearest_foreign, "QUERIES_PER_COMPONENT", 10**9)
    for tree, other in zip(
        bounded,
        (graphs.disjoint_mst(X, 3), graphs.mst(X, offsets=weights, offset_scale=0.1)),
        strict=True,
    ):
        np.testing.assert_array_equal(tree.edges(), other.edges())


def test_few_points_of_separated_clusters_search(monkeypatch):
    X, _ = separated_points(3000, 6, 40, 1)
    searched = []
    search = nearest_foreign.ForeignNeighborProducts._search

    def count(self, queries, *arguments):
        searched.append(len(queries))
        search(self, queries, *arguments)

    monkeypatch.setattr(nearest_foreign.ForeignNeighborProducts, "_search", count)
    graphs.disjoint_mst(X, 2)
    with_bounds = sum(searched)
    searched.clear()
    monkeypatch.setattr(nearest_foreign, "QUERIES_PER_COMPONENT", 10**9)
    graphs.disjoint_mst(X, 2)
    assert with_bounds < 0.3 * sum(searched)
