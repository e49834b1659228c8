"""Preparation of the input table: complete, scaled points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.scalar_checks import check_choice
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
from vicinal.report._column_scaling import (
    SCALINGS,
    by_logarithms,
    choose_scaling,
    is_extreme,
    max_abs,
    scale_columns,
)
from vicinal.report._encoded_columns import column_statistics, encode_columns
from vicinal.tables._completion import fill_numbers
from vicinal.tables._plain import as_plain_table
from vicinal.tables._reading import column_names, read_columns, split_table

if TYPE_CHECKING:
    from vicinal.tables import TableEncoder

MIN_ROWS = 10


class CleanTable(NamedTuple):
    """The analysed table, and how it was prepared.

    Attributes
    ----------
    points : ndarray (n, d)
        Complete and scaled values, without constant columns; or the encoded rows.
    values : ndarray (n, d)
        The same before scaling; of a table with an encoder, its numbers and dates (as years).
    names, ids : list of str
        Names of the columns and of the rows.
    labels : ndarray of str (n,) or None
        Known classes; empty where a row has none.
    label_name : str
        Name of the label column.
    id_name : str or None
        Name of the column of row names, if they were one.
    columns : list of dict
        Kind and weight of every column, statistics of numbers before scaling, the number of missing values,
        whether it is used, and why.
    n_missing : int
        Number of missing or infinite values that were completed.
    scaling : {"none", "standard", "logs", "robust"}
        Scaling that was applied; "logs" is "standard" with logarithms of columns on a log scale.
    why_scaling : str
        Why it was applied.
    notes : list of str
        What was set aside, dropped or replaced.
    others : mapping of str to ndarray
        Non-numeric columns, used or not.
    images : ndarray (n, height, width) or None
        Grey levels of the rows.
    categories : mapping of str to ndarray of str
        Columns of categories that are used; empty where a value is missing.
    encoder : TableEncoder or None
        What made points of the columns; None for tables of numbers, whose points have one coordinate per
        column.
    coordinates : ndarray (n, c) or None
        Completed coordinates of the columns, if the encoder makes other points of them.
    missing : ndarray of bool (n, c) or None
        Coordinates whose values were missing; None if there were none.
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
    categories: Mapping[str, np.ndarray] = {}
    encoder: TableEncoder | None = None
    coordinates: np.ndarray | None = None
    missing: np.ndarray | None = None
    id_name: str | None = None

    @property
    def numbers(self) -> np.ndarray:
        """One column per name in ``names``, in any unit."""
        return self.points if self.encoder is None else self.values

    @property
    def is_missing(self) -> np.ndarray:
        """Which coordinates of the columns were missing."""
        rows = self.points if self.coordinates is None else self.coordinates
        return np.zeros(rows.shape, dtype=bool) if self.missing is None else self.missing

    @property
    def n_used(self) -> int:
        """Number of columns that rows are compared by."""
        return sum(bool(column["used"]) for column in self.columns)


def prepare(
    table: RawTable,
    scaling: str = "auto",
    *,
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    n_jobs: int | None = -1,
) -> CleanTable:
    """Complete missing values, drop constant columns, and make columns comparable.

    Tables of numbers are scaled where ranges are not comparable; all others, and those with given kinds or
    weights of columns, are encoded. Values are copied once; dropping columns and scaling copy only what they
    change.
    """
    check_choice(scaling, "scaling", SCALINGS)
    if table.points is None or kinds or weights:
        return _prepare_mixed(table, scaling, kinds, weights, n_jobs)
    values, images = _values_and_images(table)
    n, d = values.shape
    _check_rows(n)
    names = _numbered(d) if table.names is None else list(table.names)
    notes = list(table.notes)
    is_missing = ~np.isfinite(values)
    values, missing, missing_notes = fill_numbers(values, names, n_jobs)
    notes += missing_notes
    columns = column_statistics(values, names, missing)
    is_used = np.array([column["used"] for column in columns])
    _note_dropped([column for column in columns if column["missing"] < n], notes)
    if not is_used.any():
        raise InvalidValueError(
            f"all {d} numeric columns are constant or empty, so all rows are equal; "
            "pass a table whose rows differ."
        )
    if not is_used.all():
        values = np.ascontiguousarray(values[:, is_used])
    used_names = [name for name, used in zip(names, is_used, strict=True) if used]
    applied, reason = choose_scaling(values, scaling, images is not None)
    # Columns without names are coordinates, which have no units of their own.
    if scaling == "auto" and applied == "standard" and table.names is not None:
        applied, reason = by_logarithms(values, used_names, reason)
    if applied == "none" and is_extreme(values):
        divisor = max_abs(values)
        notes.append(f"all values were divided by the largest, {divisor:.3g}, to avoid overflow")
    return CleanTable(
        points=scale_columns(values, applied),
        values=values,
        names=used_names,
        ids=row_names(table.ids, n),
        labels=_labels(table.labels, n, notes),
        label_name=table.label_name,
        columns=columns,
        n_missing=int(missing[missing < n].sum()),
        scaling=applied,
        why_scaling=reason,
        notes=notes,
        others={name: np.asarray(column) for name, column in table.others.items()},
        images=images,
        missing=is_missing[:, is_used] if missing[is_used].any() else None,
        id_name=table.id_name,
    )


def _check_rows(n: int) -> None:
    if n < MIN_ROWS:
        raise InvalidValueError(
            f"the table has {n} row{'s' if n != 1 else ''}, but at least {MIN_ROWS} are needed; add rows."
        )


def _prepare_mixed(
    table: RawTable, scaling: str, kinds: Any, weights: Any, n_jobs: int | None
) -> CleanTable:
    """A table of any columns, encoded."""
    columns, images = table.columns, table.images
    if columns is None:
        values, images = _values_and_images(table)
        columns = dict(zip(table.names or _numbered(values.shape[1]), values.T, strict=True))
    encoded = encode_columns(columns, scaling, kinds, weights, n_jobs)
    is_missing = np.isnan(encoded.encoder._rows)
    n = len(encoded.points)
    _check_rows(n)
    notes = [*table.notes, *encoded.notes]
    return CleanTable(
        points=encoded.points,
        values=encoded.values,
        names=encoded.names,
        ids=row_names(table.ids, n),
        labels=_labels(table.labels, n, notes),
        label_name=table.label_name,
        columns=encoded.columns,
        n_missing=sum(column["missing"] for column in encoded.columns if column["used"]),
        scaling=encoded.encoder.scaling,
        why_scaling=encoded.why_scaling,
        notes=notes,
        others=encoded.others,
        images=images,
        categories=encoded.categories,
        encoder=encoded.encoder,
        coordinates=encoded.coordinates,
        missing=is_missing if is_missing.any() else None,
        id_name=table.id_name,
    )


def _numbered(d: int) -> list[str]:
    return [f"column {j + 1}" for j in range(d)]


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
    """Coordinates if all usable columns are numbers; otherwise all columns as they are."""
    columns = read_columns(X)
    if not columns:
        raise InvalidValueError("X has no columns besides labels and ids; add columns.")
    plain = as_plain_table(columns)
    if plain is None:
        return RawTable(None, names=[column.name for column in columns], columns=X)
    return RawTable(plain.values, plain.notes, plain.names, others=plain.others, columns=X)


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


def _note_dropped(columns: list[dict[str, Any]], notes: list[str]) -> None:
    dropped = [column["column"] for column in columns if not column["used"]]
    if dropped:
        shown = ", ".join(map(repr, dropped[:8])) + (", ..." if len(dropped) > 8 else "")
        plural = "s" if len(dropped) > 1 else ""
        notes.append(f"dropped {len(dropped)} constant column{plural}: {shown}")


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
