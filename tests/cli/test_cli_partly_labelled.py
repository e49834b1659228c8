"""Partly labelled tables: unlabelled rows are counted and excluded from all fractions."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")


@pytest.fixture
def blobs():
    """Three well-separated groups; 42 of their 90 rows have no class."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 50.0 * groups[:, None]
    classes = np.array(["a", "b", "c"], dtype=object)[groups]
    classes[np.arange(90) % 30 < 14] = None
    return pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "class": classes})


def saved(frame, tmp_path, kind):
    if kind == "csv":
        frame.to_csv(tmp_path / "blobs.csv", index=False)
        return tmp_path / "blobs.csv"
    pytest.importorskip("pyarrow")
    frame.astype({"class": "string"}).to_parquet(tmp_path / "blobs.parquet")
    return tmp_path / "blobs.parquet"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fractions_count_only_labelled_rows(kind, blobs, tmp_path, facts_of):
    path = saved(blobs, tmp_path, kind)
    smoothed = facts_of("smooth", path, "--label", "class", "--t", 3, "-k", 12)
    assert smoothed["unlabelled_rows"] == 42
    assert smoothed["same_class_before"] == smoothed["same_class_after"] == 1.0
    ranked = facts_of("rank", path, "--label", "class", "--query", 20, 3, 80, "-k", 12)
    assert ranked["unlabelled_rows"] == 42
    assert ranked["same_class"] == 1.0
    assert {line["label"] for line in ranked["results"]} == {"a", "c", None}


def test_an_unlabelled_query_has_no_fraction(blobs, tmp_path, facts_of):
    facts = facts_of(
        "rank", saved(blobs, tmp_path, "csv"), "--label", "class", "--query", 3, "-k", 5
    )
    assert facts["same_class"] is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("command", [("smooth", "--t", 3), ("embed", "--method", "cpe-lap")])
def test_partly_labelled_rows_can_be_plotted(command, kind, blobs, tmp_path, run):
    pytest.importorskip("matplotlib")
    name, *args = command
    path, plot = saved(blobs, tmp_path, kind), tmp_path / "picture.png"
    assert run(name, path, *args, "--label", "class", "--plot", plot) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_rows_of_other_classes_lower_the_fraction(blobs, tmp_path, facts_of):
    known = np.flatnonzero(blobs["class"].notna())
    blobs.loc[known, "class"] = [f"class {i}" for i in range(len(known))]
    facts = facts_of("smooth", saved(blobs, tmp_path, "csv"), "--label", "class", "--t", 3)
    assert facts["same_class_before"] == facts["same_class_after"] == 0.0
