"""Approximate lists have the recall they report; long exact searches are announced."""

import numpy as np
import pytest

from vicinal import graphs, scale
from vicinal.exceptions import VicinalWarning
from vicinal.neighbors import NeighborSearch
from vicinal.scale import _approximate
from vicinal.scale._engine import ThreadEngine

da = pytest.importorskip("dask.array")
from inputs import HARD, curved  # noqa: E402

X = np.random.default_rng(0).normal(size=(3000, 10)).astype(np.float32)


def recall_of(found, known):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, known, strict=True)])


@pytest.mark.parametrize("target", [0.7, 0.95])
def test_the_recall_is_what_was_asked_for_and_what_is_reported(target):
    known = NeighborSearch(X).nearest(8)[0][:, 1:]
    with scale.config(cell_size=300):
        search = NeighborSearch(
            da.from_array(X, chunks=1000), method="approximate", recall=target, random_state=0
        )
        indices, distances = (values.compute() for values in search.nearest(8))
    assert (indices[:, 0] == np.arange(len(X))).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    recall = recall_of(indices[:, 1:], known)
    assert recall >= target
    assert search.recall_ == pytest.approx(recall, abs=0.03)
    assert recall < 1


def test_a_missed_neighbour_is_farther_than_the_reach():
    with scale.config(cell_size=300):
        search = NeighborSearch(
            da.from_array(X, chunks=1000), method="approximate", recall=0.7, random_state=0
        )
        found, lengths = (values.compute() for values in search.nearest(8))
    reach = float(search._backend._fill(8).split("-")[-1])
    known, exact = NeighborSearch(X).nearest(8)
    is_missed = ~(known[:, :, None] == found[:, None, :]).any(axis=2)
    assert 0 < reach < 1
    assert is_missed.any()
    assert (exact >= reach * lengths[:, -1:])[is_missed].all()


def test_exact_and_approximate_lists_share_a_store(tmp_path):
    array = da.from_array(X[:2000], chunks=1000)
    with scale.config(cell_size=300, store=tmp_path):
        options = {"method": "approximate", "recall": 0.8, "random_state": 0}
        first = graphs.knn(array, 5, **options)
        assert graphs.knn(array, 5) == graphs.knn(X[:2000], 5)
        assert graphs.knn(array, 5, **options) == first


@pytest.mark.parametrize("name", ["grid", "duplicates", "one place", "two points"])
def test_approximate_lists_of_hard_points(name):
    points = HARD[name]
    with scale.config(cell_size=-(-len(points) // 6)):
        graph = graphs.knn(
            da.from_array(points, chunks=70), 1, method="approximate", random_state=0
        )
    assert graph.n_nodes == len(points)


def test_exact_work_is_estimated_from_a_sample():
    with scale.config(cell_size=100):
        structured = NeighborSearch(da.from_array(curved(4000, d=8, n_clusters=20), chunks=1000))
        isotropic = NeighborSearch(da.from_array(X, chunks=1000))
    engine = ThreadEngine()
    few, _ = _approximate.estimate_work(structured._backend.X.cells, 5, engine)
    many, seconds = _approximate.estimate_work(isotropic._backend.X.cells, 5, engine)
    assert few < 0.3 * 4000**2
    assert 0.5 * 3000**2 < many <= 3000**2
    assert 0 < seconds < 10


def test_long_exact_work_is_announced_with_an_estimate(monkeypatch):
    monkeypatch.setattr(_approximate, "estimate_work", lambda cells, k, engine: (1.2e14, 1e6))
    with (
        scale.config(cell_size=50),
        pytest.warns(
            VicinalWarning, match=r"compares about 1.2e\+14 pairs.*days.*method='approximate'"
        ),
    ):
        NeighborSearch(da.from_array(X[:2000], chunks=500)).nearest(3)
