"""Output files and the result on the terminal."""

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

# Table formats, and the modules needed to write them.
MODULES_BY_FORMAT = {
    ".csv": ("pandas",),
    ".tsv": ("pandas",),
    ".parquet": ("pandas", "pyarrow"),
    ".npz": (),
}
TABLE_FORMATS = tuple(MODULES_BY_FORMAT)
FIGURE_FORMATS = (".png", ".pdf", ".svg", ".jpg")
# Longer tables are truncated on the terminal, but not in files and JSON.
MAX_SHOWN_ROWS = 40


def check_target(
    path: Path | None, formats: Sequence[str], option: str, force: bool, source: Path
) -> None:
    """Raise, before any work, if a file cannot be written or is the input file."""
    if path is None:
        return
    if path.suffix.lower() not in formats:
        raise InvalidValueError(
            f"{option} {path}: unsupported format {path.suffix or '(no extension)'}; use one of "
            f"{', '.join(formats)}."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{option} {path}: the folder {path.parent} does not exist; create it."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{option} {path} is a folder; choose a file name.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(
            f"{option} {path}: the folder {path.parent} is not writable; choose another."
        )
    if path.exists() and source.exists() and path.samefile(source):
        raise InvalidValueError(f"{option} {path} is the input file; choose another name.")
    check_overwrite([path], force)


def check_table_target(path: Path | None, option: str, force: bool, source: Path) -> None:
    """`check_target` for a table; raise also if a module that writes it is not installed."""
    check_target(path, TABLE_FORMATS, option, force, source)
    if path is not None:
        require_modules(f"{path.suffix} files", *MODULES_BY_FORMAT[path.suffix.lower()])


def check_folder(folder: Path, option: str) -> None:
    """Raise, before any work, if a folder cannot be created or written to."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise NotADirectoryError(
            f"{option} {folder}: {existing} is a file, not a folder; choose another name."
        )
    if not os.access(existing, os.W_OK):
        raise PermissionError(
            f"{option} {folder}: the folder {existing} is not writable; choose another."
        )


def require_modules(what: str, *modules: str) -> None:
    """Raise, before any work, if a module is not installed."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingDependencyError(f"{what} need {module}: pip install 'vicinal[cli]'.")


def check_overwrite(paths: Sequence[Path], force: bool) -> None:
    """Raise if a file exists, unless ``force`` allows overwriting."""
    existing = [] if force else [path for path in paths if path.exists()]
    if existing:
        more = f" (and {len(existing) - 1} more)" if len(existing) > 1 else ""
        raise FileExistsError(f"{existing[0]}{more} exists; use --force to overwrite it.")


def write_table(columns: Mapping[str, np.ndarray], path: Path) -> None:
    """Write columns of equal length in the format of the file name."""
    write_blocks([columns], 1, path)


def write_blocks(
    blocks: Iterable[Mapping[str, np.ndarray]],
    n_blocks: int,
    path: Path,
    verbose: int = 0,
) -> None:
    """Write a table block by block; only .npz needs all blocks in memory."""
    from vicinal._core.parallel import progress_bar, run_with, use_run

    suffix = path.suffix.lower()
    write = {".npz": _write_arrays, ".parquet": _write_parquet}.get(suffix, _write_text)
    with use_run(run_with(-1, verbose)), progress_bar(n_blocks, "writing") as bar:

        def with_progress() -> Iterator[Mapping[str, np.ndarray]]:
            for block in blocks:
                yield block
                bar.update()

        write(with_progress(), path)


def _write_arrays(blocks: Iterable[Mapping[str, np.ndarray]], path: Path) -> None:
    all_blocks = list(blocks)
    columns: dict[str, Any] = {
        name: np.concatenate([block[name] for block in all_blocks]) for name in all_blocks[0]
    }
    # numpy does not load object arrays by default.
    loadable = {
        name: column.astype(str) if column.dtype == object else column
        for name, column in columns.items()
    }
    # An open file, because numpy appends .npz to a name that ends in .NPZ.
    with open(path, "wb") as file:
        np.savez_compressed(file, **loadable)


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
    for i, block in enumerate(blocks):
        pandas.DataFrame(dict(block)).to_csv(
            path, sep=separator, index=False, header=i == 0, mode="w" if i == 0 else "a"
        )


def format_facts(facts: Mapping[str, Any]) -> str:
    """Result as text: figures, tables, then files; arrays appear only in JSON."""
    figures, tables, lines = [], [], []
    # Several tables need titles; a single one is what the command is about.
    has_titles = sum(isinstance(value, list) for value in facts.values()) > 1
    for name, value in facts.items():
        if name == "written":
            lines += [f"{what} written to {path}" for what, path in value.items()]
        elif isinstance(value, np.ndarray):
            continue
        elif isinstance(value, list):
            table = _format_records(value)
            title = f"\n{name.replace('_', ' ')}:\n" if has_titles and table else ""
            tables.append(title + table)
        elif isinstance(value, str) and " " in value:
            lines.append(f"{name.replace('_', ' ')}: {value}")
        elif name == "seconds":
            figures.append(["time", f"{value:.2f} s"])
        else:
            figures.append([name.replace("_", " "), _format_figure(value)])
    blocks = [format_rows(figures)] if figures else []
    return "\n".join([*blocks, *filter(None, tables), *lines])


def format_json(facts: Mapping[str, Any]) -> str:
    """Result as JSON: numbers in full precision, NaN and infinity as null."""
    return json.dumps(_jsonable(facts), indent=2, allow_nan=False)


def _format_records(records: list[dict[str, Any]]) -> str:
    if not records:
        return ""
    head = [name.replace("_", " ") for name in records[0]]
    body = [[_format_cell(*item) for item in record.items()] for record in records[:MAX_SHOWN_ROWS]]
    n_hidden = len(records) - MAX_SHOWN_ROWS
    return format_rows([head, *body]) + (
        f"\n... and {n_hidden:,} more rows" if n_hidden > 0 else ""
    )


def _format_cell(name: str, value: Any) -> str:
    if name == "fraction":
        return f"{value:.1%}"
    return "noise" if name == "cluster" and value == -1 else _format_value(value)


def _format_figure(value: Any) -> str:
    return f"{value:,}" if type(value) is int else _format_value(value)


def _format_value(value: Any) -> str:
    if is_missing(value):
        return "-"
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _jsonable(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.ndarray):
        return _jsonable(value.tolist())
    if isinstance(value, np.generic):
        return _jsonable(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, (bool, int, str)):
        return value
    return None if is_missing(value) else str(value)
