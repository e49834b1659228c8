"""Tables of other programs as data frames: columnar files, spreadsheets, JSON lines and databases.

Nothing in a file is run: databases are opened read-only, and queries cannot reach other files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from sys import getsizeof
from typing import Any
from zipfile import ZipFile

from vicinal._core.foreign_files import check_growth, check_table_size, reading
from vicinal._core.suggestions import suggestion
from vicinal._core.tables import RawTable
from vicinal.cli.columns import Roles, import_reader, numeric_columns
from vicinal.exceptions import InvalidValueError

# A query instead of the name of a table.
QUERY = re.compile(r"\s*(select|with)\b", re.IGNORECASE)
QUERY_ADVICE = "check the query, if --key is one; otherwise the file may be damaged"
# Memory of a spreadsheet as objects, relative to its unpacked XML.
BYTES_PER_XML_BYTE = 10.0
# Rows of a query that are fetched at a time, and the bytes after which their growth is checked again.
BATCH_ROWS, CHECKED_BYTES = 64, 2**22


def read_parquet(path: Path, roles: Roles) -> RawTable:
    """Table of a .parquet file, or of all such files in a folder."""
    pandas = import_reader("pandas", path, ".parquet")
    import_reader("pyarrow", path, ".parquet")
    from pyarrow.parquet import read_metadata, read_table

    with reading(path, "parquet"):
        parts = [read_metadata(part) for part in _parquet_files(path)]
        n_rows, n_columns = sum(part.num_rows for part in parts), parts[0].num_columns
        groups = [part.row_group(i) for part in parts for i in range(part.num_row_groups)]
        check_table_size(path, n_rows, n_columns)
        check_growth(
            path,
            sum(group.total_byte_size for group in groups),
            "the unpacked table",
            "Use fewer rows or columns.",
        )
        frame = _frame(read_table(path), pandas)
    return numeric_columns(frame, path, roles)


def _parquet_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.parquet")) if path.is_dir() else [path]


def is_parquet_folder(path: Path) -> bool:
    """Whether a folder holds .parquet files."""
    return path.is_dir() and next(path.rglob("*.parquet"), None) is not None


def read_arrow(path: Path, roles: Roles) -> RawTable:
    """Table of a .feather or .arrow file, or of an Arrow stream."""
    pyarrow, pandas = import_reader("pyarrow", path), import_reader("pandas", path)
    from pyarrow import ipc

    # Not mapped into memory: a truncated file would end the process.
    with reading(path, "an Arrow table"), pyarrow.OSFile(str(path)) as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        opened = ipc.open_file(source) if is_file else ipc.open_stream(source)
        batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else opened
        table = pyarrow.Table.from_batches(_checked_batches(batches, path), opened.schema)
        check_table_size(path, table.num_rows, table.num_columns)
        table.validate(full=True)  # so that no damaged position is followed
        frame = _frame(table, pandas)
    return numeric_columns(frame, path, roles)


def _frame(table: Any, pandas: Any) -> Any:
    """An Arrow table as a data frame, in which integers stay integers where some are missing."""
    import pyarrow

    frame = table.to_pandas()
    for field in table.schema:
        column = table.column(field.name)
        if pyarrow.types.is_integer(field.type) and column.null_count and field.name in frame:
            frame[field.name] = column.to_pandas(integer_object_nulls=True).to_numpy()
    return frame


def _checked_batches(batches: Iterable[Any], path: Path) -> Iterator[Any]:
    n_bytes = 0
    for batch in batches:
        n_bytes += batch.nbytes
        check_growth(path, n_bytes, "the unpacked table", "Use fewer rows or columns.")
        yield batch


def read_json_lines(path: Path, roles: Roles) -> RawTable:
    """Table of a .jsonl file with one object per line."""
    pandas = import_reader("pandas", path)
    records: list[dict[str, Any]] = []
    names: set[str] = set()
    with reading(path), open(path, encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    records.append(_record(line, path, number))
                    names.update(records[-1])
        except UnicodeDecodeError as error:
            raise InvalidValueError(f"{path} is not UTF-8 text ({error}).") from error
    if not records:
        raise InvalidValueError(f"{path} is empty; one JSON object per line is needed.")
    check_table_size(path, len(records), len(names))
    return numeric_columns(pandas.DataFrame(records, dtype=object), path, roles)


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{path}, line {number}: not JSON ({error}).") from error
    if not isinstance(record, dict):
        raise InvalidValueError(
            f"{path}, line {number}: {type(record).__name__} found, but each line must be an object "
            'such as {"x": 1.5, "kind": "a"}.'
        )
    # Lists and objects are not values that rows can be compared by.
    return {
        name: json.dumps(value) if isinstance(value, (list, dict)) else value
        for name, value in record.items()
    }


def read_excel(path: Path, roles: Roles) -> RawTable:
    """Table of the first sheet of an .xlsx file, or of the sheet ``roles.key``."""
    pandas = import_reader("pandas", path)
    import_reader("openpyxl", path)
    with reading(path, "a spreadsheet"):
        with ZipFile(path) as archive:
            n_bytes = sum(info.file_size for info in archive.infolist())
        advice = "Save the sheet as .csv."
        check_growth(
            path, n_bytes, "the unpacked spreadsheet", advice, in_memory=BYTES_PER_XML_BYTE
        )
        with pandas.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            sheet = _chosen(roles.key, sheets, "sheet", path, several=True)
            # pandas fills all rows up to the last column: a single cell can be far away.
            cells = book.book[sheet]
            cells.iter_rows = _checked_rows(cells.iter_rows, path)
            # Cells as they are: pandas would make numbers of text, and missing values of words.
            frame = book.parse(sheet, dtype=object, keep_default_na=False, na_values=[""])
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[f"read the sheet {sheet!r}", *table.notes])


def _checked_rows(iter_rows: Callable[..., Any], path: Path) -> Callable[..., Iterator[Any]]:
    """The rows of a sheet; each one with values checks the size of the table up to it."""

    def checked(*arguments: Any, **options: Any) -> Iterator[Any]:
        n_columns = n_checked = 0
        for n_rows, row in enumerate(iter_rows(*arguments, **options), start=1):
            width = len(row)
            while width and row[width - 1].value is None:
                width -= 1
            n_columns = max(n_columns, width)
            if width and n_rows * n_columns > n_checked:
                check_table_size(path, n_rows, n_columns)
                n_checked = 2 * n_rows * n_columns
            yield row

    return checked


def read_sqlite(path: Path, roles: Roles) -> RawTable:
    """Table ``roles.key`` of an SQLite database, or the result of a query."""
    import_reader("pandas", path)
    # Read-only; quoted, because ? and # in a name would end it.
    from urllib.parse import quote

    with (
        reading(path, "an SQLite database", QUERY_ADVICE),
        closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as opened,
    ):
        opened.set_authorizer(_only_reading)
        # Only an expression makes a cell that is longer than its file.
        longest = max(CHECKED_BYTES, path.stat().st_size)
        opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, 10**9))
        names = opened.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        )
        frame, note = _query(opened, roles.key, [row[0] for row in names], path)
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[note, *table.notes])


def _only_reading(action: int, *_: Any) -> int:
    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def read_duckdb(path: Path, roles: Roles) -> RawTable:
    """Table ``roles.key`` of a DuckDB database, or the result of a query."""
    import_reader("pandas", path)
    duckdb = import_reader("duckdb", path)
    with (
        reading(path, "a DuckDB database", QUERY_ADVICE),
        closing(duckdb.connect(str(path), read_only=True)) as opened,
    ):
        # Queries cannot read other files or load extensions.
        opened.execute("SET enable_external_access = false")
        names = opened.execute(
            "SELECT table_name FROM information_schema.tables ORDER BY table_name"
        )
        tables = [row[0] for row in names.fetchall()]
        frame, note = _query(opened, roles.key, tables, path)
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[note, *table.notes])


def _query(connection: Any, key: str | None, names: list[str], path: Path) -> tuple[Any, str]:
    """Result of a query, or all rows of a table, and a note on it."""
    import pandas

    if key is not None and QUERY.match(key):
        statement, note = key, "read the result of the query"
    else:
        name = _chosen(key, names, "table", path)
        quoted = name.replace('"', '""')
        statement, note = f'SELECT * FROM "{quoted}"', f"read the table {name!r}"
    cursor = connection.execute(statement)
    columns = [column[0] for column in cursor.description]
    return pandas.DataFrame(_all_rows(cursor, path), columns=columns, dtype=object), note


def _all_rows(cursor: Any, path: Path) -> list[tuple[Any, ...]]:
    """Rows of a query, which may be endless."""
    rows: list[tuple[Any, ...]] = []
    n_bytes = n_checked = 0
    while batch := cursor.fetchmany(BATCH_ROWS):
        rows += batch
        # One row stands for its batch: looking at every value would take as long as fetching it.
        n_bytes += len(batch) * (getsizeof(batch[-1]) + sum(map(getsizeof, batch[-1])))
        if n_bytes > n_checked:
            advice = "Choose fewer with --key 'SELECT ... LIMIT ...'."
            check_growth(path, n_bytes, "its rows", advice)
            n_checked = n_bytes + CHECKED_BYTES
    return rows


def _chosen(
    key: str | None, names: Iterable[str], what: str, path: Path, *, several: bool = False
) -> str:
    """The table of that name; without a name the only one, or with ``several`` the first."""
    names = list(names)
    if key is None and names and (several or len(names) == 1):
        return names[0]
    if key is not None and key in names:
        return key
    found = f"it has {', '.join(names[:20])}" if names else f"it has no {what}"
    if key is None:
        raise InvalidValueError(f"{path} has {len(names)} {what}s; choose one with --key: {found}.")
    raise InvalidValueError(
        f"--key {key}: {path} has no such {what}{suggestion(key, names)}; {found}."
    )
