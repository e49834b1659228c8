"""``vicinal fuse``: sources of the same items in one similarity."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import vicinal

pandas = pytest.importorskip("pandas")


@pytest.fixture
def views(tmp_path):
    """Two tables of the same 40 items, in different order, and their matrices of distances."""
    rng = np.random.default_rng(0)
    group = np.arange(40) % 2
    tables = []
    for i in range(2):
        points = rng.normal(size=(40, 3)) + 4 * group[:, None]
        frame = pandas.DataFrame(points, columns=["x", "y", "z"])
        frame.insert(0, "name", [f"item {j}" for j in range(40)])
        frame["kind"] = group
        frame.to_csv(tmp_path / f"view{i}.csv", index=False)
        np.save(tmp_path / f"view{i}.npy", cdist(points, points))
        tables.append(points)
    return tables


def test_tables_are_fused_as_by_the_library(views, tmp_path, run):
    target = tmp_path / "out.csv"
    assert run("fuse", tmp_path / "view0.npy", tmp_path / "view1.npy", "-k", 5, "-o", target) == 0
    expected = vicinal.SelfSmoothing(metric="precomputed", random_state=0).fuse(
        [cdist(points, points) for points in views]
    )
    neighbors = expected.kneighbors(n_neighbors=5)[1]
    found = pandas.read_csv(target)
    np.testing.assert_array_equal(found["neighbor"].to_numpy().reshape(40, 5), neighbors)


def test_points_and_distances_give_the_same_neighbours(views, tmp_path, facts_of, run):
    options = ["--id", "name", "--label", "kind", "-k", 5, "--as-is"]
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    facts = facts_of("fuse", tmp_path / "view0.csv", tmp_path / "view1.csv", *options, "-o", a)
    assert facts["sources"][0]["read_as"] == "points"
    assert facts["same_class"] > 0.95
    run("fuse", tmp_path / "view0.npy", tmp_path / "view1.npy", "-k", 5, "-o", b)
    np.testing.assert_array_equal(pandas.read_csv(a)["neighbor"], pandas.read_csv(b)["neighbor"])


def test_items_are_matched_by_name_and_may_be_missing_in_a_source(views, tmp_path, facts_of, run):
    shuffled = pandas.read_csv(tmp_path / "view1.csv").sample(frac=1.0, random_state=1)
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    options = ["--id", "name", "--label", "kind", "-k", 5]
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for other, target in zip(("view1.csv", "shuffled.csv"), targets, strict=True):
        run("fuse", tmp_path / "view0.csv", tmp_path / other, *options, "-o", target)
    a, b = (pandas.read_csv(target) for target in targets)
    pandas.testing.assert_frame_equal(a, b)
    shuffled[:30].to_csv(tmp_path / "part.csv", index=False)
    facts = facts_of("fuse", tmp_path / "view0.csv", tmp_path / "part.csv", *options)
    assert (facts["rows"], facts["sources"][1]["rows"]) == (40, 30)


def test_sources_that_do_not_fit_are_clear_errors(views, tmp_path, error_of):
    first = tmp_path / "view0.csv"
    assert "two sources" in error_of("fuse", first)
    pandas.read_csv(first)[:30].to_csv(tmp_path / "part.csv", index=False)
    assert "match items by name with --id" in error_of("fuse", first, tmp_path / "part.csv")
    repeated = pandas.concat([pandas.read_csv(first)] * 2)
    repeated.to_csv(tmp_path / "twice.csv", index=False)
    options = ("--id", "name")
    assert "items of the same name" in error_of("fuse", first, tmp_path / "twice.csv", *options)
    np.save(tmp_path / "W.npy", np.eye(40))
    assert "matrix of similarities" in error_of("fuse", tmp_path / "view0.npy", tmp_path / "W.npy")
