import numpy as np
import pytest

from vicinal._core.rescale import (
    SAFE_RANGE,
    binary_exponent,
    max_magnitude,
    normalize_magnitude,
    power_of_two,
    safe_factor,
)

SIZES = [5e-324, 1e-310, 1e-200, 0.3, 1.0, 3.0, 1e200, 1.7e308]


@pytest.mark.parametrize("size", SIZES)
def test_binary_exponent_is_an_upper_bound(size):
    exponent = binary_exponent(size)
    assert np.ldexp(size, -exponent) < 1 <= np.ldexp(size, 1 - exponent)


@pytest.mark.parametrize("size", SIZES)
def test_power_of_two_and_its_inverse_are_normal_floats(size):
    unit = power_of_two(size)
    assert np.frexp(unit)[0] == 0.5
    assert 0 < 1 / unit < np.inf
    if 1e-300 < size < 1e300:
        assert unit <= size < 2 * unit


def test_zero_is_not_rescaled():
    assert power_of_two(0.0) == safe_factor(np.zeros((2, 2))) == safe_factor(np.empty((0, 2))) == 1


@pytest.mark.parametrize("size", SIZES)
def test_safe_factor_makes_squares_finite_and_positive(size):
    X = np.array([[size, -size / 4]])
    factor = safe_factor(X)
    assert 0 < np.square(max_magnitude(X) * factor) < np.inf
    if SAFE_RANGE[0] < size < SAFE_RANGE[1]:
        assert factor == 1


def test_max_magnitude_sees_negative_values():
    assert max_magnitude(np.array([-3.0, 2.0])) == 3
    assert max_magnitude(np.array([])) == 0


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_normalized_values_are_restored_bit_for_bit(axis):
    X = np.random.default_rng(0).normal(size=(4, 3)) * [1e-140, 1.0, 1e140]
    X[2] = 0.0
    scaled, exponents = normalize_magnitude(X, axis)
    sizes = np.abs(scaled).max(axis=axis)
    assert ((sizes == 0) | ((sizes >= 0.5) & (sizes < 1))).all()
    assert np.array_equal(np.ldexp(scaled, exponents), X)
