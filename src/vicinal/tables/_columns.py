"""Which columns of a table are used, as what, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.suggestions import suggestion
from vicinal.exceptions import InvalidValueError
from vicinal.tables._constants import MIN_COUNT
from vicinal.tables._kinds import TypedColumn, decimal_mark, guess_kind, only_levels, read_as
from vicinal.tables._reading import RawColumn

# Longer lists of columns are shortened.
MAX_LISTED = 12


class ColumnSummary(NamedTuple):
    """What was done with a column; `str` is one readable line.

    Attributes
    ----------
    name, kind, reason : str
        Name, kind, and why it is of this kind and how it is compared, or why it is not used.
    used : bool
        Whether distances compare it.
    weight : float
        Share of its variance that counts, from 0 to 1, or the weight that was given.
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

    def __str__(self) -> str:
        gaps = f", {self.missing:,} missing" if self.missing else ""
        if not self.used:
            return f"{self.name}: not used, {self.reason}{gaps}"
        return f"{self.name}: {self.kind}, weight {self.weight:.2f}, {self.reason}{gaps}"


def typed_columns(
    columns: Sequence[RawColumn], kinds: Mapping[str, Any], as_they_are: bool
) -> list[TypedColumn]:
    """The columns read as the given kinds; the others are guessed, or numbers ``as_they_are`` if possible."""
    mark = decimal_mark(columns)
    return [
        _typed_column(column._replace(mark=mark), kinds.get(column.name), as_they_are)
        for column in columns
    ]


def _typed_column(column: RawColumn, kind: Any, as_they_are: bool) -> TypedColumn:
    if kind is None and as_they_are and column.values.dtype.kind == "f":
        return read_as(column, "numeric")._replace(reason="numbers as they are")
    if kind is None:
        return guess_kind(column, column.mark)
    if isinstance(kind, str):
        return read_as(column, kind)
    return only_levels(read_as(column, "ordinal", levels=kind))


def read_again(columns: Sequence[TypedColumn], raw: Mapping[str, RawColumn]) -> list[TypedColumn]:
    """Columns of a table by name, read as in `fit`; a column that is absent raises an error."""
    typed = []
    for column in columns:
        if column.name not in raw:
            close = suggestion(column.name, raw)
            raise InvalidValueError(f"X has no column {column.name!r}{close}; add it.")
        raw_column = raw[column.name]._replace(name=column.name)
        typed.append(read_as(raw_column, column.kind, column.form, column.levels))
    return typed


def ignore_constant(column: TypedColumn) -> TypedColumn:
    """The column, ignored if all its values are equal or missing."""
    if column.kind == "ignore":
        return column
    values = column.numbers if column.words is None else column.words
    assert values is not None
    known = values[~column.missing]
    if len(known) and (known != known[0]).any():
        return column
    return column._replace(kind="ignore", reason="constant" if len(known) else "empty")


def missing_together(columns: Sequence[TypedColumn]) -> list[tuple[str, ...]]:
    """Names of columns that are missing in exactly the same rows, in sets of two or more."""
    sets: dict[bytes, list[str]] = {}
    for column in columns:
        count = int(column.missing.sum())
        if MIN_COUNT <= count <= len(column.missing) - MIN_COUNT:
            sets.setdefault(np.packbits(column.missing).tobytes(), []).append(column.name)
    return [tuple(names) for names in sets.values() if len(names) > 1]


def gap_column(names: Sequence[str], by_name: Mapping[str, TypedColumn]) -> TypedColumn:
    """A yes or no: whether these columns are all missing; missing itself where only some of them are."""
    gaps = np.stack([by_name[name].missing for name in names])
    words = np.where(gaps.all(axis=0), "yes", "no").astype(object)
    words[gaps.any(axis=0) & ~gaps.all(axis=0)] = None
    first = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    count = int(gaps.all(axis=0).sum())
    reason = f"missing together in {count:,} rows, counted as one yes or no"
    return TypedColumn(f"missing: {first}", "boolean", reason, words=words)


def summarize(
    column: TypedColumn, weight: float | None = None, notes: Iterable[str] = ()
) -> ColumnSummary:
    """Say what was done with a column; without weight it was never compared."""
    parts = [column.reason, *notes]
    return ColumnSummary(
        column.name,
        column.kind,
        "; ".join(filter(None, parts)),
        bool(weight),
        weight or 0.0,
        int(column.missing.sum()),
        column.remarks,
    )


def column_notes(
    columns: Sequence[ColumnSummary], together: Sequence[ColumnSummary], n_rows: int
) -> list[str]:
    """Which columns count as what, which do not and why, and what happened to missing values."""
    used = [column for column in columns if column.used]
    by_kind: dict[str, list[str]] = {}
    for column in used:
        by_kind.setdefault(column.kind, []).append(column.name)
    kinds = "; ".join(f"{kind}: {listed(names)}" for kind, names in by_kind.items())
    notes = [f"{len(used):,} of {len(columns):,} columns used ({kinds})"]
    unused = [f"{column.name!r} not used: {column.reason}" for column in columns if not column.used]
    notes += unused[:MAX_LISTED]
    if len(unused) > MAX_LISTED:
        notes.append(f"{len(unused) - MAX_LISTED:,} other columns not used")
    notes += [f"{column.name!r}: {remark}" for column in columns for remark in column.remarks]
    notes += [f"{column.name.removeprefix('missing: ')}: {column.reason}" for column in together]
    total, n_values = sum(column.missing for column in used), n_rows * len(used)
    if total:
        worst = max(used, key=lambda column: column.missing)
        notes.append(
            f"{total:,} of {n_values:,} values are missing ({total / n_values:.2%}), most in "
            f"{worst.name!r} ({worst.missing:,}); each counts as what the other columns lead to expect"
        )
    return notes


def listed(names: Sequence[str]) -> str:
    """Names, shortened if there are many."""
    return ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")


def no_usable_column(columns: Sequence[TypedColumn]) -> str:
    """Message for a table in which no column can be compared."""
    shown = ", ".join(f"{column.name!r} ({column.reason})" for column in columns[:8])
    more = ", ..." if len(columns) > 8 else ""
    return (
        f"X has no column that rows can be compared by: {shown}{more}; add columns in which rows differ, "
        "or give kinds."
    )
