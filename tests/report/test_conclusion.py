"""The conclusion: what is in the table, how sure, what to look at, and which columns are used."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import vicinal
from vicinal.report._conclusion import conclusion, defining_columns
from vicinal.report._html.page import render
from vicinal.report._json import to_json
from vicinal.report._tables import readable


def of_blobs(extra=None, n=120):
    X, blob = make_blobs(n, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0]], random_state=0)
    table = {f"measure {j}": column for j, column in enumerate(X.T)}
    return vicinal.perceive(table | (extra(blob) if extra else {}), n_clusters=3, sample=60), blob


@pytest.fixture(scope="module")
def blobs():
    return of_blobs()[0]


def test_the_answer_comes_first_in_the_summary_on_the_page_and_in_json(blobs):
    answer = conclusion(blobs)["Answer"]
    assert answer.startswith("The 120 rows form 3 clusters: cluster ")
    lines = blobs.summary().splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith(("Answer", "Clusters"))] == [
        "Answer",
        "Clusters",
    ]
    page = render(blobs)
    assert (
        page.index("<dt>Answer</dt>")
        < page.index("<dt>Confidence</dt>")
        < page.index("<dt>Clusters</dt>")
    )
    assert next(iter(to_json(blobs))) == "conclusion"


def test_clear_clusters_have_high_confidence(blobs):
    assert conclusion(blobs)["Confidence"].startswith("High: ")


def test_a_structureless_table_is_one_group(perception):
    X = np.random.default_rng(0).normal(size=(200, 3))
    result = vicinal.perceive(X, sample=60)
    assert conclusion(result)["Answer"].startswith("The 200 rows form one group")
    assert defining_columns(result) == []


def test_unstable_clusters_have_low_confidence(blobs):
    count = blobs.count._replace(stability=np.array([[3.0, 0.4]]))
    assert conclusion(replace(blobs, count=count))["Confidence"].startswith("Low: ")


def test_unused_columns_are_named_with_the_reason(perception):
    text = conclusion(perception("iris"))["Columns"]
    assert text.startswith(("4 of ", "5 of "))
    assert "planet (constant" in text


def test_unused_columns_are_grouped_by_reason_and_counted():
    table = np.random.default_rng(0).normal(size=(60, 10))
    table[:, 2:] = 1.0
    result = vicinal.perceive(table, n_clusters=2, sample=60)
    names = ", ".join(f"column {j}" for j in range(3, 8))
    expected = f"2 of 10 used. Not used: {names} and 3 more (constant)."
    assert conclusion(result)["Columns"] == expected


def test_a_discrete_column_that_alone_makes_the_clusters_is_pointed_out():
    result, _ = of_blobs(lambda blob: {"year": 2019.0 + blob})
    assert [column.name for column in defining_columns(result)] == ["year"]
    assert "year alone determines the cluster of" in conclusion(result)["Confidence"]
    assert "year alone" in render(result)
    assert to_json(result)["defining_columns"][0]["name"] == "year"


def test_continuous_columns_and_unrelated_ones_do_not_make_clusters(blobs):
    assert defining_columns(blobs) == []
    result, _ = of_blobs(lambda blob: {"coin": np.arange(len(blob)) % 2 * 0.1})
    assert defining_columns(result) == []


def test_a_cluster_that_the_second_method_merged_says_so(blobs):
    labels = blobs.labels
    others = np.where(labels == 2, 1, labels)
    from vicinal.report._steps.clusters import cluster_sizes, contingency_table

    clusters = blobs.clusters._replace(
        other_labels=others,
        contingency=contingency_table(labels, others),
        sizes=cluster_sizes(labels, others, blobs.noise_score, blobs.data),
    )
    result = replace(blobs, clusters=clusters)
    assert "merged: clusters 1 and 2 are one" in result.summary()
    assert "Cluster 2, which the second method does not find" in result.summary()


def test_low_confidence_names_a_number_of_clusters_that_is_stable(blobs):
    curve = np.array([[2, 0.95], [3, 0.4], [4, 0.3]])
    result = replace(blobs, count=blobs.count._replace(stability=curve))
    text = conclusion(result)["Confidence"]
    assert text.startswith("Low: ")
    assert "2 clusters would be stable (ARI 0.95)" in text
    assert "--clusters 2" in text
    for curve in (np.array([[2, 0.5], [3, 0.4]]), np.array([[2, 0.95], [3, 0.97]])):
        result = replace(blobs, count=blobs.count._replace(stability=curve))
        assert "would be stable" not in conclusion(result)["Confidence"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (36632.7, "36,633"),
        (-1234567.0, "-1,234,567"),
        (2019.0, "2019"),
        (39.918, "39.92"),
        (0.0, "0"),
        (0.00012, "0.00012"),
        (3e-9, "3e-09"),
        (1e20, "1e+20"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_have_no_exponent_where_people_write_none(value, text):
    assert readable(value) == text


@pytest.mark.parametrize("name", ["iris", "wine", "half-cylinders", "spirals"])
def test_noise_scores_are_above_one_half_exactly_for_noise(perception, name):
    result = perception(name)
    np.testing.assert_array_equal(result.noise_score > 0.5, result.labels < 0)
