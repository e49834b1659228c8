"""Tables: reading them from other libraries, missing cells, labels, column names and printing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Floats hold every integer up to this size exactly.
MAX_EXACT = 2**53


class RawTable(NamedTuple):
    """A table as it was read, before cleaning.

    ``points`` is an array, or a sparse matrix if the caller accepts one. ``notes`` describes decisions of the
    reader, ``others`` maps names to columns that are not coordinates, and ``images`` contains the grey levels
    of each row (n, height, width). ``label_name`` and ``id_name`` are the columns of classes and row names.
    ``columns`` is a table of all columns as they were read, if some are not numbers; ``points`` is None if
    `vicinal.tables.TableEncoder` has to encode them. ``place`` makes points of other rows (a RawTable) in the
    same way, once the table is prepared. ``splits`` assigns rows to parts such as training and test data.
    """

    points: Any
    notes: Sequence[str] = ()
    names: Sequence[str] | None = None
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    others: Mapping[str, np.ndarray] = {}
    images: np.ndarray | None = None
    label_name: str = "label"
    id_name: str | None = None
    columns: Any = None
    place: Callable[[RawTable], np.ndarray] | None = None
    splits: np.ndarray | None = None


def check_single_table(X: Any, name: str = "X") -> None:
    """Reject names of files, objects that contain several tables, and rows that are not computed yet."""
    if isinstance(X, str | PathLike):
        raise InvalidTypeError(
            f"{name} is the text {str(X)[:80]!r}, but values are needed; a file has to be read first, for "
            "instance with pandas.read_csv or numpy.load, or by the command vicinal."
        )
    if hasattr(X, "obsm") and hasattr(X, "obs_names"):
        raise InvalidTypeError(
            f"{name} is an {type(X).__name__} object, which contains several tables; pass one of them, "
            f"such as {name}.X or {name}.obsm['X_pca']."
        )
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InvalidTypeError(
            f"{name} is a {type(X).__name__}, whose rows are not computed yet; pass {name}.collect()."
        )
    if is_lazy(X):
        raise InvalidTypeError(
            f"{name} is a dask {type(X).__name__}, which this function does not process in chunks; pass "
            f"{name}.compute() if it fits into memory."
        )


def is_lazy(X: Any) -> bool:
    """Whether X is a collection of dask: an array, a table or a delayed value that is not computed yet."""
    return hasattr(X, "__dask_graph__") and X.__dask_graph__() is not None


def as_table(X: Any, name: str = "X") -> Any:
    """Convert tables of other libraries, such as pyarrow and polars, to pandas DataFrames.

    Columns keep their names. Everything else is returned unchanged, except for what `check_single_table`
    rejects.
    """
    check_single_table(X, name)
    if type(X).__module__.split(".")[0] == "pandas" or not hasattr(X, "to_pandas"):
        return X
    if not (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__")):
        return X
    try:
        return X.to_pandas()
    except ImportError as error:
        raise InvalidTypeError(
            f"{name} is a table of {type(X).__module__.split('.')[0]}, which is read with pandas and "
            f"pyarrow, but one of them is not installed ({error}); install them, or pass {name}.to_numpy()."
        ) from error


def is_null(value: Any) -> bool:
    """Whether a value is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # comparisons with NA have no truth value
        return True
    except ValueError:  # an array of several values
        return False


def is_missing(value: Any) -> bool:
    """Whether a cell is an empty string, None, NaN or pandas' NA."""
    return is_null(value) or (isinstance(value, str) and not value)


def holds_exactly(integers: np.ndarray) -> bool:
    """Whether floats hold all integers of an array exactly."""
    if integers.dtype.itemsize < 8 or not integers.size:
        return True
    return max(-int(integers.min()), int(integers.max())) <= MAX_EXACT


def check_exact(values: Any, name: str) -> None:
    """Raise if an array holds integers that floats do not hold exactly."""
    if values.dtype.kind in "ui" and not hasattr(values, "toarray") and not holds_exactly(values):
        low, high = int(values.min()), int(values.max())
        raise InvalidValueError(
            f"{name} holds integers such as {high if high > MAX_EXACT else low}, of which the calculation "
            "would lose the last digits; leave out columns of ids, or subtract a common part or use a larger "
            "unit."
        )


def missing_cells(column: np.ndarray) -> np.ndarray:
    """Which cells of a column are missing."""
    if column.dtype.kind in "biu":
        return np.zeros(column.shape, dtype=bool)
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array([is_missing(value) for value in column], dtype=bool)


def homogeneous(cells: np.ndarray, name: str) -> np.ndarray:
    """Convert labels of one sortable type to an array of that type; mixed types are rejected."""
    values = cells.tolist()
    kinds: dict[type, Any] = {}
    for value in values:
        kinds.setdefault(_kind(value), value)
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        raise InvalidValueError(
            f"{name} contains labels of different types, such as {first!r} and {second!r}; convert them to "
            f"one type, for instance with [str(label) for label in {name}]."
        )
    try:
        min(values, default=None)
    except TypeError as error:
        raise InvalidTypeError(
            f"{name} contains objects of type {type(values[0]).__name__}, which cannot be sorted, but labels "
            f"must be numbers or strings; use [str(label) for label in {name}]."
        ) from error
    return np.array(values)


def _kind(value: Any) -> type:
    # True == 1, so a bool among numbers would be merged with 1.
    return Number if isinstance(value, Number) and not isinstance(value, bool) else type(value)


def unique_names(names: Iterable[Any]) -> list[str]:
    """Convert column names to unique strings; repeated names get a numeric suffix."""
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in map(str, names):
        new = name
        while new in seen:
            seen[name] += 1
            new = f"{name} ({seen[name]})"
        seen[new] += 1
        unique.append(new)
    return unique


def format_rows(rows: Sequence[Sequence[str]]) -> str:
    """Format rows of cells as aligned columns: the first left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )
