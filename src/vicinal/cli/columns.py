"""Columns of a table: which are numbers, names or classes, and which are set aside, and why."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from vicinal._core.tables import distinct, missing_cells
from vicinal.exceptions import InvalidValueError, MissingDependencyError

# What numpy raises for a file that is cut short, damaged, or holds Python objects.
UNREADABLE = (ValueError, EOFError, OSError, BadZipFile, zlib.error)

ROWS_OF_DISTANCES = "it looks like distances of all pairs, but its rows are taken for points"


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


def numeric_columns(frame: Any, path: Path, roles: Roles) -> Table:
    pandas = need("pandas", path)
    if frame.empty:
        raise InvalidValueError(f"{path} has no rows; a table with a row for each point is needed.")
    frame = frame.set_axis(distinct(frame.columns), axis="columns")
    ids = beside(frame, roles.id, "--id", len(frame), path)
    labels = beside(frame, roles.label, "--label", len(frame), path)
    if ids is None and not isinstance(frame.index, pandas.RangeIndex):
        ids = frame.index.to_numpy()
    kept, names, notes, others = [], [], [], {}
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if name in (roles.id, roles.label):
            continue
        if column.isna().all():
            notes.append(f"set aside {_named(name, position)}: it is empty")
        elif position == 0 and name in {"", "Unnamed: 0", "__index_level_0__"}:
            notes.append("set aside the first column: it has no name and is taken for row names")
            ids = column.to_numpy() if ids is None else ids
        elif pandas.api.types.is_numeric_dtype(column) and column.dtype.kind != "c":
            kept.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            names.append(name)
            if pandas.api.types.is_bool_dtype(column):
                notes.append(f"took {name!r} for numbers: true is 1 and false is 0")
        else:
            notes.append(f"set aside {name!r}: {_why_not(column, pandas)}")
            others[name] = column.to_numpy()
    if not kept:
        raise InvalidValueError(_no_numbers(frame, path, notes))
    return Table(np.column_stack(kept), notes, names, ids, labels, others)


def _named(name: str, position: int) -> str:
    # What has no name in a file gets one from pandas.
    return f"column {position + 1}" if name.startswith("Unnamed: ") else repr(name)


def _no_numbers(frame: Any, path: Path, notes: list[str]) -> str:
    shown = ", ".join(frame.columns[:8]) + (", ..." if frame.shape[1] > 8 else "")
    why = f" ({notes[-1]})" if notes else ""
    if frame.shape[1] == 1:
        return (
            f"{path} has the one column {shown}, which does not hold numbers{why}; columns are parted "
            "by commas, semicolons, tabs or |."
        )
    return (
        f"{path} has no numeric column among {shown}{why}; encode its columns as numbers, or save "
        "numbers as 1234.5."
    )


def _why_not(column: Any, pandas: Any) -> str:
    if column.dtype.kind not in "OTU" and str(column.dtype) not in {"str", "string"}:
        return f"its type is {column.dtype}"
    strange = column[pandas.to_numeric(column, errors="coerce").isna() & column.notna()]
    if len(strange) == 0:
        longest = max(column.dropna().astype(str), key=len)
        return (
            f"its whole numbers are too long to be exact, as {longest}; --id takes them for names"
        )
    return f"{len(strange)} of {len(column)} values are not numbers, as {strange.iloc[0]!r}"


def beside(columns: Any, name: str | None, option: str, n: int, path: Path) -> np.ndarray | None:
    """The column ``name`` that goes with the rows of a table."""
    if name is None:
        return None
    if name not in columns:
        there = ", ".join(map(str, columns)) or "none"
        raise InvalidValueError(f"{option} {name}: {path} has no such column; it has {there}.")
    try:
        column = np.asarray(columns[name])
    except UNREADABLE as error:
        raise InvalidValueError(
            f"{option} {name}: this array of {path} could not be read: {error}; save it as plain "
            "numbers or words, names.astype(str)."
        ) from error
    if column.shape != (n,):
        raise InvalidValueError(
            f"{option} {name}: its shape in {path} is {column.shape}, but a value for each of the "
            f"{n} rows is needed."
        )
    return column


def looks_like_distances(points: Any) -> bool:
    """Whether a table may be the distances of all pairs: square, symmetric, nothing but 0 on its diagonal."""
    if points.shape[0] != points.shape[1] or points.shape[0] < 3 or points.diagonal().any():
        return False
    if not points.min() >= 0 < points.max():
        return False
    if hasattr(points, "toarray"):
        return not (points != points.T).nnz
    return np.allclose(points, points.T, rtol=1e-9, atol=0.0)


def without_label(labels: np.ndarray) -> dict[str, int]:
    """How many rows have no label, if any."""
    missing = int(missing_cells(labels).sum())
    return {"rows_without_label": missing} if missing else {}


def same_class(labels: np.ndarray, rows: np.ndarray, found: np.ndarray) -> float | None:
    """Share of found rows (m, k) that are of the class of the row (m,) that asked, if both have one."""
    there = ~missing_cells(labels)
    counted = there[rows][:, None] & there[found]
    asked = np.broadcast_to(labels[rows][:, None], found.shape)
    return float((labels[found][counted] == asked[counted]).mean()) if counted.any() else None


def need(module: str, path: Path) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        extra = "anndata" if module == "anndata" else "cli"
        raise MissingDependencyError(
            f"{path.suffix} files need {module}: pip install 'vicinal[{extra}]'."
        ) from error
