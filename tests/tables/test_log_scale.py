"""Skewed positive numbers are compared by their logarithms."""

import json

import numpy as np
import pytest
from scipy.stats import boxcox_llf

from vicinal import SpectralClustering
from vicinal.metrics import clustering_accuracy
from vicinal.tables import TableEncoder
from vicinal.tables._coding import fit_number
from vicinal.tables._coding_json import coder_from_json, coder_to_json
from vicinal.tables._log_scale import is_log_scaled


def amounts(seed=0, n=300):
    return np.exp(np.random.default_rng(seed).normal(7.0, 1.5, n))


def customers(seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 400)
    revenue = np.exp(rng.normal(np.array([5.0, 7.0, 9.0])[group], 0.4))
    basket = np.exp(rng.normal(np.array([3.0, 1.0, 2.0])[group], 0.3))
    channel = np.where(rng.random(400) < 0.8, group, rng.integers(0, 3, 400)).astype(str)
    return {"revenue": revenue, "basket": basket, "channel": channel.astype(object)}, group


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_is_the_largest_likelihood_of_box_and_cox(seed):
    rng = np.random.default_rng(seed)
    samples = [
        amounts(seed),
        rng.exponential(size=300),
        rng.random(300) + 0.01,
        np.square(rng.normal(5.0, 1.5, 300)) + 0.1,
        rng.gamma(6.0, size=300),
    ]
    for sample in samples:
        sample = sample[sample > 0]
        scores = [boxcox_llf(power, sample) for power in (0.0, 0.5, 1.0)]
        expected = sample.max() / sample.min() >= 10 and np.argmax(scores) == 0
        assert is_log_scaled(sample) == expected


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1.0, 1e200])
def test_the_choice_does_not_depend_on_the_unit_or_on_gaps(unit):
    values = np.insert(amounts(), 5, np.nan) * unit
    assert is_log_scaled(values)


@pytest.mark.parametrize(
    "values",
    [
        amounts() - 1e3,
        np.where(np.arange(300) == 0, 0.0, amounts()),
        np.linspace(1990, 2020, 300),
        np.random.default_rng(0).normal(100.0, 20.0, 300),
        np.tile(np.geomspace(1, 1e6, 10), 30),
        amounts(n=10),
        np.full(300, np.nan),
        np.full(300, 3.0),
    ],
    ids=["negative", "zero", "narrow", "normal", "few values", "few rows", "empty", "constant"],
)
def test_other_numbers_are_compared_as_they_are(values):
    assert not is_log_scaled(values)


def test_groups_of_a_skewed_column_are_found_without_their_number():
    table, group = customers()
    encoder = TableEncoder().fit(table)
    assert encoder.columns_[0].reason.endswith("; compared by their logarithms")
    labels = SpectralClustering(random_state=0).fit_predict(encoder.transform(table))
    assert clustering_accuracy(group, labels) > 0.97


def test_other_scalings_keep_numbers_as_they_are():
    table, _ = customers()
    for options in ({"scaling": "standard"}, {"scaling": "none"}, {"metric": "gower"}):
        assert "logarithm" not in TableEncoder(**options).fit(table).columns_[0].reason


def test_new_values_below_the_smallest_one_are_like_it():
    table, _ = customers()
    encoder = TableEncoder(categories="indicators").fit(table)
    smallest = float(table["revenue"].min())
    rows = {
        "revenue": [smallest, 0.0, -5.0, 2 * smallest],
        "basket": [1.0] * 4,
        "channel": ["0"] * 4,
    }
    first = encoder.transform(rows)[:, 0]
    assert first[0] == first[1] == first[2] < first[3]


def test_a_log_scale_survives_json():
    coder = fit_number(np.log(amounts()), "robust")._replace(floor=0.25)
    assert coder_from_json(json.loads(json.dumps(coder_to_json(coder))), "numeric") == coder
    with pytest.raises(ValueError, match="smallest positive"):
        coder_from_json(coder_to_json(coder) | {"floor": -1.0}, "numeric")
