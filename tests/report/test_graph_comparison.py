"""The figures of the graph comparison match the graphs."""

from types import SimpleNamespace

import numpy as np
import pytest

from vicinal import graphs
from vicinal.report._shared_inputs import SharedInputs, disjoint_trees
from vicinal.report._steps.clusters import contingency_table, match_labels, top_features
from vicinal.report._steps.graph_comparison import compare_graphs, edge_stability


def edges_of(graph):
    return set(map(tuple, graph.edges().tolist()))


def test_stability_is_the_fraction_of_edges_that_remain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    graph, other = graphs.knn(X, 4), graphs.knn(X + 0.2 * rng.normal(size=X.shape), 4)
    expected = len(edges_of(graph) & edges_of(other)) / len(edges_of(graph))
    assert edge_stability(graph, [other]) == pytest.approx(expected)
    assert edge_stability(graph, [graph, other]) == pytest.approx((1 + expected) / 2)


def test_two_far_clusters_show_in_the_table():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(50, 1, (40, 2))])
    labels = np.repeat([0, 1], 40)
    compared = compare_graphs(SharedInputs(X, 2000, 0, None, 0), labels)
    rows = {row["graph"]: row for row in compared.table}
    assert next(iter(rows)) == "k nearest neighbours"
    assert len(rows) == 6
    assert rows["k nearest neighbours"]["components"] == 2
    assert rows["k nearest neighbours"]["between_clusters"] == 0
    tree = rows["spanning tree (MST)"]
    assert (tree["edges"], tree["components"]) == (79, 1)
    assert tree["between_clusters"] == pytest.approx(1 / 79)
    assert tree["max_length"] > 40
    for row in rows.values():
        assert 0 < row["stability"] <= 1
    # The one edge between them is the worst shortcut of the tree.
    worst = next(row for row in compared.shortcuts if row["graph"] == "spanning tree (MST)")
    assert {worst["source"] < 40, worst["target"] < 40} == {True, False}


def test_equal_rows_have_one_tree_if_a_second_does_not_exist():
    assert disjoint_trees(np.ones((12, 2)), None).n_edges == 11


def test_disjoint_trees_are_built_once_with_as_many_trees_as_exist(monkeypatch):
    from vicinal.graphs import trees

    built = []
    build = trees.disjoint_trees
    monkeypatch.setattr(
        trees, "disjoint_trees", lambda *args: built.append(args[2]) or build(*args)
    )
    X = np.repeat(np.random.default_rng(0).random((2, 2)), 10, axis=0)
    expected = next(
        graph for n_trees in (4, 3, 2, 1) if (graph := disjoint_mst_or_none(X, n_trees)) is not None
    )
    built.clear()
    assert disjoint_trees(X, None) == expected
    assert built == [4]


def disjoint_mst_or_none(X, n_trees):
    try:
        return graphs.disjoint_mst(X, n_trees)
    except ValueError:
        return None


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
    data = SimpleNamespace(numbers=values, names=["a", "b", "c"], categories={})
    features = top_features(data, members)
    assert [feature["column"] for feature in features] == ["c", "a", "b"]
    assert features[0]["z_score"] == pytest.approx(3.0)


def test_the_most_over_represented_category_has_its_shares_inside_and_outside():
    words = np.array(["x", "x", "x", "y", "", "y", "y", "y", "y", "x"])
    members = np.arange(10) < 5
    data = SimpleNamespace(numbers=np.empty((10, 0)), names=[], categories={"c": words})
    (feature,) = top_features(data, members)
    share = 4 / 9
    assert feature == {
        "column": "c",
        "category": "x",
        "inside": 0.75,
        "outside": pytest.approx(0.2),
        "z_score": pytest.approx((0.75 - share) / np.sqrt(share * (1 - share))),
    }
