"""Warnings that point to the user's code."""

from __future__ import annotations

import sys
import warnings

from vicinal.exceptions import VicinalWarning

# Comparisons of pairs that take minutes on a few cores.
MAX_PAIRS_WITHOUT_WARNING = 1e11


def warn_user(message: str, category: type[Warning] = VicinalWarning) -> None:
    """Issue a warning that points to the first caller outside vicinal and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_all_pairs(n_rows: int, n_points: int, what: str, remedy: str) -> None:
    """Warn, before it starts, of a comparison of each row with each point that takes long."""
    n_pairs = float(n_rows) * n_points
    if n_pairs > MAX_PAIRS_WITHOUT_WARNING:
        warn_user(
            f"{what} compares each of {n_rows:,} rows with all {n_points:,} points, {n_pairs:.0e} pairs, "
            f"which takes minutes to hours; {remedy}. verbose=1 shows progress."
        )


def _is_internal(module: str) -> bool:
    return module.partition(".")[0] in ("vicinal", "sklearn")
