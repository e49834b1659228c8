"""Weights of columns: given by the user, or estimated from how informative a column is about groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vicinal.tables._association import (
    association_strengths,
    depends_on_any,
    pool_rare,
    quantile_codes,
)
from vicinal.tables._coding import CategoryCoder, Coder, DateCoder
from vicinal.tables._kinds import TypedColumn
from vicinal.tables._modality import modality_strength

# Weight of a column whose dependence on others is significant, but which does not differ between classes.
MIN_WEIGHT = 0.01


def has_structure(
    columns: Sequence[TypedColumn], coders: Sequence[Coder], modality: np.ndarray
) -> np.ndarray:
    """Columns that depend on another one, or form groups by themselves; all columns if none does."""
    dependence = association_strengths(
        [_codes(column, coder) for column, coder in zip(columns, coders, strict=True)]
    )
    structured = (dependence > 0) | (modality > 0)
    return structured if structured.any() else np.ones(len(columns), dtype=bool)


def without_unrelated_cycles(
    columns: Sequence[TypedColumn], coders: Sequence[Coder], given: Mapping[str, float]
) -> list[Coder]:
    """Date coders without the cycles that are independent of all other columns.

    Weekdays are seven positions on a circle: if nothing else depends on them, they would only split rows into
    seven groups. Columns with a given weight, and a date without any other column, keep their cycles.
    """
    if len(columns) < 2:
        return list(coders)
    related = []
    for j, (column, coder) in enumerate(zip(columns, coders, strict=True)):
        if isinstance(coder, DateCoder) and coder.periods and column.name not in given:
            others = [_codes(columns[i], coders[i]) for i in range(len(columns)) if i != j]
            periods = {
                name: period
                for name, period in coder.periods.items()
                if depends_on_any(pool_rare(coder.steps(column, name)), others)
            }
            coder = coder._replace(periods=periods)
        related.append(coder)
    return related


def modality_strengths(columns: Sequence[TypedColumn], coders: Sequence[Coder]) -> np.ndarray:
    """Strength of the groups that each column of numbers forms by itself."""
    return np.array(
        [
            0.0 if column.numbers is None else modality_strength(coder.encode(column)[:, 0])
            for column, coder in zip(columns, coders, strict=True)
        ]
    )


def column_weights(
    names: Sequence[str],
    correlations: np.ndarray,
    modality: np.ndarray,
    structured: np.ndarray,
    given: Mapping[str, float],
) -> np.ndarray:
    """Weight of each column: a given one, or its correlation with the latent classes of rows.

    Groups that a column forms by itself count like a correlation. Columns without structure get the weight 0;
    without classes, those with structure get 1.
    """
    strengths = np.maximum(correlations, modality) if correlations.any() else np.ones(len(names))
    weights = np.where(structured, np.maximum(strengths, MIN_WEIGHT), 0.0)
    return np.array([given.get(name, w) for name, w in zip(names, weights, strict=True)])


def _codes(column: TypedColumn, coder: Coder) -> np.ndarray:
    if isinstance(coder, CategoryCoder):
        return pool_rare(coder.codes(column))
    if column.numbers is not None:
        return quantile_codes(column.numbers)
    return quantile_codes(coder.encode(column)[:, 0])
