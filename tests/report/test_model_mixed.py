"""Saved analyses of tables with columns of any kind."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

import vicinal  # noqa: E402
from vicinal.exceptions import InvalidValueError  # noqa: E402
from vicinal.report import PerceptionModel  # noqa: E402

COLOURS = np.array(["red", "green", "blue"], dtype=object)


def customers(n=120, seed=0):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    days = np.datetime64("2024-01-01") + (rng.integers(0, 40, n) + 400 * group).astype("m8[D]")
    frame = pd.DataFrame(
        {
            "name": [f"customer {i}" for i in range(n)],
            "spent": [f"${v:,.2f}" for v in 1000 + 3000 * group + rng.normal(0, 150, n)],
            "colour": COLOURS[np.where(rng.random(n) < 0.9, group, 2)],
            "member": np.where(group ^ (rng.random(n) < 0.05), "Yes", "No"),
            "size": pd.Categorical(
                np.where(group ^ (rng.random(n) < 0.05), "L", "S"), ["S", "M", "L"], ordered=True
            ),
            "joined": days,
            "visits": rng.poisson(3 + 20 * group).astype(float),
        }
    )
    frame.loc[[5, 30], "visits"] = np.nan
    frame.loc[[6, 31], "colour"] = None
    return frame, group


@pytest.fixture(scope="module")
def result():
    return vicinal.perceive(customers()[0], ids="name", n_clusters=2, sample=50)


@pytest.fixture
def model(result, tmp_path):
    return PerceptionModel.load(result.save(tmp_path / "model.vicinal"))


def test_training_rows_get_exactly_their_results_back(result, model):
    frame, group = customers()
    assert np.mean(group == result.labels) > 0.95
    assert set(result.data.categories) >= {"colour", "member"}
    assigned = model.assign(frame, ids="name")
    np.testing.assert_array_equal(assigned.labels, result.labels)
    np.testing.assert_array_equal(assigned.noise_score, result.noise_score)
    np.testing.assert_array_equal(assigned.probabilities, result.probabilities)
    assert assigned.ids == result.data.ids
    assert not any(record["changed"] for record in assigned.drift)
    assert assigned.notes == []


def test_new_rows_are_placed_alone_or_together(model):
    frame, group = customers(80, seed=1)
    assigned = model.assign(frame.drop(columns="name"))
    assert np.mean(assigned.labels == group) > 0.95
    alone = [model.assign(frame.iloc[[i]]).labels[0] for i in range(10)]
    np.testing.assert_array_equal(alone, assigned.labels[:10])


def test_drift_counts_unseen_categories(model):
    frame, _ = customers(200, seed=2)
    frame["colour"] = "violet"
    frame["member"] = "Yes"
    drift = {record["column"]: record for record in model.assign(frame).drift}
    assert (drift["colour"]["outside"], drift["colour"]["changed"]) == (1.0, True)
    assert drift["colour"]["missing_before"] == pytest.approx(2 / 120)
    assert (drift["member"]["outside"], drift["member"]["changed"]) == (0.0, True)
    assert drift["member"]["difference"] == pytest.approx(0.5, abs=0.1)
    assert not drift["spent"]["changed"]


def test_a_missing_column_is_an_error(model):
    with pytest.raises(InvalidValueError, match="no column 'colour'"):
        model.assign(customers()[0].drop(columns="colour"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e["columns"][0].update(kind="code"), "has no kind"),
        (lambda e: e["codes"].pop(), "not a model"),
        (lambda e: e["columns"].clear(), "contradict each other"),
        (lambda e: e["codes"][0].update(unit="x"), "damaged"),
        (lambda e: e["codes"][0].update(unit=0.0), "contradict each other"),
        (lambda e: e["codes"][0].update(code="pickle"), "damaged"),
        (lambda e: e["codes"][1].update(levels=["a"]), "contradict"),
        (lambda e: e["map"].update(units=[1.0]), "contradict each other"),
        (lambda e: e["map"]["layout"]["weight"].append(1.0), "contradict each other"),
        (lambda e: e["map"].update(factors=["x"]), "not a model"),
    ],
)
def test_a_changed_preparation_is_an_error(change, message, result, tmp_path):
    from test_model import rewrite

    path = result.save(tmp_path / "model.vicinal")
    rewrite(path, document=lambda document: change(document["preparation"]["encoding"]) and None)
    with pytest.raises(InvalidValueError, match=message):
        PerceptionModel.load(path)
