"""Sweeps over the number of steps, with one product from each to the next."""

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
def test_successive_powers_find_the_neighbours_of_each_t(counted, ts):
    model = SelfSmoothing(0).fit(cloud())
    counted.clear()
    for t, (similarities, indices) in model.sweep_neighbors(ts, 12):
        expected = exact(model.affinity_, t, 12)
        np.testing.assert_allclose(similarities, expected[0], rtol=2e-5)
        assert (indices == expected[1]).mean() > 0.99  # nearly equal neighbours may be swapped
    assert not counted


def test_neighbours_that_underflow_in_single_precision_are_found_in_double(counted):
    # Groups of six: further neighbours are in another group, with tiny similarities.
    x = 9.0 * (np.arange(600) // 6) + np.random.default_rng(0).random(600)
    model = SelfSmoothing(0, metric="similarity").fit(np.exp(-np.square(x[:, None] - x)))
    counted.clear()
    for t, (similarities, indices) in model.sweep_neighbors([1, 2, 3], 9):
        expected = exact(model.affinity_, t, 9)
        np.testing.assert_allclose(similarities, expected[0], rtol=1e-9)
        assert (indices == expected[1]).mean() > 0.99
    assert counted == [1, 2, 3]


def test_a_sweep_does_not_change_the_similarity_at_other_t():
    model = SelfSmoothing(3, bandwidth=5.0).fit(cloud(510))
    before = model.at(60), model.at(55.5)
    swept = model.sweep([40, 60, 200])
    next(swept)
    # Also in the middle of a sweep that is never finished.
    np.testing.assert_array_equal(model.at(60), before[0])
    swept.close()
    list(model.sweep_neighbors([60, 500], 5))
    np.testing.assert_array_equal(model.at(60), before[0])
    np.testing.assert_array_equal(model.at(55.5), before[1])


def test_a_decomposition_is_cheaper_for_widely_spaced_steps():
    walk = DenseWalk(np.eye(2), True)
    assert sweeps._chain_is_cheaper(walk, range(10, 510, 10))
    assert not sweeps._chain_is_cheaper(walk, [2**e + e for e in range(12)])
    assert not sweeps._chain_is_cheaper(walk, [0.5, 1.0])
    assert not sweeps._chain_is_cheaper(DenseWalk(np.eye(2), False), range(3))


def test_intermediate_numbers_of_steps_use_the_full_power(monkeypatch):
    # With few entries per row, and more eigenvalues than are worth computing.
    monkeypatch.setattr(smoothed, "ENTRIES_PER_ROW", (4,))
    X = np.random.default_rng(0).normal(size=(1500, 20))
    model = SelfSmoothing(60, method="sparse").fit(X)
    similarities, indices = model.kneighbors(n_neighbors=8)
    assert model.similarity_.method == "full power"
    assert model.similarity_.recall > 0.99
    expected = exact(model.affinity_.toarray(), 60, 8)
    np.testing.assert_allclose(similarities, expected[0], rtol=1e-4)
    assert (indices == expected[1]).mean() > 0.99


def test_the_full_power_is_not_formed_without_enough_memory(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 20))
    walk = SelfSmoothing(60, method="sparse").fit(X).similarity_
    assert walk._dense_power_cost() < np.inf
    monkeypatch.setattr(smoothed, "free_memory", lambda: 600 * 600)
    assert walk._dense_power_cost() == np.inf


def test_pruned_powers_that_miss_neighbours_are_not_returned():
    X = np.random.default_rng(0).random((2000, 1))
    model = SelfSmoothing(300, method="sparse", n_neighbors=6).fit(X)
    similarities, _ = model.kneighbors(n_neighbors=60)
    assert model.similarity_.recall >= 0.99
    expected = exact(model.affinity_.toarray(), 300, 60)[0]
    np.testing.assert_allclose(similarities, expected, rtol=1e-3, atol=1e-6)
    with pytest.raises(ValueError, match="n_neighbors=2000"):
        model.similarity_.nearest(2000)
