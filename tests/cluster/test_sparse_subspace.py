"""Sparse subspace clustering: separates subspaces that distances cannot."""

import numpy as np
import pytest

from vicinal import SparseSubspaceClustering, SpectralClustering
from vicinal.codes._sparse_codes import sparse_codes
from vicinal.metrics import clustering_accuracy


def planes(noise=0.0, n_each=50):
    """Points of both signs on three planes through the origin of six dimensions."""
    rng = np.random.default_rng(3)
    parts = [rng.standard_normal((n_each, 2)) @ rng.standard_normal((2, 6)) for _ in range(3)]
    X = np.vstack(parts)
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1, 2], n_each)


@pytest.mark.parametrize("equality", [False, True])
def test_planes_are_separated(equality):
    X, y = planes()
    model = SparseSubspaceClustering(3, equality=equality, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1.0
    # Neighbours in space mix planes, and nonnegative codes need atoms all around a point.
    other = SpectralClustering(3, random_state=0).fit(X)
    assert clustering_accuracy(y, other.labels_) < 0.9


def test_some_noise_does_no_harm():
    X, y = planes(noise=0.05)
    assert clustering_accuracy(y, SparseSubspaceClustering(3, random_state=0).fit_predict(X)) > 0.95


def test_the_affinity_is_the_mean_size_of_the_signed_coefficients():
    X, _ = planes(0.1, 15)
    model = SparseSubspaceClustering(3, penalty=0.05, random_state=0).fit(X)
    codes = sparse_codes(X / np.linalg.norm(X, axis=1, keepdims=True), penalty=0.05, signed=True)
    A = np.zeros((45, 45))
    A[np.repeat(np.arange(45), np.diff(codes.indptr)), codes.indices] = np.abs(codes.values)
    assert (codes.values < 0).any()
    expected = (A + A.T) / 2 / model.graph_.metadata["codes"].unit
    np.testing.assert_allclose(model.affinity_.toarray(), expected, atol=1e-12)


def test_new_points_count_by_direction_whatever_their_length_and_sign():
    X, y = planes(noise=0.02)
    fitted = np.arange(len(X)) % 5 > 0
    model = SparseSubspaceClustering(3, random_state=0).fit(X[fitted])
    expected = model.predict(X[~fitted])
    assert clustering_accuracy(y[~fitted], expected) > 0.9
    for factor in (0.05, -3.0, 1e-200, 1e200):
        np.testing.assert_array_equal(model.predict(X[~fitted] * factor), expected)
        np.testing.assert_array_equal(model.predict(X[fitted] * factor), model.labels_)
    with pytest.raises(ValueError, match="of zeros"):
        model.predict(np.zeros((1, 6)))


def test_a_bad_penalty_is_named():
    with pytest.raises(ValueError, match="penalty=-1"):
        SparseSubspaceClustering(3, penalty=-1).fit(planes()[0])


def test_membership_sums_to_one_and_agrees_with_the_clusters():
    X, _ = planes(noise=0.01)
    model = SparseSubspaceClustering(3, random_state=0).fit(X)
    for memberships in (model.probabilities_, model.predict_proba(X)):
        assert memberships.shape == (150, 4)
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0)
        np.testing.assert_array_equal(memberships[:, :3].argmax(axis=1), model.labels_)
        np.testing.assert_array_equal(memberships[:, -1], 0.0)
