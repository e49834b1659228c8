"""Every command that reads a table gives the same errors for bad tables and output files."""

import os

import numpy as np
import pytest

pytest.importorskip("pandas")

from vicinal.cli import output

READING = {
    "graph": [],
    "cluster": [],
    "embed": [],
    "rank": ["--query", "0"],
    "smooth": [],
}

BAD = {
    "missing.csv": (None, "does not exist; choose a file"),
    "empty.csv": ("", "is empty; a table with one row per point is needed"),
    "header.csv": ("x,y\n", "has no rows"),
    "words.csv": (
        "name,kind\n" + "".join(f"name {i},a\n" for i in range(12)),
        "no column that rows can be compared by: 'name' (names or free text",
    ),
    "gaps.csv": ("x,y\n,\n,\n", "has no numeric column among x, y"),
    "garbage.npy": ("no array", "cannot read"),
    "garbage.npz": ("no arrays", "cannot read"),
    "garbage.parquet": ("no table", "garbage.parquet as parquet"),
    "garbage.h5ad": ("no table", "garbage.h5ad as .h5ad"),
    "table.ods": ("", "unsupported format .ods; use one of .csv"),
}


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_explained_in_one_line(command, name, tmp_path, error_of):
    if name.endswith(".h5ad"):
        pytest.importorskip("anndata")
    content, expected = BAD[name]
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    message = error_of(command, path, *READING[command])
    assert str(path) in message
    assert expected in message


@pytest.mark.parametrize("command", READING)
def test_missing_and_infinite_values_are_completed_with_a_note(command, tmp_path, run, capsys):
    rows = [f"{i / 2},{(7 * i) % 12},{(5 * i) % 12}" for i in range(12)]
    rows[3], rows[5] = "1.5,,3", "2.5,11,inf"
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(["x,y,z", *rows]) + "\n")
    assert run(command, path, *READING[command]) == 0
    note = "2 of 36 values are missing (5.56%), most in 'y' (1); each counts as what "
    note += "the other columns lead to expect"
    assert f"gaps.csv: {note}" in capsys.readouterr().err


@pytest.mark.parametrize("command", READING)
def test_columns_of_any_kind_are_used_with_a_note(command, tmp_path, run, capsys):
    rows = [
        f"id {i},{'a' if i % 2 else 'b'},${100 + 20 * (i % 2) + 7 * i % 13}.{i:02}"
        for i in range(40)
    ]
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(["name,kind,price", *rows]) + "\n")
    assert run(command, path, *READING[command]) == 0
    notes = capsys.readouterr().err
    assert "mixed.csv: 2 of 3 columns used (categorical: kind; numeric: price)" in notes
    assert "mixed.csv: 'name' not used: names or free text: 40 different values" in notes


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["--ignore", "knd"],
            "--ignore knd: no such column (did you mean 'kind'?); there are name, kind",
        ),
        (["--weight", "kind=x"], "--weight 'kind=x': write COLUMN=2"),
        (["--weight", "kind"], "--weight 'kind': write COLUMN=2"),
        (["--numeric", "kind"], "column 'kind' of X should be numeric, but 2 of its 2"),
        (["--categorical", "kind", "--ignore", "kind"], "--ignore kind: another option gives"),
        (["--ordinal", "kind=a<a"], "--ordinal 'kind=a<a': the categories must differ"),
    ],
)
def test_wrong_options_of_columns_are_explained(command, options, expected, tmp_path, error_of):
    path = tmp_path / "mixed.csv"
    path.write_text("name,kind,x\n" + "".join(f"n{i},{'ab'[i % 2]},{i}.5\n" for i in range(12)))
    assert expected in error_of(command, path, *READING[command], *options)


@pytest.mark.parametrize("command", READING)
def test_a_folder_without_images_is_an_error(command, tmp_path, error_of):
    (tmp_path / "folder").mkdir()
    assert "contains no images" in error_of(command, tmp_path / "folder", *READING[command])


@pytest.mark.parametrize("command", READING)
def test_a_folder_of_images_is_a_table_of_pixels(command, tmp_path, facts_of, error_of):
    pictures = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (12, 5, 4)).astype(np.uint8)
    for number, picture in enumerate(pixels):
        pictures.fromarray(picture).save(tmp_path / f"{number:02}.png")
    # Too few rows for four edge-disjoint spanning trees.
    args = ["--kind", "mst"] if command == "graph" else READING[command]
    facts = facts_of(command, tmp_path, *args)
    assert facts.get("rows", facts.get("nodes")) == 12
    assert "--key has no effect on a folder of images" in error_of(
        command, tmp_path, *args, "--key", "X"
    )


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_targets_are_checked_before_the_table_is_read(command, option, tmp_path, error_of):
    suffix = ".csv" if option == "--output" else ".png"
    args = [command, tmp_path / "missing.csv", *READING[command], option]
    (tmp_path / f"old{suffix}").write_text("old")
    assert "exists; use --force" in error_of(*args, tmp_path / f"old{suffix}")
    assert "does not exist; create it" in error_of(*args, tmp_path / "no" / f"new{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder; choose a file name" in error_of(*args, tmp_path / f"folder{suffix}")
    assert "unsupported format .doc; use one of" in error_of(*args, tmp_path / "new.doc")


@pytest.mark.parametrize("command", [*READING, "perceive"])
def test_the_input_file_is_never_overwritten(command, table, tmp_path, error_of):
    if command == "perceive":
        table = table.rename(tmp_path / "points.html")
    before = table.read_bytes()
    args = [command, table, *READING.get(command, [])]
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    for target in (table, tmp_path / "again" / table.name):
        assert "is the input file" in error_of(*args, "-o", target, "--force")
    assert table.read_bytes() == before


@pytest.mark.parametrize("clusters", ["x", "2.5", "AUTO"])
@pytest.mark.parametrize("command", ["cluster", "perceive"])
def test_a_number_of_clusters_is_an_integer_or_auto(command, clusters, table, tmp_path, error_of):
    target = ["-o", tmp_path / "page.html"] if command == "perceive" else []
    message = error_of(command, table, "--clusters", clusters, *target)
    assert f"--clusters {clusters}: must be an integer or auto" in message


@pytest.mark.parametrize("command", READING)
def test_an_error_names_a_folder_without_permission(command, tmp_path, error_of, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    args = [command, tmp_path / "missing.csv", *READING[command], "-o", tmp_path / "new.csv"]
    assert "is not writable; choose another" in error_of(*args)


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize(
    ("target", "module"),
    [("new.csv", "pandas"), ("new.parquet", "pyarrow"), ("new.png", "matplotlib")],
)
def test_an_error_names_a_missing_dependency_before_any_work(
    command, target, module, tmp_path, error_of, monkeypatch
):
    monkeypatch.setattr(output, "find_spec", lambda name: None if name == module else name)
    option = "--plot" if target.endswith(".png") else "-o"
    args = [command, tmp_path / "missing.csv", *READING[command], option, tmp_path / target]
    assert f"need {module}: pip install 'vicinal[cli]'" in error_of(*args)


@pytest.mark.parametrize("command", READING)
def test_one_row_or_only_duplicates_succeeds_or_is_one_error_line(command, tmp_path, run, capsys):
    for number, points in enumerate([np.ones((1, 2)), np.ones((12, 2)), np.arange(4.0)[:, None]]):
        np.save(tmp_path / f"{number}.npy", points)
        code = run(command, tmp_path / f"{number}.npy", *READING[command])
        captured = capsys.readouterr()
        assert code in (0, 2), captured.err
        assert (code == 2) == (captured.err.count("vicinal: error:") == 1)


@pytest.mark.parametrize("command", READING)
def test_an_array_that_is_not_a_table_is_explained(command, tmp_path, error_of):
    np.save(tmp_path / "line.npy", np.arange(5.0))
    message = error_of(command, tmp_path / "line.npy", *READING[command])
    assert "contains an array of shape (5,)" in message
    np.save(tmp_path / "words.npy", np.array([["a", "b"], ["c", "d"]]))
    message = error_of(command, tmp_path / "words.npy", *READING[command])
    assert "contains values of type <U1, but real numbers are needed" in message
