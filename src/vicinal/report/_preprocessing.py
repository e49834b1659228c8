"""Preparation of the input table: points, and what its report shows of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.sparse import check_indices
from vicinal._core.suggestions import suggestion
from vicinal._core.tables import (
    RawTable,
    check_exact,
    check_single_table,
    is_missing,
    missing_cells,
)
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.tables import TableEncoder
from vicinal.tables._codes import YEAR
from vicinal.tables._columns import column_notes
from vicinal.tables._kinds import TypedColumn, as_words
from vicinal.tables._reading import column_names, read_columns, split_table

MIN_ROWS = 10
STATISTICS = ("mean", "std", "min", "median", "max")
UNITS = {
    "auto": "columns made comparable: numbers in robust units, weighted by what other columns say about them",
    "standard": "columns made comparable: numbers in standard deviations, categories by what others say",
    "none": "numbers not rescaled; categories by what other columns say",
}


class CleanTable(NamedTuple):
    """The analysed table, and how it was prepared.

    Attributes
    ----------
    points : ndarray (n, c)
        The encoded rows.
    values : ndarray (n, d)
        Its numbers and dates (as years), complete.
    names, ids : list of str
        Names of the columns of ``values``, and of the rows.
    labels : ndarray of str (n,) or None
        Known classes; empty where a row has none.
    label_name : str
        Name of the label column.
    id_name : str or None
        Name of the column of row names, if they were one.
    columns : list of dict
        Kind and weight of every column, statistics of numbers, the number of missing values, whether it is
        used, and why.
    n_missing : int
        Number of missing or infinite values.
    scaling : {"auto", "standard", "none"}
        Unit of numbers in ``points``.
    why_scaling : str
        What this means.
    notes : list of str
        What was set aside, assumed or completed.
    others : mapping of str to ndarray
        Non-numeric columns, used or not.
    images : ndarray (n, height, width) or None
        Grey levels of the rows.
    categories : mapping of str to ndarray of str
        Columns of categories; empty where a value is missing.
    encoder : TableEncoder
        What made points of the columns.
    missing : ndarray of bool (n, d) or None
        Which of ``values`` were missing; None if there were none.
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
    categories: Mapping[str, np.ndarray]
    encoder: TableEncoder
    missing: np.ndarray | None = None
    id_name: str | None = None

    @property
    def n_used(self) -> int:
        """Number of columns that rows are compared by."""
        return sum(bool(column["used"]) for column in self.columns)

    @property
    def given(self) -> dict[str, np.ndarray]:
        """Values of the columns that have coordinates; NaN or empty where they are missing."""
        values = (
            self.values if self.missing is None else np.where(self.missing, np.nan, self.values)
        )
        numbers = dict(zip(self.names, values.T, strict=True))
        return numbers | {name: words.astype(object) for name, words in self.categories.items()}


def prepare(
    table: RawTable,
    scaling: str = "auto",
    *,
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
) -> CleanTable:
    """Encode a table of any columns, as `TableEncoder` does.

    Grey levels of images are in one unit, so "auto" takes them as they are.
    """
    X, images = table.columns, table.images
    if X is None:
        values, images = _values_and_images(table)
        _check_rows(len(values))
        names = table.names or [f"column {j + 1}" for j in range(values.shape[1])]
        X = dict(zip(names, values.T, strict=True))
        if images is not None and scaling == "auto":
            scaling = "none"
    encoder = TableEncoder(kinds, weights=weights, scaling=scaling)
    typed = encoder._fit(X)
    n = len(typed[0].missing)
    _check_rows(n)
    points = encoder._encoding.points(typed)
    numbers = {
        own.name: shown_numbers(own.kind, encoder._encoding.values(typed)[own.name])
        for own in typed
        if own.numbers is not None
    }
    gaps = np.column_stack(
        [own.missing for own in typed if own.name in numbers] or [np.zeros((n, 0))]
    )
    categories = {own.name: shown_words(own) for own in typed if own.words is not None}
    notes = [*table.notes, *column_notes(encoder.columns_, encoder.missing_together_, n)]
    values = np.column_stack([*numbers.values()]) if numbers else np.empty((n, 0))
    columns = _described(encoder, dict(zip(numbers, values.T, strict=True)))
    return CleanTable(
        points=points,
        values=values,
        names=list(numbers),
        ids=row_names(table.ids, n),
        labels=_labels(table.labels, n, notes),
        label_name=table.label_name,
        columns=columns,
        n_missing=sum(column["missing"] for column in columns if column["used"]),
        scaling=scaling,
        why_scaling=UNITS[scaling],
        notes=notes,
        others={name: np.asarray(column) for name, column in table.others.items()}
        | categories
        | _unused_texts(X, encoder),
        images=images,
        categories=categories,
        encoder=encoder,
        missing=gaps.astype(bool) if gaps.any() else None,
        id_name=table.id_name,
    )


def shown_numbers(kind: str, numbers: np.ndarray) -> np.ndarray:
    """Numbers, or dates as years."""
    return numbers if kind == "numeric" else 1970.0 + numbers / YEAR


def shown_words(column: TypedColumn) -> np.ndarray:
    """Categories; empty where they are missing."""
    assert column.words is not None
    return np.array(["" if word is None else word for word in column.words.tolist()])


def _unused_texts(X: Any, encoder: TableEncoder) -> dict[str, np.ndarray]:
    """Columns of text that vary but are not compared, such as names."""
    compared = {column.name for column in encoder._encoding.columns}
    texts = {
        column.name: np.array([word or "" for word in as_words(column.values)])
        for column in read_columns(X)
        if column.name not in compared and column.values.dtype.kind == "O"
    }
    return {name: words for name, words in texts.items() if len(np.unique(words)) > 1}


def _described(encoder: TableEncoder, values: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """What was done with each column, and statistics of its numbers."""
    return [
        {
            "column": column.name,
            **_statistics(values.get(column.name)),
            "missing": column.missing,
            "used": column.used,
            "kind": column.kind,
            "weight": column.weight,
            "reason": column.reason,
        }
        for column in encoder.columns_
    ]


def _statistics(values: np.ndarray | None) -> dict[str, float | None]:
    if values is None:
        return dict.fromkeys(STATISTICS)
    # Sums and squares of values near the largest float would overflow.
    size = float(np.abs(values).max()) or 1.0
    size = size if not 1e-100 < size < 1e100 else 1.0
    parts = values / size
    found = (parts.mean(), parts.std(), parts.min(), np.median(parts), parts.max())
    return dict(zip(STATISTICS, (float(part * size) for part in found), strict=True))


def _check_rows(n: int) -> None:
    if n < MIN_ROWS:
        raise InvalidValueError(
            f"the table has {n} row{'s' if n != 1 else ''}, but at least {MIN_ROWS} are needed; add rows."
        )


def raw_table(X: Any, labels: Any, ids: Any, images: Any, splits: Any = None) -> RawTable:
    """A table from an array or a data frame; labels, ids and splits may be names of its columns."""
    check_single_table(X)
    known = None if sparse.issparse(X) else column_names(X)
    roles = {"labels": labels, "ids": ids, "splits": splits}
    named = {role: name for role, name in roles.items() if isinstance(name, str)}
    for role, name in named.items():
        if known is None:
            raise InvalidValueError(
                f"{role}={name!r} is a column name, but X is an array without column names; pass a "
                "DataFrame, or the values themselves."
            )
        if name not in known:
            raise InvalidValueError(
                f"{role}={name!r}, but the columns of X are {', '.join(known)}{suggestion(name, known)}."
            )
    if known is None:
        table = _array_table(X)
    else:
        taken, rest = split_table(X, list(dict.fromkeys(named.values())))
        roles |= {role: taken[name] for role, name in named.items()}
        table = _frame_table(rest)
    return table._replace(
        ids=_array_or_none(roles["ids"]),
        labels=_array_or_none(roles["labels"]),
        images=_array_or_none(images),
        label_name=named.get("labels", "label"),
        id_name=named.get("ids"),
        splits=_array_or_none(roles["splits"]),
    )


def _array_table(X: Any) -> RawTable:
    if sparse.issparse(X):
        check_indices(X, "X")
    array = X.toarray() if hasattr(X, "toarray") else read_array(X, "X")
    is_text = array.dtype.kind in "OUST" and array.ndim == 2
    return _frame_table(array) if is_text else RawTable(array)


def _frame_table(X: Any) -> RawTable:
    """All columns as they are."""
    names = [column.name for column in read_columns(X)]
    if not names:
        raise InvalidValueError("X has no columns besides labels and ids; add columns.")
    return RawTable(None, names=names, columns=X)


def _array_or_none(values: Any) -> np.ndarray | None:
    return None if values is None else np.asarray(values)


def _values_and_images(table: RawTable) -> tuple[np.ndarray, np.ndarray | None]:
    """A copy of the values as a matrix of floats, and the images of the rows if there are any."""
    values, images = table.points, table.images
    if values.dtype.kind not in "buif":
        raise InvalidTypeError(f"X has dtype {values.dtype}, but must hold real numbers.")
    check_exact(values, "X")
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


def row_names(ids: np.ndarray | None, n: int) -> list[str]:
    """Names of rows as text; row numbers without names."""
    if ids is None:
        return [str(i) for i in range(n)]
    return as_strings(ids, n, "ids")


def _labels(labels: np.ndarray | None, n: int, notes: list[str]) -> np.ndarray | None:
    if labels is None:
        return None
    names = as_strings(labels, n, "labels")
    missing = missing_cells(labels)
    n_missing = int(missing.sum())
    if n_missing == n:
        raise InvalidValueError(f"none of the {n} rows has a label; omit labels.")
    if n_missing:
        notes.append(
            f"{n_missing:,} of {n:,} rows have no label; they are not scored against labels"
        )
    return np.where(missing, "", names)


def as_strings(values: np.ndarray, n: int, name: str) -> list[str]:
    """One value per row as text; whole numbers without a decimal point."""
    if values.shape != (n,):
        raise InvalidValueError(
            f"{name} has shape {values.shape}, but one value per row ({n} rows) is needed."
        )
    if values.dtype.kind != "f":
        return ["" if is_missing(value) else str(value) for value in values.tolist()]
    texts = [str(value) for value in (values + 0.0).tolist()]
    # Integers that were read as floats are written without a decimal point where floats are exact.
    finite = values[np.isfinite(values)]
    if np.all(finite == np.round(finite)) and np.all(np.abs(finite) <= 2.0**53):
        return [text.removesuffix(".0") for text in texts]
    return texts
