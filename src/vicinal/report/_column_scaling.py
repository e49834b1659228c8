"""Units of columns: whether they are one, and values too large or too small to compute with."""

from __future__ import annotations

import numpy as np

# Columns whose ranges differ by more than this factor are not in one unit.
ONE_UNIT = 10.0
SCALINGS = ("auto", "none", "standard")
# Products of values beyond these sizes may overflow or vanish.
TINY, HUGE = 1e-100, 1e100


def choose_scaling(values: np.ndarray, scaling: str, images: bool) -> tuple[str, str]:
    """Whether columns are brought to one unit, and why."""
    if scaling != "auto":
        return scaling, "as asked for"
    if images:
        return "none", "grey levels are in one unit, so columns stay as they are"
    if values.shape[1] == 1:
        return "none", "there is one column, so there is nothing to weigh against it"
    ranges = np.ptp(values / largest(values), axis=0)
    # A few odd columns among many do not decide.
    low, high = np.quantile(ranges, [0.05, 0.95])
    ratio = high / max(low, np.finfo(float).tiny)
    if ratio > ONE_UNIT:
        return "standard", (
            f"ranges of columns differ by a factor of {_factor(ratio)}, so each was given mean 0 and "
            "deviation 1: otherwise the widest would decide alone"
        )
    return "none", (
        f"ranges of columns differ by a factor of {ratio:.1f} only, as in one unit, so they stay as "
        "they are"
    )


def _factor(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"


def is_extreme(values: np.ndarray) -> bool:
    """Whether some column is so large or so small that products of its values are not reliable."""
    sizes = np.abs(values).max(axis=0)
    return bool(np.any((sizes > HUGE) | ((sizes > 0) & (sizes < TINY))))


def largest(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """The largest size, of all values or in each column; 1 for 0."""
    size = np.abs(values).max(axis=axis)
    return np.where(size > 0, size, 1.0)


def scaled(values: np.ndarray, scaling: str) -> np.ndarray:
    """Values in the chosen units, none of them extreme."""
    standard = scaling == "standard"
    if is_extreme(values):
        values = values / largest(values, axis=0 if standard else None)
    if not standard:
        return values
    from sklearn.preprocessing import StandardScaler

    return np.ascontiguousarray(StandardScaler().fit_transform(values))
