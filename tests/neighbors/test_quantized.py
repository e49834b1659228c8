"""The search for few queries by codes of 8 bits: the same bits as the search by products."""

import numpy as np
import pytest

from vicinal.neighbors import NeighborSearch
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._exact import FEW_QUERIES
from vicinal.neighbors._quantized import can_quantize, nearest_to_few, quantize_points


def assert_same(X, queries, k):
    found = nearest_to_few(X, quantize_points(X), queries, k)
    for values, expected in zip(found, brute.nearest_to(X, queries, k), strict=True):
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(700, 40)),
        lambda rng: rng.integers(0, 3, (700, 6)),
        lambda rng: np.repeat(rng.normal(size=(70, 9)), 10, axis=0),
        lambda rng: (
            1e3 * rng.normal(size=(7, 20))[rng.integers(0, 7, 700)]
            + 1e-3 * rng.normal(size=(700, 20))
        ),
        lambda rng: 1e6 + rng.normal(size=(700, 5)),
        lambda rng: rng.standard_cauchy((700, 12)),
        lambda rng: np.zeros((700, 3)),
        lambda rng: 1e-5 * rng.normal(size=(700, 4)) * 10.0 ** rng.integers(-30, 0, (700, 1)),
    ],
    ids=["normal", "ties", "copies", "clusters", "far", "heavy", "zero", "tiny"],
)
def test_results_equal_those_of_products(make, dtype):
    rng = np.random.default_rng(0)
    X = make(rng).astype(dtype)
    assert_same(X[20:], X[:20], 15)
    assert_same(X, X[:5], 30)


def test_all_points_are_found():
    X = np.random.default_rng(1).normal(size=(50, 8))
    assert_same(X, X[:3] + 0.1, 50)


def test_queries_far_from_the_points_are_left_to_products():
    X = np.random.default_rng(0).normal(size=(100, 3))
    points = quantize_points(X)
    assert can_quantize(2 * X[:5], points)
    assert not can_quantize(1e6 * X[:5], points)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_one_query_has_the_results_of_a_batch(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 64)).astype(np.float32)
    queries = rng.normal(size=(FEW_QUERIES + 1, 64))
    search = NeighborSearch(X, metric=metric)
    batch = search.nearest(10, queries)
    alone = [search.nearest(10, query[None]) for query in queries[:3]]
    assert search._backend._quantized is not None
    for q, found in enumerate(alone):
        np.testing.assert_array_equal(found[0][0], batch[0][q])
        np.testing.assert_array_equal(found[1][0], batch[1][q])
    far = 1e9 * queries[:1]
    np.testing.assert_array_equal(
        search.nearest(3, far)[0], search.nearest(3, np.repeat(far, 20, 0))[0][:1]
    )
