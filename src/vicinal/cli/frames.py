"""Tables of other programs as data frames: columnar files, spreadsheets, JSON lines and databases.

Nothing in a file is run: databases are opened read-only, and queries cannot reach other files.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from vicinal._core.memory import require_memory
from vicinal._core.suggestions import suggestion
from vicinal._core.tables import RawTable
from vicinal.cli.columns import Roles, import_reader, numeric_columns
from vicinal.exceptions import InvalidValueError

# A query instead of the name of a table.
QUERY = re.compile(r"\s*(select|with)\b", re.IGNORECASE)
# Memory of a spreadsheet as objects, relative to its unpacked XML.
BYTES_PER_XML_BYTE = 10.0


def read_parquet(path: Path, roles: Roles) -> RawTable:
    """Table of a .parquet file, or of all such files in a folder."""
    pandas = import_reader("pandas", path, ".parquet")
    import_reader("pyarrow", path, ".parquet")
    try:
        frame = pandas.read_parquet(path)
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise InvalidValueError(f"cannot read {path} as parquet: {error}") from error
    return numeric_columns(frame, path, roles)


def is_parquet_folder(path: Path) -> bool:
    """Whether a folder holds .parquet files."""
    return path.is_dir() and next(path.rglob("*.parquet"), None) is not None


def read_arrow(path: Path, roles: Roles) -> RawTable:
    """Table of a .feather or .arrow file, or of an Arrow stream."""
    pyarrow = import_reader("pyarrow", path)
    import_reader("pandas", path)
    from pyarrow import ipc

    try:
        with pyarrow.memory_map(str(path)) as source:
            opened = ipc.open_file if source.read(6) == b"ARROW1" else ipc.open_stream
            source.seek(0)
            frame = opened(source).read_all().to_pandas()
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise InvalidValueError(f"cannot read {path} as an Arrow table: {error}") from error
    return numeric_columns(frame, path, roles)


def read_json_lines(path: Path, roles: Roles) -> RawTable:
    """Table of a .jsonl file with one object per line."""
    pandas = import_reader("pandas", path)
    records = []
    with open(path, encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    records.append(_record(line, path, number))
        except UnicodeDecodeError as error:
            raise InvalidValueError(f"{path} is not UTF-8 text ({error}).") from error
    if not records:
        raise InvalidValueError(f"{path} is empty; one JSON object per line is needed.")
    return numeric_columns(pandas.DataFrame(records), path, roles)


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
    try:
        with ZipFile(path) as archive:
            n_bytes = sum(info.file_size for info in archive.infolist())
        require_memory(
            BYTES_PER_XML_BYTE * n_bytes, f"the spreadsheet {path}", "Save the sheet as .csv."
        )
        with pandas.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            sheet = _chosen(roles.key, sheets, "sheet", path, several=True)
            frame = book.parse(sheet)
    except (BadZipFile, KeyError, ValueError, TypeError, EOFError, SyntaxError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(f"cannot read {path} as a spreadsheet: {error}") from error
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[f"read the sheet {sheet!r}", *table.notes])


def read_sqlite(path: Path, roles: Roles) -> RawTable:
    """Table ``roles.key`` of an SQLite database, or the result of a query."""
    import_reader("pandas", path)
    # Read-only; quoted, because ? and # in a name would end it.
    from urllib.parse import quote

    try:
        connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
        try:
            connection.set_authorizer(_only_reading)
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            )
            frame, note = _query(connection, roles.key, [row[0] for row in names], path)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InvalidValueError(f"cannot read {path} as an SQLite database: {error}.") from error
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
    try:
        connection = duckdb.connect(str(path), read_only=True)
        try:
            # Queries cannot read other files or load extensions.
            connection.execute("SET enable_external_access = false")
            names = connection.execute(
                "SELECT table_name FROM information_schema.tables ORDER BY table_name"
            )
            tables = [row[0] for row in names.fetchall()]
            frame, note = _query(connection, roles.key, tables, path)
        finally:
            connection.close()
    except duckdb.Error as error:
        raise InvalidValueError(f"cannot read {path} as a DuckDB database: {error}") from error
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
    return pandas.DataFrame.from_records(cursor.fetchall(), columns=columns), note


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
