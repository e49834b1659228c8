"""``vicinal perceive --save --labels`` and ``vicinal assign``: from one table to the next."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUICK = ["--sample", "50"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 5.0]])
    X = centers[np.arange(80) % 2] + rng.normal(0, 1, (80, 3))
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    frame.insert(0, "name", [f"row {i}" for i in range(80)])
    frame.loc[[3, 8], "width"] = np.nan
    return frame


@pytest.fixture
def kept(frame, tmp_path, run):
    table = tmp_path / "old.csv"
    frame.to_csv(table, index=False)
    files = {"model": tmp_path / "m.vicinal", "labels": tmp_path / "l.csv", "table": table}
    args = ["--id", "name", "-o", tmp_path / "r.html", "--save", files["model"]]
    assert run("perceive", table, *args, "--labels", files["labels"], *QUICK) == 0
    return files


def test_labels_hold_one_row_per_row_with_its_id(kept, frame):
    labels = pd.read_csv(kept["labels"])
    assert labels.columns.tolist() == ["id", "cluster", "probability", "noise_score"]
    assert labels["id"].tolist() == frame["name"].tolist()
    np.testing.assert_array_equal(labels["cluster"], np.arange(80) % 2)
    assert labels["probability"].between(0.5, 1).all()
    assert labels["noise_score"].between(0, 0.5).all()


def test_assigned_training_rows_get_their_labels_in_any_order(kept, frame, tmp_path, run, capsys):
    shuffled = frame.iloc[::-1][["depth", "name", "width", "height"]]
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    output = tmp_path / "out.csv"
    args = ["--model", kept["model"], "--id", "name", "-o", output]
    assert run("assign", tmp_path / "new.csv", *args) == 0
    assigned, labels = pd.read_csv(output), pd.read_csv(kept["labels"])
    merged = assigned.merge(labels, on="id", suffixes=("", "_before"))
    assert len(merged) == 80
    for column in ("cluster", "probability", "noise_score"):
        np.testing.assert_array_equal(merged[column], merged[f"{column}_before"])
    assert (assigned["nearest_1"] == assigned["id"]).mean() > 0.9
    out = capsys.readouterr().out
    assert "80 rows assigned, 80 of them equal to training rows." in out
    assert "No column differs clearly from the training rows." in out


def test_one_new_row_with_an_empty_cell_is_assigned(kept, tmp_path, facts_of):
    (tmp_path / "new.csv").write_text("height,width,depth,colour\n9.1,,4.8,red\n")
    facts = facts_of("assign", tmp_path / "new.csv", "--model", kept["model"], "--top", 2)
    assert facts["rows"] == 1
    (row,) = facts["assigned"]
    assert row["cluster"] == 1
    assert row["probability_1"] == row["probability"] > 0.9
    assert {"nearest_1", "distance_1", "nearest_2", "distance_2"} <= set(row)
    assert "nearest_3" not in row
    assert facts["notes"] == ["not used, since the model does not know it: 'colour'"]
    assert {record["column"] for record in facts["drift"]} == {"height", "width", "depth"}


def test_errors_name_the_column_or_the_file(kept, tmp_path, error_of):
    (tmp_path / "new.csv").write_text("height,widht,depth\n9.1,1,4.8\n1,2,3\n")
    message = error_of("assign", tmp_path / "new.csv", "--model", kept["model"])
    assert "no column 'width'" in message
    assert "did you mean 'widht'" in message
    kept["model"].write_bytes(kept["model"].read_bytes()[:-50])
    message = error_of("assign", kept["table"], "--model", kept["model"])
    assert f"{kept['model']} is not a model that vicinal can read" in message
    message = error_of("perceive", kept["table"], "--save", tmp_path / "m.pkl")
    assert "--save" in message
    assert "use one of .vicinal" in message
    message = error_of(
        "perceive", kept["table"], "--save", kept["model"], "-o", tmp_path / "2.html"
    )
    assert "exists; use --force" in message


def test_arrays_without_names_are_assigned_by_position(tmp_path, run, facts_of):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (40, 3)), rng.normal(9, 1, (40, 3))])
    np.save(tmp_path / "x.npy", X)
    args = ["--save", tmp_path / "m.vicinal", "-o", tmp_path / "r.html", *QUICK]
    assert run("perceive", tmp_path / "x.npy", *args) == 0
    np.save(tmp_path / "new.npy", X[35:45] + 0.01)
    facts = facts_of("assign", tmp_path / "new.npy", "--model", tmp_path / "m.vicinal")
    assert [row["cluster"] for row in facts["assigned"]] == [0] * 5 + [1] * 5
