"""Tables of numbers out of the files people have.

Columns that are not numbers are set aside and named, never dropped in silence; a row that is not
complete is an error, because leaving it out would shift every row number after it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Table(NamedTuple):
    """Numbers of a file and what the reader decided about them."""

    points: np.ndarray
    notes: list[str]


def read_table(path: Path, key: str | None = None) -> Table:
    """Numeric columns of a .csv, .tsv, .parquet, .npy, .npz or .h5ad file.

    ``key`` names an array of an .npz file, or an entry of ``.obsm`` of an .h5ad file.
    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise ValueError(
            f"{path} ends in {suffix or 'nothing'}, but one of {', '.join(READERS)} is needed."
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}; "
            f"name a file (looked in {path.parent.resolve()})."
        )
    if key is not None and suffix not in {".npz", ".h5ad"}:
        raise ValueError(f"--key {key} names an array of an .npz or .h5ad file, not of {path}.")
    points, notes = READERS[suffix](path, key)
    if points.ndim == 2 and 0 in points.shape:
        raise ValueError(f"{path} holds an empty table of shape {points.shape}; nothing to do.")
    _refuse_gaps(points, path)
    return Table(points, notes)


def _read_text(path: Path, key: str | None) -> Table:
    pandas = _need("pandas", path)
    with open(path, newline="", encoding="utf-8-sig") as lines:
        first, second = lines.readline(), lines.readline()
    if not first.strip():
        raise ValueError(f"{path} is empty; a table with a row for each point is needed.")
    separator = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
    header = _is_header(_cells(first, separator), _cells(second, separator))
    try:
        frame = pandas.read_csv(
            path,
            sep=separator,
            header=0 if header else None,
            encoding="utf-8-sig",
            float_precision="round_trip",  # the default may miss the nearest number by one bit
        )
    except (pandas.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} could not be read as a table: {error}") from error
    if not header:
        frame.columns = [f"column {number}" for number in range(1, frame.shape[1] + 1)]
    points, notes = _numeric_columns(frame, path)
    return Table(points, ["first line is the header" if header else "no header line", *notes])


def _read_parquet(path: Path, key: str | None) -> Table:
    pandas = _need("pandas", path)
    _need("pyarrow", path)
    try:
        frame = pandas.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} could not be read as parquet: {error}") from error
    return _numeric_columns(frame, path)


def _read_npy(path: Path, key: str | None) -> Table:
    return Table(_load_numpy(path), [])


def _read_npz(path: Path, key: str | None) -> Table:
    with _load_numpy(path) as arrays:
        names = arrays.files
        chosen = key or ("X" if "X" in names else names[0] if len(names) == 1 else None)
        if chosen not in names:
            raise ValueError(
                f"{path} holds the arrays {', '.join(names) or '(none)'}"
                + (f" but no {key}" if key else "")
                + "; name one of them by --key."
            )
        return Table(arrays[chosen], [] if len(names) == 1 else [f"took the array {chosen}"])


def _read_h5ad(path: Path, key: str | None) -> Table:
    anndata = _need("anndata", path)
    annotated = anndata.read_h5ad(path)
    if key is not None and key not in annotated.obsm:
        raise ValueError(
            f"{path} has no .obsm entry {key}; it has {', '.join(annotated.obsm) or 'none'}."
        )
    values = annotated.X if key is None else annotated.obsm[key]
    if values is None:
        raise ValueError(f"{path} has no .X; name an entry of .obsm by --key.")
    dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    return Table(dense, [f"took .obsm[{key!r}]" if key else "took .X"])


READERS = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".h5ad": _read_h5ad,
}


def _need(module: str, path: Path) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        extra = "anndata" if module == "anndata" else "cli"
        raise ImportError(
            f"{path.suffix} files need {module}: pip install 'vicinal[{extra}]'."
        ) from error


def _load_numpy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(
            f"{path} could not be read: {error} (arrays of Python objects are not loaded; "
            "save numbers by numpy.save)."
        ) from error


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line names the columns.

    It does when none of its cells is a number, or when a word stands over a number.
    """
    over_number = any(
        above and not _is_number(above) and _is_number(below)
        for above, below in zip(first, second, strict=False)
    )
    return over_number or not any(map(_is_number, first))


def _numeric_columns(frame: Any, path: Path) -> Table:
    pandas = _need("pandas", path)
    if frame.empty:
        raise ValueError(f"{path} has no rows; a table with a row for each point is needed.")
    kept, notes = [], []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if position == 0 and str(name) in {"", "Unnamed: 0", "__index_level_0__"}:
            notes.append("set aside the first column: it has no name and is taken for row names")
        elif pandas.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
            kept.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            notes.append(f"set aside {name!r}: {_why_not(column, pandas)}")
    if not kept:
        raise ValueError(
            f"{path} has no numeric column among {', '.join(map(str, frame.columns))}; "
            "encode its columns as numbers first."
        )
    return Table(np.column_stack(kept), notes)


def _why_not(column: Any, pandas: Any) -> str:
    if column.dtype.kind not in "OTU" and str(column.dtype) not in {"str", "string"}:
        return f"its type is {column.dtype}"
    strange = column[pandas.to_numeric(column, errors="coerce").isna() & column.notna()]
    if len(strange) == 0:
        return "it holds no values"
    return f"{len(strange)} of {len(column)} values are not numbers, as {strange.iloc[0]!r}"


def _refuse_gaps(points: np.ndarray, path: Path) -> None:
    if points.dtype.kind != "f" or points.ndim != 2:
        return
    missing, infinite = np.isnan(points).any(axis=1), np.isinf(points).any(axis=1)
    if missing.any() or infinite.any():
        first = int(np.argmax(missing | infinite))
        raise ValueError(
            f"{path}: {missing.sum()} of {len(points)} rows have missing values and "
            f"{infinite.sum()} infinite ones, the first is data row {first + 1}; "
            "fill them in or remove these rows."
        )
