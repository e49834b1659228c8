import pickle

import numpy as np
import pytest

import vicinal
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._cached_search import CachedSearch


@pytest.fixture
def points():
    return np.random.default_rng(0).random((200, 3))


def test_the_index_is_built_on_first_use_and_then_reused(points):
    cached = CachedSearch(points)
    assert cached() is cached()
    expected = NeighborSearch(points).nearest(4, queries=points[:5] + 0.01)
    for got, want in zip(cached().nearest(4, queries=points[:5] + 0.01), expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_the_index_is_not_pickled(points):
    cached = CachedSearch(points)
    before = len(pickle.dumps(cached))
    cached()
    assert len(pickle.dumps(cached)) == before
    again = pickle.loads(pickle.dumps(cached))
    np.testing.assert_array_equal(again().nearest(3)[0], cached().nearest(3)[0])


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (vicinal.SpectralClustering(2, random_state=0), "predict"),
        (vicinal.SpectralClustering(2, graph=vicinal.path_similarity), "predict"),
        (vicinal.LaplacianEigenmaps(2), "transform"),
        (vicinal.PerceptualClustering(2, random_state=0), "predict"),
        (vicinal.ClusterPreservingEmbedding(2), "transform"),
        (vicinal.SelfSmoothing(2.0), "kneighbors"),
    ],
    ids=["spectral", "paths", "eigenmaps", "perceptual", "cluster preserving", "smoothing"],
)
def test_an_estimator_builds_one_index_for_all_new_points(model, place, points, monkeypatch):
    model.fit(points)
    built = []
    original = NeighborSearch.__init__

    def counting(self, *args, **kwargs):
        built.append(self)
        original(self, *args, **kwargs)

    monkeypatch.setattr(NeighborSearch, "__init__", counting)
    for start in range(3):
        getattr(model, place)(points[start : start + 1] + 0.001)
    assert len(built) <= 1
