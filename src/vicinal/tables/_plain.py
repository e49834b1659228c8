"""Tables whose usable columns are all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vicinal.tables._kinds import as_words, decimal_mark, guess_kind
from vicinal.tables._reading import RawColumn


class PlainTable(NamedTuple):
    """Numbers, the names of their columns, other columns as text, and notes on what was decided."""

    values: np.ndarray
    names: list[str]
    others: dict[str, np.ndarray]
    notes: list[str]


def as_plain_table(columns: Sequence[RawColumn]) -> PlainTable | None:
    """The numbers of a table, if there is no other column by which rows can be compared.

    Text may be numbers too; names of rows, free text, constant and empty columns are set aside.
    """
    values, names, notes = [], [], []
    others: dict[str, np.ndarray] = {}
    texts = [column for column in columns if column.values.dtype.kind != "f"]
    mark = decimal_mark(texts) if texts else None
    for column in columns:
        if column.values.dtype.kind == "f":
            values.append(column.values)
            names.append(column.name)
            continue
        typed = guess_kind(column, mark)
        if typed.kind == "numeric":
            assert typed.numbers is not None
            values.append(typed.numbers)
            names.append(column.name)
            notes.append(f"{column.name!r} read as {typed.reason}")
            notes += [f"{column.name!r}: {remark}" for remark in typed.remarks]
        elif typed.kind == "ignore":
            notes.append(f"{column.name!r} not used: {typed.reason}")
            others[column.name] = np.array([word or "" for word in as_words(column.values)])
        else:
            return None
    return PlainTable(np.column_stack(values), names, others, notes) if values else None
