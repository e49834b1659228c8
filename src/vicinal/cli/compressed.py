"""Compressed text tables, unpacked into a temporary file."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vicinal._core.files import temporary_folder
from vicinal._core.foreign_files import check_growth, reading, shown_as

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# Text formats that may be compressed.
COMPRESSIBLE = (".csv", ".tsv", ".jsonl")
PART = 1 << 24
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
    with temporary_folder() as folder:
        plain = folder / f"table{table_suffix(path)}"
        with shown_as(path, plain):
            _unpack(path, plain)
            yield plain


def _unpack(path: Path, target: Path) -> None:
    with open(target, "wb") as file:
        n_bytes = 0
        for part in _parts(path):
            n_bytes += len(part)
            # Zeros compress a thousandfold: stop before they fill the disk.
            check_growth(
                path,
                n_bytes,
                "the unpacked table",
                "Use fewer rows, or unpack it first.",
                in_memory=BYTES_PER_CHARACTER,
            )
            file.write(part)


def _parts(path: Path) -> Iterator[bytes]:
    with reading(path, "compressed text"), OPENERS[path.suffix.lower()](path, "rb") as source:
        while part := source.read(PART):
            yield part
