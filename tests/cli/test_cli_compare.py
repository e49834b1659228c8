"""``vicinal compare``: two results, from model files or tables of labels."""

import pytest

pd = pytest.importorskip("pandas")


@pytest.fixture
def labels(tmp_path):
    def write(name, clusters, **columns):
        path = tmp_path / name
        frame = pd.DataFrame({"id": list("abcdef"), "cluster": clusters} | columns)
        frame.to_csv(path, index=False)
        return path

    return write


def test_text_and_json_tell_the_moved_rows(labels, run, facts_of, capsys, tmp_path):
    before = labels("a.csv", [0, 0, 0, 1, 1, -1])
    after = labels("b.csv", [1, 1, 0, 0, 0, -1])
    facts = facts_of("compare", before, after, "-o", tmp_path / "moved.csv")
    assert facts["moved"] == [{"id": "c", "before": "0", "after": "0"}]
    assert facts["matched"] == {"1": "0", "0": "1", "-1": "-1"}
    assert pd.read_csv(tmp_path / "moved.csv")["id"].tolist() == ["c"]
    assert run("compare", before, after) == 0
    out = capsys.readouterr().out
    assert "6 rows are in both results; 0 only in the first, 0 only in the second." in out
    assert "1 rows (16.7%) moved to another cluster; adjusted Rand index" in out


def test_splits_and_merges_are_sentences(labels, run, capsys):
    assert run("compare", labels("a.csv", [0] * 6), labels("b.csv", [0, 0, 0, 1, 1, 1])) == 0
    assert "Cluster 0 was split into clusters 0 and 1." in capsys.readouterr().out
    assert run("compare", labels("b.csv", [0, 0, 0, 1, 1, 1]), labels("a.csv", [0] * 6)) == 0
    assert "Clusters 0 and 1 were merged into cluster 0." in capsys.readouterr().out


def test_a_model_is_compared_with_its_labels(points, tmp_path, run, facts_of):
    pd.DataFrame(points, columns=["x", "y"]).to_csv(tmp_path / "t.csv", index=False)
    files = ["--save", tmp_path / "m.vicinal", "--labels", tmp_path / "l.csv"]
    args = ["-o", tmp_path / "r.html", "--clusters", 2, "--sample", 50]
    assert run("perceive", tmp_path / "t.csv", *files, *args) == 0
    facts = facts_of("compare", tmp_path / "m.vicinal", tmp_path / "l.csv")
    assert (facts["n_rows"], facts["adjusted_rand"], facts["moved"]) == (60, 1.0, [])


def test_errors_name_the_option(labels, error_of):
    table = labels("a.csv", [0, 0, 0, 1, 1, 1])
    assert "--id name: " in error_of("compare", table, table, "--id", "name")
    message = error_of("compare", table, table, "--cluster", "clutser")
    assert "has no such column (did you mean 'cluster'?); it has id, cluster" in message
    message = error_of("compare", table, table, "-o", table, "--force")
    assert "is the input file" in message


def test_rows_without_a_cluster_are_a_group_of_their_own_and_rows_need_names(
    labels, facts_of, error_of
):
    before = labels("a.csv", ["x", "x", None, "y", "y", None])
    after = labels("b.csv", ["x", "x", None, "y", "y", "y"])
    assert facts_of("compare", before, after)["moved"] == [
        {"id": "f", "before": "missing", "after": "y"}
    ]
    unnamed = labels("c.csv", [0] * 6, title=["p", None, "r", "s", "t", "u"])
    assert "--id title: row 1 of" in error_of("compare", unnamed, unnamed, "--id", "title")


def test_errors_list_only_the_first_of_many_columns(labels, error_of):
    table = labels("a.csv", [0] * 6, **{f"c{i}": 1 for i in range(3000)}, **{"x" * 9000: 1})
    assert len(error_of("compare", table, table, "--id", "name")) < 500
    assert len(error_of("cluster", table, "--label", "name")) < 500


def test_the_json_of_perceive_is_compared(tmp_path, table, run, capsys, facts_of):
    common = (
        "perceive",
        table,
        "--sample",
        50,
        "--clusters",
        2,
        "-o",
        tmp_path / "r.html",
        "--json",
    )
    labels = tmp_path / "labels.csv"
    assert run(*common, "--labels", labels) == 0
    result = tmp_path / "result.json"
    result.write_text(capsys.readouterr().out)
    facts = facts_of("compare", result, labels)
    assert facts["moved"] == []
    assert facts["adjusted_rand"] == 1.0


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"ids": ["a"], "labels": ["x"]}', '{"ids": [], "labels": [1]}', "[" * 9**6],
)
def test_json_that_perceive_did_not_print_is_a_clear_error(text, tmp_path, labels, error_of):
    path = tmp_path / "result.json"
    path.write_text(text)
    assert "result.json" in error_of("compare", path, labels("a.csv", [0] * 6))
