"""Explanations of clusters and noise: effect sizes, rules and reasons against literal counts."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import vicinal
from vicinal.report import _tables
from vicinal.report._effects import column_ranks, proportion_difference, rank_biserial
from vicinal.report._explanation_text import (
    describe_features_with_effects,
    describe_reasons,
    describe_rule,
)
from vicinal.report._html.data import payload
from vicinal.report._rules import find_rule, rule_features
from vicinal.report._steps.exemplars import pick_exemplars
from vicinal.report._steps.explanations import explain
from vicinal.report._value_text import date_text, shows_time, statistic_text
from vicinal.tables._codes import YEAR


def explained(values, labels, names=None, categories=None):
    labels, n = np.asarray(labels), len(labels)
    names = [f"x{j}" for j in range(values.shape[1])] if names is None else names
    points = values / np.abs(values).max(initial=1.0)
    data = SimpleNamespace(values=values, points=points, names=names, categories=categories or {})
    probabilities = np.zeros((n, labels.max() + 2))
    probabilities[np.arange(n), labels] = 1.0
    score = np.where(labels < 0, 0.9, 0.1)
    clusters = SimpleNamespace(labels=labels, probabilities=probabilities, noise_score=score)
    return explain(data, clusters, pick_exemplars(labels, score), 0)


def test_rank_biserial_counts_pairs():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (40, 3)).astype(float)
    members = rng.random(40) < 0.4
    effects = rank_biserial(column_ranks(values), members)
    for j, effect in enumerate(effects):
        pairs = np.sign(values[members, j][:, None] - values[~members, j][None])
        assert effect.size == pytest.approx(pairs.mean())
        assert effect.low < effect.size < effect.high


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("shape", [(40, 5), (1, 2), (0, 3), (7, 0)])
def test_columns_are_ranked_separately_with_ties(shape, n_jobs):
    values = np.random.default_rng(0).integers(0, 6, shape).astype(float)
    ranks = column_ranks(values, n_jobs)
    below = (values[None] < values[:, None]).sum(axis=1)
    equal = (values[None] == values[:, None]).sum(axis=1)
    assert (ranks == below + (equal + 1) / 2).all()


def test_the_interval_of_rank_biserial_covers_the_true_effect():
    # X ~ N(1, 1) exceeds Y ~ N(0, 1) with probability Phi(1 / sqrt(2)) = 0.7602.
    rng, truth, n_covered = np.random.default_rng(0), 2 * 0.7602 - 1, 0
    members = np.arange(90) < 30
    for _ in range(300):
        values = rng.normal(size=(90, 1)) + members[:, None]
        (effect,) = rank_biserial(column_ranks(values), members)
        n_covered += effect.low <= truth <= effect.high
    assert 0.9 < n_covered / 300 < 0.99


def test_the_interval_of_proportions_is_that_of_newcombe():
    # Table II of Newcombe, Statistics in Medicine 17 (1998), method 10: 56/70 and 48/80.
    effect = proportion_difference(56, 70, 48, 80)
    assert effect.size == pytest.approx(0.2)
    assert (effect.low, effect.high) == (
        pytest.approx(0.0524, abs=1e-4),
        pytest.approx(0.3339, abs=1e-4),
    )
    exact = proportion_difference(10, 10, 0, 10)
    assert (exact.low, exact.high) == (pytest.approx(0.6075, abs=1e-4), 1.0)


def test_a_rule_is_found_and_measured_on_other_rows():
    rng = np.random.default_rng(0)
    x, y = rng.random(400), rng.random(400)
    members = (x > 0.6) & (y <= 0.5)
    features = rule_features(np.column_stack([x, y]), ["x", "y"], {})
    rule = find_rule(features, members, np.random.default_rng(0))
    by_column = {c["column"]: c for c in rule["conditions"]}
    assert by_column["x"]["above"] is True
    assert by_column["x"]["value"] == pytest.approx(0.6, abs=0.03)
    assert by_column["y"]["above"] is False
    assert by_column["y"]["value"] == pytest.approx(0.5, abs=0.03)
    # Precision and recall of the rule as it is written, on the half of the rows it was not found on.
    held_out = np.random.default_rng(0).permutation(400)[200:]
    fits = (x > by_column["x"]["value"]) & (y <= by_column["y"]["value"])
    hits = (fits & members)[held_out].sum()
    assert rule["precision"] == hits / fits[held_out].sum()
    assert rule["recall"] == hits / members[held_out].sum()
    assert rule["rows"] == 200


def test_a_rule_for_random_rows_is_not_called_good():
    rng = np.random.default_rng(1)
    features = rule_features(rng.random((600, 5)), list("abcde"), {})
    members = rng.random(600) < 0.2
    rule = find_rule(features, members, np.random.default_rng(0))
    assert rule["precision"] < 0.35


def test_a_cluster_of_few_rows_has_no_rule():
    features = rule_features(np.arange(40.0)[:, None], ["x"], {})
    assert find_rule(features, np.arange(40) < 4, np.random.default_rng(0)) is None
    assert describe_rule(None) == "too few rows for a rule"


def test_a_category_that_makes_a_cluster_is_named_in_words():
    labels = np.repeat([0, 1], 60)
    colour = np.where(labels == 0, "red", "blue")
    colour[:6] = "blue"
    colour[118:] = ""
    result = explained(np.empty((120, 0)), labels, [], {"colour": colour})
    first = result.clusters[0]
    (feature,) = first["features"]
    assert (feature["inside"], feature["outside"]) == (0.1, 1.0)
    assert feature["effect"] == pytest.approx(-0.9)
    words = describe_features_with_effects(first["features"])
    assert words.startswith("colour is rarely blue (10%, others 100%; effect -0.90, -0.95 to ")
    assert describe_rule(first["rule"]).startswith("colour is ")


def test_the_nearest_cluster_and_what_separates_it():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [0.0, 4.0], [50.0, 0.0]])
    labels = np.repeat([0, 1, 2], 50)
    result = explained(centers[labels] + rng.normal(0, 0.5, (150, 2)), labels)
    first, second, third = result.clusters
    assert (first["nearest"], second["nearest"], third["nearest"]) == (1, 0, 0)
    assert [feature["column"] for feature in first["separate"]] == ["x1"]
    assert third["features"][0]["column"] == "x0"
    assert third["features"][0]["effect"] == 1.0
    assert first["rule"]["precision"] > 0.9
    assert len(first["typical"]) == 5


def test_noise_is_explained_by_the_value_farthest_from_the_nearest_cluster():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    values = np.array([[0.0, 0.0], [10.0, 0.0]])[labels] + rng.normal(0, 1, (200, 2))
    values = np.r_[values, [[9.8, 30.0]]]
    (row,) = explained(values, np.r_[labels, -1]).noise
    assert (row["row"], row["nearest"]) == (200, 1)
    reason = row["reasons"][0]
    assert (reason["column"], reason["value"]) == ("x1", 30.0)
    inside = values[100:200, 1]
    unit = np.subtract(*np.quantile(inside, [0.75, 0.25])) / 1.349
    assert reason["deviation"] == pytest.approx((30.0 - np.median(inside)) / unit)
    assert describe_reasons([reason]).startswith("x1 is 30 instead of about")


def test_huge_values_are_explained_without_overflow():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    values = np.where(labels[:, None] == 0, -1e308, 1e308) * rng.uniform(0.5, 1, (100, 2))
    with np.errstate(over="raise", invalid="raise"):
        result = explained(np.r_[values, [[1e308, -1e308]]], np.r_[labels, -1])
    assert result.clusters[0]["features"][0]["effect"] == -1.0
    assert result.clusters[0]["rule"]["precision"] > 0.9
    assert np.isfinite(result.noise[0]["reasons"][0]["deviation"])


def test_one_cluster_has_no_explanation():
    assert (
        explained(np.random.default_rng(0).normal(size=(30, 2)), np.zeros(30, int)).clusters == []
    )


def test_report_summary_and_json_hold_the_explanations(perception, tmp_path):
    from vicinal.report._json import to_json

    result = perception("iris")
    assert result.explanations.clusters
    assert "rule: petal" in result.summary()
    page = result.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What distinguishes the clusters" in page
    assert "precision" in page
    assert to_json(result)["explanations"] == result.explanations.clusters


def test_hostile_names_of_columns_and_categories_stay_text(tmp_path):
    pd = pytest.importorskip("pandas")
    evil = "<script>alert(1)</script>"
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [9.0]], 40, axis=0) + rng.normal(0, 1, (80, 1))
    frame = pd.DataFrame({evil: X[:, 0], "kind": np.repeat([evil, "b"], 40)})
    result = vicinal.perceive(frame, n_clusters=2, sample=50)
    page = result.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    assert evil not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_dates_are_written_as_dates_everywhere():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    late = np.arange(80) % 2 == 1
    start = np.where(late, "2022-03-01", "2020-05-01").astype("datetime64[D]")
    table = pd.DataFrame(
        {
            "signup": start + rng.integers(0, 40, 80),
            "age": np.where(late, 60.0, 20.0) + rng.normal(size=80),
        }
    )
    result = vicinal.perceive(table, n_clusters=2)
    text = result.summary()
    assert "signup high (median 2022-0" in text
    assert "others 2020-0" in text
    assert not re.search(r"signup [a-z<>=]+ \(?(median )?20\d\d\.\d", text)
    (signup,) = [r for r in _tables.columns(result).records if r["column"] == "signup"]
    assert statistic_text(signup, "min") == str(table["signup"].min().date())
    assert statistic_text(signup, "std").endswith(" days")
    (colour,) = [c for c in payload(result)["colours"] if c["name"] == "signup"]
    assert colour["date"] == "day"
    assert colour["bytes"] == 8


@pytest.mark.parametrize("moment", ["2021-03-05T00:00", "1969-12-31T23:59", "0044-03-15T12:30"])
def test_a_date_in_years_becomes_the_same_date(moment):
    years = 1970 + np.datetime64(moment, "s").astype(int) / YEAR
    assert date_text(years) == moment[:10]
    assert date_text(years, with_time=True) == moment.replace("T", " ")


def test_a_range_of_a_few_days_is_shown_with_times():
    assert shows_time(2021.0, 2021.0 + 2 / 365)
    assert not shows_time(2021.0, 2022.0)
