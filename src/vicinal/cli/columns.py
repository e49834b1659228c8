"""Columns of a table: which are coordinates, names or classes, and which are skipped, and why."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.suggestions import listing, quoted, suggestion
from vicinal._core.tables import MAX_EXACT, RawTable, holds_exactly, missing_cells, unique_names
from vicinal.exceptions import InvalidValueError, MissingDependencyError

# Extras that install modules, where it is not "cli".
EXTRAS = {"anndata": "anndata", "openpyxl": "excel", "duckdb": "duckdb"}

# Names under which tables commonly store classes.
CLASS_NAMES = {"class", "classes", "label", "labels", "target"}

# Name of a column without one; that of pandas.
UNNAMED = "Unnamed: {}"

DISTANCES_AS_POINTS = "looks like a distance matrix, but its rows are interpreted as points"


class Roles(NamedTuple):
    """Names of an array, and of the columns that are not coordinates.

    Names in a tuple are possible ones; a table need not have any of them.
    """

    key: str | None = None
    id: Any = None
    label: Any = None
    # Whether a 1-D array may be condensed distances, as scipy's pdist returns them.
    condensed: bool = False
    # Whether columns that are not numbers are kept, for `vicinal.tables`.
    mixed: bool = False
    # Whether all columns are returned as they are, even empty ones.
    unchanged: bool = False
    split: str | None = None

    def among(self, names: Collection[Any]) -> Roles:
        """The roles in a table of these columns: of several possible names the first that it has."""

        def first(name: Any) -> str | None:
            return next((n for n in name if n in names), None) if isinstance(name, tuple) else name

        return self._replace(id=first(self.id), label=first(self.label))

    @property
    def named(self) -> dict[str, str]:
        """Columns that are not coordinates, by the option that names them."""
        options = {"--id": self.id, "--label": self.label, "--split": self.split}
        return {option: name for option, name in options.items() if name is not None}


def numeric_columns(frame: Any, path: Path, roles: Roles) -> RawTable:
    """Numeric columns of a data frame as coordinates, with notes on the columns that are not."""
    pandas = import_reader("pandas", path)
    if frame.empty:
        raise InvalidValueError(f"{path} has no rows; a table with one row per point is needed.")
    frame = frame.set_axis(unique_names(frame.columns), axis="columns")
    roles = roles.among(frame.columns)
    ids = row_column(frame, roles.id, "--id", len(frame), path)
    labels = row_column(frame, roles.label, "--label", len(frame), path)
    splits = row_column(frame, roles.split, "--split", len(frame), path)
    taken = set(roles.named.values())
    notes = [] if labels is None else _label_notes(labels, roles.label)
    if ids is None and not isinstance(frame.index, pandas.RangeIndex):
        ids = frame.index.to_numpy()
    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind == "O" and frame.columns[position] not in taken:
            frame.isetitem(position, _inferred(frame.iloc[:, position]))
    if roles.unchanged:
        rest = frame.drop(columns=list(taken)).reset_index(drop=True)
        return RawTable(None, notes, ids=ids, labels=labels, columns=rest, splits=splits)
    numeric, names, others, flags = [], [], {}, []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if name in taken:
            continue
        if column.isna().all():
            notes.append(f"skipped {_quote_name(name, position)}: it is empty")
        elif position == 0 and name in {"", UNNAMED.format(0), "__index_level_0__"}:
            notes.append("used the first column, which has no name, as row names")
            ids = column.to_numpy() if ids is None else ids
        elif _is_numeric(column, pandas):
            numeric.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            names.append(name)
            if pandas.api.types.is_bool_dtype(column):
                flags.append(name)
        elif roles.mixed:
            others[name] = column.to_numpy()
        else:
            notes.append(f"skipped {name!r}: {_why_not_numeric(column, pandas)}")
            others[name] = column.to_numpy()
    known = {*names, *others}
    kept = [name for name in frame.columns if name in known]
    notes += [] if roles.label else _class_hints(frame, kept if roles.mixed else names)
    if roles.mixed and (others or flags):
        table = _mixed_table(frame[kept].reset_index(drop=True), frame.shape[1] == 1)
        if table is not None:
            return table._replace(
                notes=[*notes, *table.notes], ids=ids, labels=labels, splits=splits
            )
        notes += [f"skipped {name!r}: {_why_not_numeric(frame[name], pandas)}" for name in others]
    notes += [f"converted {name!r} to numbers: true is 1, false is 0" for name in flags]
    if not numeric:
        raise InvalidValueError(_no_numeric_column(frame, path, notes))
    points = np.column_stack(numeric)
    return RawTable(points, notes, names, ids, labels, others, splits=splits)


def _label_notes(labels: np.ndarray, name: str | None) -> list[str]:
    """Notes on labels that look like missing values but are not."""
    from vicinal.tables._kinds import category_remark

    remark = category_remark(text for text in labels.tolist() if isinstance(text, str))
    return [f"{name!r}: {remark}"] if remark else []


def _inferred(column: Any) -> Any:
    """A column of objects as numbers, dates or booleans if they are; integers keep all digits."""
    inferred = column.infer_objects()
    if inferred.dtype.kind == "f" and any(
        isinstance(cell, int) and abs(cell) > MAX_EXACT for cell in column
    ):
        return column
    return inferred


def _is_numeric(column: Any, pandas: Any) -> bool:
    """Whether a column holds numbers that floats hold exactly."""
    if not pandas.api.types.is_numeric_dtype(column) or column.dtype.kind == "c":
        return False
    return column.dtype.kind not in "ui" or holds_exactly(column.to_numpy())


def _class_hints(frame: Any, names: Collection[str]) -> list[str]:
    """Notes on columns that look like classes but are used as coordinates."""
    return [
        f"{name!r} is used like any other column; if it holds known classes, pass --label {name}"
        for name in names
        if name.casefold() in CLASS_NAMES and 1 < frame[name].nunique() <= len(frame) / 5
    ]


def _mixed_table(frame: Any, is_only_column: bool) -> RawTable | None:
    """A table in which some columns are not numbers; None if lines were not split into cells."""
    from vicinal.tables._kinds import guess_kind
    from vicinal.tables._reading import read_columns

    only = guess_kind(read_columns(frame)[0]).kind if is_only_column else "numeric"
    if only not in ("numeric", "date", "boolean"):
        return None
    return RawTable(None, names=list(frame.columns), columns=frame)


def _quote_name(name: str, position: int) -> str:
    # pandas names columns that have no name.
    return f"column {position + 1}" if name == UNNAMED.format(position) else repr(name)


def _no_numeric_column(frame: Any, path: Path, notes: list[str]) -> str:
    listed = listing(frame.columns)
    reason = f" ({notes[-1]})" if notes else ""
    if frame.shape[1] == 1:
        return (
            f"{path} has only the column {listed}, which is not numeric{reason}. If lines "
            "have several cells, separate columns by commas, semicolons, tabs or |; if it is text, "
            "compute embeddings of the text and save them as .npy."
        )
    return (
        f"{path} has no numeric column among {listed}{reason}; encode its columns as numbers, or write "
        "numbers as 1234.5."
    )


def _why_not_numeric(column: Any, pandas: Any) -> str:
    from vicinal.tables._kinds import is_code, is_inexact

    if column.dtype.kind not in "OTUui" and str(column.dtype) not in {"str", "string"}:
        return f"its type is {column.dtype}"
    invalid = column[pandas.to_numeric(column, errors="coerce").isna() & column.notna()]
    if len(invalid) == 0:
        longest = max(column.dropna().astype(str), key=len)
        if is_code(longest) and not is_inexact(longest):
            return f"it holds codes, e.g. {longest}"
        return f"its integers are too long to be exact, e.g. {longest}; use --id for row names"
    return f"{len(invalid)} of {len(column)} values are not numbers, e.g. {quoted(invalid.iloc[0])}"


def row_column(
    columns: Any, name: str | None, option: str, n: int, path: Path
) -> np.ndarray | None:
    """Column ``name`` with one value per row of a table."""
    if name is None:
        return None
    if name not in columns:
        names = list(map(str, columns))
        raise InvalidValueError(
            f"{option} {name}: {path} has no such column{suggestion(name, names)}; "
            f"it has {listing(names) or 'none'}."
        )
    column = np.asarray(columns[name])
    if column.shape != (n,):
        raise InvalidValueError(
            f"{option} {name}: its shape in {path} is {column.shape}, but one value for each of the "
            f"{n} rows is needed."
        )
    return column


def is_square(points: Any) -> bool:
    """Whether a table has as many rows as columns."""
    return points is not None and points.shape[0] == points.shape[1]


def looks_like_distances(points: Any) -> bool:
    """Whether a table may be a distance matrix: square, symmetric, nonnegative, with a zero diagonal."""
    if not is_square(points) or points.shape[0] < 3 or points.diagonal().any():
        return False
    if not points.min() >= 0 < points.max():
        return False
    if hasattr(points, "toarray"):
        return not (points != points.T).nnz
    return np.allclose(points, points.T, rtol=1e-9, atol=0.0)


def count_unlabelled(labels: np.ndarray) -> dict[str, int]:
    """Number of rows without a label, if there are any."""
    missing = int(missing_cells(labels).sum())
    return {"unlabelled_rows": missing} if missing else {}


def same_class(labels: np.ndarray, queries: np.ndarray, neighbors: np.ndarray) -> float | None:
    """Fraction of neighbours (m, k) with the class of their query (m,), where both have one."""
    labelled = ~missing_cells(labels)
    counted = labelled[queries][:, None] & labelled[neighbors]
    classes = np.broadcast_to(labels[queries][:, None], neighbors.shape)
    return float((labels[neighbors][counted] == classes[counted]).mean()) if counted.any() else None


def import_reader(module: str, path: Path, suffix: str | None = None) -> Any:
    """Module that reads a file of this format, which the extension tells unless it is given."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{suffix or path.suffix} files need {module}: pip install "
            f"'vicinal[{EXTRAS.get(module, 'cli')}]'."
        ) from error
