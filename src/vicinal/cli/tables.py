"""Tables of numbers out of the files people have.

Columns that are not numbers are set aside and named, never dropped in silence; a row that is not
complete is an error, because leaving it out would shift every row number after it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Table(NamedTuple):
    """Numbers of a file, what else it says of their rows, and what the reader decided about them."""

    # A sparse matrix only where the caller accepts one.
    points: Any
    notes: list[str]
    names: list[str] | None = None
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    # Columns that were set aside, by name, and grey levels (n, height, width) if rows are pictures.
    others: Mapping[str, np.ndarray] = {}
    images: np.ndarray | None = None


class Roles(NamedTuple):
    """Names of an array, and of the columns that are no coordinates."""

    key: str | None = None
    id: str | None = None
    label: str | None = None
    # Whether a list of numbers may be the distances of all pairs, as scipy's pdist gives them.
    pairs: bool = False


def read_table(
    path: Path,
    key: str | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    accept_sparse: bool = False,
    accept_pairs: bool = False,
    accept_gaps: bool = False,
) -> Table:
    """Numeric columns of a .csv, .tsv, .parquet, .npy, .npz or .h5ad file.

    ``key`` names an array of an .npz file, or an entry of ``.obsm`` of an .h5ad file. The columns of
    names and of known classes are columns of a table, arrays of an .npz file, or in ``.obs``. A matrix
    that scipy saved as .npz is read as such.
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
    table = _as_rows(READERS[suffix](path, Roles(key, id_column, label_column, accept_pairs)), path)
    points = table.points
    if 0 in points.shape:
        raise ValueError(f"{path} holds an empty table of shape {points.shape}; nothing to do.")
    if hasattr(points, "toarray") and not accept_sparse:
        table = table._replace(points=full_table(points, path))
    if not accept_gaps:
        _refuse_gaps(table.points, path)
    return table


def _read_text(path: Path, roles: Roles) -> Table:
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
    table = _numeric_columns(frame, path, roles)
    note = "first line is the header" if header else "no header line"
    return table._replace(notes=[note, *table.notes])


def _read_parquet(path: Path, roles: Roles) -> Table:
    pandas = _need("pandas", path)
    _need("pyarrow", path)
    try:
        frame = pandas.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} could not be read as parquet: {error}") from error
    return _numeric_columns(frame, path, roles)


def _read_npy(path: Path, roles: Roles) -> Table:
    for option, name in (("--id", roles.id), ("--label", roles.label)):
        if name is not None:
            raise ValueError(
                f"{option} {name} names a column, but those of {path} have no names; save an .npz "
                f"with the arrays X and {name} (numpy.savez)."
            )
    return Table(*_all_pairs(_load_numpy(path), roles))


def _read_npz(path: Path, roles: Roles) -> Table:
    with _load_numpy(path) as arrays:
        names = arrays.files
        if {"format", "shape", "data"} <= set(names):
            return Table(_load_sparse(path), ["took the sparse matrix"])
        found = [name for name in names if name not in (roles.id, roles.label)]
        chosen = roles.key or ("X" if "X" in found else found[0] if len(found) == 1 else None)
        if chosen not in names:
            raise ValueError(
                f"{path} holds the arrays {', '.join(names) or '(none)'}"
                + (f" but no {roles.key}" if roles.key else "")
                + "; name one of them by --key."
            )
        points, notes = _all_pairs(arrays[chosen], roles)
        ids = _beside(arrays, roles.id, "--id", len(points), path)
        labels = _beside(arrays, roles.label, "--label", len(points), path)
    notes += [] if len(names) == 1 else [f"took the array {chosen}"]
    return Table(points, notes, None, ids, labels)


def _read_h5ad(path: Path, roles: Roles) -> Table:
    anndata, key = _need("anndata", path), roles.key
    try:
        annotated = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{path} could not be read as .h5ad: {error}") from error
    if key is not None and key not in annotated.obsm:
        raise ValueError(
            f"{path} has no .obsm entry {key}; it has {', '.join(annotated.obsm) or 'none'}."
        )
    values = annotated.X if key is None else annotated.obsm[key]
    if values is None:
        raise ValueError(f"{path} has no .X; name an entry of .obsm by --key.")
    n = annotated.n_obs
    ids = _beside(annotated.obs, roles.id, "--id", n, path)
    labels = _beside(annotated.obs, roles.label, "--label", n, path)
    return Table(
        values if hasattr(values, "toarray") else np.asarray(values),
        [f"took .obsm[{key!r}]" if key else "took .X"],
        list(map(str, annotated.var_names)) if key is None else None,
        np.asarray(annotated.obs_names) if ids is None else ids,
        labels,
    )


READERS = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".h5ad": _read_h5ad,
}


def _as_rows(table: Table, path: Path) -> Table:
    """The table with one row an entry: of a stack of pictures, each is a row of its pixels."""
    points = table.points
    if points.dtype.kind not in "buif":
        raise ValueError(
            f"{path} holds values of type {points.dtype}, but real numbers are needed; encode them."
        )
    if points.ndim < 2:
        raise ValueError(
            f"{path} holds an array of shape {points.shape}, but a table with a row for each point is "
            "needed; values.reshape(-1, 1) makes one of a list of values."
        )
    if points.ndim == 2:
        return table
    note = f"each entry of shape {points.shape[1:]} is a row of its values"
    rows = points.reshape(len(points), -1)
    return table._replace(points=rows, notes=[*table.notes, note])


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


def _all_pairs(values: np.ndarray, roles: Roles) -> tuple[np.ndarray, list[str]]:
    """The matrix of distances that a list of them stands for, if it may and can be one."""
    n = round(np.sqrt(2 * values.size)) + 1
    if not roles.pairs or values.ndim != 1 or n * (n - 1) != 2 * values.size or n < 2:
        return values, []
    from scipy.spatial.distance import squareform

    return squareform(values, checks=False), [f"took the list for the distances of {n} items"]


def _load_sparse(path: Path) -> Any:
    from scipy import sparse

    try:
        return sparse.csr_array(sparse.load_npz(path))
    except (ValueError, KeyError) as error:
        raise ValueError(f"{path} could not be read as a sparse matrix: {error}") from error


def full_table(points: Any, path: Path) -> np.ndarray:
    """A sparse table with all its zeros, if these fit into memory."""
    from vicinal._validation import require_memory

    n_rows, n_columns = points.shape
    require_memory(
        8.0 * n_rows * n_columns,
        f"{path}: the full table of {n_rows:,} rows and {n_columns:,} columns",
        "Reduce its columns first (sklearn.decomposition.TruncatedSVD does).",
    )
    return points.toarray()


def _beside(columns: Any, name: str | None, option: str, n: int, path: Path) -> np.ndarray | None:
    """The column ``name`` that goes with the rows of a table."""
    if name is None:
        return None
    if name not in columns:
        there = ", ".join(map(str, columns)) or "none"
        raise ValueError(f"{option} {name}: {path} has no such column; it has {there}.")
    column = np.asarray(columns[name])
    if column.shape != (n,):
        raise ValueError(
            f"{option} {name}: its shape in {path} is {column.shape}, but a value for each of the "
            f"{n} rows is needed."
        )
    return column


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


def _numeric_columns(frame: Any, path: Path, roles: Roles) -> Table:
    pandas = _need("pandas", path)
    if frame.empty:
        raise ValueError(f"{path} has no rows; a table with a row for each point is needed.")
    frame = frame.rename(columns=str)
    ids = _beside(frame, roles.id, "--id", len(frame), path)
    labels = _beside(frame, roles.label, "--label", len(frame), path)
    if ids is None and not isinstance(frame.index, pandas.RangeIndex):
        ids = frame.index.to_numpy()
    kept, names, notes, others = [], [], [], {}
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if name in (roles.id, roles.label):
            continue
        if position == 0 and name in {"", "Unnamed: 0", "__index_level_0__"}:
            notes.append("set aside the first column: it has no name and is taken for row names")
            ids = column.to_numpy() if ids is None else ids
        elif pandas.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
            kept.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            names.append(name)
        else:
            notes.append(f"set aside {name!r}: {_why_not(column, pandas)}")
            others[name] = column.to_numpy()
    if not kept:
        raise ValueError(
            f"{path} has no numeric column among {', '.join(frame.columns)}; "
            "encode its columns as numbers first."
        )
    return Table(np.column_stack(kept), notes, names, ids, labels, others)


def _why_not(column: Any, pandas: Any) -> str:
    if column.dtype.kind not in "OTU" and str(column.dtype) not in {"str", "string"}:
        return f"its type is {column.dtype}"
    strange = column[pandas.to_numeric(column, errors="coerce").isna() & column.notna()]
    if len(strange) == 0:
        return "it holds no values"
    return f"{len(strange)} of {len(column)} values are not numbers, as {strange.iloc[0]!r}"


def _refuse_gaps(points: Any, path: Path) -> None:
    if not isinstance(points, np.ndarray) or points.dtype.kind != "f":
        return
    missing, infinite = np.isnan(points).any(axis=1), np.isinf(points).any(axis=1)
    if missing.any() or infinite.any():
        first = int(np.argmax(missing | infinite))
        raise ValueError(
            f"{path}: {missing.sum()} of {len(points)} rows have missing values and "
            f"{infinite.sum()} infinite ones, the first is data row {first + 1}; "
            "fill them in or remove these rows."
        )
