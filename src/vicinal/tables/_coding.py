"""Coordinates of one column: rows differ by about 1 in squared distance, whatever its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from vicinal.tables._kinds import TypedColumn
from vicinal.tables._log_scale import is_log_scaled

# Quartile distance of a normal distribution, in standard deviations.
NORMAL_IQR = 1.349
# Values beyond these quantiles do not change the scale of a column.
TAILS = (0.01, 0.99)
# The quartiles set the scale unless the values without the tails spread this many times as far.
MAX_SPREAD = 2.0
# Categories beyond the most frequent ones share one coordinate.
MAX_CATEGORIES = 64
DAY, YEAR = 86400.0, 365.2425 * 86400.0
# Length of a cycle, and the steps of it in which dates have to differ.
CYCLES = {"time of day": (DAY, 24), "weekday": (7 * DAY, 7), "month": (YEAR, 12)}
# A cycle is compared in columns that span this many periods or more.
MIN_PERIODS = 2.0
OTHER = "(other)"


class Coder(Protocol):
    """Coordinates of a column; NaN where a value is missing."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the coordinates; empty for a single one."""
        ...

    @property
    def is_nominal(self) -> bool:
        """Whether exactly one coordinate of a row is not 0, that of its category."""
        ...

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, n_coordinates) of a column of the same kind."""
        ...


class NumberCoder(NamedTuple):
    """A number or its logarithm, relative to a centre and in a unit.

    ``floor`` is the smallest number that has a logarithm of its own; smaller ones have the same. It is 0 if
    numbers are compared as they are.
    """

    center: float
    unit: float
    floor: float = 0.0
    names: tuple[str, ...] = ()
    is_nominal: bool = False

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1)."""
        numbers = column.numbers
        assert numbers is not None
        if self.floor > 0:
            numbers = np.log(np.maximum(numbers, self.floor))
        # Halved, because the difference of two values may overflow.
        with np.errstate(over="ignore"):
            return ((numbers / 2 - self.center / 2) / (self.unit / 2))[:, None]


class RankCoder(NamedTuple):
    """An ordered category by the middle of its ranks, from 0 to `length`."""

    ranks: dict[str, float]
    length: float
    names: tuple[str, ...] = ()
    is_nominal: bool = False

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1); categories that are not known are missing."""
        assert column.words is not None
        ranks = [self.ranks.get(word, np.nan) for word in column.words.tolist()]
        return self.length * np.array(ranks, dtype=np.float64)[:, None]


class CategoryCoder(NamedTuple):
    """One coordinate per category, 0 or `size`."""

    categories: list[str]
    pooled: frozenset[str]
    size: float
    is_nominal: bool = True

    @property
    def names(self) -> list[str]:
        """Names of the categories."""
        return self.categories

    def codes(self, column: TypedColumn) -> np.ndarray:
        """Number of the category of each row; -1 where it is missing or not known."""
        assert column.words is not None
        table = {word: i for i, word in enumerate(self.categories)}
        table |= dict.fromkeys(self.pooled, len(self.categories) - 1)
        return np.array([table.get(word, -1) for word in column.words.tolist()], dtype=np.int64)

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, n_categories)."""
        codes = self.codes(column)
        coordinates = np.zeros((len(codes), len(self.categories)))
        known = np.flatnonzero(codes >= 0)
        coordinates[known, codes[known]] = self.size
        coordinates[codes < 0] = np.nan
        return coordinates


class DateCoder(NamedTuple):
    """A date as a number, and as points on circles for the cycles in which it varies."""

    line: NumberCoder
    periods: dict[str, float]
    is_nominal: bool = False

    @property
    def names(self) -> list[str]:
        """The date itself, then sine and cosine of each cycle."""
        return ["date", *(f"{name} {part}" for name in self.periods for part in ("sin", "cos"))]

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1 + 2 * n_cycles); all parts together weigh as much as one number."""
        assert column.numbers is not None
        parts = [self.line.encode(column)]
        for name in self.periods:
            angle = 2 * np.pi * self.phase(column, name)
            parts.append(np.column_stack([np.sin(angle), np.cos(angle)]) / np.sqrt(2.0))
        return np.hstack(parts) / np.sqrt(1.0 + len(self.periods))

    def phase(self, column: TypedColumn, name: str) -> np.ndarray:
        """Position of each date in a cycle, from 0 to 1; NaN where it is missing."""
        assert column.numbers is not None
        # 1970 began on a Thursday.
        shifted = column.numbers + 3 * DAY if name == "weekday" else column.numbers
        return np.mod(shifted, self.periods[name]) / self.periods[name]

    def steps(self, column: TypedColumn, name: str) -> np.ndarray:
        """Hour, weekday or month of each date as a code; -1 where it is missing."""
        steps = np.floor(self.phase(column, name) * CYCLES[name][1])
        return np.where(np.isnan(steps), -1, steps).astype(np.int64)


def fit_coder(column: TypedColumn, scaling: str, metric: str) -> Coder:
    """Coder for the values of a column.

    With the metric "euclidean" numbers are measured in units in which the squared distance of two rows is 1
    on average, and two categories have the squared distance 1; with robust scaling, numbers whose logarithms
    are closer to normal are replaced by these. With "gower" the range of a column is 1, in absolute
    difference.
    """
    gower = metric == "gower"
    if column.kind in ("categorical", "boolean"):
        assert column.words is not None
        return _category_coder(column.words, 0.5 if gower else np.sqrt(0.5))
    if column.kind == "ordinal":
        # Squared differences of evenly spread ranks are 1/6 of the squared range.
        return _rank_coder(column, 1.0 if gower else np.sqrt(6.0))
    assert column.numbers is not None
    robust = scaling == "robust" and not gower
    if column.kind == "numeric" and robust and is_log_scaled(column.numbers):
        line = fit_number(np.log(column.numbers), scaling)
        return line._replace(floor=float(np.nanmin(column.numbers)))
    line = fit_number(column.numbers, "range" if gower else scaling)
    if column.kind == "numeric":
        return line
    return DateCoder(line, {} if gower else date_cycles(column.numbers))


def fit_number(numbers: np.ndarray, scaling: str) -> NumberCoder:
    """Centre and unit of numbers; missing ones do not count."""
    known = numbers[~np.isnan(numbers)]
    size = np.abs(known).max(initial=0.0) or 1.0
    known = known / size
    low, center, high = np.quantile(known, [0.25, 0.5, 0.75])
    spread = float(known.std())
    if scaling == "none":
        return NumberCoder(0.0, 1.0)
    if scaling == "range":
        unit = float(np.ptp(known))
    elif scaling == "standard":
        center, unit = known.mean(), np.sqrt(2.0) * spread
    else:
        trimmed = np.clip(known, *np.quantile(known, TAILS)).std()
        unit = np.sqrt(2.0) * max((high - low) / NORMAL_IQR, trimmed / MAX_SPREAD)
        # More than 98 % of the values are equal.
        unit = unit if unit > 0 else np.sqrt(2.0) * spread
    with np.errstate(over="ignore"):
        unit = min(float(unit * size), np.finfo(np.float64).max)
    return NumberCoder(float(center * size), unit or 1.0)


def _category_coder(words: np.ndarray, size: float) -> CategoryCoder:
    counts = Counter(word for word in words.tolist() if word is not None)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    if len(ordered) <= MAX_CATEGORIES:
        return CategoryCoder(sorted(ordered), frozenset(), size)
    kept = sorted(ordered[: MAX_CATEGORIES - 1])
    return CategoryCoder([*kept, OTHER], frozenset(ordered[MAX_CATEGORIES - 1 :]), size)


def _rank_coder(column: TypedColumn, length: float) -> RankCoder:
    assert column.words is not None
    assert column.levels is not None
    counts = Counter(word for word in column.words.tolist() if word is not None)
    numbers = np.array([counts.get(level, 0) for level in column.levels], dtype=np.float64)
    below = np.cumsum(numbers) - numbers
    middles = (below + numbers / 2) / max(numbers.sum(), 1.0)
    return RankCoder(dict(zip(column.levels, middles.tolist(), strict=True)), length)


def date_cycles(seconds: np.ndarray) -> dict[str, float]:
    """Cycles that dates resolve, span and vary in, by name with their length in seconds."""
    known = seconds[~np.isnan(seconds)]
    cycles: dict[str, float] = {}
    if len(known) < 2:
        return cycles
    span = float(np.ptp(known))
    for name, (period, n_steps) in CYCLES.items():
        phases = np.unique(np.floor(np.mod(known, period) / period * n_steps))
        if span >= MIN_PERIODS * period and len(phases) > 1:
            cycles[name] = period
    return cycles
