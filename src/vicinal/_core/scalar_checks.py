"""Validation of numbers, names and lists."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from vicinal.exceptions import InvalidTypeError, InvalidValueError

MAX_INT64 = 2**63 - 1


def check_count(
    value: Any, name: str, *, low: int = 1, high: int | None = None, remedy: str = ""
) -> int:
    """Convert ``value`` to an int with ``low <= value <= high``; without ``high``, it must fit int64."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < low or value > (MAX_INT64 if high is None else high):
        overflows = whole and high is None and value > low
        wanted = f"an integer >= {low}" if high is None else f"an integer from {low} to {high}"
        wanted = f"an integer from {low} to 2**63 - 1" if overflows else wanted
        raise _error(whole, f"{name}={value!r}, but {wanted} is needed.", remedy)
    return int(value)


def check_real(
    value: Any,
    name: str,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    remedy: str = "",
) -> float:
    """Convert ``value`` to a finite float in [low, high], or in (low, high] with ``open_low``."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    number = as_float(value) if real else np.nan
    if not np.isfinite(number) or not low <= number <= high or (open_low and number == low):
        wanted = "a finite number"
        if low > -np.inf:
            wanted += f" {'>' if open_low else '>='} {low:g}"
        if high < np.inf:
            wanted += f"{' and' if low > -np.inf else ''} <= {high:g}"
        raise _error(real, f"{name}={value!r}, but {wanted} is needed.", remedy)
    return number


def as_float(value: Any) -> float:
    """Convert a real number of any type to a float; one that is too large becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> Any:
    """Return ``value`` if it is one of ``choices``."""
    if isinstance(value, str) and value in choices:
        return value
    raise _error(
        isinstance(value, str),
        f"{name}={value!r}, but one of {', '.join(map(repr, choices))} is needed.",
        "",
    )


def check_list(values: Any, name: str, what: str) -> list[Any]:
    """Convert any iterable except text and mappings to a list."""
    if not isinstance(values, (str, bytes, Mapping)):
        with suppress(TypeError, NotImplementedError):
            return list(values)
    raise InvalidTypeError(f"{name}={values!r}, but a list of {what} is needed.")


def _error(right_type: bool, message: str, remedy: str) -> Exception:
    text = f"{message} {remedy}".rstrip()
    return InvalidValueError(text) if right_type else InvalidTypeError(text)
