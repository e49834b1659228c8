"""Invalid searches raise before any work, with a message that says what to do."""

import numpy as np
import pytest
from scipy import sparse

from vicinal.neighbors import NeighborSearch

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[np.nan, 0.0], [1.0, 1.0]], "NaN"),
        ([[np.inf, 0.0], [1.0, 1.0]], "infinite"),
        ([["a", "b"], ["c", "d"]], "dtype"),
        ([1.0, 2.0], "shape"),
        (np.empty((0, 2)), "at least 1 point"),
        (np.empty((2, 0)), "1 feature"),
        (sparse.csr_array((0, 3)), "1 point"),
    ],
)
def test_invalid_points_are_rejected(X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        NeighborSearch(X)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[0.0, 1.0], [2.0, 0.0]], "not symmetric"),
        ([[1.0, 1.0], [1.0, 1.0]], "itself"),
        ([[0.0, 1.0]], "square"),
    ],
)
def test_invalid_distance_matrices_are_rejected(matrix, message):
    with pytest.raises(ValueError, match=message):
        NeighborSearch(matrix, metric="precomputed")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fast"}, "method='fast'"),
        ({"metric": "no such metric"}, "metric='no such metric'"),
        ({"metric": 3}, "metric=3"),
        ({"recall": 0.0}, "recall=0.0"),
        ({"recall": 1.5}, "recall=1.5"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"neighbours": 3}, "neighbours"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        NeighborSearch(np.eye(3), **options)


@pytest.mark.parametrize("k", [0, -1, 3, 2.5, "2", True])
def test_impossible_numbers_of_neighbours_are_rejected(k):
    with pytest.raises((TypeError, ValueError), match=f"n_neighbors={k!r}"):
        NeighborSearch(np.eye(3)).nearest(k)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, "1"])
def test_impossible_radii_are_rejected(radius):
    with pytest.raises((TypeError, ValueError), match="radius="):
        NeighborSearch(np.eye(3)).within(radius)


def test_invalid_queries_are_rejected():
    with pytest.raises(ValueError, match=r"queries have 2 feature.*have 3"):
        NeighborSearch(np.eye(3)).nearest(1, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="queries contains 1 value"):
        NeighborSearch(np.eye(3)).nearest(1, [[0.0, 1.0, np.nan]])
    with pytest.raises(ValueError, match="all 3 points"):
        NeighborSearch(1.0 - np.eye(3), metric="precomputed").nearest(1, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="negative"):
        NeighborSearch(1.0 - np.eye(3), metric="precomputed").nearest(1, [[0.0, 1.0, -1.0]])


def test_zero_vectors_have_no_cosine():
    with pytest.raises(ValueError, match=r"zero vectors.*\[1\]"):
        NeighborSearch([[1.0, 2.0], [0.0, 0.0]], metric="cosine")


def test_undefined_distances_are_rejected_with_the_row():
    X = RNG.normal(size=(10, 4))
    X[3] = 1.0
    with pytest.raises(ValueError, match="row 3"):
        NeighborSearch(X, metric="correlation")


def test_negative_distances_are_rejected_unless_due_to_rounding():
    X = RNG.normal(size=(20, 4))
    with pytest.raises(ValueError, match=r"gives the distance -.* to row"):
        NeighborSearch(X, metric=lambda a, b: a[0] - b[0]).within(1.0)
    lengths = NeighborSearch(X, metric=lambda a, b: np.abs(a - b).sum() - 1e-12).within(100.0)[2]
    assert lengths.min() > 0
    twice = np.repeat(X, 2, axis=0)
    _, lengths = NeighborSearch(twice, metric=lambda a, b: np.abs(a - b).sum() - 1e-12).nearest(1)
    assert not lengths.any()


@pytest.mark.parametrize("shape", [(20, 3), (4, 6), (1, 2)])
def test_singular_covariances_are_rejected(shape):
    X = RNG.normal(size=shape)
    X[:, -1] = 3 * X[:, 0]
    with pytest.raises(ValueError, match=r"mahalanobis.*linearly independent"):
        NeighborSearch(X, metric="mahalanobis")


def test_units_of_columns_do_not_matter_to_mahalanobis():
    X = RNG.normal(size=(50, 3))
    plain = NeighborSearch(X, metric="mahalanobis").nearest(4)
    scaled = NeighborSearch(X * [1e-9, 1.0, 1e9], metric="mahalanobis").nearest(4)
    np.testing.assert_array_equal(scaled[0], plain[0])
    np.testing.assert_allclose(scaled[1], plain[1], rtol=1e-9)


def test_lists_that_do_not_fit_into_memory_are_rejected(monkeypatch):
    from vicinal._core import memory as _memory

    monkeypatch.setattr(_memory, "free_memory", lambda: 1000)
    for d in (2, 30):
        search = NeighborSearch(RNG.normal(size=(400, d)))
        with pytest.raises(MemoryError, match="smaller radius"):
            search.within(100.0)
        with pytest.raises(MemoryError, match=r"n_neighbors=150 neighbours of 400 points.*fewer"):
            search.nearest(150)
        with pytest.raises(MemoryError, match=r"n_neighbors=150 neighbours of 300 points.*fewer"):
            search.nearest(150, np.zeros((300, d)))
        assert search.nearest(3)[0].shape == (400, 4)
