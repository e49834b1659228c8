"""Rows of another table as points of a model: how its columns were prepared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.suggestions import suggestion
from vicinal.exceptions import InvalidValueError
from vicinal.report._preprocessing import CleanTable, shown_numbers, shown_words
from vicinal.tables._reading import RawColumn, read_columns
from vicinal.tables.encoder import Encoding, encoding_from_json


class NewRows(NamedTuple):
    """New rows, read by the names of the columns.

    ``columns`` are numbers (NaN where missing) or texts (empty where missing) by name; ``notes`` list the
    columns that were not used.
    """

    points: np.ndarray
    columns: dict[str, np.ndarray]
    notes: list[str]


class Preparation(NamedTuple):
    """How a table was encoded.

    Attributes
    ----------
    all_names : list of str
        All columns of the table, in its order.
    encoding : Encoding
        What makes points of the columns that have coordinates.
    """

    all_names: list[str]
    encoding: Encoding

    @property
    def names(self) -> list[str]:
        """The columns that new rows need."""
        return [column.name for column in self.encoding.columns]

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a point."""
        return self.encoding.map.n_coordinates

    def read(self, X: Any) -> NewRows:
        """Rows of a table with the same columns, in any order."""
        raw, notes = columns_by_name(X, self.names, self.all_names)
        typed = self.encoding.read(raw)
        values = {
            own.name: shown_words(own).astype(object)
            if own.numbers is None
            else shown_numbers(own.kind, own.numbers)
            for own in typed
        }
        return NewRows(self.encoding.points(typed), values, notes)

    def to_json(self) -> dict[str, Any]:
        """The preparation as JSON."""
        encoding = self.encoding.to_json()
        return {"names": self.names, "all_names": self.all_names, "encoding": encoding}


def preparation_of(data: CleanTable) -> Preparation:
    """How a table was prepared."""
    return Preparation([column["column"] for column in data.columns], data.encoder._encoding)


def preparation_from_json(state: Mapping[str, Any]) -> Preparation:
    """The preparation that was saved; a wrong description raises an error."""
    made = Preparation([str(n) for n in state["all_names"]], encoding_from_json(state["encoding"]))
    if made.names != state["names"] or not set(made.names) <= set(made.all_names):
        raise InvalidValueError("the names of columns contradict each other")
    return made


def columns_by_name(
    X: Any, names: Sequence[str], all_names: Sequence[str]
) -> tuple[dict[str, RawColumn], list[str]]:
    """The columns of a table that are needed, and notes on the others.

    Arrays have no names: their columns are those of the training table, in its order.
    """
    if sparse.issparse(X):
        X = X.toarray()
    is_array = isinstance(X, np.ndarray) or (
        isinstance(X, Sequence) and not any(isinstance(row, Mapping) for row in X)
    )
    if is_array:
        X = np.asarray(X)
        X = X.reshape(len(X), -1) if X.ndim == 3 else X
        if X.ndim != 2 or X.shape[1] != len(all_names):
            raise InvalidValueError(
                f"X has shape {X.shape}, but the model was made from {len(all_names)} columns: "
                f"{listed(all_names)}; pass an array (n_rows, {len(all_names)}), or a DataFrame."
            )
    columns = {column.name: column for column in read_columns(X)}
    if is_array:
        columns = dict(zip(all_names, columns.values(), strict=True))
    missing = [name for name in names if name not in columns]
    if missing:
        hint = suggestion(missing[0], [name for name in columns if name not in all_names])
        plural = "columns" if len(missing) > 1 else "column"
        raise InvalidValueError(
            f"X has no {plural} {listed(missing)}{hint}; the model needs {listed(names)}, in any order."
        )
    extra = [name for name in columns if name not in all_names]
    return columns, [f"not used, since the model does not know it: {name!r}" for name in extra]


def listed(names: Sequence[str]) -> str:
    """Some names, quoted; the first ones of many."""
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
