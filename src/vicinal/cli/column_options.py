"""Options for columns: their kinds and weights, and tables of any columns as points."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vicinal._core.suggestions import suggestion
from vicinal.cli.columns import is_square
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


def scaling_of(arguments: argparse.Namespace) -> str:
    """How numbers are scaled; with another metric than the Euclidean one they count as they are."""
    if arguments.standardize and arguments.as_is:
        raise InvalidValueError(
            "--standardize and --as-is contradict each other; remove one of them."
        )
    if arguments.standardize:
        return "standard"
    other = (getattr(arguments, "metric", None) or "euclidean") != "euclidean"
    return "none" if arguments.as_is or other else "auto"


def encoded_points(table: RawTable, arguments: argparse.Namespace) -> RawTable:
    """The table with points, as `vicinal.TableEncoder` makes them.

    A sparse table stays as it is, and so does a square one whose metric is not decided yet.
    """
    import numpy as np

    from vicinal.tables import TableEncoder
    from vicinal.tables._columns import column_notes
    from vicinal.tables._reading import read_columns

    names = table_column_names(table)
    kinds, weights = column_options(arguments, names)
    source = "standard input" if arguments.data == STDIN else arguments.data
    may_be_pairs = getattr(arguments, "metric", "") is None and is_square(table.points)
    if (hasattr(table.points, "toarray") or may_be_pairs) and not kinds and not weights:
        return table
    encoder = TableEncoder(kinds, weights=weights, scaling=scaling_of(arguments))
    try:
        points = encoder.fit_transform(_columns_of(table, names))
    except InvalidValueError as error:
        raise InvalidValueError(f"{source}: {error}") from error

    def place(new: RawTable) -> np.ndarray:
        if new.columns is None or (table.columns is None and table.names is None):
            if new.points is None or new.points.shape[1] != len(names):
                raise InvalidValueError(f"the new rows need {len(names)} columns of numbers.")
            return encoder.transform(dict(zip(names, np.asarray(new.points).T, strict=True)))
        # As a mapping, so that columns which are not used may be absent.
        return encoder.transform(
            {column.name: column.values for column in read_columns(new.columns)}
        )

    notes = [
        *table.notes,
        *column_notes(encoder.columns_, encoder.missing_together_, len(points)),
        f"the columns used are encoded as {points.shape[1]} coordinates",
    ]
    return table._replace(points=points, notes=notes, place=place)


def _columns_of(table: RawTable, names: Sequence[str]) -> Any:
    """All columns of a table; those of an array by their numbers."""
    if table.columns is not None:
        return table.columns
    points = table.points.toarray() if hasattr(table.points, "toarray") else table.points
    return dict(zip(names, points.T, strict=True))
