"""Warnings that point to the user's code."""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import nullcontext
from time import perf_counter as clock
from typing import Any, NamedTuple

from vicinal.exceptions import VicinalWarning

# Work that is expected to take longer is announced.
MAX_SECONDS_WITHOUT_WARNING = 120.0
# The time of a part is measured for at least this long.
MIN_MEASURED_SECONDS = 1.0
UNITS = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0))


def warn_user(message: str, category: type[Warning] = VicinalWarning) -> None:
    """Issue a warning that points to the first caller outside vicinal and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class LongWork(NamedTuple):
    """A loop that may take long, such as "the L1 graph", what is faster, and how often the loop runs."""

    what: str
    remedy: str
    n_passes: int = 1


def warn_if_long(seconds: float, work: LongWork) -> None:
    """Warn if work is expected to take minutes or longer."""
    if seconds > MAX_SECONDS_WITHOUT_WARNING:
        warn_user(
            f"{work.what} takes about {duration(seconds)}; {work.remedy}. verbose=1 shows progress."
        )


class TimedLoop(nullcontext[Any]):
    """Warns, soon after the start of a loop, if the rest of it takes minutes or longer.

    The first part is not measured, because it may compile kernels.
    """

    def __init__(self, n_parts: float, work: LongWork) -> None:
        super().__init__()
        self.n_parts, self.work = n_parts * work.n_passes, work
        self.n_done, self.start, self.n_done_at_start = 0.0, 0.0, 0.0
        self.is_measuring, self.thread = True, threading.get_ident()

    def __enter__(self) -> TimedLoop:
        return self

    def update(self, n: float = 1) -> None:
        """Count finished parts; only the thread that runs the loop may warn."""
        self.n_done += n
        if not self.is_measuring or threading.get_ident() != self.thread:
            return
        now = clock()
        if not self.n_done_at_start:
            self.start, self.n_done_at_start = now, self.n_done
        elif now - self.start >= MIN_MEASURED_SECONDS:
            self.is_measuring = False
            per_part = (now - self.start) / (self.n_done - self.n_done_at_start)
            warn_if_long(per_part * (self.n_parts - self.n_done), self.work)


def duration(seconds: float) -> str:
    """A long time in its largest unit: "2.5 hours"."""
    for unit, length in UNITS:
        if seconds >= 2 * length:
            number = seconds / length
            return f"{number:.1f} {unit}" if number < 10 else f"{number:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _is_internal(module: str) -> bool:
    return module.partition(".")[0] in ("vicinal", "sklearn")
