import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal.cli.rank import METHODS  # noqa: E402
from vicinal.datasets import make_two_moons  # noqa: E402


@pytest.fixture
def moons(tmp_path):
    X, classes = make_two_moons(80, noise=0.03, random_state=0)
    path = tmp_path / "moons.csv"
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "moon": classes})
    # Row names are numbers, but different from the row numbers.
    frame.insert(0, "code", np.arange(80) + 1000)
    frame.to_csv(path, index=False)
    return path, X, classes


@pytest.mark.parametrize("method", METHODS)
def test_results_are_those_of_the_estimator(method, moons, tmp_path, facts_of):
    path, X, classes = moons
    target, plot = tmp_path / "results.csv", tmp_path / "results.png"
    parameters = {"steps": 20} if method == "propagation" else {"alpha": 0.9}
    ((option, value),) = parameters.items()
    args = ["--method", method, f"--{option}", value, "--query", 1017, 1003, "-k", 5]
    args += ["--id", "code", "--label", "moon", "-o", target, "--plot", plot, "--as-is"]
    facts = facts_of("rank", path, *args)
    parameters = {METHODS[method].options[option]: value}
    model = getattr(vicinal, METHODS[method].estimator)(**parameters).fit(X)
    indices, scores = model.rank([17, 3], 5)
    frame = pd.read_csv(target)
    assert list(frame.columns) == ["query", "rank", "row", "query_id", "id", "label", "score"]
    np.testing.assert_array_equal(frame["row"], indices.ravel())
    np.testing.assert_allclose(frame["score"], scores.ravel(), rtol=1e-9)
    assert frame["query"].tolist() == [17] * 5 + [3] * 5
    np.testing.assert_array_equal(frame["id"], frame["row"] + 1000)
    assert facts["same_class"] == np.mean(classes[indices] == classes[[17, 3]][:, None])
    assert [line["row"] for line in facts["results"]] == indices.ravel().tolist()
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_queries_are_row_numbers_or_names(moons, tmp_path, facts_of):
    frame = pd.read_csv(moons[0]).drop(columns="code")
    frame.index = [f"point {i}" for i in range(80)]
    frame.to_parquet(tmp_path / "moons.parquet")
    by_number = facts_of("rank", tmp_path / "moons.parquet", "--query", 5, "-k", 3)
    by_name = facts_of("rank", tmp_path / "moons.parquet", "--query", "point 5", "-k", 3)
    assert by_number["results"] == by_name["results"]
    assert by_name["results"][0]["query_id"] == "point 5"


def test_results_are_printed_in_rank_order(moons, run, capsys):
    assert run("rank", moons[0], "--query", 17, "-k", 4) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("query ")))
    assert [line.split()[1] for line in lines[start + 1 : start + 5]] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("method", ["perceptual", "manifold", "propagation"])
def test_every_number_of_results_is_answered(method, moons, facts_of):
    facts = facts_of("rank", moons[0], "--method", method, "--query", 5, "-k", 79)
    assert {result["row"] for result in facts["results"]} == {*range(80)} - {5}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--query", "80"], "--query 80: the table has rows 0 to 79"),
        (["--query", "-1"], "--query -1: the table has rows 0 to 79"),
        (
            ["--query", "Ada"],
            "is not a row number, and the rows have no names; use --id to choose",
        ),
        (["--id", "code", "--query", "5"], "--query 5: no row has this name"),
        (["--id", "moon", "--query", "1"], "40 rows have this name; use a row number"),
        (["--query", "5", "-k", "80"], "--top 80: must be between 1 and 79 for a table of 80 rows"),
        (["--query", "5", "-k", "0"], "--top 0"),
        (["--query", "5", "--alpha", "1"], "--alpha 1"),
        (["--query", "5", "--alpha", "0.9", "--steps", "3"], "it applies to propagation"),
        (
            ["--query", "5", "--method", "perceptual", "--graph", "mst"],
            "it applies to manifold, propagation",
        ),
        (["--query", "5", "-o", "results.html"], "--output results.html: unsupported format .html"),
    ],
)
def test_invalid_options_give_one_error_line_that_names_the_option(args, message, moons, error_of):
    assert message in error_of("rank", moons[0], *args)


def test_a_distance_matrix_cannot_be_plotted(moons, tmp_path, error_of, facts_of):
    X = moons[1]
    np.save(tmp_path / "D.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    args = ["rank", tmp_path / "D.npy", "--method", "manifold", "--metric", "precomputed"]
    args += ["--query", 4, "-k", 3]
    assert "--plot needs coordinates" in error_of(*args, "--plot", tmp_path / "f.png")
    ranked = [line["row"] for line in facts_of(*args)["results"]]
    assert ranked == vicinal.ManifoldRanking().fit(X).rank(4, 3)[0][0].tolist()


def test_rows_of_another_file_are_queries(tmp_path, points, table, facts_of):
    new = points[[3, 10]] + 1e-6
    other = tmp_path / "new.csv"
    np.savetxt(other, new[:, ::-1], delimiter=",", header="y,x", comments="", fmt="%.17g")
    facts = facts_of("rank", table, "--queries", other, "-k", 4, "--method", "manifold", "--as-is")
    ranked = [record["row"] for record in facts["results"]]
    expected, _ = vicinal.ManifoldRanking(random_state=0).fit(points).rank(new, 4)
    assert ranked == expected.ravel().tolist()
    assert [record["query"] for record in facts["results"]] == [0] * 4 + [1] * 4


def test_queries_of_a_mixed_table_are_encoded_like_its_rows(tmp_path, facts_of):
    pandas = pytest.importorskip("pandas")
    from benchmarks.table_generators import make_mixed_table

    columns, group = make_mixed_table(
        120, n_numeric=2, n_categorical=3, missing=0.1, random_state=0
    )
    frame = pandas.DataFrame(columns).assign(name=[f"row {i}" for i in range(120)], group=group)
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame[:6].drop(columns="group").to_csv(tmp_path / "new.csv", index=False)
    args = ["--id", "name", "--queries", tmp_path / "new.csv", "-k", 5, "--ignore", "group"]
    facts = facts_of("rank", tmp_path / "table.csv", *args)
    same = [group[r["row"]] == group[int(r["query_id"].split()[1])] for r in facts["results"]]
    assert np.mean(same) > 0.9


def test_queries_without_a_needed_column_are_a_clear_error(tmp_path, table, error_of):
    other = tmp_path / "new.csv"
    other.write_text("x,Y1\n0.5,0.5\n")
    assert "new.csv: X has no column 'y'" in error_of("rank", table, "--queries", other)
    np.savez(tmp_path / "D.npz", X=np.zeros((5, 5)))
    args = ("--method", "manifold", "--graph", "precomputed", "--queries", other)
    assert "give a table of points" in error_of("rank", tmp_path / "D.npz", *args)
