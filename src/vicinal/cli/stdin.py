"""Tables that are piped in: their format shows in their first bytes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vicinal.exceptions import InvalidValueError

# What - stands for among arguments; a file of that name is ./-
STDIN = Path("/dev/stdin")
# First bytes of the formats that are no text.
BEGINNINGS = {b"\x93NUMPY": ".npy", b"PK": ".npz", b"PAR1": ".parquet", b"\x89HDF": ".h5ad"}


def path_or_stdin(text: str) -> Path:
    """Type of arguments that name a file, or - for standard input."""
    return STDIN if text == "-" else Path(text)


@contextmanager
def piped_file() -> Iterator[Path]:
    """What is piped in as a file, named after its format; errors speak of standard input."""
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InvalidValueError("standard input is empty; pipe a table into it, or name a file.")
    suffix = next((end for start, end in BEGINNINGS.items() if content.startswith(start)), ".csv")
    with tempfile.TemporaryDirectory(prefix="vicinal-") as folder:
        path = Path(folder, f"stdin{suffix}")
        path.write_bytes(content)
        del content
        try:
            yield path
        except (ValueError, TypeError, OSError, MemoryError) as error:
            words = str(error).replace(str(path), "standard input")
            raise type(error)(words) from error
