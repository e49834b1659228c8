"""What was decided about the columns of a table, as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vicinal.tables._columns import ColumnSummary

# Longer lists of columns are shortened.
MAX_LISTED = 12


def column_notes(columns: Sequence[ColumnSummary], n_rows: int) -> list[str]:
    """Which columns are used as what, which are not and why, and how missing values were completed."""
    used = [column for column in columns if column.used]
    by_kind: dict[str, list[str]] = {}
    for column in used:
        by_kind.setdefault(column.kind, []).append(column.name)
    kinds = "; ".join(f"{kind}: {_listed(names)}" for kind, names in by_kind.items())
    notes = [f"{len(used):,} of {len(columns):,} columns used ({kinds})"]
    unused = [f"{column.name!r} not used: {column.reason}" for column in columns if not column.used]
    notes += unused[:MAX_LISTED]
    if len(unused) > MAX_LISTED:
        notes.append(f"{len(unused) - MAX_LISTED:,} other columns not used")
    notes += [f"{column.name!r}: {remark}" for column in columns for remark in column.remarks]
    counts = np.array([column.missing for column in used], dtype=np.int64)
    return notes + missing_notes(counts, n_rows, [column.name for column in used])


def missing_notes(counts: np.ndarray, n_rows: int, names: Sequence[str]) -> list[str]:
    """How many values were missing per column, if any, and what happened to them."""
    total, n_values = int(counts.sum()), n_rows * len(counts)
    if not total:
        return []
    worst = int(np.argmax(counts))
    return [
        f"{total:,} of {n_values:,} values are missing ({total / n_values:.2%}), most in "
        f"{names[worst]!r} ({counts[worst]:,}); each was completed from the nearest rows"
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
