"""Compressed text tables, unpacked into a temporary file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vicinal._core.memory import require_memory
from vicinal.exceptions import InvalidValueError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Text formats that may be compressed.
COMPRESSIBLE = (".csv", ".tsv", ".jsonl")
CHUNK = 1 << 24
# Memory of a table relative to its text.
BYTES_PER_CHARACTER = 4.0


def table_suffix(path: Path) -> str:
    """Extension of a table without that of its compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in OPENERS else suffix


def is_compressed(path: Path) -> bool:
    """Whether the extension says that a text table is compressed."""
    return path.suffix.lower() in OPENERS and table_suffix(path) in COMPRESSIBLE


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The uncompressed table as a temporary file; errors name the compressed one."""
    with tempfile.TemporaryDirectory(prefix="vicinal-") as folder:
        plain = Path(folder, f"table{table_suffix(path)}")
        try:
            _unpack(path, plain)
            yield plain
        except (ValueError, TypeError, OSError, MemoryError) as error:
            message = str(error).replace(str(plain), str(path))
            if message == str(error):
                raise
            raise type(error)(message) from error


def _unpack(path: Path, target: Path) -> None:
    n_bytes = 0
    try:
        with OPENERS[path.suffix.lower()](path, "rb") as source, open(target, "wb") as file:
            while chunk := source.read(CHUNK):
                n_bytes += len(chunk)
                # Zeros compress a thousandfold: stop before they fill the disk.
                require_memory(
                    BYTES_PER_CHARACTER * n_bytes,
                    f"{path}: a table of more than {n_bytes:,} bytes, unpacked",
                    "Use fewer rows.",
                )
                file.write(chunk)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidValueError(
            f"cannot unpack {path}: {error}; it is damaged, truncated or not compressed."
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise InvalidValueError(f"cannot unpack {path}: {error}; it is not compressed.") from error
