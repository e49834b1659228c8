"""Tables of other programs: columnar files, spreadsheets, JSON lines, databases and compressed text."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import sys
import zipfile

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from vicinal import perceive  # noqa: E402
from vicinal.cli.tables import read_table  # noqa: E402

FRAME = pandas.DataFrame({"name": ["a", "b", "c"], "x": [1.0, 2.5, -3.0], "y": [4, 5, 6]})
POINTS = FRAME[["x", "y"]].to_numpy()


def save_sqlite(frame, path, table="rows"):
    connection = sqlite3.connect(path)
    frame.to_sql(table, connection, index=False)
    connection.close()


def save_duckdb(frame, path, table="rows"):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM frame")


def save_jsonl(frame, path):
    path.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))


def save_excel(frame, path):
    pytest.importorskip("openpyxl")
    frame.to_excel(path, index=False)


def save_compressed(opener):
    def save(frame, path):
        with opener(path, "wt") as file:
            file.write(frame.to_csv(index=False))

    return save


WRITERS = {
    "t.jsonl": save_jsonl,
    "t.parquet": lambda frame, path: frame.to_parquet(path),
    "t.feather": lambda frame, path: frame.to_feather(path),
    "t.arrow": lambda frame, path: frame.to_feather(path, compression="uncompressed"),
    "t.xlsx": save_excel,
    "t.sqlite": save_sqlite,
    "t.db": save_sqlite,
    "t.duckdb": save_duckdb,
    "t.csv.gz": save_compressed(gzip.open),
    "t.csv.bz2": save_compressed(bz2.open),
    "t.csv.xz": save_compressed(lzma.open),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(name, tmp_path):
    WRITERS[name](FRAME, tmp_path / name)
    table = read_table(tmp_path / name, id_column="name")
    np.testing.assert_array_equal(table.points, POINTS)
    assert list(table.names) == ["x", "y"]
    assert table.ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("content", [b"", b"garbage \xff\x00 " * 20])
def test_a_file_that_is_not_of_its_format_is_a_clear_error(name, content, tmp_path, error_of):
    if name == "t.duckdb":
        pytest.importorskip("duckdb")
    (tmp_path / name).write_bytes(content)
    assert name in error_of("cluster", tmp_path / name)


@pytest.mark.parametrize("name", [n for n in WRITERS if n != "t.jsonl"])
def test_a_truncated_file_is_a_clear_error(name, tmp_path, error_of):
    frame = pandas.concat([FRAME] * 400, ignore_index=True)
    WRITERS[name](frame, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    assert name in error_of("cluster", tmp_path / name)


@pytest.mark.parametrize("name", ["t.arrow", "t.xlsx", "t.sqlite", "t.csv.gz", "t.jsonl"])
def test_piped_tables_are_recognised(name, tmp_path, monkeypatch):
    WRITERS[name](FRAME, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    from vicinal.cli.stdin import STDIN

    np.testing.assert_array_equal(read_table(STDIN, id_column="name").points, POINTS)


def test_a_folder_of_parquet_files_is_one_table(tmp_path, facts_of):
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in ("0.parquet", "deep/1.parquet"):
        pandas.DataFrame(rng.random((30, 2)), columns=["x", "y"]).to_parquet(folder / name)
    assert facts_of("cluster", folder, "--clusters", 2)["rows"] == 60


def test_key_chooses_a_sheet_and_suggests_one(tmp_path, error_of):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pandas.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        (FRAME[["x", "y"]] * 2).to_excel(book, sheet_name="second", index=False)
    np.testing.assert_array_equal(read_table(path, "second").points, 2 * POINTS)
    assert "did you mean 'second'" in error_of("cluster", path, "--key", "secnd")


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
def test_key_is_a_table_or_a_query_of_a_database(name, tmp_path, error_of):
    path = tmp_path / name
    WRITERS[name](FRAME, path)
    WRITERS[name](FRAME, path, "other")
    table = read_table(path, "SELECT x, y * 2 AS y FROM rows WHERE x > 0")
    np.testing.assert_array_equal(table.points, [[1.0, 8.0], [2.5, 10.0]])
    assert "choose one with --key: it has other, rows" in error_of("cluster", path)
    assert "did you mean 'rows'" in error_of("cluster", path, "--key", "row")


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM missing",
        "SELECT 1; DROP TABLE rows",
        "WITH a AS (SELECT 1) DELETE FROM rows",
    ],
)
def test_queries_cannot_change_a_database(name, query, tmp_path, error_of):
    path = tmp_path / name
    WRITERS[name](FRAME, path)
    before = path.read_bytes()
    error_of("cluster", path, "--key", query)
    assert path.read_bytes() == before


def test_duckdb_queries_cannot_read_other_files(tmp_path, error_of):
    save_duckdb(FRAME, tmp_path / "t.duckdb")
    FRAME.to_csv(tmp_path / "secret.csv")
    query = f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')"
    assert "disabled" in error_of("cluster", tmp_path / "t.duckdb", "--key", query)


def test_sqlite_queries_cannot_attach_other_files(tmp_path, error_of):
    save_sqlite(FRAME, tmp_path / "t.sqlite")
    target = tmp_path / "new.db"
    error_of("cluster", tmp_path / "t.sqlite", "--key", f"ATTACH '{target}' AS other")
    assert not target.exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"x": 1}\n[1, 2]\n', "line 2: list found"),
        ('{"x": 1}\n{"x": \n', "line 2: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ("\n\n", "is empty"),
    ],
)
def test_lines_that_are_not_json_objects_are_named(text, problem, tmp_path, error_of):
    (tmp_path / "t.jsonl").write_text(text)
    assert problem in error_of("cluster", tmp_path / "t.jsonl")


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.xlsx"])
def test_a_file_that_unpacks_to_more_than_the_memory_is_an_error(
    name, tmp_path, monkeypatch, error_of
):
    if name.endswith("gz"):
        with gzip.open(tmp_path / name, "wb") as file:
            file.write(b"1,2\n" * 1_000_000)
    else:
        pytest.importorskip("openpyxl")
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", b" " * 4_000_000)
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 1_000_000)
    assert "memory" in error_of("cluster", tmp_path / name)


@pytest.mark.parametrize("name", ["t.npy.gz", "t.gz", "t.xls"])
def test_other_extensions_are_rejected_with_those_that_work(name, tmp_path, error_of):
    (tmp_path / name).write_bytes(b"x")
    assert ".xlsx" in error_of("cluster", tmp_path / name)


@pytest.mark.parametrize(
    ("module", "name", "extra"), [("openpyxl", "t.xlsx", "excel"), ("duckdb", "t.duckdb", "duckdb")]
)
def test_a_missing_package_is_named_with_its_extra(
    module, name, extra, tmp_path, monkeypatch, error_of
):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    assert f"pip install 'vicinal[{extra}]'" in error_of("cluster", tmp_path / name)


def test_layers_of_h5ad_files_are_read_by_name(tmp_path, error_of):
    anndata = pytest.importorskip("anndata")
    annotated = anndata.AnnData(POINTS, layers={"counts": POINTS + 1})
    annotated.var_names = ["x", "y"]
    annotated.write_h5ad(tmp_path / "t.h5ad")
    table = read_table(tmp_path / "t.h5ad", "counts")
    np.testing.assert_array_equal(table.points, POINTS + 1)
    assert list(table.names) == ["x", "y"]
    assert "did you mean 'counts'" in error_of("cluster", tmp_path / "t.h5ad", "--key", "count")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("n_different", [3, 40])
def test_a_column_of_lists_is_compared_as_text(name, n_different, tmp_path, facts_of):
    pytest.importorskip("pyarrow")
    points = np.random.default_rng(0).random((40, 2))
    lists = [[float(i % n_different)] * (i % 3) for i in range(40)]
    frame = pandas.DataFrame({"x": points[:, 0], "y": points[:, 1], "v": lists})
    WRITERS[name](frame, tmp_path / name)
    assert facts_of("cluster", tmp_path / name)["rows"] == 40
    assert facts_of("graph", tmp_path / name)["nodes"] == 40
    read = pandas.read_parquet if name == "t.parquet" else pandas.read_feather
    assert len(perceive(read(tmp_path / name)).labels) == 40
