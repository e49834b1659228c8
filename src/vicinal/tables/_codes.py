"""A column as a block of standardised coordinates: mean 0, variance 1, NaN where a value is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.tables._constants import FEW, MAX_LEVELS, MIN_COUNT, SPIKE, TAIL, TAILS
from vicinal.tables._kinds import TypedColumn

# Quartile distance of a normal distribution, in standard deviations.
NORMAL_IQR = 1.349
# Products of larger numbers may overflow, of smaller ones underflow.
MAX_MAGNITUDE, MIN_MAGNITUDE = 1e100, 1e-100
DAY, YEAR = 86400.0, 365.2425 * 86400.0
# Length of a cycle, and the steps of it in which dates have to differ.
CYCLES = {"time of day": (DAY, 24), "weekday": (7 * DAY, 7), "month": (YEAR, 12)}


class NumberCode(NamedTuple):
    """A number or its logarithm: linear near the centre, logarithmic in the tails, in standard deviations.

    Attributes
    ----------
    center, unit : float
        Of the numbers, or of their logarithms.
    mean, spread : float
        Of what becomes of them.
    floor : float
        The smallest number that has a logarithm of its own; 0 if numbers count as they are.
    spike : float or None
        A frequent value without a logarithm. It is at the mean, and a second coordinate says where it is.
    spike_rate : float
        How frequent it is.
    straight : bool
        Whether tails are logarithmic.
    scale, own : tuple
        Of the coordinates: their unit in points, and whether they are part of points themselves.
    """

    center: float
    unit: float
    mean: float = 0.0
    spread: float = 1.0
    floor: float = 0.0
    spike: float | None = None
    spike_rate: float = 0.0
    straight: bool = True
    scale: tuple[float, ...] = (1.0,)
    own: tuple[bool, ...] = (True,)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, after that of the column."""
        return ("",) if self.spike is None else ("", f"is {self.spike:g}")

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1), or (n, 2) with a spike."""
        numbers = column.numbers
        assert numbers is not None
        z = (self.straighten(numbers) - self.mean) / self.spread
        if self.spike is None:
            return z[:, None]
        at = numbers == self.spike
        z = np.where(at, 0.0, z)
        rate = self.spike_rate
        is_spike = np.where(np.isnan(numbers), np.nan, (at - rate) / np.sqrt(rate * (1.0 - rate)))
        return np.column_stack([z, is_spike])

    def straighten(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in robust units, with logarithmic tails."""
        if self.floor > 0:
            numbers = np.log(np.maximum(numbers, self.floor))
        # Halved, because the difference of two values may overflow.
        with np.errstate(over="ignore"):
            units = (numbers / 2 - self.center / 2) / (self.unit / 2)
        return TAIL * np.arcsinh(units / TAIL) if self.straight else units

    def decode(self, z: np.ndarray) -> np.ndarray:
        """The numbers that first coordinates stand for."""
        units = z * self.spread + self.mean
        units = TAIL * np.sinh(np.clip(units / TAIL, -700, 700)) if self.straight else units
        with np.errstate(over="ignore"):
            numbers = units * self.unit + self.center
            return np.exp(np.minimum(numbers, 700.0)) if self.floor > 0 else numbers


class RankCode(NamedTuple):
    """An ordered category by the middle of its ranks."""

    levels: tuple[str, ...]
    places: tuple[float, ...]
    scale: tuple[float, ...]
    own: tuple[bool, ...] = (False,)
    names: tuple[str, ...] = ("",)

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1); categories that are not known are missing."""
        assert column.words is not None
        places = dict(zip(self.levels, self.places, strict=True))
        ranks = [places.get(word, np.nan) for word in column.words.tolist()]
        return np.array(ranks, dtype=np.float64)[:, None]


class CategoryCode(NamedTuple):
    """One coordinate per category, as in correspondence analysis; the last may stand for all rare ones.

    Attributes
    ----------
    levels, pooled : tuple of str
        Categories with a coordinate of their own, and rare ones, which share the last coordinate.
    rates, deviations : tuple of float
        How frequent each coordinate is, and its standard deviation with `MIN_COUNT` rows added.
    """

    levels: tuple[str, ...]
    pooled: tuple[str, ...]
    rates: tuple[float, ...]
    deviations: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return (*self.levels, "(other)") if self.pooled else self.levels

    @property
    def scale(self) -> tuple[float, ...]:
        """Unit in points: a yes or no in equal parts has the variance of one number."""
        return tuple(float(np.sqrt(2.0) * deviation) for deviation in self.deviations)

    @property
    def own(self) -> tuple[bool, ...]:
        """Categories themselves are no part of points."""
        return (False,) * len(self.rates)

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, n_categories); categories that are not known are missing."""
        assert column.words is not None
        table: dict[Any, int] = {word: i for i, word in enumerate(self.levels)}
        table |= dict.fromkeys(self.pooled, len(self.levels))
        codes = np.array([table.get(word, -1) for word in column.words.tolist()], dtype=np.int64)
        rates, deviations = np.array(self.rates), np.array(self.deviations)
        coordinates = ((np.eye(len(rates)) - rates) / deviations)[codes]
        coordinates[codes < 0] = np.nan
        return coordinates


class DateCode(NamedTuple):
    """A date as a number, and as points on circles for the cycles in which it varies."""

    line: NumberCode
    cycles: tuple[str, ...]
    centers: tuple[float, ...]
    spreads: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The date itself, then sine and cosine of each cycle."""
        return ("", *(f"{name} {part}" for name in self.cycles for part in ("sin", "cos")))

    @property
    def scale(self) -> tuple[float, ...]:
        """Every coordinate counts like a number."""
        return (1.0,) * (1 + 2 * len(self.cycles))

    @property
    def own(self) -> tuple[bool, ...]:
        """Cycles count only through what they share with other columns."""
        return (self.line.own[0], *(False,) * (2 * len(self.cycles)))

    def encode(self, column: TypedColumn) -> np.ndarray:
        """Coordinates (n, 1 + 2 * n_cycles)."""
        assert column.numbers is not None
        circles = _circles(column.numbers, self.cycles)
        circles = (circles - np.array(self.centers)) / np.array(self.spreads)
        return np.hstack([self.line.encode(column)[:, :1], circles])


Code = NumberCode | RankCode | CategoryCode | DateCode
CODES: dict[str, type[Any]] = {
    "number": NumberCode,
    "rank": RankCode,
    "category": CategoryCode,
    "date": DateCode,
}


def fit_code(column: TypedColumn, scaling: str = "auto") -> tuple[Code | None, str]:
    """Code for the values of a column, and a remark; no code if they hardly vary or are mostly rare."""
    if column.kind == "date":
        return _date_code(column)
    if column.numbers is not None:
        return _number_code(column.numbers, scaling)
    assert column.words is not None
    counts = Counter(word for word in column.words.tolist() if word is not None)
    if column.kind == "ordinal":
        return _rank_code(column, counts)
    return _category_code(counts)


def least_count(n_known: int) -> float:
    """Rows that a level needs."""
    return min(float(MIN_COUNT), n_known / 10)


def _number_code(numbers: np.ndarray, scaling: str) -> tuple[NumberCode | None, str]:
    known = numbers[~np.isnan(numbers)]
    values, counts = np.unique(known, return_counts=True)
    rate, mode = float(counts.max() / len(known)), float(values[counts.argmax()])
    if scaling != "auto":
        return _linear_code(known, scaling), ""
    if len(known) - counts.max() < least_count(len(known)):
        return None, "nearly constant"
    few = len(values) < min(FEW, len(known) / 2)
    spiky = rate > SPIKE and not few
    used = known[known != mode] if spiky else known
    code, note = _straight_code(used), ""
    if code.floor > 0 and spiky and mode >= code.floor:
        # The frequent value has a logarithm like the others.
        spiky = False
    note = "compared by logarithms" if code.floor > 0 else ""
    z = code.straighten(used if spiky and code.floor > 0 else known)
    code = code._replace(mean=float(z.mean()), spread=float(z.std()) or 1.0)
    if few:
        return code._replace(scale=(_mismatch(counts),), own=(False,)), f"{len(values)} values"
    if spiky and code.floor > 0:
        halves = _mismatch(np.array([rate, 1.0 - rate]))
        code = code._replace(
            spike=mode, spike_rate=rate, scale=(1.0, halves), own=(rate <= 0.5, False)
        )
        return code, f"{rate:.0%} are {mode:g}, the others compared by logarithms"
    note = f"{rate:.0%} are {mode:g}" if spiky else note
    return code._replace(scale=(_mismatch(counts),), own=(rate <= 0.5,)), note


def _straight_code(known: np.ndarray) -> NumberCode:
    """Centre and unit of numbers from their quartiles, or of their logarithms if these are less skewed."""
    floor = 0.0
    if known.min() > 0 and _gain_of_logarithms(known) > len(known) ** -0.5:
        floor, known = float(known.min()), np.log(known)
    size = float(np.abs(known).max()) or 1.0
    known = known / size
    low, q1, center, q3, high = np.quantile(known, [TAILS[0], 0.25, 0.5, 0.75, TAILS[1]])
    unit = max((q3 - q1) / NORMAL_IQR, float(np.clip(known, low, high).std()) / 2)
    unit = unit or float(known.std()) or 1.0
    with np.errstate(over="ignore"):
        unit = np.clip(np.float64(unit) * size, 1e-307, 1e307)
    return NumberCode(float(center * size), float(unit), floor=floor)


def _linear_code(known: np.ndarray, scaling: str) -> NumberCode:
    """Numbers in standard deviations; with "none" their unit in points is that of the numbers.

    If products of the numbers would overflow, it is that of the largest.
    """
    size = float(np.abs(known).max(initial=0.0)) or 1.0
    spread = float((known / size).std()) or 1.0
    extreme = not MIN_MAGNITUDE <= size <= MAX_MAGNITUDE
    own = spread if extreme else spread * size
    scale = (own if scaling == "none" else 1.0,)
    center = float((known / size).mean()) * size
    return NumberCode(center, spread * size, straight=False, scale=scale)


def _gain_of_logarithms(known: np.ndarray) -> float:
    """By how much less logarithms are skewed; the standard error is the root of 1 by the number of values."""
    return abs(_skewness(known)) - abs(_skewness(np.log(known)))


def _skewness(values: np.ndarray) -> float:
    """Of the quantiles: 0 if both tails are as long."""
    low, middle, high = np.quantile(values / 4, [0.05, 0.5, 0.95])
    return float((low + high - 2 * middle) / ((high - low) or 1.0))


def _mismatch(counts: np.ndarray) -> float:
    """Unit of a discrete column: twice the probability that two rows differ, at most 1; its root."""
    rates = counts / counts.sum()
    return float(np.sqrt(min(1.0, 2.0 * (1.0 - float((rates**2).sum())))))


def _rank_code(column: TypedColumn, counts: Counter[str]) -> tuple[RankCode | None, str]:
    assert column.levels is not None
    rows = np.array([counts.get(level, 0) for level in column.levels], dtype=np.float64)
    total = rows.sum()
    if total - rows.max(initial=0.0) < max(least_count(int(total)), 1.0):
        return None, "nearly constant"
    middles = (np.cumsum(rows) - rows / 2) / total
    center = float(rows @ middles / total)
    spread = float(np.sqrt(rows @ (middles - center) ** 2 / total))
    places = tuple(((middles - center) / spread).tolist())
    return RankCode(tuple(column.levels), places, (_mismatch(rows),)), ""


def _category_code(counts: Counter[str]) -> tuple[CategoryCode | None, str]:
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    total, least = counts.total(), least_count(counts.total())
    kept = [word for word in ordered[:MAX_LEVELS] if counts[word] >= least]
    pooled = ordered[len(kept) :]
    n_pooled = sum(counts[word] for word in pooled)
    if 2 * n_pooled > total:
        return None, f"{len(counts):,} different values, most of them rare"
    rows = np.array(
        [*(counts[word] for word in kept), *([n_pooled] if pooled else [])], dtype=float
    )
    if len(rows) < 2 or total - rows.max() < least:
        return None, "nearly constant"
    deviations = np.sqrt((rows + MIN_COUNT) / total)
    remark = f"{len(pooled):,} rare ones count as one" if len(pooled) > 1 else ""
    rates = tuple((rows / total).tolist())
    return CategoryCode(tuple(kept), tuple(pooled), rates, tuple(deviations.tolist())), remark


def _date_code(column: TypedColumn) -> tuple[DateCode | None, str]:
    seconds = column.numbers
    assert seconds is not None
    line, remark = _number_code(seconds, "auto")
    if line is None:
        return None, remark
    known = seconds[~np.isnan(seconds)]
    cycles = _cycles(known)
    circles = _circles(known, cycles)
    spreads = np.where(circles.std(axis=0) > 0, circles.std(axis=0), 1.0)
    plain = line._replace(spike=None, scale=line.scale[:1], own=line.own[:1])
    code = DateCode(plain, cycles, tuple(circles.mean(axis=0).tolist()), tuple(spreads.tolist()))
    return code, ", ".join(cycles)


def _cycles(known: np.ndarray) -> tuple[str, ...]:
    """Cycles that dates resolve, span twice and vary in."""
    span, cycles = float(np.ptp(known)), []
    days = known.astype("datetime64[s]").astype("datetime64[D]")
    day_of_month = (days - days.astype("datetime64[M]")).astype(np.int64)
    for name, (period, n_steps) in CYCLES.items():
        # Months have no weekday.
        if name == "weekday" and np.ptp(day_of_month) == 0:
            continue
        steps = np.unique(np.floor(_phase(known, name) * n_steps))
        if span >= 2 * period and len(steps) > 1:
            cycles.append(name)
    return tuple(cycles)


def _phase(seconds: np.ndarray, name: str) -> np.ndarray:
    """Position in a cycle, from 0 to 1. 1970 began on a Thursday."""
    shifted = seconds + 3 * DAY if name == "weekday" else seconds
    return np.mod(shifted, CYCLES[name][0]) / CYCLES[name][0]


def _circles(seconds: np.ndarray, cycles: tuple[str, ...]) -> np.ndarray:
    angles = [2 * np.pi * _phase(seconds, name) for name in cycles]
    parts = [part for angle in angles for part in (np.sin(angle), np.cos(angle))]
    return np.column_stack(parts) if parts else np.empty((len(seconds), 0))


def code_to_json(code: Code) -> dict[str, Any]:
    """Description of a code."""
    name = next(name for name, kind in CODES.items() if isinstance(code, kind))
    fields = {
        field: code_to_json(value) if isinstance(value, NumberCode) else value
        for field, value in code._asdict().items()
    }
    return {"code": name, **fields}


def code_from_json(state: Mapping[str, Any]) -> Code:
    """The code that was described; a wrong description raises an error."""
    kind = CODES[state["code"]]
    fields = {field: _checked(state[field]) for field in kind._fields}
    code: Code = kind(**fields)
    sizes = {len(code.names), len(code.scale), len(code.own)}
    if isinstance(code, CategoryCode):
        sizes |= {len(code.rates), len(code.deviations)}
    if isinstance(code, RankCode) and len(code.levels) != len(code.places):
        raise InvalidValueError("the ranks of a column contradict each other")
    if isinstance(code, DateCode):
        sizes |= {1 + len(code.centers), 1 + len(code.spreads)}
        if not isinstance(code.line, NumberCode) or not set(code.cycles) <= set(CYCLES):
            raise InvalidValueError("the cycles of a date are unknown")
    if len(sizes) > 1 or not min(_divisors(code)) > 0:
        raise InvalidValueError("the coordinates of a column contradict each other")
    return code


def _divisors(code: Code) -> tuple[float, ...]:
    if isinstance(code, NumberCode):
        return (code.unit, code.spread)
    if isinstance(code, DateCode):
        return (code.line.unit, code.line.spread, *code.spreads)
    return code.deviations if isinstance(code, CategoryCode) else (1.0,)


def _checked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return code_from_json(value)
    if isinstance(value, list | tuple):
        return tuple(_checked(item) for item in value)
    if value is None or isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float) or not isfinite(value):
        raise InvalidValueError(f"{value!r} is not a number")
    return float(value)
