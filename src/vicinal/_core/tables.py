"""Cells, names and rows of tables: what reading, plotting, scoring and printing them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidTypeError, InvalidValueError


class RawTable(NamedTuple):
    """A table as it was read, before cleaning.

    ``points`` is an array, or a sparse matrix where the caller accepts one; ``notes`` says what the reader
    decided. ``others`` are columns that were set aside, by name; ``images`` are grey levels of the rows
    (n, height, width).
    """

    points: Any
    notes: Sequence[str] = ()
    names: Sequence[str] | None = None
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    others: Mapping[str, np.ndarray] = {}
    images: np.ndarray | None = None
    label_name: str = "label"


def as_table(X: Any, name: str = "X") -> Any:
    """`X` as an array or a DataFrame of pandas, where it is a table of another library.

    Tables of pyarrow, polars and others that export themselves become DataFrames, so that columns keep their
    names; everything else is returned as it is. Objects that hold several tables are rejected.
    """
    if hasattr(X, "obsm") and hasattr(X, "obs_names"):
        raise InvalidTypeError(
            f"{name} is an {type(X).__name__} object, which holds several tables; give one of them, such as "
            f"{name}.X or {name}.obsm['X_pca']."
        )
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InvalidTypeError(
            f"{name} is a {type(X).__name__}, whose rows are not computed yet; give {name}.collect()."
        )
    if type(X).__module__.split(".")[0] == "pandas" or not hasattr(X, "to_pandas"):
        return X
    if not (hasattr(X, "__arrow_c_stream__") or hasattr(X, "__dataframe__")):
        return X
    try:
        return X.to_pandas()
    except ImportError as error:
        raise InvalidTypeError(
            f"{name} is a table of {type(X).__module__.split('.')[0]}, which is read by way of pandas and "
            f"pyarrow, but one of them is not installed ({error}); install them, or give {name}.to_numpy()."
        ) from error


def is_nothing(value: Any) -> bool:
    """Whether a value is None, NaN, or NA of pandas."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA does not say whether it equals itself
        return True


def is_missing(value: Any) -> bool:
    """Whether a cell is empty, None, NaN, or NA of pandas."""
    return is_nothing(value) or (isinstance(value, str) and not value)


def missing_cells(column: np.ndarray) -> np.ndarray:
    """Which cells of a column are missing."""
    if column.dtype.kind in "biu":
        return np.zeros(column.shape, dtype=bool)
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array([is_missing(value) for value in column], dtype=bool)


def of_one_type(cells: np.ndarray, name: str) -> np.ndarray:
    """Python objects as an array of their type, which they must share to be told apart and sorted."""
    values = cells.tolist()
    kinds: dict[type, Any] = {}
    for value in values:
        kinds.setdefault(_kind(value), value)
    if len(kinds) > 1:
        first, second = list(kinds.values())[:2]
        raise InvalidValueError(
            f"{name} holds labels of different types, as {first!r} and {second!r}; make them all numbers "
            f"or all words, such as [str(label) for label in {name}]."
        )
    try:
        min(values, default=None)
    except TypeError as error:
        raise InvalidTypeError(
            f"{name} holds objects of the type {type(values[0]).__name__}, which have no order, but labels "
            f"are numbers or words; [str(label) for label in {name}] makes words of them."
        ) from error
    return np.array(values)


def _kind(value: Any) -> type:
    # True and 1 are equal, so a truth among numbers would be lost.
    return Number if isinstance(value, Number) and not isinstance(value, bool) else type(value)


def distinct(names: Iterable[Any]) -> list[str]:
    """Names as words, a number behind those that were there before: no column may hide another."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in map(str, names):
        new = name
        while new in seen:
            seen[name] += 1
            new = f"{name} ({seen[name]})"
        seen[new] += 1
        found.append(new)
    return found


def format_rows(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells in aligned columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )
