"""Tables with many duplicates are smoothed like all rows, at the cost of the distinct rows."""

import numpy as np
import pytest

from vicinal import SelfSmoothing, SimilarityVoteClassifier, self_smooth
from vicinal.similarity import smoothing_kernel
from vicinal.similarity.smoothing import _spectral as spectral_smoothing


def table(n, n_distinct=5, d=2):
    rng = np.random.default_rng(0)
    group = rng.integers(0, n_distinct, n)
    return rng.random((n_distinct, d))[group], group


@pytest.mark.parametrize("t", [0.5, 1, 2.5, 6])
def test_tables_with_duplicates_are_smoothed_like_all_rows(t):
    X, _ = table(60)
    lengths = np.linalg.norm(X[:, None] - X, axis=2)
    weights = smoothing_kernel(lengths, bandwidth=1.0, n_neighbors=40)
    walk = weights / weights.sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eig(walk)
    power = np.where(np.abs(values) < 1e-12, 0, values.astype(complex)) ** t
    expected = np.real(weights @ (vectors * power) @ np.linalg.pinv(vectors))
    expected = np.minimum(expected / np.diagonal(expected)[:, None], 1.0)
    np.testing.assert_allclose(self_smooth(weights, t), expected, rtol=1e-8, atol=1e-10)


def test_only_distinct_rows_are_decomposed(monkeypatch):
    sizes = []
    eigh = spectral_smoothing.eigh
    monkeypatch.setattr(
        spectral_smoothing, "eigh", lambda A, **more: sizes.append(len(A)) or eigh(A, **more)
    )
    X, y = table(2600)
    model = SimilarityVoteClassifier(similarity=SelfSmoothing(n_neighbors=700)).fit(X, y)
    assert max(sizes) == 5
    np.testing.assert_array_equal(model.predict(X[:40]), y[:40])
    np.testing.assert_array_equal(model.leave_one_out(), y)
