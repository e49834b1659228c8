"""Sweeps over the number of steps by one product from each to the next."""

import numpy as np
import pytest

from vicinal import SelfSmoothing, self_smooth
from vicinal.similarity.smoothing import _lazy_similarity as smoothed
from vicinal.similarity.smoothing import _sweeps as sweeps
from vicinal.similarity.smoothing._walks import DenseWalk


def cloud(n=640, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)) + 3 * rng.normal(size=(5, 4))[np.arange(n) % 5]


def exact(W, t, k):
    """Similarities and their order from the full matrix, in double precision."""
    smoothed = self_smooth(W, t, normalize=False)
    ranked = smoothed / np.diagonal(smoothed)[:, None]
    np.fill_diagonal(ranked, -np.inf)
    indices = np.argsort(-ranked, axis=1, kind="stable")[:, :k]
    return np.minimum(np.take_along_axis(ranked, indices, axis=1), 1.0), indices


@pytest.fixture
def counted(monkeypatch):
    """How often the sweep fell back to a matrix in double precision."""
    calls = []
    smoothed = DenseWalk.smoothed
    monkeypatch.setattr(DenseWalk, "smoothed", lambda self, t: calls.append(t) or smoothed(self, t))
    return calls


@pytest.mark.parametrize("ts", [range(0, 60, 3), [9, 6, 3, 0, 30]])
def test_powers_one_after_the_other_find_the_neighbours_of_each_t(counted, ts):
    model = SelfSmoothing(0).fit(cloud())
    counted.clear()
    for t, (similarities, indices) in model.sweep_neighbors(ts, 12):
        expected = exact(model.affinity_, t, 12)
        np.testing.assert_allclose(similarities, expected[0], rtol=2e-5)
        assert (indices == expected[1]).mean() > 0.99  # those that differ by less may change places
    assert not counted


def test_neighbours_too_far_for_single_precision_are_found_in_double(counted):
    # Groups of six: the next neighbours are in another group, at similarities of almost nothing.
    at = 9.0 * (np.arange(600) // 6) + np.random.default_rng(0).random(600)
    model = SelfSmoothing(0, metric="similarity").fit(np.exp(-np.square(at[:, None] - at)))
    counted.clear()
    for t, (similarities, indices) in model.sweep_neighbors([1, 2, 3], 9):
        expected = exact(model.affinity_, t, 9)
        np.testing.assert_allclose(similarities, expected[0], rtol=1e-9)
        assert (indices == expected[1]).mean() > 0.99
    assert counted == [1, 2, 3]


def test_a_sweep_leaves_the_similarity_at_other_times_as_it_was():
    model = SelfSmoothing(3, bandwidth=5.0).fit(cloud(510))
    before = model.at(60), model.at(55.5)
    swept = model.sweep([40, 60, 200])
    next(swept)
    # Also in the middle of one that is never finished.
    np.testing.assert_array_equal(model.at(60), before[0])
    swept.close()
    list(model.sweep_neighbors([60, 500], 5))
    np.testing.assert_array_equal(model.at(60), before[0])
    np.testing.assert_array_equal(model.at(55.5), before[1])


def test_a_decomposition_serves_steps_far_apart():
    walk = DenseWalk(np.eye(2), True)
    assert sweeps._chain_pays(walk, range(10, 510, 10))
    assert not sweeps._chain_pays(walk, [2**e + e for e in range(12)])
    assert not sweeps._chain_pays(walk, [0.5, 1.0])
    assert not sweeps._chain_pays(DenseWalk(np.eye(2), False), range(3))


def test_walks_neither_local_nor_mixed_are_followed_by_full_powers(monkeypatch):
    # Without room for long lists, and with far more eigenvalues left than it pays to find.
    monkeypatch.setattr(smoothed, "KEPT", (4,))
    X = np.random.default_rng(0).normal(size=(1500, 20))
    model = SelfSmoothing(60, method="sparse").fit(X)
    similarities, indices = model.kneighbors(n_neighbors=8)
    assert model.similarity_.method == "full power"
    assert model.similarity_.recall > 0.99
    expected = exact(model.affinity_.toarray(), 60, 8)
    np.testing.assert_allclose(similarities, expected[0], rtol=1e-4)
    assert (indices == expected[1]).mean() > 0.99


def test_a_full_power_is_not_formed_without_room_for_it(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 20))
    walk = SelfSmoothing(60, method="sparse").fit(X).similarity_
    assert walk._cost_of_full_power() < np.inf
    monkeypatch.setattr(smoothed, "free_memory", lambda: 600 * 600)
    assert walk._cost_of_full_power() == np.inf


def test_pruned_powers_that_miss_neighbours_are_not_the_answer():
    X = np.random.default_rng(0).random((2000, 1))
    model = SelfSmoothing(300, method="sparse", n_neighbors=6).fit(X)
    similarities, _ = model.kneighbors(n_neighbors=60)
    assert model.similarity_.recall >= 0.99
    expected = exact(model.affinity_.toarray(), 300, 60)[0]
    np.testing.assert_allclose(similarities, expected, rtol=1e-3, atol=1e-6)
    with pytest.raises(ValueError, match="n_neighbors=2000"):
        model.similarity_.nearest(2000)
