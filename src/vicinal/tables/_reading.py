"""Columns of any table as arrays: numbers, booleans, dates, or Python objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.tables import (
    MAX_EXACT,
    check_single_table,
    holds_exactly,
    is_missing,
    unique_names,
)
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Attribute of a pandas data frame with the decimal mark of the file that it was read from.
MARK_ATTRIBUTE = "vicinal decimal mark"


class RawColumn(NamedTuple):
    """A column as it was given.

    ``values`` are floats (NaN where missing), dates (``datetime64[us]``), or Python objects (None where
    missing). ``levels`` are the categories of an ordered categorical column, lowest first. ``mark`` is the
    decimal mark of numbers in text, "comma" or "point", where the file tells.
    """

    name: str
    values: np.ndarray
    levels: tuple[Any, ...] | None = None
    mark: str | None = None


def read_columns(X: Any) -> list[RawColumn]:
    """The columns of a data frame, a mapping, a list of records or a two-dimensional array."""
    if sparse.issparse(X):
        raise InvalidTypeError(
            "X is a sparse matrix, but a table of mixed columns is dense: pass X.toarray() if it is small."
        )
    if isinstance(X, Mapping):
        return _from_mapping(X)
    X = with_distinct_names(X)
    if isinstance(X, Sequence) and len(X) and all(isinstance(row, Mapping) for row in X):
        names = list(dict.fromkeys(name for row in X for name in row))
        return _from_mapping({name: [row.get(name) for row in X] for name in names})
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X):
        return _from_frame(X)
    return _from_array(X)


def split_table(X: Any, names: Sequence[str]) -> tuple[dict[str, np.ndarray], Any]:
    """Some columns of a table as arrays by name, and the table without them."""
    if isinstance(X, Sequence) and len(X) and all(isinstance(row, Mapping) for row in X):
        X = {name: [row.get(name) for row in X] for name in dict.fromkeys(n for r in X for n in r)}
    if isinstance(X, Mapping):
        rest = {name: column for name, column in X.items() if name not in names}
        return {name: np.asarray(X[name]) for name in names}, rest
    frame = nw.from_native(with_distinct_names(X), eager_only=True)
    columns = {name: np.asarray(frame.get_column(name).to_numpy()) for name in names}
    return columns, frame.drop(*names).to_native()


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a table as text; None for arrays."""
    if isinstance(X, Mapping):
        return unique_names(X)
    if isinstance(X, Sequence) and len(X) and all(isinstance(row, Mapping) for row in X):
        return unique_names(dict.fromkeys(name for row in X for name in row))
    if isinstance(X, np.ndarray) or not nw.dependencies.is_into_dataframe(X):
        return None
    return unique_names(nw.from_native(with_distinct_names(X), eager_only=True).columns)


def _from_mapping(columns: Mapping[Any, Any]) -> list[RawColumn]:
    for name, column in columns.items():
        if isinstance(column, str) or not hasattr(column, "__iter__"):
            raise InvalidTypeError(f"X[{name!r}] is {column!r}, but a column of values is needed.")
    arrays = [
        column if isinstance(column, np.ndarray) else _objects(list(column))
        for column in columns.values()
    ]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise InvalidValueError(
            f"X has columns of {min(lengths)} to {max(lengths)} rows, but all need the same number."
        )
    return [
        RawColumn(name, plain_values(array))
        for name, array in zip(unique_names(columns), arrays, strict=True)
    ]


def with_distinct_names(X: Any) -> Any:
    """A data frame whose columns have different names, of one type: narwhals rejects repeated ones."""
    check_single_table(X)
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or callable(names):
        return X
    if len(set(names)) == len(names) and len({isinstance(name, str) for name in names}) < 2:
        return X
    if hasattr(X, "set_axis"):
        return X.set_axis(unique_names(names), axis="columns")
    return X.rename_columns(unique_names(names)) if hasattr(X, "rename_columns") else X


def _from_frame(X: Any) -> list[RawColumn]:
    frame = nw.from_native(X, eager_only=True)
    series = (frame.get_column(name) for name in frame.columns)
    mark = getattr(X, "attrs", {}).get(MARK_ATTRIBUTE)
    return [
        _from_series(name, own)._replace(mark=mark)
        for name, own in zip(unique_names(frame.columns), series, strict=True)
    ]


def _from_series(name: str, series: Any) -> RawColumn:
    dtype = series.dtype
    if isinstance(dtype, nw.Enum):
        return RawColumn(name, plain_values(_objects(series.to_list())), tuple(dtype.categories))
    if dtype.is_integer() and not _is_exact(series):
        return RawColumn(name, plain_values(_objects(series.to_list())))
    if dtype.is_numeric():
        values = series.cast(nw.Float64).to_numpy()
        return RawColumn(name, np.array(values, dtype=np.float64))
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    if isinstance(dtype, (nw.Datetime, nw.Date, nw.Duration)):
        return RawColumn(name, plain_values(np.asarray(series.to_numpy())))
    return RawColumn(name, plain_values(_objects(series.to_list())))


def _is_exact(integers: Any) -> bool:
    """Whether all integers of a series are small enough to be exact as floats."""
    low, high = integers.min(), integers.max()
    return is_missing(low) or max(-int(low), int(high)) <= MAX_EXACT


def _from_array(X: Any) -> list[RawColumn]:
    if isinstance(X, list):
        X = _objects_of_rows(X)
    array = read_array(X, "X")
    if array.ndim != 2:
        raise InvalidValueError(
            f"X has shape {array.shape}, but a table (n_rows, n_columns) is needed. Reshape your data: "
            "X.reshape(-1, 1) makes a table with one column."
        )
    return [RawColumn(f"column {j + 1}", plain_values(array[:, j])) for j in range(array.shape[1])]


def _objects_of_rows(rows: list[Any]) -> Any:
    """Rows of mixed types as an array of objects; numpy would turn their numbers into text."""
    kinds = {
        isinstance(cell, str) for row in rows if isinstance(row, (list, tuple)) for cell in row
    }
    return np.array(rows, dtype=object) if len(kinds) == 2 else rows


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def plain_values(values: np.ndarray) -> np.ndarray:
    """Values as floats, dates, or objects with None where they are missing."""
    kind = values.dtype.kind
    if values.ndim != 1:
        raise InvalidValueError(
            f"a column has shape {values.shape}, but one value per row is needed."
        )
    if kind == "f" or (kind in "ui" and holds_exactly(values)):
        return values.astype(np.float64)
    if kind == "M":
        return values.astype("datetime64[us]")
    if kind == "m":
        seconds = values.astype("timedelta64[us]")
        return np.where(np.isnat(seconds), np.nan, seconds.astype(np.float64) / 1e6)
    if kind == "c":
        raise InvalidValueError(
            "X holds complex numbers. Complex data not supported: give the real and imaginary parts as "
            "columns."
        )
    cells = [
        # Most objects are text, for which this is enough.
        value if (type(value) is str and value) or not is_missing(value) else None
        for value in values.tolist()
    ]
    types = {type(cell) for cell in cells if cell is not None}
    if types and all(issubclass(t, (Real, Decimal)) and not issubclass(t, bool) for t in types):
        # Integers that would not be exact as floats stay what they are, as text.
        integers = (int(cell) for cell in cells if isinstance(cell, Integral))
        if all(-MAX_EXACT <= number <= MAX_EXACT for number in integers):
            return np.array([np.nan if cell is None else float(cell) for cell in cells])
        return _objects([None if cell is None else str(cell) for cell in cells])
    if types and all(issubclass(t, (date, datetime)) for t in types):
        return np.array([_without_zone(cell) for cell in cells], dtype="datetime64[us]")
    return _objects(cells)


def _without_zone(moment: Any) -> Any:
    if moment is None:
        return np.datetime64("NaT")
    return moment.replace(tzinfo=None) if getattr(moment, "tzinfo", None) else moment
