"""Dependence of columns and groups within one column, on which weights rest."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from vicinal.tables._association import (
    association_strengths,
    pool_rare,
    quantile_codes,
    squared_v,
)
from vicinal.tables._modality import modality_strength


def test_squared_v_is_that_of_scipy_corrected_for_bias():
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=200)
    b = np.where(rng.random(200) < 0.6, a, rng.integers(4, size=200))
    table = np.zeros((3, 4))
    np.add.at(table, (a, b), 1)
    phi = chi2_contingency(table, correction=False).statistic / 200
    excess = phi - 2 * 3 / 199
    expected = excess / min(3 - 2**2 / 199 - 1, 4 - 3**2 / 199 - 1)
    assert squared_v(table, 0.01) == pytest.approx(expected)


def test_independent_columns_have_no_strength_and_equal_ones_have_one():
    rng = np.random.default_rng(1)
    codes = [rng.integers(4, size=400) for _ in range(6)]
    assert association_strengths(codes).tolist() == [0.0] * 6
    twins = association_strengths([*codes, codes[0]])
    np.testing.assert_allclose(twins[[0, 6]], 1.0, atol=1e-12)
    assert not twins[1:6].any()


def test_missing_values_do_not_count():
    rng = np.random.default_rng(2)
    a = rng.integers(3, size=300)
    b = np.where(np.arange(300) < 150, a, -1)
    strengths = association_strengths([a, b])
    np.testing.assert_allclose(strengths, 1.0, atol=0.02)


def test_dependence_that_is_no_correlation_is_seen():
    x = np.random.default_rng(3).normal(size=500)
    assert (association_strengths([quantile_codes(x), quantile_codes(x**2)]) > 0.5).all()


def test_quantile_codes_are_bins_of_equal_counts():
    codes = quantile_codes(np.r_[np.arange(800.0), np.nan])
    assert codes[-1] == -1
    assert np.bincount(codes[:-1]).tolist() == pytest.approx([100] * 8, abs=1)


def test_rare_categories_are_pooled():
    codes = np.r_[np.repeat([0, 2], 10), [1, 3, -1]]
    assert pool_rare(codes).tolist() == [0] * 10 + [1] * 10 + [2, 2, -1]


@pytest.mark.parametrize("seed", range(5))
def test_groups_in_one_column_are_seen_and_single_groups_are_not(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=300)
    for single in (normal, rng.random(300), rng.exponential(size=300), np.exp(normal), normal**3):
        assert modality_strength(single) == 0.0
    assert modality_strength(normal + 6 * rng.integers(2, size=300)) > 0.6
    assert modality_strength(normal + 6 * rng.integers(3, size=300)) > 0.6
    assert modality_strength(rng.integers(5, size=300).astype(float)) == 0.0
