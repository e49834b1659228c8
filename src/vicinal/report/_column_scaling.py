"""Scaling of columns: logarithms, comparable ranges, and protection against extreme values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.tables._log_scale import is_log_scaled

# Columns whose ranges differ by more than this factor are standardised.
MAX_RANGE_RATIO = 10.0
SCALINGS = ("auto", "none", "standard")
# Products of values outside this range may overflow or underflow.
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-100, 1e100


def choose_scaling(values: np.ndarray, scaling: str, images: bool) -> tuple[str, str]:
    """The scaling to use, and the reason."""
    if scaling != "auto":
        return scaling, f"scaling: {scaling}, as requested"
    if images:
        return "none", "not rescaled: grey levels are comparable"
    if values.shape[1] == 1:
        return "none", "not rescaled: there is only one column"
    ranges = np.ptp(values / max_abs(values), axis=0)
    # Quantiles, so that a few unusual columns among many do not decide.
    low, high = np.quantile(ranges, [0.05, 0.95])
    ratio = high / max(low, np.finfo(float).tiny)
    if ratio > MAX_RANGE_RATIO:
        return "standard", (
            "columns standardised to mean 0 and standard deviation 1: their ranges differ by a factor "
            f"of {_format_ratio(ratio)}"
        )
    return "none", f"not rescaled: column ranges differ by only a factor of {ratio:.1f}"


def by_logarithms(values: np.ndarray, names: list[str], reason: str) -> tuple[str, str]:
    """`choose_scaling` of columns that are standardised: which of them by their logarithms."""
    logs = [name for name, log in zip(names, _log_floors(values) > 0, strict=True) if log]
    if not logs:
        return "standard", reason
    shown = ", ".join(logs[:8]) + (", ..." if len(logs) > 8 else "")
    return "logs", f"{reason}; compared by logarithms: {shown}"


def _log_floors(values: np.ndarray) -> np.ndarray:
    """Smallest value of each column on a log scale, 0 for the others."""
    return np.array([column.min() if is_log_scaled(column) else 0.0 for column in values.T])


def _format_ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"


def is_extreme(values: np.ndarray) -> bool:
    """Whether products of values in some column may overflow or underflow."""
    largest = np.abs(values).max(axis=0)
    return bool(np.any((largest > MAX_MAGNITUDE) | ((largest > 0) & (largest < MIN_MAGNITUDE))))


def max_abs(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Largest absolute value, overall or per column; 1 where it is 0."""
    largest = np.abs(values).max(axis=axis)
    return np.where(largest > 0, largest, 1.0)


class ColumnScaling(NamedTuple):
    """Divisors of columns against extreme values, then a centre and a unit of each.

    Before that, columns whose ``floor`` is not 0 are replaced by their logarithms; values below it, which may
    have none, by that of the floor.
    """

    divisor: np.ndarray
    center: np.ndarray
    unit: np.ndarray
    floor: np.ndarray

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Scaled values; the same array if nothing changes."""
        logs = self.floor > 0
        if logs.any():
            values = values.copy()
            values[:, logs] = np.log(np.maximum(values[:, logs], self.floor[logs]))
        for operation, operand, neutral in (
            (np.divide, self.divisor, 1.0),
            (np.subtract, self.center, 0.0),
            (np.divide, self.unit, 1.0),
        ):
            if (operand != neutral).any():
                values = operation(values, operand)
        return values


def fit_scaling(values: np.ndarray, scaling: str) -> ColumnScaling:
    """Scaling after which no value is extreme."""
    d, standard = values.shape[1], scaling in ("standard", "logs")
    divisor, center, unit = np.ones(d), np.zeros(d), np.ones(d)
    floor = _log_floors(values) if scaling == "logs" else np.zeros(d)
    values = ColumnScaling(divisor, center, unit, floor).transform(values)
    if is_extreme(values):
        divisor = np.broadcast_to(max_abs(values, axis=0 if standard else None), (d,))
    if standard:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(values / divisor)
        center, unit = scaler.mean_, scaler.scale_
    return ColumnScaling(divisor, center, unit, floor)


def scale_columns(values: np.ndarray, scaling: str) -> np.ndarray:
    """Scaled values, none of them extreme."""
    return np.ascontiguousarray(fit_scaling(values, scaling).transform(values))
