"""How the columns of a table enter its latent classes: as categories, or as numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.tables._association import MIN_COUNT

# Rare categories, and those beyond the most frequent ones, are one. Columns with more different numbers are
# normal within a class.
MAX_CATEGORIES = 12
# Numbers beyond these quantiles count as the quantiles.
TAILS = (0.01, 0.99)
# Variance of values that are rounded to multiples of 1.
ROUNDING_VARIANCE = 1.0 / 12.0


class CategoryInput(NamedTuple):
    """Categories by their coordinates, of which one is not 0; ``groups`` (n_categories,) pools rare ones."""

    groups: np.ndarray

    def encode(self, coordinates: np.ndarray) -> np.ndarray:
        """Indicators (n, c); all 0 where a value is missing."""
        indicators = np.eye(self.groups.max() + 1)[self.groups[np.argmax(coordinates, axis=1)]]
        indicators[np.isnan(coordinates[:, 0])] = 0.0
        return indicators


class LevelInput(NamedTuple):
    """Few different numbers, as categories; others count as the nearest of the ``levels``."""

    levels: np.ndarray

    def encode(self, coordinates: np.ndarray) -> np.ndarray:
        """Indicators (n, c); all 0 where a value is missing."""
        middles = self.levels[:-1] + np.diff(self.levels) / 2
        known = ~np.isnan(coordinates[:, 0])
        nearest = np.searchsorted(middles, np.where(known, coordinates[:, 0], 0.0))
        return np.eye(len(self.levels))[nearest] * known[:, None]


class NumberInput(NamedTuple):
    """Numbers: limits, centre, unit and smallest variance of each coordinate, all (d,)."""

    low: np.ndarray
    high: np.ndarray
    center: np.ndarray
    unit: np.ndarray
    min_variance: np.ndarray

    def encode(self, coordinates: np.ndarray) -> np.ndarray:
        """Standardised numbers (n, d); NaN where a value is missing."""
        return (np.clip(coordinates, self.low, self.high) - self.center) / self.unit


ClassInput = CategoryInput | LevelInput | NumberInput


def class_input(coordinates: np.ndarray, is_nominal: bool) -> ClassInput:
    """How a column enters, from its coordinates; NaN where they are missing."""
    known = coordinates[~np.isnan(coordinates[:, 0])]
    if is_nominal:
        return CategoryInput(_pooled(np.count_nonzero(known, axis=0)))
    levels = np.unique(known[:, 0])
    if coordinates.shape[1] == 1 and len(levels) <= MAX_CATEGORIES:
        return LevelInput(levels)
    low, high = np.quantile(known, TAILS, axis=0)
    clipped = np.clip(known, low, high)
    center, spread = clipped.mean(axis=0), clipped.std(axis=0)
    # A coordinate that hardly varies says nothing, whatever its unit.
    unit = np.where(spread > 0, spread, 1.0)
    steps = [
        np.median(np.diff(np.unique(column))) if np.ptp(column) else 0.0 for column in clipped.T
    ]
    return NumberInput(low, high, center, unit, ROUNDING_VARIANCE * (np.array(steps) / unit) ** 2)


def _pooled(counts: np.ndarray) -> np.ndarray:
    """Number of the indicator of each category: its own if it is frequent, or that of all others."""
    order = np.argsort(-counts, kind="stable")
    frequent = order[: MAX_CATEGORIES - 1]
    frequent = frequent[counts[frequent] >= MIN_COUNT]
    groups = np.full(len(counts), len(frequent))
    groups[frequent] = np.arange(len(frequent))
    return groups
