"""One contender on one case, alone in this process; the measurement is printed as JSON.

The first call counts imports and compilation. Later calls are timed for the best of three, the
first of them with its peak of memory above the state before it. A line is printed after each call,
so that a contender stopped at its limit is still measured by what it finished.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.data import make_points
from benchmarks.suites import CONTENDERS

REPEATS = 3
# A slow contender is not called four times: one call after the first is precise enough.
ENOUGH_SECONDS = 30.0


def measure(
    task: str,
    contender: str,
    setting: dict[str, Any],
    n: int,
    d: int,
    points: str,
    cold: bool,
    once: bool,
) -> Iterator[dict[str, Any]]:
    """Times, memory and facts of one contender, better known with each call."""
    X = make_points(points, n, d)
    chosen = CONTENDERS[task][contender]
    given = X if chosen.prepare is None else chosen.prepare(X)

    def call() -> Any:
        return chosen.run(given, **setting)

    before = _start_of_peak() if once else None
    first, answer = _timed(call)
    record: dict[str, Any] = {
        "contender": contender,
        "setting": setting,
        "first_call": first,
        "seconds": first,
        "peak_bytes": None,
        "process_bytes": None,
    }
    if before is not None:
        _add_peak(record, before)
    record |= chosen.facts(answer, X)
    yield record
    if once:
        return
    del answer
    later: list[float] = []
    while len(later) < (1 if cold else REPEATS) and (not later or sum(later) < ENOUGH_SECONDS):
        before = None if later else _start_of_peak()
        took, _ = _timed(call)
        if before is not None:
            _add_peak(record, before)
        later.append(took)
        if not cold:
            record["seconds"] = min(later)
        yield record


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def _start_of_peak() -> int | None:
    """Resident memory now, from which the peak is counted; None where the kernel cannot tell."""
    gc.collect()
    try:
        # Freed memory that the allocator still holds would hide what the next call needs.
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _status("VmRSS")
    except (OSError, AttributeError):
        return None


def _add_peak(record: dict[str, Any], before: int) -> None:
    record["process_bytes"] = _status("VmHWM")
    record["peak_bytes"] = max(0, record["process_bytes"] - before)


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


if __name__ == "__main__":
    for state in measure(**json.loads(sys.argv[1])):
        print(json.dumps(state), flush=True)
