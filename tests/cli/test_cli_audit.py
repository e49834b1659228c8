"""``vicinal audit``: the report, the findings of each row, and JSON."""

import json

import numpy as np
import pandas as pd
import pytest

from vicinal.cli import main


@pytest.fixture
def table(tmp_path):
    """Two classes with a wrong label, a training row that is repeated in the test split, and names."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 40)
    X = 6 * kind[:, None] + rng.normal(size=(80, 3))
    part = np.where(np.arange(80) % 4 == 0, "test", "train")
    X[40] = X[41]
    labels = np.where(kind == 0, "a", "b")
    labels[7] = "b"
    frame = pd.DataFrame(X, columns=list("xyz"))
    frame = frame.assign(name=[f"row {i}" for i in range(80)], kind=labels, part=part)
    frame.to_csv(tmp_path / "points.csv", index=False)
    return tmp_path / "points.csv"


def test_report_and_findings_are_written(table, tmp_path, capsys):
    report, rows = tmp_path / "audit.html", tmp_path / "rows.csv"
    words = ["audit", str(table), "--id", "name", "--label", "kind", "--split", "part"]
    assert main([*words, "-o", str(report), "--rows", str(rows), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["leaking_rows"] == [40, 41]
    assert [record["row"] for record in facts["doubtful_rows"]] == [7]
    found = pd.read_csv(rows)
    assert found["leaks_to"][40] == "train"
    assert found["suggested_label"][7] == "a"
    assert "row 7" in report.read_text()


def test_the_summary_names_the_findings(table, tmp_path, capsys):
    words = ["audit", str(table), "--label", "kind", "--split", "part", "--id", "name"]
    assert main([*words, "-o", str(tmp_path / "a.html")]) == 0
    text = capsys.readouterr().out
    assert "2 rows have a near-duplicate in another split" in text
    assert "1 label of 80 is more likely wrong than right" in text


def test_an_unknown_split_column_is_named(table, tmp_path, capsys):
    words = ["audit", str(table), "--split", "prt", "-o", str(tmp_path / "a.html")]
    assert main(words) == 2
    assert "--split prt" in capsys.readouterr().err


def test_images_in_one_folder_per_split(tmp_path, capsys):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for split in ("train", "test"):
        for kind in ("cat", "dog"):
            folder = tmp_path / "images" / split / kind
            folder.mkdir(parents=True)
            for i in range(6):
                pixels = rng.integers(0, 128, (8, 8)) + 120 * (kind == "dog")
                image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i}.png")
    (tmp_path / "images/test/cat/0.png").write_bytes(
        (tmp_path / "images/train/cat/3.png").read_bytes()
    )
    words = ["audit", str(tmp_path / "images"), "--label", "folder", "--split", "folder", "--json"]
    assert main([*words, "--threshold", "0", "-o", str(tmp_path / "a.html")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["leaking_rows"]) == 2
    assert {facts["ids"][i] for i in facts["leaking_rows"]} == {"test/cat/0.png", "train/cat/3.png"}
