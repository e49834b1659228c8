"""Preparation of the input table: complete, scaled points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.scalar_checks import check_choice
from vicinal._core.sparse import check_indices
from vicinal._core.tables import RawTable, as_table, missing_cells, unique_names
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.report._column_scaling import (
    SCALINGS,
    choose_scaling,
    is_extreme,
    max_abs,
    scale_columns,
)

MIN_ROWS = 10


class CleanTable(NamedTuple):
    """The analysed table, and how it was prepared.

    Attributes
    ----------
    points : ndarray (n, d)
        Complete and scaled values, without constant columns.
    values : ndarray (n, d)
        The same before scaling.
    names, ids : list of str
        Names of the columns and of the rows.
    labels : ndarray of str (n,) or None
        Known classes; empty where a row has none.
    label_name : str
        Name of the label column.
    columns : list of dict
        Statistics of every numeric column before scaling, its number of missing values, and whether it
        is used.
    n_missing : int
        Number of missing or infinite values that were replaced by the median of their column.
    scaling : {"none", "standard"}
        Scaling that was applied.
    why_scaling : str
        Why it was applied.
    notes : list of str
        What was set aside, dropped or replaced.
    others : mapping of str to ndarray
        Non-numeric columns.
    images : ndarray (n, height, width) or None
        Grey levels of the rows.
    """

    points: np.ndarray
    values: np.ndarray
    names: list[str]
    ids: list[str]
    labels: np.ndarray | None
    label_name: str
    columns: list[dict[str, Any]]
    n_missing: int
    scaling: str
    why_scaling: str
    notes: list[str]
    others: Mapping[str, np.ndarray]
    images: np.ndarray | None


def prepare(table: RawTable, scaling: str = "auto") -> CleanTable:
    """Fill in missing values, drop constant columns, and scale where ranges are not comparable.

    Values are copied once; dropping columns and scaling copy only what they change.
    """
    check_choice(scaling, "scaling", SCALINGS)
    values, images = _values_and_images(table)
    n, d = values.shape
    if n < MIN_ROWS:
        raise InvalidValueError(
            f"the table has {n} row{'s' if n != 1 else ''}, but at least {MIN_ROWS} are needed; add rows."
        )
    names = [f"column {j + 1}" for j in range(d)] if table.names is None else list(table.names)
    notes = list(table.notes)
    missing = _fill_missing(values, names, notes)
    columns = _column_statistics(values, names, missing)
    is_used = np.array([column["used"] for column in columns])
    _note_dropped([column for column in columns if column["missing"] < n], notes)
    if not is_used.any():
        raise InvalidValueError(
            f"all {d} numeric columns are constant or empty, so all rows are equal; "
            "pass a table whose rows differ."
        )
    if not is_used.all():
        values = np.ascontiguousarray(values[:, is_used])
    applied, reason = choose_scaling(values, scaling, images is not None)
    if applied == "none" and is_extreme(values):
        divisor = max_abs(values)
        notes.append(f"all values were divided by the largest, {divisor:.3g}, to avoid overflow")
    return CleanTable(
        points=scale_columns(values, applied),
        values=values,
        names=[name for name, used in zip(names, is_used, strict=True) if used],
        ids=_ids(table.ids, n),
        labels=_labels(table.labels, n, notes),
        label_name=table.label_name,
        columns=columns,
        n_missing=int(missing[missing < n].sum()),
        scaling=applied,
        why_scaling=reason,
        notes=notes,
        others={name: np.asarray(column) for name, column in table.others.items()},
        images=images,
    )


def raw_table(X: Any, labels: Any, ids: Any, images: Any) -> RawTable:
    """A table from an array or a DataFrame; labels and ids may be names of its columns."""
    X = as_table(X)
    if not hasattr(X, "columns"):
        for name, value in (("labels", labels), ("ids", ids)):
            if isinstance(value, str):
                raise InvalidValueError(
                    f"{name}={value!r} is a column name, but X is an array without column names; pass a "
                    "DataFrame, or the values themselves."
                )
        if sparse.issparse(X):
            check_indices(X, "X")
        array = X.toarray() if hasattr(X, "toarray") else read_array(X, "X")
        return RawTable(
            array,
            ids=_array_or_none(ids),
            labels=_array_or_none(labels),
            images=_array_or_none(images),
        )
    roles = {"labels": labels, "ids": ids}
    named = {role: name for role, name in roles.items() if isinstance(name, str)}
    for role, name in named.items():
        if name not in X.columns:
            raise InvalidValueError(
                f"{role}={name!r}, but the columns of X are {', '.join(map(str, X.columns))}."
            )
    frame = X.drop(columns=list(named.values()))
    kinds = [frame.iloc[:, j].dtype.kind for j in range(frame.shape[1])]
    numeric = [j for j, kind in enumerate(kinds) if kind in "buif"]
    names = unique_names(frame.columns)
    others = {names[j]: j for j in range(len(kinds)) if j not in numeric}
    if not numeric:
        raise InvalidValueError(
            f"X has no numeric column among {', '.join(map(str, X.columns))}; encode them as numbers."
        )
    flags = [names[j] for j in numeric if kinds[j] == "b"]
    return RawTable(
        frame.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan),
        notes=[f"set aside {name!r}: it is not numeric" for name in others]
        + [f"interpreted {name!r} as numbers: true is 1, false is 0" for name in flags],
        names=[names[j] for j in numeric],
        ids=_array_or_none(X[ids] if "ids" in named else ids),
        labels=_array_or_none(X[labels] if "labels" in named else labels),
        others={name: frame.iloc[:, j].to_numpy() for name, j in others.items()},
        images=_array_or_none(images),
        label_name=named.get("labels", "label"),
    )


def _array_or_none(values: Any) -> np.ndarray | None:
    return None if values is None else np.asarray(values)


def _values_and_images(table: RawTable) -> tuple[np.ndarray, np.ndarray | None]:
    """A copy of the values as a matrix of floats, and the images of the rows if there are any."""
    values, images = table.points, table.images
    if values.dtype.kind not in "buif":
        raise InvalidTypeError(f"X has dtype {values.dtype}, but must hold real numbers.")
    if values.ndim == 3:
        images = values if images is None else images
        values = values.reshape(len(values), -1)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InvalidValueError(
            f"X has shape {values.shape}, but a table (n_rows, n_columns) is needed; "
            "X.reshape(-1, 1) makes a table with one column."
        )
    if images is not None and (images.ndim != 3 or len(images) != len(values)):
        raise InvalidValueError(
            f"images has shape {images.shape}, but (n_rows, height, width) with n_rows={len(values)} "
            "is needed."
        )
    return np.array(values, dtype=np.float64, order="C"), images


def _fill_missing(values: np.ndarray, names: list[str], notes: list[str]) -> np.ndarray:
    """Replace missing values in place by the median of their column; count them per column."""
    is_missing = ~np.isfinite(values)
    missing: np.ndarray = is_missing.sum(axis=0)
    for j in np.flatnonzero(missing):
        finite = values[~is_missing[:, j], j]
        # Halved, because the sum of two values may overflow.
        values[is_missing[:, j], j] = 2.0 * np.median(finite / 2.0) if len(finite) else 0.0
    empty = missing == len(values)
    notes += [f"set aside {names[j]!r}: it is empty" for j in np.flatnonzero(empty)]
    replaced = np.where(empty, 0, missing)
    n_replaced = int(replaced.sum())
    if n_replaced:
        worst, n_values = int(np.argmax(replaced)), len(values) * np.count_nonzero(~empty)
        notes.append(
            f"{n_replaced:,} of {n_values:,} values are missing ({n_replaced / n_values:.2%}), most in "
            f"{names[worst]!r} ({replaced[worst]:,}); each was replaced by the median of its column"
        )
    return missing


def _column_statistics(
    values: np.ndarray, names: list[str], missing: np.ndarray
) -> list[dict[str, Any]]:
    units = np.ones(len(names))
    if is_extreme(values):
        units = max_abs(values, axis=0)
        values = values / units
    low, median, high = np.quantile(values, [0.0, 0.5, 1.0], axis=0) * units
    mean, std = values.mean(axis=0) * units, values.std(axis=0) * units
    return [
        {
            "column": name,
            "mean": float(mean[j]),
            "std": float(std[j]),
            "min": float(low[j]),
            "median": float(median[j]),
            "max": float(high[j]),
            "missing": int(missing[j]),
            "used": bool(high[j] > low[j]),
        }
        for j, name in enumerate(names)
    ]


def _note_dropped(columns: list[dict[str, Any]], notes: list[str]) -> None:
    dropped = [column["column"] for column in columns if not column["used"]]
    if dropped:
        shown = ", ".join(map(repr, dropped[:8])) + (", ..." if len(dropped) > 8 else "")
        plural = "s" if len(dropped) > 1 else ""
        notes.append(f"dropped {len(dropped)} constant column{plural}: {shown}")


def _ids(ids: np.ndarray | None, n: int) -> list[str]:
    if ids is None:
        return [str(i) for i in range(n)]
    return _as_strings(ids, n, "ids")


def _labels(labels: np.ndarray | None, n: int, notes: list[str]) -> np.ndarray | None:
    if labels is None:
        return None
    names = _as_strings(labels, n, "labels")
    missing = missing_cells(labels)
    n_missing = int(missing.sum())
    if n_missing == n:
        raise InvalidValueError(f"none of the {n} rows has a label; omit labels.")
    if n_missing:
        notes.append(
            f"{n_missing:,} of {n:,} rows have no label; they are not scored against labels"
        )
    return np.where(missing, "", names)


def _as_strings(values: np.ndarray, n: int, name: str) -> list[str]:
    if values.shape != (n,):
        raise InvalidValueError(
            f"{name} has shape {values.shape}, but one value per row ({n} rows) is needed."
        )
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    texts = [str(value) for value in (values + 0.0).tolist()]
    # Integers that were read as floats are written without a decimal point where floats are exact.
    finite = values[np.isfinite(values)]
    if np.all(finite == np.round(finite)) and np.all(np.abs(finite) <= 2.0**53):
        return [text.removesuffix(".0") for text in texts]
    return texts
