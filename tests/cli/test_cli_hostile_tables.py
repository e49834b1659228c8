"""Long, ragged, huge and piped tables, and full disks."""

import io
import resource
import subprocess
import sys
import zlib

import numpy as np
import pytest

from vicinal._core.files import atomic_write
from vicinal.cli import graph as graph_command
from vicinal.cli.output import write_table
from vicinal.cli.plots import save_figure
from vicinal.cli.segment import write_labels
from vicinal.report import _checkpoints as steps
from vicinal.report.result import Perception


def command(*args, **options):
    """Run the command in a new process."""
    args = [sys.executable, "-m", "vicinal.cli", *map(str, args)]
    return subprocess.run(args, capture_output=True, timeout=300, check=False, **options)


@pytest.fixture
def piped(monkeypatch):
    def pipe(content):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


def test_lines_of_many_columns_are_read(tmp_path, facts_of):
    path = tmp_path / "wide.csv"
    values = np.random.default_rng(0).random((12, 9000))
    np.savetxt(path, values, delimiter=",", fmt="%.17g")
    assert len(path.read_text().splitlines()[0]) > 131_072
    facts = facts_of("graph", path, "--kind", "mst", "--as-is")
    assert (facts["nodes"], facts["columns"]) == (12, 9000)


def test_a_long_line_without_separator_is_one_cell(tmp_path, error_of):
    path = tmp_path / "long.csv"
    path.write_text("x" * 200_000 + "\nword\nother\n")
    assert "long.csv has only the column" in error_of("graph", path)


def test_a_header_that_names_too_few_columns_is_an_error(tmp_path, error_of):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n" + "1,2,3,4\n5,6,7,9\n" * 10)
    message = error_of("graph", path)
    assert "ragged.csv has 2 cells, but other lines have 4" in message


def test_a_header_with_one_name_too_few_is_noted(tmp_path, run, capsys):
    path = tmp_path / "from_r.csv"
    path.write_text("a,b\n" + "".join(f"r{i},{i},{i * i}\n" for i in range(10)))
    assert run("graph", path, "--kind", "mst") == 0
    assert (
        "one name fewer than there are columns, so the first column is used as row names"
        in capsys.readouterr().err
    )


def test_ragged_lists_are_an_error_of_perceive():
    from vicinal import perceive

    with pytest.raises(ValueError, match="rows have different lengths"):
        perceive([[1.0, 2.0], [3.0]] * 20)


def huge_image(path):
    """An image whose header claims 30,000 x 30,000 pixels, without any pixel data."""
    image = pytest.importorskip("PIL.Image")
    image.new("L", (8, 8)).save(path)
    content = bytearray(path.read_bytes())
    content[16:24] = (30_000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
    path.write_bytes(bytes(content))


def test_an_error_names_an_image_with_too_many_pixels(tmp_path, error_of):
    (tmp_path / "pictures").mkdir()
    huge_image(tmp_path / "pictures" / "bomb.png")
    output = tmp_path / "report.html"
    message = error_of("perceive", tmp_path / "pictures", "-o", output)
    assert "bomb.png is too large to read as an image" in message
    bomb = tmp_path / "pictures" / "bomb.png"
    message = error_of("segment", bomb, "-n", 2, "-o", tmp_path / "out.png")
    assert "bomb.png is too large to read as an image" in message


def test_an_error_names_a_file_that_claims_a_huge_array(tmp_path, error_of):
    path = tmp_path / "claims.npz"
    np.savez(path, X=np.ones((2, 2)))
    content = path.read_bytes()
    claimed = b"'shape': (9999999999999, 2), }"
    content = content.replace(b"'shape': (2, 2), }" + b" " * 12, claimed)
    path.write_bytes(content)
    assert f"cannot read {path}" in error_of("graph", path)


def text_bytes(values):
    out = io.BytesIO()
    np.savetxt(out, values, delimiter=",", header="x,y", comments="")
    return out.getvalue()


def array_bytes(values):
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def archive_bytes(values):
    out = io.BytesIO()
    np.savez(out, X=values)
    return out.getvalue()


def parquet_bytes(values):
    pandas = pytest.importorskip("pandas")
    out = io.BytesIO()
    pandas.DataFrame(values, columns=["x", "y"]).to_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("encode", [text_bytes, array_bytes, archive_bytes, parquet_bytes])
def test_a_dash_reads_standard_input_in_every_format(points, piped, facts_of, encode):
    piped(encode(points))
    facts = facts_of("graph", "-", "--kind", "mst")
    assert (facts["nodes"], facts["columns"], facts["edges"]) == (60, 2, 59)


def test_a_dash_reads_tabs_too(points, piped, facts_of):
    piped(text_bytes(points).replace(b",", b"\t"))
    assert facts_of("graph", "-", "--kind", "mst")["columns"] == 2


@pytest.mark.parametrize("content", [b"", b"a,b\nx,y\n", b"PK not an archive"])
def test_errors_about_piped_input_name_standard_input(piped, error_of, content):
    piped(content)
    message = error_of("graph", "-")
    assert "standard input" in message
    assert "tmp" not in message


def test_a_pipe_between_processes_is_read(points):
    result = command("graph", "-", "--kind", "mst", "--json", input=text_bytes(points))
    assert (result.returncode, b'"edges": 59' in result.stdout) == (0, True)


def little_room(write):
    """A function that simulates a full disk: files are limited to 100 bytes."""

    def limited(*arguments, **options):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            return write(*arguments, **options)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


def check_full_disk(message, target):
    assert message.startswith(f"vicinal: error: {target} could not be written: ")
    assert "free some space" in message


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.npz", "out.parquet"])
def test_an_error_on_a_full_disk_names_the_table(table, tmp_path, error_of, monkeypatch, name):
    monkeypatch.setattr(graph_command, "write_table", little_room(write_table))
    target = tmp_path / "results" / name
    target.parent.mkdir()
    check_full_disk(error_of("graph", table, "--kind", "mst", "-o", target), target)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["out.png", "out.pdf", "out.svg"])
def test_an_error_on_a_full_disk_names_the_plot(table, tmp_path, error_of, monkeypatch, name):
    monkeypatch.setattr(graph_command, "save_figure", little_room(save_figure))
    target = tmp_path / "results" / name
    target.parent.mkdir()
    check_full_disk(error_of("graph", table, "--kind", "mst", "--plot", target), target)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["labels.npy", "labels.csv", "labels.png"])
def test_an_error_on_a_full_disk_names_the_label_map(tmp_path, name):
    labels = np.random.default_rng(0).integers(0, 200, (40, 40))
    target = tmp_path / name

    def write():
        with atomic_write(target) as unfinished:
            little_room(write_labels)(labels, unfinished)

    with pytest.raises(OSError, match=r"labels\.\w+ could not be written: .*free some space"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_error_on_a_full_disk_names_the_report_and_cached_steps_remain(
    table, tmp_path, error_of, run, monkeypatch
):
    target = tmp_path / "results" / "report.html"
    target.parent.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(Perception, "to_html", little_room(Perception.to_html))
        message = error_of("perceive", table, "-o", target, "--resume", "--clusters", 2)
    check_full_disk(message, target)
    assert [path.name for path in target.parent.iterdir()] == ["report.steps"]
    assert run("perceive", table, "-o", target, "--resume", "--clusters", 2) == 0
    assert list(target.parent.iterdir()) == [target]


def test_an_error_on_a_full_disk_names_the_step(table, tmp_path, error_of, monkeypatch):
    monkeypatch.setattr(steps, "store_step", little_room(steps.store_step))
    target = tmp_path / "report.html"
    message = error_of("perceive", table, "-o", target, "--resume", "--clusters", 2)
    check_full_disk(message, tmp_path / "report.steps" / "neighbour-structure.npz")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")
def test_a_full_standard_output_is_an_error(table):
    with open("/dev/full", "w") as full:
        args = [sys.executable, "-m", "vicinal.cli", "graph", str(table), "--kind", "mst"]
        result = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, timeout=300, check=False)
    assert result.returncode == 2
    assert b"vicinal: error: cannot write to standard output" in result.stderr
    assert b"Exception ignored" not in result.stderr


def test_only_one_of_three_concurrent_runs_writes_the_output(table, tmp_path):
    target = tmp_path / "edges.csv"
    args = [sys.executable, "-m", "vicinal.cli", "graph", table, "--kind", "mst", "-o", target]
    # All start before the file exists.
    runs = [
        subprocess.Popen([*map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    messages = [run.communicate(timeout=300)[1].decode() for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2, 2]
    assert sum("edges.csv exists" in text for text in messages) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "points.csv"]


def test_a_file_created_during_the_run_is_not_overwritten(tmp_path):
    path = tmp_path / "out.txt"

    def write():
        with atomic_write(path, replace=False) as unfinished:
            unfinished.write_text("ours")
            path.write_text("theirs")

    with pytest.raises(FileExistsError, match=r"out\.txt exists: another process wrote it"):
        write()
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_created_only_once_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", no_links)
    path = tmp_path / "out.txt"
    with atomic_write(path, replace=False) as unfinished:
        unfinished.write_text("first")
    with (
        pytest.raises(FileExistsError, match="exists"),
        atomic_write(path, replace=False) as unfinished,
    ):
        unfinished.write_text("second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_partial_files_of_killed_processes_are_removed_by_the_next_run(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from vicinal._core.files import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as unfinished:\n"
        "    unfinished.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "out.txt"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=300)
    assert len(list(tmp_path.iterdir())) == 1
    assert not path.exists()
    with atomic_write(path) as unfinished:
        unfinished.write_text("whole")
    assert list(tmp_path.iterdir()) == [path]
