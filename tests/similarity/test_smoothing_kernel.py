"""Kernel (1): against a literal double loop, sparse against full, any scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from vicinal.similarity import SelfSmoothing, smoothing_kernel


def distances_of(n, seed=0, d=3):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return np.linalg.norm(X[:, None] - X[None], axis=-1)


def literal(distances, k, n_neighbors, width):
    n = len(distances)
    scales = [
        np.mean(sorted(distances[i, j] for j in range(n) if j != i)[:n_neighbors]) for i in range(n)
    ]
    W = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            s = np.mean(scales) if width == "global" else (scales[i] + scales[j]) / 2
            W[i, j] = np.exp(-(distances[i, j] ** 2) / (k * s**2))
    return W


@pytest.mark.parametrize("width", ["pair", "global"])
@given(n=st.integers(2, 15), m=st.integers(1, 20), k=st.floats(0.05, 5))
def test_equals_the_formula(width, n, m, k):
    distances = distances_of(n, seed=n)
    expected = literal(distances, k, m, width)
    np.testing.assert_allclose(
        smoothing_kernel(distances, k, n_neighbors=m, width=width), expected, rtol=1e-10
    )


@pytest.mark.parametrize("width", ["pair", "global"])
def test_stored_sparse_distances_give_the_same_kernel(width):
    distances = distances_of(30)
    near = distances <= np.sort(distances, axis=1)[:, 9:10]
    near |= near.T
    stored = sparse.csr_array(np.where(near, distances, 0.0))
    kernel = smoothing_kernel(stored, n_neighbors=5, width=width)
    assert sparse.issparse(kernel)
    expected = np.where(near, literal(distances, 0.1, 5, width), 0.0)
    np.testing.assert_allclose(kernel.toarray(), expected, rtol=1e-10)


def test_a_pair_stored_in_one_triangle_is_symmetric():
    distances = distances_of(25)
    distances[2, 7] = distances[7, 2] = 0.0
    upper, lower = (
        sparse.csr_array((distances[pairs], pairs), shape=distances.shape)
        for pairs in (np.triu_indices(25, 1), np.tril_indices(25, -1))
    )
    assert upper.nnz == 300  # the 0 is stored, as a distance
    expected = smoothing_kernel(distances, n_neighbors=6)
    for stored in (upper, lower, upper.tocoo()):
        kernel = smoothing_kernel(stored, n_neighbors=6)
        np.testing.assert_allclose(kernel.toarray(), expected, rtol=1e-12)
    for method, row in [("dense", distances[:3]), ("sparse", distances[:3])]:
        half = SelfSmoothing(2, metric="precomputed", n_neighbors=6, method=method).fit(upper)
        full = SelfSmoothing(2, metric="precomputed", n_neighbors=6).fit(distances)
        np.testing.assert_allclose(half.transform(row), full.transform(row), atol=1e-9)


def test_the_smaller_of_two_stored_distances_is_used():
    stored = sparse.csr_array([[0.0, 1.0, 4.0], [3.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    smaller = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
    kernel = smoothing_kernel(stored, bandwidth=1.0, n_neighbors=1)
    np.testing.assert_allclose(
        kernel.toarray(), smoothing_kernel(smaller, 1.0, n_neighbors=1), rtol=1e-12
    )


@pytest.mark.parametrize("factor", [1e-200, 1e-9, 1e9, 1e200])
def test_units_do_not_matter(factor):
    distances = distances_of(20)
    factor = 2.0 ** round(np.log2(factor))
    np.testing.assert_allclose(
        smoothing_kernel(distances * factor), smoothing_kernel(distances), rtol=1e-12
    )


def test_duplicates_have_similarity_one_to_each_other_and_zero_to_others():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    distances = np.abs(X - X.T)
    kernel = smoothing_kernel(distances, n_neighbors=3)
    np.testing.assert_array_equal(kernel, (distances == 0).astype(float))


def test_one_point():
    np.testing.assert_array_equal(smoothing_kernel([[0.0]]), [[1.0]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bandwidth": 0}, "bandwidth=0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"width": "local"}, "width='local'"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(arguments, words):
    with pytest.raises(ValueError, match=words):
        smoothing_kernel(distances_of(4), **arguments)


def test_invalid_distances_are_named_in_the_error():
    bad = distances_of(4)
    bad[0, 1] = 9
    with pytest.raises(ValueError, match=r"distances is not symmetric"):
        smoothing_kernel(bad)


def test_a_sparse_fit_lists_the_pairs_once(monkeypatch):
    from vicinal import SelfSmoothing
    from vicinal.similarity.smoothing import kernel

    calls = []
    pairs = kernel._pairs
    monkeypatch.setattr(kernel, "_pairs", lambda matrix: calls.append(1) or pairs(matrix))
    X = np.random.default_rng(0).normal(size=(60, 2))
    SelfSmoothing(t=5, n_neighbors=8, method="sparse").fit(X)
    assert len(calls) == 1
