"""Clusters by two methods: how their labels are matched, and the columns that distinguish a cluster."""

from types import SimpleNamespace

import numpy as np
import pytest

from vicinal.report._steps.clusters import contingency_table, match_labels, top_features


def test_labels_are_renumbered_to_match_the_most_rows():
    labels = np.array([0, 0, 0, 1, 1, 2, 2, -1])
    others = np.array([2, 2, 2, 0, 0, 1, 1, 1])
    assert match_labels(labels, others).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    counts = contingency_table(labels, others)
    assert counts.sum() == 8
    assert counts[-1].tolist() == [0, 1, 0]  # noise last


def test_top_features_are_the_columns_farthest_from_the_mean():
    values = np.column_stack([np.arange(10.0), np.zeros(10), [1.0] * 9 + [10.0]])
    members = np.arange(10) == 9
    data = SimpleNamespace(values=values, names=["a", "b", "c"], categories={})
    features = top_features(data, members)
    assert [feature["column"] for feature in features] == ["c", "a", "b"]
    assert features[0]["z_score"] == pytest.approx(3.0)


def test_the_most_over_represented_category_has_its_shares_inside_and_outside():
    words = np.array(["x", "x", "x", "y", "", "y", "y", "y", "y", "x"])
    members = np.arange(10) < 5
    data = SimpleNamespace(values=np.empty((10, 0)), names=[], categories={"c": words})
    (feature,) = top_features(data, members)
    share = 4 / 9
    assert feature == {
        "column": "c",
        "category": "x",
        "inside": 0.75,
        "outside": pytest.approx(0.2),
        "z_score": pytest.approx((0.75 - share) / np.sqrt(share * (1 - share))),
    }
