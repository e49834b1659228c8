"""Columns of a table: statistics of numbers, and tables of any columns as points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from vicinal.report._column_scaling import is_extreme, max_abs
from vicinal.tables import TableEncoder
from vicinal.tables._coding import YEAR
from vicinal.tables._completion import complete_numbers
from vicinal.tables._kinds import as_words
from vicinal.tables._notes import column_notes
from vicinal.tables._reading import read_columns

STATISTICS = ("mean", "std", "min", "median", "max")
UNITS = {
    "robust": "columns made comparable: numbers in units of their quartile distance, categories by mismatch",
    "standard": "columns made comparable: numbers in standard deviations, categories by mismatch",
    "none": "numbers not rescaled, as requested; categories by mismatch",
}


class EncodedColumns(NamedTuple):
    """Points of a table of any columns, and what its report shows of them.

    ``values`` are the numbers and dates (as years) that are used, complete, with their ``names``;
    ``categories`` the other columns that are used; ``others`` all columns that are not numbers;
    ``coordinates`` those of the columns, if points are made of them.
    """

    points: np.ndarray
    values: np.ndarray
    names: list[str]
    categories: dict[str, np.ndarray]
    others: dict[str, np.ndarray]
    columns: list[dict[str, Any]]
    notes: list[str]
    encoder: TableEncoder
    coordinates: np.ndarray | None
    why_scaling: str


def encode_columns(
    X: Any,
    scaling: str,
    kinds: Mapping[str, Any] | None,
    weights: Mapping[str, float] | None,
    n_jobs: int | None,
) -> EncodedColumns:
    """Encode a table, and read its columns for the report."""
    unit = "robust" if scaling == "auto" else scaling
    encoder = TableEncoder(kinds, weights=weights, scaling=unit, n_jobs=n_jobs).fit(X)
    points, coordinates = encoder._points_and_coordinates(X)
    typed = encoder._typed(X)
    numbers = {
        column.name: column.numbers if column.kind == "numeric" else 1970.0 + column.numbers / YEAR
        for column in typed
        if column.numbers is not None
    }
    categories = {
        column.name: np.array(["" if word is None else word for word in column.words.tolist()])
        for column in typed
        if column.words is not None
    }
    values = np.empty((len(points), 0))
    if numbers:
        values = complete_numbers(np.column_stack(list(numbers.values())), n_jobs)
    unused = {column.name for column in encoder.columns_ if not column.used}
    texts = {
        column.name: np.array([word or "" for word in as_words(column.values)])
        for column in read_columns(X)
        if column.name in unused and column.values.dtype.kind == "O"
    }
    others = {name: column for name, column in texts.items() if len(np.unique(column)) > 1}
    names = list(numbers)
    return EncodedColumns(
        points=points,
        values=values,
        names=names,
        categories=categories,
        others=categories | others,
        columns=_summaries(encoder, column_statistics(values, names, np.zeros(len(names)))),
        notes=column_notes(encoder.columns_, len(points)),
        encoder=encoder,
        coordinates=coordinates,
        why_scaling=UNITS[unit],
    )


def _summaries(encoder: TableEncoder, statistics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_name = {record["column"]: record for record in statistics}
    return [
        {
            "column": column.name,
            **{name: by_name.get(column.name, {}).get(name) for name in STATISTICS},
            "missing": column.missing,
            "used": column.used,
            "kind": column.kind,
            "weight": column.weight,
            "reason": column.reason,
        }
        for column in encoder.columns_
    ]


def column_statistics(
    values: np.ndarray, names: list[str], missing: np.ndarray
) -> list[dict[str, Any]]:
    """Statistics of columns of numbers, and whether they vary."""
    units = np.ones(len(names))
    if is_extreme(values):
        units = max_abs(values, axis=0)
        values = values / units
    low, median, high = np.quantile(values, [0.0, 0.5, 1.0], axis=0) * units
    mean, std = values.mean(axis=0) * units, values.std(axis=0) * units
    return [
        {
            "column": name,
            "mean": float(mean[j]),
            "std": float(std[j]),
            "min": float(low[j]),
            "median": float(median[j]),
            "max": float(high[j]),
            "missing": int(missing[j]),
            "used": bool(high[j] > low[j]),
            "kind": "numeric",
            "weight": 1.0 if high[j] > low[j] else 0.0,
            "reason": "" if high[j] > low[j] else "constant, dropped",
        }
        for j, name in enumerate(names)
    ]
