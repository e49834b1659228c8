import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal import graphs  # noqa: E402
from vicinal.cli import main, output  # noqa: E402
from vicinal.cli.demo import GALLERY  # noqa: E402
from vicinal.cli.graph import KINDS, PARAMETERS  # noqa: E402
from vicinal.cli.tables import read_table  # noqa: E402

REQUIRED = {"epsilon": ["--radius", "0.2"], "beta": ["--beta", "1.5"], "pmst": ["--seed", "0"]}


@pytest.fixture
def points():
    return np.random.default_rng(0).random((60, 2))


@pytest.fixture
def table(tmp_path, points):
    path = tmp_path / "points.csv"
    pd.DataFrame(points, columns=["x", "y"]).to_csv(path, index=False)
    return path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def error_of(capsys, *arguments):
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if line.startswith("vicinal: error:")]
    assert len(lines) == 1
    assert "Traceback" not in captured.err
    return lines[0]


# Building


@pytest.mark.parametrize("kind", KINDS)
def test_edges_written_are_the_edges_of_the_builder(kind, table, tmp_path, points, capsys):
    target = tmp_path / "edges.csv"
    assert run("graph", table, "--kind", kind, *REQUIRED.get(kind, []), "-o", target) == 0
    frame = pd.read_csv(target)
    required = {"epsilon": {"radius": 0.2}, "beta": {"beta": 1.5}, "pmst": {"random_state": 0}}
    expected = getattr(graphs, KINDS[kind].builder)(
        points, **required.get(kind, {}), **KINDS[kind].fixed
    )
    assert list(frame.columns) == ["source", "target", "length", "strength"]
    np.testing.assert_array_equal(frame[["source", "target"]], expected.edges())
    rebuilt = vicinal.Graph.from_edges(
        60, frame[["source", "target"]].to_numpy(), frame["length"], frame["strength"]
    )
    np.testing.assert_allclose(rebuilt.lengths, expected.lengths, rtol=1e-12)
    np.testing.assert_allclose(rebuilt.strengths, expected.strengths, rtol=1e-12)
    assert f"{expected.n_edges:,}" in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_a_kind_is_a_parameter_of_its_builder(kind):
    parameters = inspect.signature(getattr(graphs, KINDS[kind].builder)).parameters
    for option in KINDS[kind].options + KINDS[kind].required:
        assert PARAMETERS.get(option, option) in parameters
    for option in KINDS[kind].required:
        assert parameters[option].default is inspect.Parameter.empty
    assert set(KINDS[kind].fixed) <= set(parameters)


@pytest.mark.parametrize("suffix", output.EDGE_FORMATS)
def test_every_edge_format_holds_the_same_table(suffix, table, tmp_path, points):
    target = tmp_path / f"edges{suffix}"
    assert run("graph", table, "--kind", "mst", "-o", target) == 0
    if suffix == ".npz":
        with np.load(target) as arrays:
            frame = pd.DataFrame({name: arrays[name] for name in arrays.files})
    elif suffix == ".parquet":
        frame = pd.read_parquet(target)
    else:
        frame = pd.read_csv(target, sep="\t" if suffix == ".tsv" else ",")
    tree = graphs.mst(points)
    np.testing.assert_array_equal(frame[["source", "target"]], tree.edges())
    assert frame["length"].sum() == pytest.approx(tree.lengths.sum() / 2)


def test_directed_edges_keep_their_direction(table, tmp_path, points):
    target = tmp_path / "edges.csv"
    assert run("graph", table, "--kind", "knn", "--k", 3, "--directed", "-o", target) == 0
    assert len(pd.read_csv(target)) == 3 * len(points)


def test_summary_names_the_figures(table, capsys):
    assert run("graph", table, "--kind", "mst") == 0
    out = capsys.readouterr().out
    rows = dict(line.rsplit(None, 1) for line in out.splitlines() if not line.startswith("time"))
    rows = {name.strip(): value for name, value in rows.items()}
    assert (rows["nodes"], rows["edges"], rows["components"]) == ("60", "59", "1")
    assert float(rows["shortest edge"]) <= float(rows["median edge"])
    assert float(rows["median edge"]) <= float(rows["longest edge"])


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5])
def test_a_picture_of_any_number_of_columns(n_columns, tmp_path, capsys):
    np.save(tmp_path / "X.npy", np.random.default_rng(1).normal(size=(30, n_columns)))
    picture = tmp_path / "graph.png"
    assert run("graph", tmp_path / "X.npy", "--kind", "mst", "--plot", picture) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert ("principal components" in capsys.readouterr().out) == (n_columns > 3)


def test_a_distance_matrix_is_taken_as_such(tmp_path, points):
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.save(tmp_path / "D.npy", distances)
    target = tmp_path / "tree.csv"
    command = ["graph", tmp_path / "D.npy", "--kind", "mst", "--metric", "precomputed"]
    assert run(*command, "-o", target) == 0
    assert pd.read_csv(target)["length"].sum() == pytest.approx(
        graphs.mst(points).lengths.sum() / 2
    )


def test_progress_bar_only_on_request_when_stderr_is_no_terminal(table, capsys):
    assert run("graph", table, "--kind", "pmst", "--seed", 0) == 0
    assert "%" not in capsys.readouterr().err
    assert run("graph", table, "--kind", "pmst", "--seed", 0, "--progress") == 0
    assert "%" in capsys.readouterr().err


# Reading


def write(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x,y\n1,2\n3,4\n", (2, 2)),
        ("1,2\n3,4\n", (2, 2)),
        ("1;2;3\n3;4;5\n", (2, 3)),
        ("name,x\na,1\nb,2\n", (2, 1)),
        ("1.5,setosa\n2.5,virginica\n", (2, 1)),
        ("2019,name\n1,a\n2,b\n", (3, 1)),
        (",x,y\n0,1.5,2.5\n1,3.5,4.5\n", (2, 2)),
        ("\ufeffx,y\n1,2\n", (1, 2)),
        ('"a, b",y\n1,2\n', (1, 2)),
    ],
)
def test_header_separator_and_words_are_recognised(text, shape, tmp_path):
    assert read_table(write(tmp_path, text)).points.shape == shape


def test_columns_set_aside_are_named(tmp_path, capsys):
    path = write(tmp_path, "x,species,y\n1,setosa,2\n3,virginica,4\n")
    assert run("graph", path, "--kind", "mst") == 0
    assert "set aside 'species': 2 of 2 values are not numbers" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npy", ".npz", ".h5ad"])
def test_every_input_format_gives_the_same_points(suffix, tmp_path, points):
    path = tmp_path / f"points{suffix}"
    frame = pd.DataFrame(points, columns=["x", "y"])
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".npy":
        np.save(path, points)
    elif suffix == ".npz":
        np.savez(path, X=points, other=points + 1)
    else:
        pytest.importorskip("anndata").AnnData(points).write_h5ad(path)
    np.testing.assert_allclose(read_table(path).points, points, rtol=1e-15)


def test_a_key_chooses_the_array(tmp_path, points):
    np.savez(tmp_path / "two.npz", a=points, b=points + 1)
    np.testing.assert_array_equal(read_table(tmp_path / "two.npz", "b").points, points + 1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", "", "is empty"),
        ("header.csv", "x,y\n", "no rows"),
        ("words.csv", "a,b\nc,d\n", "no numeric column among a, b"),
        ("gaps.csv", "x,y\n1,2\n,4\n5,\n", "2 of 3 rows have missing values.*data row 2"),
        ("infinite.csv", "x,y\n1,2\ninf,4\n", "1 infinite ones.*data row 2"),
        ("ragged.csv", "x,y\n1,2\n3,4,5,6\n", "could not be read as a table"),
        ("garbage.npy", "not an array", "could not be read"),
        ("garbage.parquet", "not parquet", "could not be read"),
        ("points.xlsx", "", "ends in .xlsx, but one of .csv"),
    ],
)
def test_an_unreadable_table_is_explained_in_one_line(name, content, words, tmp_path, capsys):
    message = error_of(capsys, "graph", write(tmp_path, content, name))
    assert name in message
    assert re.search(words, message)


def test_a_missing_file_is_named(tmp_path, capsys):
    assert "does not exist" in error_of(capsys, "graph", tmp_path / "nowhere.csv")


def test_arrays_to_choose_from_are_listed(tmp_path, points, capsys):
    np.savez(tmp_path / "two.npz", a=points, b=points)
    assert "a, b; name one of them by --key" in error_of(capsys, "graph", tmp_path / "two.npz")


# Mistakes in the command


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "mst", "--k", "3"], "--k means nothing to --kind mst; it is an option of knn"),
        (["--kind", "delaunay", "--metric", "cosine"], "--metric means nothing"),
        (["--kind", "epsilon"], "--kind epsilon needs --radius"),
        (["--kind", "beta"], "--kind beta needs --beta"),
        (["--kind", "knn", "--k", "0"], "k=0"),
        (["--kind", "knn", "--k", "60"], "k=60"),
        (["--kind", "epsilon", "--radius", "-1"], "radius=-1"),
        (["-o", "edges.docx"], "--output edges.docx ends in .docx"),
        (["-o", "no/such/folder/edges.csv"], "no folder"),
        (["--plot", "graph.bmp"], "--plot graph.bmp ends in .bmp"),
        (["--metric", "precomputed", "--plot", "graph.png"], "--plot needs coordinates"),
        (["--key", "X"], "--key X names an array"),
    ],
)
def test_a_mistake_is_one_teaching_line(arguments, words, table, capsys):
    assert words in error_of(capsys, "graph", table, *arguments)


@pytest.mark.parametrize("arguments", [[], ["graph"], ["graph", "x.csv", "--kind", "nonsense"]])
def test_usage_errors_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as stop:
        run("graph", "--help")
    assert stop.value.code == 0
    assert "vicinal graph points.csv --kind dmst --n-trees 4" in capsys.readouterr().out


# Whole files or none


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_failure_while_writing_leaves_the_old_file(failure, table, tmp_path, monkeypatch):
    target = tmp_path / "edges.csv"
    target.write_text("old")

    def fail(frame, path, **keywords):
        path.write_text("half of")
        raise failure("stopped")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    assert run("graph", table, "--kind", "mst", "-o", target) == (
        130 if failure is KeyboardInterrupt else 2
    )
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["edges.csv", "points.csv"]


def test_a_graph_too_large_to_be_written_is_refused_in_one_line(table, capsys, monkeypatch):
    monkeypatch.setattr("vicinal._validation._free_memory", lambda: 1000)
    message = error_of(capsys, "graph", table, "--kind", "mst", "-o", table.with_name("e.csv"))
    assert "Writing 59 edges needs" in message
    assert not table.with_name("e.csv").exists()


def test_nothing_is_built_when_the_result_could_not_be_written(table, monkeypatch):
    def never(*arguments, **keywords):
        raise AssertionError("built")

    monkeypatch.setitem(vars(graphs), "disjoint_mst", never)
    assert run("graph", table, "-o", "no/such/folder/edges.csv") == 2


# The rest of the command


def test_demo_shows_every_graph_and_says_where(tmp_path, capsys):
    assert run("demo", "-o", tmp_path / "pictures") == 0
    out = capsys.readouterr().out
    for name in GALLERY:
        assert name in out
    assert str(tmp_path / "pictures" / "graphs.png") in out
    assert (tmp_path / "pictures" / "graphs.png").stat().st_size > 10_000


def test_version_from_a_fresh_process():
    result = subprocess.run(
        [sys.executable, "-m", "vicinal.cli", "--version"], capture_output=True, text=True
    )
    assert result.stdout.strip() == f"vicinal {vicinal.__version__}"
    assert result.returncode == 0
