"""``vicinal duplicates``: pairs, groups and what is written."""

import json

import numpy as np
import pandas as pd
import pytest

from vicinal.cli import main


@pytest.fixture
def table(tmp_path):
    """Rows with names, two of which are almost equal and two are equal."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[10], X[20] = X[3] + 1e-3, X[5]
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(0, "name", [f"row {i}" for i in range(60)])
    frame.to_csv(tmp_path / "points.csv", index=False)
    return tmp_path / "points.csv"


def test_pairs_are_reported_and_written_with_row_names(table, tmp_path, capsys):
    output = tmp_path / "pairs.csv"
    assert main(["duplicates", str(table), "--id", "name", "-o", str(output), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["pairs"] == 2
    assert facts["groups"] == 2
    assert facts["rows_to_drop"] == 2
    pairs = pd.read_csv(output)
    assert pairs[["row", "other"]].to_numpy().tolist() == [[5, 20], [3, 10]]
    assert pairs["other_id"].tolist() == ["row 20", "row 10"]
    assert pairs["group"].tolist() == [1, 0]


def test_a_threshold_that_accepts_too_many_pairs_is_an_error(table, capsys):
    assert main(["duplicates", str(table), "--id", "name", "--threshold", "100"]) == 2
    assert "--threshold 100 accepts 1,711 pairs" in capsys.readouterr().err
