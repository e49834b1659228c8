"""Files with a wrong extension or without permissions: one error line with what to do."""

import os
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from vicinal.cli.tables import read_table  # noqa: E402


def test_an_error_names_a_truncated_file(tmp_path, points, error_of):
    path = tmp_path / "cut.npz"
    np.savez_compressed(path, X=points)
    path.write_bytes(path.read_bytes()[:300])
    message = error_of("graph", path)
    assert str(path) in message
    assert "create a truncated file again" in message


def test_a_file_with_a_wrong_extension_is_explained(tmp_path, points, error_of):
    np.savez(tmp_path / "two.npz", X=points)
    os.rename(tmp_path / "two.npz", tmp_path / "two.npy")
    assert "two.npy contains several arrays, like an .npz file; rename it to .npz" in error_of(
        "graph", tmp_path / "two.npy"
    )
    assert "like an .npz file; save one of them as .npy" in error_of(
        "segment", tmp_path / "two.npy", "-n", 2, "-o", "x.png"
    )
    np.save(tmp_path / "one.npy", points)
    os.rename(tmp_path / "one.npy", tmp_path / "one.npz")
    assert "one.npz contains one array, like an .npy file; rename it to .npy" in error_of(
        "graph", tmp_path / "one.npz"
    )


def test_names_that_are_python_objects_are_rejected_with_a_remedy(tmp_path, points, error_of):
    names = np.array([f"row {i}" for i in range(60)], dtype=object)
    np.savez(tmp_path / "X.npz", X=points, name=names)
    message = error_of("graph", tmp_path / "X.npz", "--id", "name")
    assert str(tmp_path / "X.npz") in message
    assert "astype(str)" in message


@pytest.mark.parametrize("line", [0, 5000])
def test_an_error_names_text_in_another_encoding(line, tmp_path, error_of):
    lines = ["x,y,name"] + ["1,2,abc"] * 6000
    lines[line] = "1,2,M\xfcller" if line else "x,y,gr\xf6\xdfe"
    (tmp_path / "old.csv").write_bytes("\n".join(lines).encode("latin-1"))
    message = error_of("graph", tmp_path / "old.csv")
    assert "old.csv is not UTF-8 text" in message
    assert "save it with UTF-8 encoding" in message


def test_a_file_instead_of_a_folder_is_an_error_before_any_work(tmp_path, error_of):
    (tmp_path / "out").write_text("mine")
    for target in ("out", "out/below"):
        message = error_of("demo", "-o", tmp_path / target)
        assert f"{tmp_path / 'out'} is a file, not a folder" in message
    assert (tmp_path / "out").read_text() == "mine"


def test_steps_are_not_cached_in_a_file(table, tmp_path, error_of):
    (tmp_path / "r.steps").write_text("mine")
    message = error_of("perceive", table, "-o", tmp_path / "r.html", "--resume")
    assert "r.steps is a file, not a folder" in message


def test_a_folder_that_is_not_writable_is_an_error(tmp_path, error_of, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is not writable" in error_of("demo", "-o", tmp_path / "new" / "below")


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz", ".parquet", ".h5ad"])
def test_an_unreadable_table_is_an_error_with_a_remedy(suffix, tmp_path, error_of, monkeypatch):
    path = tmp_path / f"mine{suffix}"
    path.write_text("1,2\n3,4\n")

    def closed(path, *arguments, **keywords):
        raise PermissionError(13, "Permission denied", str(path))

    # Tests may run as root, who can read every file.
    monkeypatch.setattr("builtins.open", closed)
    message = error_of("graph", path)
    assert f"{path}: Permission denied; change its permissions" in message


def test_output_files_have_exactly_the_given_name(table, tmp_path, run):
    assert run("graph", table, "--kind", "mst", "-o", tmp_path / "E.NPZ") == 0
    with np.load(tmp_path / "E.NPZ") as edges:
        assert len(edges["source"]) == 59
    np.save(tmp_path / "values.npy", np.random.default_rng(0).random((12, 10)))
    assert run("segment", tmp_path / "values.npy", "-n", 2, "--labels", tmp_path / "L.NPY") == 0
    assert np.load(tmp_path / "L.NPY").shape == (12, 10)
    assert sorted(os.listdir(tmp_path)) == ["E.NPZ", "L.NPY", "points.csv", "values.npy"]


def test_characters_that_the_terminal_cannot_encode_are_replaced():
    code = (
        "import sys; from vicinal import cli\n"
        "cli.demo.run = lambda arguments: {'bar': 'full \u2588 block'}\n"
        "sys.exit(cli.main(['demo']))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert (result.returncode, result.stdout.split()) == (0, [b"bar:", b"full", b"?", b"block"])


def test_the_report_of_a_stack_of_images_shows_them(tmp_path, run):
    pytest.importorskip("PIL")
    images = np.random.default_rng(0).integers(0, 255, (30, 4, 5))
    np.save(tmp_path / "stack.npy", images)
    assert run("perceive", tmp_path / "stack.npy", "-o", tmp_path / "r.html", "--clusters", 1) == 0
    assert '"sprites":{' in (tmp_path / "r.html").read_text()
    np.testing.assert_array_equal(read_table(tmp_path / "stack.npy").images, images)
