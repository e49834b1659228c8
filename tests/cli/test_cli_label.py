"""``vicinal label``: fills missing labels, keeps given ones, and lists what to label next."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

from vicinal import GraphClassifier  # noqa: E402
from vicinal.datasets import make_two_moons  # noqa: E402


@pytest.fixture
def moons(tmp_path):
    X, truth = make_two_moons(120, noise=0.03, random_state=0)
    frame = pd.DataFrame({"name": [f"p{i}" for i in range(120)], "x": X[:, 0], "y": X[:, 1]})
    frame["moon"] = np.where(np.arange(120) % 12 == 0, np.array(["lower", "upper"])[truth], None)
    path = tmp_path / "moons.csv"
    frame.to_csv(path, index=False)
    return path, X, truth


def test_labels_are_those_of_the_estimator_and_given_ones_are_kept(moons, tmp_path, facts_of):
    path, X, truth = moons
    target, plot = tmp_path / "labelled.csv", tmp_path / "labels.png"
    arguments = ["--label", "moon", "--id", "name", "--queries", 3, "-o", target, "--plot", plot]
    facts = facts_of("label", path, "--as-is", *arguments)
    y = np.where(np.arange(120) % 12 == 0, truth, -1)
    model = GraphClassifier().fit(X, y)
    frame = pd.read_csv(target)
    assert list(frame.columns) == ["row", "id", "label", "confidence", "given"]
    assert (frame["label"] == np.array(["lower", "upper"])[model.transduction_]).all()
    np.testing.assert_allclose(frame["confidence"], model.label_distributions_.max(axis=1))
    assert frame["given"].tolist() == (y >= 0).tolist()
    assert [line["row"] for line in facts["label_next"]] == model.suggest_queries(3).tolist()
    assert facts["label_next"][0]["id"] == f"p{facts['label_next'][0]['row']}"
    assert (facts["labelled_rows"], facts["filled_rows"], facts["unknown_rows"]) == (10, 110, 0)
    assert facts["doubtful_labels"] == []
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_wrong_label_is_listed_as_doubtful(moons, facts_of, run, capsys):
    frame = pd.read_csv(moons[0])
    frame["moon"] = np.array(["lower", "upper"])[moons[2]]
    frame.loc[7, "moon"] = "lower" if moons[2][7] else "upper"
    frame.to_csv(moons[0], index=False)
    facts = facts_of("label", moons[0], "--label", "moon", "--id", "name")
    assert [line["row"] for line in facts["doubtful_labels"]] == [7]
    assert facts["doubtful_labels"][0]["suggested"] == ["lower", "upper"][moons[2][7]]
    assert facts["label_next"] == []
    assert run("label", moons[0], "--label", "moon", "--id", "name") == 0
    assert "suggested" in capsys.readouterr().out


def test_rows_that_no_label_reaches_stay_empty_with_confidence_zero(tmp_path, facts_of):
    X = np.r_[np.arange(15.0), 1000 + np.arange(15.0)]
    path, target = tmp_path / "two.csv", tmp_path / "out.csv"
    pd.DataFrame({"x": X, "y": X % 3, "kind": [1, 2, *[None] * 28]}).to_csv(path, index=False)
    facts = facts_of("label", path, "--label", "kind", "-o", target, "--queries", 1)
    frame = pd.read_csv(target)
    assert frame["label"][15:].isna().all()
    assert (frame["confidence"][15:] == 0).all()
    assert set(frame["label"][:15]) == {1, 2}
    assert facts["unknown_rows"] == 15
    assert facts["label_next"][0]["row"] >= 15
    assert facts["label_next"][0]["label"] is None


def test_missing_columns_and_labels_are_errors(moons, tmp_path, error_of):
    assert "label needs --label COLUMN" in error_of("label", moons[0])
    assert "--queries -1: must be 0 or more" in error_of(
        "label", moons[0], "--label", "moon", "--queries", -1
    )
    frame = pd.read_csv(moons[0])
    frame["moon"] = -1
    frame.to_csv(tmp_path / "none.csv", index=False)
    message = error_of("label", tmp_path / "none.csv", "--label", "moon", "--id", "name")
    assert "no row has a class" in message


def test_classes_that_are_huge_or_infinite_numbers_keep_their_names(moons, facts_of, tmp_path):
    frame = pd.read_csv(moons[0])
    known = frame["moon"].notna()
    target = tmp_path / "out.csv"
    for names in (("1e+300", "inf"), ("3.5", "7.0"), ("10000000000000000", "2.0")):
        values = np.array([float(name) for name in names])[moons[2]]
        frame["moon"] = np.where(known, values, np.nan)
        frame.to_csv(moons[0], index=False)
        facts_of("label", moons[0], "--label", "moon", "--id", "name", "-o", target, "--force")
        written = pd.read_csv(target, dtype=str)["label"]
        assert {float(name) for name in written} == {float(name) for name in names}
