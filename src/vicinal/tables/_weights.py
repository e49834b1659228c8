"""Weights of columns: given by the user, or estimated from how informative a column is about groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vicinal.tables._association import association_strengths, pool_rare, quantile_codes
from vicinal.tables._coding import CategoryCoder, Coder
from vicinal.tables._kinds import TypedColumn
from vicinal.tables._modality import modality_strength


def column_weights(
    columns: Sequence[TypedColumn], coders: Sequence[Coder], given: Mapping[str, float]
) -> np.ndarray:
    """Weight of each column: a given one, or the strength of its structure relative to the largest.

    Structure is dependence on other columns, or groups within a column of numbers. Columns that have neither
    get the weight 0; if none has any, each gets 1.
    """
    dependence = association_strengths(
        [_codes(column, coder) for column, coder in zip(columns, coders, strict=True)]
    )
    own = [
        0.0 if column.numbers is None else modality_strength(column.numbers) for column in columns
    ]
    strengths = np.maximum(dependence, own)
    largest = strengths.max(initial=0.0)
    # A strength is like a correlation with the groups, its square the fraction of variance that they explain.
    weights = (strengths / largest) ** 2 if largest > 0 else np.ones(len(columns))
    return np.array([given.get(c.name, w) for c, w in zip(columns, weights, strict=True)])


def _codes(column: TypedColumn, coder: Coder) -> np.ndarray:
    if isinstance(coder, CategoryCoder):
        return pool_rare(coder.codes(column))
    if column.numbers is not None:
        return quantile_codes(column.numbers)
    return quantile_codes(coder.encode(column)[:, 0])
