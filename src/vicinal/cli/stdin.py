"""Tables from standard input, whose format is detected from the first bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vicinal._core.files import temporary_folder
from vicinal._core.foreign_files import shown_as
from vicinal.exceptions import InvalidValueError

# The argument - ; a file of that name is ./-
STDIN = Path("/dev/stdin")
# First bytes of binary formats.
MAGIC_BYTES = {
    b"\x93NUMPY": ".npy",
    b"PK": ".npz",
    b"PAR1": ".parquet",
    b"\x89HDF": ".h5ad",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"SQLite format 3": ".sqlite",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
    b"{": ".jsonl",
}
# Member of a zip archive that makes it a spreadsheet.
SPREADSHEET_MEMBER = b"xl/workbook.xml"


def path_or_stdin(text: str) -> Path:
    """Argument type of a file, or - for standard input."""
    return STDIN if text == "-" else Path(text)


@contextmanager
def piped_file() -> Iterator[Path]:
    """Standard input as a file with the extension of its format; errors name standard input."""
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InvalidValueError("standard input is empty; pipe a table to it, or give a file.")
    suffix = next((end for start, end in MAGIC_BYTES.items() if content.startswith(start)), ".csv")
    if suffix == ".npz" and SPREADSHEET_MEMBER in content:
        suffix = ".xlsx"
    elif content[8:12] == b"DUCK":
        suffix = ".duckdb"
    with temporary_folder() as folder:
        path = folder / f"stdin{suffix}"
        path.write_bytes(content)
        del content
        with shown_as("standard input", path):
            yield path
