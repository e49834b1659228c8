"""The cut of a self-smoothed affinity, compared with the dense one."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from sklearn.metrics import adjusted_rand_score

import vicinal
from vicinal.segmentation import _smoothed_cut as smoothed_cut
from vicinal.segmentation._pixels import grid_offsets, pixel_affinity, typical_step
from vicinal.segmentation._smoothed_cut import (
    SmoothedAffinity,
    return_probabilities,
    smoothed_vectors,
)
from vicinal.segmentation.normalized_cut import read_segments
from vicinal.similarity import self_smooth

SHAPE = (18, 24)


@pytest.fixture(scope="module")
def image():
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    values = np.where(columns < 9, 0.0, np.where(rows < 8, 1.0, 2.0))
    return values + 0.15 * np.random.default_rng(0).normal(size=SHAPE)


@pytest.fixture(scope="module")
def weights(image):
    return pixel_affinity(image[..., None], *grid_offsets(), 0.4)


def dense_vectors(W, t, clamp):
    """The whole of the reference: smoothing with self-normalisation, symmetric part, normalised cut."""
    W = W.toarray() + np.eye(W.shape[0])
    smooth = self_smooth(W, t, normalize=clamp)
    if not clamp:
        smooth = smooth / np.diagonal(smooth)[:, None]
    A = (smooth + smooth.T) / 2
    d = A.sum(axis=1)
    _, vectors = eigh(A, np.diag(d))
    return A, vectors[:, ::-1][:, :3]


@pytest.mark.parametrize("t", [1, 5, 30])
def test_products_equal_those_of_the_dense_matrix(weights, t):
    A, _ = dense_vectors(weights, t, clamp=False)
    roots = np.sqrt(A.sum(axis=1))
    with_self = sparse.csr_array(weights + sparse.eye_array(weights.shape[0]))
    P = with_self.toarray() / with_self.sum(axis=1)[:, None]
    returns = np.diagonal(np.linalg.matrix_power(P, t + 1))
    operator = SmoothedAffinity(with_self, t, returns)
    expected = A / roots[:, None] / roots
    np.testing.assert_allclose(operator @ np.eye(len(A)), expected, atol=1e-6)
    trivial = operator.trivial_vector
    np.testing.assert_allclose(operator @ trivial, trivial, atol=1e-6)
    np.testing.assert_allclose(operator.approximation @ trivial, trivial, atol=1e-12)


@pytest.mark.parametrize("steps", [2, 6, 31])
def test_return_probabilities_approximate_the_literal_powers(weights, steps):
    with_self = sparse.csr_array(weights + sparse.eye_array(weights.shape[0]))
    P = with_self.toarray() / with_self.sum(axis=1)[:, None]
    expected = np.diagonal(np.linalg.matrix_power(P, steps))
    result = return_probabilities(with_self, SHAPE, typical_step(*grid_offsets()), steps)
    np.testing.assert_allclose(result, expected, rtol=0.06)


@pytest.mark.parametrize("t", [1, 5, 30])
def test_segments_equal_those_of_the_dense_matrix_clipped_or_not(weights, t):
    step = typical_step(*grid_offsets())
    result = read_segments(smoothed_vectors(weights, SHAPE, step, t, 3), 3, 0)
    for clamp in (False, True):
        expected = read_segments(dense_vectors(weights, t, clamp)[1], 3, 0)
        assert adjusted_rand_score(result, expected) > 0.97


def test_both_eigensolvers_agree(image, monkeypatch):
    large = np.kron(image, np.ones((3, 3)))
    result = vicinal.segment(large, 3, smooth=6)
    monkeypatch.setattr(smoothed_cut, "DIRECT_MAX_PIXELS", large.size)
    assert adjusted_rand_score(result.ravel(), vicinal.segment(large, 3, smooth=6).ravel()) > 0.98


def test_without_self_normalisation_smoothing_does_not_change_the_cut(weights):
    """W_t has the degrees of W, and its normalised form is a power of that of W."""
    W = weights.toarray() + np.eye(weights.shape[0])
    smooth = self_smooth(W, 7, normalize=False)
    np.testing.assert_allclose(smooth.sum(axis=1), W.sum(axis=1))
    vectors = [eigh(A, np.diag(W.sum(axis=1)))[1][:, ::-1][:, :3] for A in (W, smooth)]
    np.testing.assert_allclose(np.abs(vectors[0]), np.abs(vectors[1]), atol=1e-8)


def test_noise_is_smoothed_away(image):
    truth = np.where(np.arange(24) < 9, 0, np.where(np.arange(18)[:, None] < 8, 1, 2))
    noisy = image + 0.3 * np.random.default_rng(1).normal(size=SHAPE)
    result = vicinal.segment(noisy, 3, smooth=20)
    assert result.shape == SHAPE
    assert adjusted_rand_score(truth.ravel(), result.ravel()) > 0.9


def test_the_result_is_the_same_for_any_number_of_threads(image):
    one, two = (vicinal.segment(image, 3, smooth=9, n_jobs=j) for j in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_degenerate_images_are_cut_as_without_smoothing():
    assert not vicinal.segment(np.eye(4), 1, smooth=5).any()
    assert len(np.unique(vicinal.segment(np.arange(6.0).reshape(2, 3), 6, smooth=5))) == 6
    assert len(np.unique(vicinal.segment(np.full((12, 16), 7), 2, smooth=5))) == 2
    assert len(np.unique(vicinal.segment(np.zeros((1, 40)), 2, smooth=3, graph="radius"))) == 2


@pytest.mark.parametrize("smooth", [-1, 2.5, "auto"])
def test_invalid_steps_are_named_in_the_error(image, smooth):
    with pytest.raises((ValueError, TypeError), match="smooth="):
        vicinal.segment(image, 3, smooth=smooth)
