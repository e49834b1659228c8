"""Files that others made: how large a small one may become, and what readers raise if it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from vicinal._core.memory import require_memory
from vicinal.exceptions import InsufficientMemoryError, InvalidValueError, VicinalError

# The content of a file may take this many times its bytes, and that of any file this many. What grows more
# was made to fill the memory, or by mistake: tables of numbers rarely shrink to a thirtieth.
MAX_GROWTH, SMALL = 100, 2**27
# Each column of a data frame takes about 2 kB and 0.1 ms, even without rows.
MAX_COLUMNS = 200_000
CELL_BYTES = 8


@contextmanager
def reading(
    path: str | PathLike[str],
    kind: str = "",
    advice: str = "it may be damaged, truncated or of another format",
) -> Iterator[None]:
    """Turn every error of another library that reads a file into one that names the file and the reason.

    A damaged file makes readers raise anything, such as KeyError or zlib.error. Only their calls belong into
    the block: an error of vicinal's own code there would be blamed on the file.
    """
    try:
        yield
    except (VicinalError, Warning, PermissionError):
        raise
    except MemoryError as error:
        raise InsufficientMemoryError(
            f"cannot read {path}{kind and f' as {kind}'}: {error or 'the memory is full'}; {advice}."
        ) from error
    except Exception as error:
        raise InvalidValueError(
            f"cannot read {path}{kind and f' as {kind}'}: {_reason(error)}; {advice}."
        ) from error


@contextmanager
def shown_as(name: str | PathLike[str], temporary: Path) -> Iterator[None]:
    """Errors about a temporary file name what it was made from."""
    try:
        yield
    except (VicinalError, OSError) as error:
        message = str(error).replace(str(temporary), str(name))
        if message == str(error):
            raise
        raise type(error)(message) from error


def _reason(error: Exception) -> str:
    text = (isinstance(error, OSError) and error.strerror) or str(error).strip().rstrip(".;")
    # The text of a KeyError is only a key.
    return text if text and not isinstance(error, KeyError) else f"{type(error).__name__} {text}"


def check_growth(
    path: Path, n_bytes: float, content: str, advice: str, *, in_memory: float = 1.0
) -> None:
    """Raise if content of a file takes too many bytes for the file, or for the memory.

    Called before the content is read, or each time more of it has been read. ``in_memory`` is the memory that
    a byte of it takes.
    """
    parts = path.rglob("*") if path.is_dir() else [path]
    size = sum(part.stat().st_size for part in parts if part.is_file())
    limit = max(SMALL, MAX_GROWTH * size)
    if n_bytes > limit:
        raise InvalidValueError(
            f"{path}: {content} would take more than {limit / 1e6:,.0f} MB, the limit for a file of "
            f"{size:,} bytes ({MAX_GROWTH} times its size, at least {SMALL / 1e6:,.0f} MB). {advice}"
        )
    require_memory(in_memory * n_bytes, f"{path}: {content}", advice)


def check_table_size(path: Path, n_rows: int, n_columns: int) -> None:
    """Raise if a data frame of this size has too many columns, or cells for its file."""
    if n_columns > MAX_COLUMNS:
        raise InvalidValueError(
            f"{path} has {n_columns:,} columns, but tables of up to {MAX_COLUMNS:,} columns are read; if "
            "rows and columns are swapped, transpose it, or save its numbers as .npy."
        )
    check_growth(
        path,
        CELL_BYTES * n_rows * n_columns,
        f"a table of {n_rows:,} rows and {n_columns:,} columns",
        "Use fewer rows or columns.",
    )
