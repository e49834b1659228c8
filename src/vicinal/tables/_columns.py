"""Which columns of a table are used, as what, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vicinal.tables._coding import Coder, NumberCoder
from vicinal.tables._kinds import TypedColumn, decimal_mark, guess_kind, only_levels, read_as
from vicinal.tables._reading import RawColumn


class ColumnSummary(NamedTuple):
    """How a column was read.

    Attributes
    ----------
    name, kind, reason : str
        Name, kind, and why it is of this kind, or why it is not used.
    used : bool
        Whether distances compare it.
    weight : float
        Its weight; 0 if it is not used.
    missing : int
        Number of missing values.
    remarks : tuple of str
        What was assumed, and which cells that are not empty count as missing.
    """

    name: str
    kind: str
    reason: str
    used: bool
    weight: float
    missing: int
    remarks: tuple[str, ...] = ()


def typed_columns(columns: Sequence[RawColumn], kinds: Mapping[str, Any]) -> list[TypedColumn]:
    """The columns read as the given kinds; the others are guessed."""
    mark = decimal_mark(columns)
    return [_typed_column(column._replace(mark=mark), kinds.get(column.name)) for column in columns]


def _typed_column(column: RawColumn, kind: Any) -> TypedColumn:
    if kind is None:
        return guess_kind(column, column.mark)
    if isinstance(kind, str):
        return read_as(column, kind)
    return only_levels(read_as(column, "ordinal", levels=kind))


def ignore_constant(column: TypedColumn) -> TypedColumn:
    """The column, ignored if all its values are equal or missing."""
    if column.kind == "ignore":
        return column
    values = column.numbers if column.words is None else column.words
    assert values is not None
    known = values[~column.missing]
    if len(set(known.tolist())) > 1:
        return column
    return column._replace(kind="ignore", reason="constant" if len(known) else "empty")


def summarize(
    column: TypedColumn, weight: float | None = None, coder: Coder | None = None
) -> ColumnSummary:
    """Say how a column was read; without weight and coder it was never compared."""
    is_log = isinstance(coder, NumberCoder) and coder.floor > 0
    reason = column.reason + "; compared by their logarithms" * is_log
    reason += "; independent of every other column" * (weight == 0)
    missing = int(column.missing.sum())
    return ColumnSummary(
        column.name, column.kind, reason, bool(weight), weight or 0.0, missing, column.remarks
    )


def no_usable_column(columns: Sequence[TypedColumn]) -> str:
    """Message for a table in which no column can be compared."""
    shown = ", ".join(f"{column.name!r} ({column.reason})" for column in columns[:8])
    more = ", ..." if len(columns) > 8 else ""
    return (
        f"X has no column that rows can be compared by: {shown}{more}; add columns in which rows differ, "
        "or give kinds."
    )
