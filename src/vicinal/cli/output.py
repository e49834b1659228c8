"""What the command leaves behind: whole files or none, and what was found on the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.tables import format_rows, is_missing
from vicinal.exceptions import InvalidValueError, MissingDependencyError

# Formats of tables, and what is needed to write them.
MODULES = {
    ".csv": ("pandas",),
    ".tsv": ("pandas",),
    ".parquet": ("pandas", "pyarrow"),
    ".npz": (),
}
TABLE_FORMATS = tuple(MODULES)
FIGURE_FORMATS = (".png", ".pdf", ".svg", ".jpg")
# Longer tables are cut on the terminal; files and --json have all of them.
SHOWN_ROWS = 40


def check_target(
    path: Path | None, formats: Sequence[str], option: str, force: bool, source: Path
) -> None:
    """Refuse a file that could not be written, or is read, before the work whose result it is to hold."""
    if path is None:
        return
    if path.suffix.lower() not in formats:
        raise InvalidValueError(
            f"{option} {path} ends in {path.suffix or 'nothing'}, but one of "
            f"{', '.join(formats)} is needed."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} {path}: there is no folder {path.parent}; make it.")
    if path.is_dir():
        raise IsADirectoryError(f"{option} {path} is a folder; name a file.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(
            f"{option} {path}: the folder {path.parent} cannot be written to; choose another."
        )
    if path.exists() and source.exists() and path.samefile(source):
        raise InvalidValueError(f"{option} {path} is the file that is read; choose another name.")
    refuse_existing([path], force)


def check_folder(folder: Path, option: str) -> None:
    """Refuse a folder that could not be made or written into, before the work it is to hold."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(
            f"{option} {folder}: {there} is a file, but a folder is needed; choose another name."
        )
    if not os.access(there, os.W_OK):
        raise PermissionError(
            f"{option} {folder}: the folder {there} cannot be written to; choose another."
        )


def need_modules(what: str, *modules: str) -> None:
    """Say before the work which library would be missing after it."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingDependencyError(f"{what} need {module}: pip install 'vicinal[cli]'.")


def refuse_existing(paths: Sequence[Path], force: bool) -> None:
    """Files that are there stay, unless ``force`` allows to replace them."""
    there = [] if force else [path for path in paths if path.exists()]
    if there:
        more = f" (and {len(there) - 1} more)" if len(there) > 1 else ""
        raise FileExistsError(f"{there[0]}{more} exists; give --force to write over it.")


def write_table(columns: Mapping[str, np.ndarray], path: Path) -> None:
    """Columns of equal length as a table, in the format that the name of the file asks for."""
    write_blocks([columns], 1, path)


def write_blocks(
    blocks: Iterable[Mapping[str, np.ndarray]],
    n_blocks: int,
    path: Path,
    progress: str | None = None,
) -> None:
    """A table that comes some lines at a time; only .npz needs all of them at once."""
    from vicinal._core.parallel import progress_bar

    suffix = path.suffix.lower()
    write = {".npz": _write_arrays, ".parquet": _write_parquet}.get(suffix, _write_text)
    with progress_bar(n_blocks, progress) as bar:

        def counted() -> Iterator[Mapping[str, np.ndarray]]:
            for block in blocks:
                yield block
                bar.update()

        write(counted(), path)


def _write_arrays(blocks: Iterable[Mapping[str, np.ndarray]], path: Path) -> None:
    parts = list(blocks)
    columns: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    # Names of rows would otherwise be Python objects, which numpy does not load by default.
    plain = {name: c.astype(str) if c.dtype == object else c for name, c in columns.items()}
    # By an open file: numpy would add its suffix to a name that ends in .NPZ.
    with open(path, "wb") as file:
        np.savez_compressed(file, **plain)


def _write_parquet(blocks: Iterable[Mapping[str, np.ndarray]], path: Path) -> None:
    import pandas
    import pyarrow
    from pyarrow import parquet

    writer = None
    try:
        for block in blocks:
            table = pyarrow.Table.from_pandas(pandas.DataFrame(dict(block)), preserve_index=False)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _write_text(blocks: Iterable[Mapping[str, np.ndarray]], path: Path) -> None:
    import pandas

    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    for number, block in enumerate(blocks):
        pandas.DataFrame(dict(block)).to_csv(
            path, sep=separator, index=False, header=number == 0, mode="w" if number == 0 else "a"
        )


def format_facts(facts: Mapping[str, Any]) -> str:
    """What a command found, for people: figures, tables, then files; arrays are for machines."""
    figures, tables, lines = [], [], []
    for name, value in facts.items():
        if name == "written":
            lines += [f"{what} written to {path}" for what, path in value.items()]
        elif isinstance(value, np.ndarray):
            continue
        elif isinstance(value, list):
            tables.append(_format_records(value))
        elif isinstance(value, str) and " " in value:
            lines.append(f"{name.replace('_', ' ')} {value}")
        elif name == "seconds":
            figures.append(["time", f"{value:.2f} s"])
        else:
            figures.append([name.replace("_", " "), _shown(value)])
    parts = [format_rows(figures)] if figures else []
    return "\n".join([*parts, *filter(None, tables), *lines])


def format_json(facts: Mapping[str, Any]) -> str:
    """What a command found, for machines: numbers in full, what is not finite as null."""
    return json.dumps(_jsonable(facts), indent=2, allow_nan=False)


def _format_records(records: list[dict[str, Any]]) -> str:
    if not records:
        return ""
    head = [name.replace("_", " ") for name in records[0]]
    body = [[_entry(*item) for item in record.items()] for record in records[:SHOWN_ROWS]]
    left = len(records) - SHOWN_ROWS
    return format_rows([head, *body]) + (f"\n... and {left:,} more rows" if left > 0 else "")


def _entry(name: str, value: Any) -> str:
    if name == "share":
        return f"{value:.1%}"
    return "noise" if name == "cluster" and value == -1 else _cell(value)


def _shown(value: Any) -> str:
    return f"{value:,}" if type(value) is int else _cell(value)


def _cell(value: Any) -> str:
    if is_missing(value):
        return "-"
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _jsonable(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(part) for part in value]
    if isinstance(value, np.ndarray):
        return _jsonable(value.tolist())
    if isinstance(value, np.generic):
        return _jsonable(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, (bool, int, str)):
        return value
    return None if is_missing(value) else str(value)
