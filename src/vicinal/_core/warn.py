"""Warnings that point to the user's code."""

from __future__ import annotations

import sys
import warnings

from vicinal.exceptions import VicinalWarning


def warn_user(message: str, category: type[Warning] = VicinalWarning) -> None:
    """Issue a warning that points to the first caller outside vicinal and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_internal(module: str) -> bool:
    return module.partition(".")[0] in ("vicinal", "sklearn")
