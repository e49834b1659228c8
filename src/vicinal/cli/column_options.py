"""Options for columns: their kinds and weights, and tables of any columns as points."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vicinal._core.suggestions import suggestion
from vicinal.cli.stdin import STDIN
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    import numpy as np

    from vicinal._core.tables import RawTable

KIND_OPTIONS = ("numeric", "categorical", "ordinal", "date", "ignore")


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Add kinds and weights of columns; `column_options` reads them."""
    group = parser.add_argument_group(
        "columns", "Kinds and weights are automatic for columns that are not named here."
    )
    helps = {
        "numeric": "columns of numbers",
        "categorical": "columns of categories, such as codes that are numbers",
        "ordinal": "columns of ordered categories; SIZE=S<M<L gives the order",
        "date": "columns of dates",
        "ignore": "columns that are not used",
    }
    for kind in KIND_OPTIONS:
        group.add_argument(
            f"--{kind}", action="append", metavar="COLUMN,...", default=[], help=helps[kind]
        )
    group.add_argument(
        "--weight",
        action="append",
        metavar="COLUMN=W",
        default=[],
        help="weight of a column in distances; may be repeated",
    )


def given_column_options(arguments: argparse.Namespace) -> list[str]:
    """The options of `add_column_options` as they were given."""
    return [
        word
        for option in (*KIND_OPTIONS, "weight")
        for value in getattr(arguments, option)
        for word in (f"--{option}", value)
    ]


def column_options(
    arguments: argparse.Namespace, names: Sequence[str]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Kinds and weights of the columns of a table, by name."""
    kinds: dict[str, Any] = {}
    for option in KIND_OPTIONS:
        for text in getattr(arguments, option):
            for name, kind in _kinds_of(option, text, names).items():
                if kinds.setdefault(name, kind) != kind:
                    raise InvalidValueError(
                        f"--{option} {name}: another option gives this column another kind; remove one."
                    )
    weights = dict(_weight(text, names) for text in arguments.weight)
    return kinds, weights


def _kinds_of(option: str, text: str, names: Sequence[str]) -> dict[str, Any]:
    name, _, order = text.partition("=")
    if option == "ordinal" and "<" in order and text not in names:
        levels = [level.strip() for level in order.split("<")]
        if len(set(levels)) < len(levels) or not all(levels):
            raise InvalidValueError(
                f"--ordinal {text!r}: the categories must differ, as in SIZE=S<M<L."
            )
        return {_checked(name, names, option): levels}
    # A name may contain a comma itself.
    parts = [text] if text in names else [part.strip() for part in text.split(",")]
    return {_checked(part, names, option): option for part in parts}


def _weight(text: str, names: Sequence[str]) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not equals or not 0.0 <= weight < float("inf"):
        raise InvalidValueError(f"--weight {text!r}: write COLUMN=2, with a number >= 0.")
    return _checked(name, names, "weight"), weight


def _checked(name: str, names: Sequence[str], option: str) -> str:
    if name in names:
        return name
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    raise InvalidValueError(
        f"--{option} {name}: no such column{suggestion(name, names)}; there are {listed}."
    )


def table_column_names(table: RawTable) -> list[str]:
    """Names of the columns of a table, numbered if they have none."""
    if table.columns is not None:
        return [str(name) for name in table.columns.columns]
    if table.names is not None:
        return list(table.names)
    return [f"column {j + 1}" for j in range(table.points.shape[1])]


def complete_points(table: RawTable, arguments: argparse.Namespace) -> RawTable:
    """The table with points that are complete; encoded if columns are not numeric or have options."""
    import numpy as np

    from vicinal.tables import TableEncoder
    from vicinal.tables._completion import complete_numbers, fill_numbers
    from vicinal.tables._notes import column_notes
    from vicinal.tables._reading import read_columns

    names = table_column_names(table)
    kinds, weights = column_options(arguments, names)
    notes = list(table.notes)
    jobs = getattr(arguments, "jobs", -1)
    source = "standard input" if arguments.data == STDIN else arguments.data
    if table.points is not None and not kinds and not weights:
        if hasattr(table.points, "toarray"):
            return table
        points, used = table.points, np.ones(table.points.shape[1], dtype=bool)
        if points.dtype.kind == "f":
            filled = fill_numbers(points, table.names or names, jobs)
            notes += filled.notes
            used = filled.missing < len(points)
            if not used.any():
                raise InvalidValueError(f"{source}: all values are missing; add values.")
            points = filled.values if used.all() else np.ascontiguousarray(filled.values[:, used])

        def place_numbers(new: RawTable) -> np.ndarray:
            rows = _same_numbers(new, names, table.names is not None)[:, used]
            rows = np.where(np.isfinite(rows), rows, np.nan)
            return complete_numbers(rows, jobs, training=points) if np.isnan(rows).any() else rows

        return table._replace(points=points, notes=notes, place=place_numbers)
    columns = table.columns
    if columns is None:
        columns = dict(zip(names, np.asarray(table.points).T, strict=True))
    scaling = "standard" if arguments.standardize else "robust"
    encoder = TableEncoder(kinds, weights=weights, scaling=scaling, n_jobs=jobs)
    try:
        points = encoder.fit_transform(columns)
    except InvalidValueError as error:
        raise InvalidValueError(f"{source}: {error}") from error

    def place_columns(new: RawTable) -> np.ndarray:
        if new.columns is None:
            return encoder.transform(
                dict(zip(names, _same_numbers(new, names, False).T, strict=True))
            )
        # As a mapping, so that columns which are not used may be absent.
        return encoder.transform(
            {column.name: column.values for column in read_columns(new.columns)}
        )

    return table._replace(
        points=points,
        notes=[
            *notes,
            *column_notes(encoder.columns_, len(points)),
            f"the columns used are encoded as {points.shape[1]} coordinates",
        ],
        place=place_columns,
    )


def _same_numbers(new: RawTable, names: Sequence[str], by_name: bool) -> np.ndarray:
    """Numbers of new rows, in the order of the columns of another table."""
    import numpy as np

    if not by_name or new.columns is None:
        if new.points is None or new.points.shape[1] != len(names):
            raise InvalidValueError(f"the new rows need {len(names)} columns of numbers.")
        return np.asarray(new.points, dtype=np.float64)
    from vicinal.tables._kinds import read_as
    from vicinal.tables._reading import read_columns

    by_column = {column.name: column for column in read_columns(new.columns)}
    for name in names:
        if name not in by_column:
            hint = suggestion(name, by_column)
            raise InvalidValueError(f"the new rows have no column {name!r}{hint}; add it.")
    numbers = [read_as(by_column[name], "numeric").numbers for name in names]
    return np.column_stack([np.asarray(column) for column in numbers])
