"""What is perceived: the numbers of a table, cleaned, and what goes with its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.sparse import check_indices
from vicinal._core.tables import as_table, distinct, missing_cells
from vicinal._core.validation import check_choice, read_array
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.report._column_scaling import SCALINGS, choose_scaling, is_extreme, largest, scaled

MIN_ROWS = 10


class RawTable(NamedTuple):
    """A table as it was given.

    ``others`` are columns set aside because they are not numbers, ``images`` grey levels of the rows
    (n, height, width) to show.
    """

    values: np.ndarray
    names: Sequence[str] | None = None
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    label_name: str = "label"
    others: Mapping[str, np.ndarray] = {}
    images: np.ndarray | None = None
    notes: Sequence[str] = ()


class CleanTable(NamedTuple):
    """The table that everything is computed on, and what was done to get it.

    Attributes
    ----------
    points : ndarray (n, d)
        Complete, without constant columns, scaled.
    values : ndarray (n, d)
        The same before scaling.
    names, ids : list of str
    labels : ndarray of str (n,) or None
        Empty where a row has none.
    label_name : str
    columns : list of dict
        Mean, deviation and range of every numeric column, how many of its values were missing, and
        whether it was used.
    n_missing : int
        Values that were missing or infinite and were replaced by the median of their column.
    scaling : {"none", "standard"}
    why_scaling : str
    notes : list of str
        What was set aside, dropped or replaced, in words.
    others, images :
        As in `Source`.
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


def prepare(source: RawTable, scaling: str = "auto") -> CleanTable:
    """Fill gaps, drop what says nothing, and bring columns to one unit where they have none."""
    check_choice(scaling, "scaling", SCALINGS)
    values, images = _table_of(source)
    n, d = values.shape
    if n < MIN_ROWS:
        raise InvalidValueError(
            f"the table has {n} row{'s' if n != 1 else ''}, but structure shows from {MIN_ROWS} rows on; "
            "give more rows."
        )
    names = [f"column {j + 1}" for j in range(d)] if source.names is None else list(source.names)
    notes = list(source.notes)
    values, missing = _filled(values, names, notes)
    columns = _summary(values, names, missing)
    kept = np.array([column["used"] for column in columns])
    _note_dropped([column for column in columns if column["missing"] < n], notes)
    if not kept.any():
        raise InvalidValueError(
            f"all {d} numeric columns are constant or empty, so no row differs from another; "
            "give a table whose rows differ."
        )
    values = np.ascontiguousarray(values[:, kept])
    chosen, why = choose_scaling(values, scaling, images is not None)
    if chosen == "none" and is_extreme(values):
        size = largest(values)
        notes.append(f"all values were divided by the largest, {size:.3g}, to compute with them")
    return CleanTable(
        points=scaled(values, chosen),
        values=values,
        names=[name for name, used in zip(names, kept, strict=True) if used],
        ids=_ids(source.ids, n),
        labels=_labels(source.labels, n, notes),
        label_name=source.label_name,
        columns=columns,
        n_missing=int(missing[missing < n].sum()),
        scaling=chosen,
        why_scaling=why,
        notes=notes,
        others={name: np.asarray(column) for name, column in source.others.items()},
        images=images,
    )


def source_of(X: Any, labels: Any, ids: Any, images: Any) -> RawTable:
    """A table from an array or a DataFrame; labels and ids may be names of its columns."""
    X = as_table(X)
    if not hasattr(X, "columns"):
        for name, value in (("labels", labels), ("ids", ids)):
            if isinstance(value, str):
                raise InvalidValueError(
                    f"{name}={value!r} names a column, but X is an array without names; give a "
                    "DataFrame, or the values themselves."
                )
        if sparse.issparse(X):
            check_indices(X, "X")
        array = X.toarray() if hasattr(X, "toarray") else read_array(X, "X")
        return RawTable(array, None, _array(ids), _array(labels), images=_array(images))
    label_name = labels if isinstance(labels, str) else "label"
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
    names = distinct(frame.columns)
    others = {names[j]: j for j in range(len(kinds)) if j not in numeric}
    if not numeric:
        raise InvalidValueError(
            f"X has no numeric column among {', '.join(map(str, X.columns))}; encode them as numbers."
        )
    return RawTable(
        frame.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan),
        [names[j] for j in numeric],
        _array(X[ids] if "ids" in named else ids),
        _array(X[labels] if "labels" in named else labels),
        label_name,
        {name: frame.iloc[:, j].to_numpy() for name, j in others.items()},
        _array(images),
        [f"set aside {name!r}: it does not hold numbers" for name in others]
        + [
            f"took {names[j]!r} for numbers: true is 1 and false is 0"
            for j in numeric
            if kinds[j] == "b"
        ],
    )


def _array(values: Any) -> np.ndarray | None:
    return None if values is None else np.asarray(values)


def _table_of(source: RawTable) -> tuple[np.ndarray, np.ndarray | None]:
    values, images = source.values, source.images
    if values.dtype.kind not in "buif":
        raise InvalidTypeError(
            f"X has dtype {values.dtype}, but a table of real numbers is needed."
        )
    if values.ndim == 3:
        images = values if images is None else images
        values = values.reshape(len(values), -1)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InvalidValueError(
            f"X has shape {values.shape}, but a table (n_rows, n_columns) is needed; "
            "X.reshape(-1, 1) is one of a single column."
        )
    if images is not None and (images.ndim != 3 or len(images) != len(values)):
        raise InvalidValueError(
            f"images has shape {images.shape}, but (n_rows, height, width) with n_rows={len(values)} "
            "is needed."
        )
    return np.array(values, dtype=np.float64), images


def _filled(
    values: np.ndarray, names: list[str], notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Values without gaps, which take the median of their column; and how many there were in each."""
    gaps = ~np.isfinite(values)
    missing = gaps.sum(axis=0)
    for j in np.flatnonzero(missing):
        there = values[~gaps[:, j], j]
        # Halves, as a sum of two values may overflow.
        values[gaps[:, j], j] = 2.0 * np.median(there / 2.0) if len(there) else 0.0
    empty = missing == len(values)
    notes += [f"set aside {names[j]!r}: it is empty" for j in np.flatnonzero(empty)]
    gone = np.where(empty, 0, missing)
    if gone.any():
        worst, size = int(np.argmax(gone)), len(values) * np.count_nonzero(~empty)
        notes.append(
            f"{gone.sum():,} of {size:,} values are missing ({gone.sum() / size:.2%}), "
            f"most in {names[worst]!r} ({gone[worst]:,}); each was replaced by the median of its column"
        )
    return values, missing


def _summary(values: np.ndarray, names: list[str], missing: np.ndarray) -> list[dict[str, Any]]:
    units = largest(values, axis=0) if is_extreme(values) else np.ones(len(names))
    values = values / units
    low, median, high = np.quantile(values, [0.0, 0.5, 1.0], axis=0) * units
    mean, deviation = values.mean(axis=0) * units, values.std(axis=0) * units
    return [
        {
            "column": name,
            "mean": float(mean[j]),
            "deviation": float(deviation[j]),
            "lowest": float(low[j]),
            "median": float(median[j]),
            "highest": float(high[j]),
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
    return _column(ids, n, "ids")


def _labels(labels: np.ndarray | None, n: int, notes: list[str]) -> np.ndarray | None:
    if labels is None:
        return None
    words = _column(labels, n, "labels")
    missing = missing_cells(labels)
    found = np.where(missing, "", words)
    n_missing = int(missing.sum())
    if n_missing == n:
        raise InvalidValueError(f"none of the {n} rows has a label; leave labels out.")
    if n_missing:
        notes.append(
            f"{n_missing:,} of {n:,} rows have no label; scores against labels leave them out"
        )
    return found


def _column(values: np.ndarray, n: int, name: str) -> list[str]:
    if values.shape != (n,):
        raise InvalidValueError(
            f"{name} has shape {values.shape}, but a value for each of the {n} rows is needed."
        )
    if values.dtype.kind != "f":
        return [str(value) for value in values.tolist()]
    words = [str(value) for value in (values + 0.0).tolist()]
    # Whole numbers that were read as floats look like what they are, as far as floats hold them all.
    known = values[np.isfinite(values)]
    if np.all(known == np.round(known)) and np.all(np.abs(known) <= 2.0**53):
        return [word.removesuffix(".0") for word in words]
    return words
