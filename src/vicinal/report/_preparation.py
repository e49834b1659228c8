"""Rows of a table as points: how the columns of a model were prepared, for new rows.

Tables of numbers are scaled; tables with other columns are encoded as `vicinal.tables.TableEncoder` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.suggestions import suggestion
from vicinal.exceptions import InvalidValueError
from vicinal.report._column_scaling import ColumnScaling, fit_scaling
from vicinal.report._preprocessing import CleanTable
from vicinal.tables._coding import YEAR, Coder
from vicinal.tables._coding_json import coder_from_json, coder_to_json
from vicinal.tables._completion import Completer, complete_numbers
from vicinal.tables._kinds import KINDS, TypedColumn, read_as
from vicinal.tables._partial import PartialDistance
from vicinal.tables._reading import RawColumn, read_columns
from vicinal.tables._shared import SharedPart
from vicinal.tables._shared_json import shared_part_from_json, shared_part_to_json


class NewRows(NamedTuple):
    """New rows, read by the names of the columns.

    ``coordinates`` are NaN where a value is missing; ``columns`` are numbers (NaN where missing) or texts
    (empty where missing) by name; ``notes`` list the columns that were not used.
    """

    coordinates: np.ndarray
    columns: dict[str, np.ndarray]
    notes: list[str]


class NumericPreparation(NamedTuple):
    """Scaling of numeric columns.

    Attributes
    ----------
    names : list of str
        The columns that are used.
    all_names : list of str
        All columns of the table, in its order.
    scaling : ColumnScaling
        Scaling of the columns that are used.
    """

    names: list[str]
    all_names: list[str]
    scaling: ColumnScaling

    def read(self, X: Any) -> NewRows:
        """Rows of a table with the same columns, in any order."""
        columns, notes = columns_by_name(X, self.names, self.all_names)
        numbers = {
            name: np.asarray(read_as(columns[name], "numeric").numbers) for name in self.names
        }
        values = np.column_stack([numbers[name] for name in self.names])
        with np.errstate(over="ignore"):
            coordinates = self.scaling.transform(values)
        return NewRows(coordinates, numbers, notes)

    def complete(
        self, coordinates: np.ndarray, training: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Coordinates whose missing values come from the nearest rows of ``training``."""
        if not np.isnan(coordinates).any():
            return coordinates
        return complete_numbers(coordinates, n_jobs, training=training)

    def place(self, completed: np.ndarray) -> np.ndarray:
        """Points of rows: their completed coordinates."""
        return completed

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a row."""
        return len(self.names)

    @property
    def n_point_coordinates(self) -> int:
        """Number of coordinates of a point."""
        return len(self.names)

    def to_json(self) -> dict[str, Any]:
        """The preparation as JSON."""
        scaling = {name: values.tolist() for name, values in self.scaling._asdict().items()}
        return {"kind": "numeric", "names": self.names, "all_names": self.all_names, **scaling}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> NumericPreparation:
        """The preparation that `to_json` described; a wrong description raises a ValueError."""
        names, all_names = ([str(name) for name in state[key]] for key in ("names", "all_names"))
        arrays = [np.array(state[key], dtype=np.float64) for key in ColumnScaling._fields]
        if any(array.shape != (len(names),) or not np.isfinite(array).all() for array in arrays):
            raise InvalidValueError("the scaling of columns has another shape than their names")
        if not set(names) <= set(all_names) or len(set(names)) < len(names):
            raise InvalidValueError("the names of columns contradict each other")
        if not (arrays[0] != 0).all() or not (arrays[2] != 0).all():
            raise InvalidValueError("the unit of a column is 0")
        return cls(names, all_names, ColumnScaling(*arrays))


class EncodedPreparation(NamedTuple):
    """Coders of columns of any kind.

    Attributes
    ----------
    columns : list of TypedColumn
        Name, kind and form of the columns that are used, without values.
    all_names : list of str
        All columns of the table, in its order.
    coders : list of Coder
        What makes coordinates of each column.
    weights : ndarray
        Weight of each column.
    shared : SharedPart or None
        What makes points of coordinates; None if these are the points.
    """

    columns: list[TypedColumn]
    all_names: list[str]
    coders: list[Coder]
    weights: np.ndarray
    shared: SharedPart | None

    @property
    def names(self) -> list[str]:
        """The columns that are used."""
        return [column.name for column in self.columns]

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a row."""
        return sum(len(coder.names) or 1 for coder in self.coders)

    @property
    def n_point_coordinates(self) -> int:
        """Number of coordinates of a point."""
        return self.n_coordinates if self.shared is None else self.shared.n_coordinates

    def place(self, completed: np.ndarray) -> np.ndarray:
        """Points of rows, from their completed coordinates."""
        return completed if self.shared is None else self.shared.project(completed)

    def read(self, X: Any) -> NewRows:
        """Rows of a table with the same columns, in any order."""
        raw, notes = columns_by_name(X, self.names, self.all_names)
        parts, values = [], {}
        for column, coder, weight in zip(self.columns, self.coders, self.weights, strict=True):
            typed = read_as(raw[column.name], column.kind, column.form, column.levels)
            parts.append(coder.encode(typed) * np.sqrt(weight))
            values[column.name] = shown_values(typed)
        return NewRows(np.ascontiguousarray(np.hstack(parts)), values, notes)

    def complete(
        self, coordinates: np.ndarray, training: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        """Coordinates whose missing values come from the nearest rows of ``training``."""
        if not np.isnan(coordinates).any():
            return coordinates
        sizes = [len(coder.names) or 1 for coder in self.coders]
        distance = PartialDistance(
            self.weights,
            np.repeat(np.arange(len(sizes)), sizes),
            np.array([coder.is_nominal for coder in self.coders]),
            power=2,
        )
        return Completer(training, distance, n_jobs).complete(coordinates)

    def to_json(self) -> dict[str, Any]:
        """The preparation as JSON."""
        columns = [
            {
                "name": column.name,
                "kind": column.kind,
                "form": column.form,
                "levels": None if column.levels is None else list(column.levels),
                "coder": coder_to_json(coder),
                "weight": float(weight),
            }
            for column, coder, weight in zip(self.columns, self.coders, self.weights, strict=True)
        ]
        return {
            "kind": "encoded",
            "names": self.names,
            "all_names": self.all_names,
            "columns": columns,
            "shared": None if self.shared is None else shared_part_to_json(self.shared),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> EncodedPreparation:
        """The preparation that `to_json` described; a wrong description raises an error."""
        columns, coders, weights = [], [], []
        for record in state["columns"]:
            form, levels = record["form"], record["levels"]
            if record["kind"] not in KINDS or not isinstance(form, str | None):
                raise InvalidValueError(f"the column {record['name']!r} has no kind")
            levels = None if levels is None else tuple(str(level) for level in levels)
            columns.append(
                TypedColumn(str(record["name"]), record["kind"], "", form=form, levels=levels)
            )
            coders.append(coder_from_json(record["coder"], record["kind"]))
            weights.append(float(record["weight"]))
        all_names = [str(name) for name in state["all_names"]]
        names = [column.name for column in columns]
        if names != state["names"] or len(set(names)) < len(names) or not names:
            raise InvalidValueError("the names of columns contradict each other")
        if not set(names) <= set(all_names) or min(weights) <= 0:
            raise InvalidValueError("the names or weights of columns are wrong")
        shared = None
        if state.get("shared") is not None:
            sizes = [len(coder.names) or 1 for coder in coders]
            nominal = [coder.is_nominal for coder in coders]
            shared = shared_part_from_json(state["shared"], sizes, nominal, np.array(weights))
        return cls(columns, all_names, coders, np.array(weights), shared)


Preparation = NumericPreparation | EncodedPreparation


def preparation_of(data: CleanTable) -> Preparation:
    """How a table was prepared."""
    all_names = [column["column"] for column in data.columns]
    encoder = data.encoder
    if encoder is None:
        return NumericPreparation(data.names, all_names, fit_scaling(data.values, data.scaling))
    return EncodedPreparation(
        list(encoder._columns),
        all_names,
        list(encoder._coders),
        encoder.metric_.weights,
        encoder._shared,
    )


def preparation_from_json(state: Mapping[str, Any]) -> Preparation:
    """The preparation that was saved."""
    if state["kind"] == "numeric":
        return NumericPreparation.from_json(state)
    if state["kind"] == "encoded":
        return EncodedPreparation.from_json(state)
    raise InvalidValueError(f"the kind of preparation is {state['kind']!r}")


def shown_values(column: TypedColumn) -> np.ndarray:
    """Numbers, dates as years (NaN where missing), or categories (empty where missing) of a column."""
    if column.numbers is not None:
        return column.numbers if column.kind == "numeric" else 1970.0 + column.numbers / YEAR
    assert column.words is not None
    return np.array([word or "" for word in column.words.tolist()], dtype=object)


def given_values(data: CleanTable) -> dict[str, np.ndarray]:
    """Values of the columns that are used; NaN or empty where they are missing."""
    missing = data.is_missing
    first = list(range(len(data.names)))
    if data.encoder is not None:
        positions = dict(zip(data.encoder.weights_, data.encoder.metric_.first, strict=True))
        first = [positions[name] for name in data.names]
    numbers = {
        name: np.where(missing[:, i], np.nan, data.values[:, j])
        for j, (name, i) in enumerate(zip(data.names, first, strict=True))
    }
    return numbers | {name: words.astype(object) for name, words in data.categories.items()}


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
