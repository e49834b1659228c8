"""Small files that would become huge tables are refused, with the limit, before they fill the memory."""

import gzip
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

MB = 10**6


def far_cell(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active["XFD1048576"] = 1
    book.save(path)


def endless_view(path):
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE VIEW v AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"
    )
    connection.close()


def endless_duckdb(path):
    with pytest.importorskip("duckdb").connect(str(path)) as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM range(1000000000000)")


def zeros(path):
    np.savez_compressed(path, X=np.zeros((4_000_000, 50), dtype=np.uint8))


def zeros_as_text(path):
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b"0,0\n" * 500_000)


def repeated_rows(path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": np.zeros(20_000_000)}), path)


def unwritten_array(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**6, 10**4), dtype="f4", chunks=(1000, 1000))


def different_names(path):
    path.write_text("\n".join(json.dumps({f"name {i}": i}) for i in range(20_000)))


def short_lines(path):
    path.write_text(",".join(f"c{i}" for i in range(50_000)) + "\n" + "1\n" * 100_000)


FILES = {
    "t.xlsx": (far_cell, "1,048,576 rows and 16,384 columns would take more than 134 MB"),
    "t.sqlite": (endless_view, "its rows would take more than 134 MB"),
    "t.duckdb": (endless_duckdb, "its rows would take more than 134 MB"),
    "t.npz": (zeros, "would take more than 134 MB"),
    "t.csv.gz": (zeros_as_text, "would take more than 134 MB"),
    "t.parquet": (repeated_rows, "20,000,000 rows and 1 columns would take more than 134 MB"),
    "t.h5ad": (unwritten_array, "its unpacked arrays would take more than 134 MB"),
    "t.jsonl": (different_names, "20,000 rows and 20,000 columns would take more than 134 MB"),
    "t.csv": (short_lines, "has 50000 cells, but other lines have 1;"),
}
# Runs the command and prints the most memory that it had in MB.
CODE = """
import sys
from pathlib import Path
from vicinal.cli import main
code = main(sys.argv[1:])
# The largest since this program began; the usage of the process counts that of its parent, too.
status = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(peak * 1024 // 10**6, file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
@pytest.mark.parametrize("name", FILES)
def test_a_small_file_cannot_fill_the_memory(name, tmp_path):
    path = tmp_path / name
    write, problem = FILES[name]
    if name == "t.h5ad":
        pytest.importorskip("anndata")
    write(path)
    assert path.stat().st_size < MB
    result = subprocess.run(
        [sys.executable, "-c", CODE, "graph", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    *lines, memory = result.stderr.splitlines()
    assert result.returncode == 2
    assert problem in lines[-1]
    assert str(path) in lines[-1]
    assert int(memory) < 500


@pytest.mark.parametrize("rows", ["", "1\n"])
def test_too_many_columns_are_refused_with_the_limit(rows, tmp_path, error_of):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{i}" for i in range(1_000_000)) + "\n" + rows)
    message = error_of("graph", path)
    assert "has 1,000,000 columns, but tables of up to 200,000 columns are read" in message


def test_a_long_header_without_rows_has_no_rows(tmp_path, error_of):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{i}" for i in range(150_000)) + "\n\n")
    assert "has no rows" in error_of("graph", path)


def test_a_wide_table_is_read(tmp_path, facts_of):
    path = tmp_path / "t.csv"
    values = np.random.default_rng(0).random((4, 15_000))
    pandas.DataFrame(values).to_csv(path, index=False)
    facts = facts_of("graph", path, "--kind", "mst", "--as-is")
    assert (facts["nodes"], facts["columns"]) == (4, 15_000)


def test_a_spreadsheet_with_an_empty_cell_far_away_is_read(tmp_path, points, facts_of):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["x", "y"], *points.tolist()]:
        book.active.append(row)
    # Formatted, but empty: spreadsheets often have such cells.
    book.active["XFD1000"].font = openpyxl.styles.Font(bold=True)
    book.save(tmp_path / "t.xlsx")
    facts = facts_of("graph", tmp_path / "t.xlsx", "--kind", "mst")
    assert (facts["nodes"], facts["columns"]) == (60, 2)
