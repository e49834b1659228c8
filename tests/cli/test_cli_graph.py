import inspect

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal import graphs  # noqa: E402
from vicinal.cli import output  # noqa: E402
from vicinal.cli.kinds import KINDS, PARAMETERS  # noqa: E402

REQUIRED = {"epsilon": ["--radius", "0.2"], "beta": ["--beta", "1.5"]}


# Building


@pytest.mark.parametrize("kind", KINDS)
def test_edges_written_are_the_edges_of_the_builder(kind, table, tmp_path, points, capsys, run):
    target = tmp_path / "edges.csv"
    assert (
        run("graph", table, "--as-is", "--kind", kind, *REQUIRED.get(kind, []), "-o", target) == 0
    )
    frame = pd.read_csv(target)
    required = {"epsilon": {"radius": 0.2}, "beta": {"beta": 1.5}, "pmst": {"random_state": 0}}
    expected = getattr(graphs, KINDS[kind].builder)(
        points, **required.get(kind, {}), **KINDS[kind].fixed
    )
    assert list(frame.columns) == ["source", "target", "length", "strength"]
    np.testing.assert_array_equal(frame[["source", "target"]], expected.edges())
    pairs, directed = frame[["source", "target"]].to_numpy(), expected.directed
    rebuilt = vicinal.Graph.from_edges(
        60, pairs, frame["length"], frame["strength"], directed=directed
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


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_edges_list_the_names_of_both_rows(suffix, tmp_path, points, run):
    frame = pd.DataFrame(points, columns=["x", "y"])
    frame["name"] = [f"row {i}" for i in range(60)]
    frame.to_csv(tmp_path / "named.csv", index=False)
    target = tmp_path / f"edges{suffix}"
    assert run("graph", tmp_path / "named.csv", "--id", "name", "--kind", "mst", "-o", target) == 0
    edges = pd.read_csv(target) if suffix == ".csv" else dict(np.load(target))
    assert list(edges)[:4] == ["source", "target", "source_id", "target_id"]
    for end in ("source", "target"):
        assert list(edges[f"{end}_id"]) == [f"row {i}" for i in edges[end]]


@pytest.mark.parametrize("suffix", output.TABLE_FORMATS)
def test_every_edge_format_has_the_same_content(suffix, table, tmp_path, points, run):
    target = tmp_path / f"edges{suffix}"
    assert run("graph", table, "--as-is", "--kind", "mst", "-o", target) == 0
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


def test_directed_edges_keep_their_direction(table, tmp_path, points, run):
    target = tmp_path / "edges.csv"
    assert run("graph", table, "--kind", "knn", "--neighbors", 3, "--directed", "-o", target) == 0
    assert len(pd.read_csv(target)) == 3 * len(points)


def test_the_summary_lists_the_properties_of_the_graph(table, capsys, run):
    assert run("graph", table, "--kind", "mst") == 0
    out = capsys.readouterr().out
    rows = dict(line.rsplit(None, 1) for line in out.splitlines() if not line.startswith("time"))
    rows = {name.strip(): value for name, value in rows.items()}
    assert (rows["nodes"], rows["edges"], rows["components"]) == ("60", "59", "1")
    assert float(rows["shortest edge"]) <= float(rows["median edge"])
    assert float(rows["median edge"]) <= float(rows["longest edge"])


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5])
def test_graphs_of_any_number_of_columns_are_plotted(n_columns, tmp_path, capsys, run):
    np.save(tmp_path / "X.npy", np.random.default_rng(1).normal(size=(30, n_columns)))
    plot = tmp_path / "graph.png"
    assert run("graph", tmp_path / "X.npy", "--kind", "mst", "--plot", plot) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert ("principal components" in capsys.readouterr().out) == (n_columns > 3)


def test_a_distance_matrix_gives_the_graph_of_the_points(tmp_path, points, run):
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.save(tmp_path / "D.npy", distances)
    target = tmp_path / "tree.csv"
    command = ["graph", tmp_path / "D.npy", "--kind", "mst", "--metric", "precomputed"]
    assert run(*command, "-o", target) == 0
    assert pd.read_csv(target)["length"].sum() == pytest.approx(
        graphs.mst(points).lengths.sum() / 2
    )


def test_progress_bar_needs_the_option_if_stderr_is_not_a_terminal(table, capsys, run):
    assert run("graph", table, "--kind", "pmst", "--seed", 0) == 0
    assert "%" not in capsys.readouterr().err
    assert run("graph", table, "--kind", "pmst", "--seed", 0, "--progress") == 0
    assert "%" in capsys.readouterr().err


# Invalid options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "mst", "--neighbors", "3"], "--neighbors has no effect with --kind mst"),
        (
            ["--kind", "delaunay", "--metric", "cosine"],
            "--metric has no effect with --kind delaunay",
        ),
        (["--kind", "epsilon"], "--kind epsilon needs --radius"),
        (["--kind", "beta"], "--kind beta needs --beta"),
        (["--kind", "knn", "--neighbors", "0"], "--neighbors 0"),
        (["--kind", "knn", "--neighbors", "60"], "--neighbors 60"),
        (["--kind", "epsilon", "--radius", "-1"], "--radius -1"),
        (["-o", "edges.docx"], "--output edges.docx: unsupported format .docx"),
        (["-o", "no/such/folder/edges.csv"], "does not exist; create it"),
        (["--plot", "graph.bmp"], "--plot graph.bmp: unsupported format .bmp"),
        (["--metric", "precomputed", "--plot", "graph.png"], "--plot needs coordinates"),
        (["--key", "X"], "--key X: only .npz, .h5ad, .xlsx, .sqlite, .db, .duckdb files"),
    ],
)
def test_invalid_options_give_one_error_line_that_names_the_option(
    arguments, message, table, error_of
):
    assert message in error_of("graph", table, *arguments)
