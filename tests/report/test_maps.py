"""The maps of a report: neighbours first, and what happens without openTSNE."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.manifold import trustworthiness

import vicinal
from vicinal.report._html.page import render


def test_the_neighbour_map_comes_first_and_keeps_neighbours_best(perception):
    pytest.importorskip("openTSNE")
    result = perception("wine")
    maps = result.maps.coordinates
    assert next(iter(maps)) == "neighbours"
    kept = {name: trustworthiness(result.data.points, plane) for name, plane in maps.items()}
    assert max(kept, key=kept.get) == "neighbours"


def test_equal_rows_share_a_position():
    pytest.importorskip("openTSNE")
    X = load_iris().data
    plane = vicinal.perceive(X, n_clusters=2, sample=60).maps.coordinates["neighbours"]
    _, group = np.unique(X, axis=0, return_inverse=True)
    for one in np.flatnonzero(np.bincount(group) > 1):
        assert (plane[group == one] == plane[group == one][0]).all()


def test_the_laplacian_map_is_that_of_the_estimator(perception):
    result = perception("wine")
    points = result.data.points
    expected = vicinal.LaplacianEigenmaps(2).fit_transform(vicinal.graphs.disjoint_mst(points, 4))
    plane = result.maps.coordinates["laplacian"]
    cosines = (plane * expected).sum(axis=0) / np.linalg.norm(plane, axis=0)
    np.testing.assert_allclose(np.abs(cosines / np.linalg.norm(expected, axis=0)), 1, atol=1e-6)


def test_without_opentsne_the_other_maps_are_drawn_and_a_note_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    X = np.random.default_rng(0).normal(size=(60, 3))
    result = vicinal.perceive(X, n_clusters=2, sample=60)
    assert result.failures == {}
    assert "neighbours" not in result.maps.coordinates
    assert "isomap" in result.maps.coordinates
    assert "pip install &#x27;vicinal[map]&#x27;" in render(result)
