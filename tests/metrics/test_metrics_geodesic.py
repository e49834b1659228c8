"""Measures of geodesic distances, against their formulas written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from vicinal.metrics import geodesic_error, residual_variance


def test_geodesic_error_is_the_mean_absolute_difference():
    rng = np.random.default_rng(0)
    estimated, true = rng.random((2, 300, 300))
    assert geodesic_error(estimated, true) == pytest.approx(abs(estimated - true).mean())
    assert geodesic_error(estimated + 2.0, estimated) == pytest.approx(2.0)


def test_geodesic_error_of_a_missing_path_is_infinite():
    assert geodesic_error([[0, np.inf], [np.inf, 0]], [[0, 1], [1, 0]]) == np.inf


@given(n=st.integers(3, 60), d=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_residual_variance_is_one_minus_squared_correlation(n, d, seed):
    rng = np.random.default_rng(seed)
    geodesics, embedding = rng.random((n, n)), rng.standard_normal((n, d))
    correlation = np.corrcoef(geodesics.ravel(), cdist(embedding, embedding).ravel())[0, 1]
    assert residual_variance(geodesics, embedding) == pytest.approx(1 - correlation**2, abs=1e-10)


def test_residual_variance_over_many_blocks_and_with_an_offset():
    rng = np.random.default_rng(0)
    geodesics, embedding = 1e4 + rng.random((700, 700)), rng.standard_normal((700, 2))
    correlation = np.corrcoef(geodesics.ravel(), cdist(embedding, embedding).ravel())[0, 1]
    result = residual_variance(geodesics, embedding)
    assert result == pytest.approx(1 - correlation**2, abs=1e-9)
    assert result == residual_variance(geodesics, embedding, n_jobs=1)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_residual_variance_has_no_unit(scale):
    rng = np.random.default_rng(0)
    embedding = rng.standard_normal((40, 2))
    geodesics = cdist(embedding, embedding) ** 1.5
    expected = residual_variance(geodesics, embedding)
    assert residual_variance(scale * geodesics, embedding) == pytest.approx(expected, rel=1e-9)
    assert residual_variance(geodesics, scale * embedding) == pytest.approx(expected, rel=1e-9)


def test_residual_variance_with_landmarks_takes_their_columns():
    rng = np.random.default_rng(0)
    geodesics, embedding, landmarks = rng.random((50, 4)), rng.random((50, 2)), [7, 3, 40, 0]
    distances = cdist(embedding, embedding[landmarks])
    correlation = np.corrcoef(geodesics.ravel(), distances.ravel())[0, 1]
    variance = residual_variance(geodesics, embedding, landmarks=landmarks)
    assert variance == pytest.approx(1 - correlation**2, abs=1e-12)


def test_residual_variance_without_any_variance():
    nothing, line = np.zeros((3, 3)), np.array([[0.0], [1.0], [2.0]])
    assert residual_variance(nothing, np.zeros((3, 1))) == 0.0
    assert residual_variance(nothing, line) == 1.0
    assert residual_variance(cdist(line, line), np.zeros((3, 1))) == 1.0


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (geodesic_error, (np.zeros((2, 2)), np.zeros((3, 3))), "estimated has shape"),
        (geodesic_error, ([[np.nan]], [[0.0]]), "estimated contains"),
        (geodesic_error, ([[0.0]], [[np.inf]]), "true contains"),
        (residual_variance, (np.zeros((2, 2)), np.zeros((3, 1))), "geodesics has shape"),
        (residual_variance, ([[0, np.inf], [np.inf, 0]], [[0], [1]]), "geodesics contains"),
    ],
)
def test_errors_name_the_invalid_argument(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
