"""Cells, names and rows of tables: what reading, plotting, scoring and printing them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np


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
        raise ValueError(
            f"{name} holds labels of different types, as {first!r} and {second!r}; make them all numbers "
            f"or all words, such as [str(label) for label in {name}]."
        )
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
