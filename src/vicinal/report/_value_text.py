"""Values of columns as text: numbers with few digits, dates as dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.tables._codes import DAY, YEAR

if TYPE_CHECKING:
    from vicinal.report._preprocessing import CleanTable

# Formats of columns that are not plain numbers.
Formats = Mapping[str, Callable[[float], str]]
# Dates within a shorter range, in days, are shown with their time.
MIN_RANGE_OF_DAYS = 30


def value_formats(data: CleanTable) -> Formats:
    """How values of the columns of dates are written; all other values are `readable`."""
    return {
        record["column"]: partial(date_text, with_time=shows_time(record["min"], record["max"]))
        for record in data.columns
        if record["kind"] == "date" and record["min"] is not None
    }


def shows_time(low: float, high: float) -> bool:
    """Whether a range of dates, in years, is so short that the time of day matters."""
    return bool((high - low) * YEAR < MIN_RANGE_OF_DAYS * DAY)


def date_text(years: float, with_time: bool = False) -> str:
    """A date, given in years as in the report, such as 2021-03-05 or 2021-03-05 14:30."""
    seconds = np.datetime64(round((years - 1970.0) * YEAR), "s")
    return str(seconds.astype("datetime64[m]" if with_time else "datetime64[D]")).replace("T", " ")


def statistic_text(record: Mapping[str, Any], name: str) -> str:
    """A statistic of a column: dates as dates, and their standard deviation in days."""
    value = record[name]
    if value is None:
        return ""
    if record["kind"] != "date":
        return readable(value)
    if name == "std":
        return f"{readable(value * YEAR / DAY)} days"
    return date_text(value, shows_time(record["min"], record["max"]))


def readable(value: float) -> str:
    """A number with about four digits, without an exponent unless it is very large or small."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
