"""Measure one contender on one case in this process and print the measurement as JSON.

The first call includes imports and compilation. Of up to three later calls, the best one counts; the first
of them also measures peak memory. A line is printed after each call, so that a contender stopped at its
time limit is still measured by its finished calls.
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

N_REPEATS = 3
# Repeated calls stop after this total time: for slow contenders, few calls are precise enough.
MAX_REPEAT_SECONDS = 10.0


def measure(
    task: str,
    contender: str,
    setting: dict[str, Any],
    n: int,
    d: int,
    points: str,
    cold: bool,
    once: bool,
    clock: str = "wall",
) -> Iterator[dict[str, Any]]:
    """Times, memory and facts of one contender, updated with each call."""
    X = make_points(points, n, d)
    library = CONTENDERS[task][contender]
    inputs = X if library.prepare is None else library.prepare(X)

    def call() -> Any:
        return library.run(inputs, **setting)

    before = _reset_peak() if once else None
    read_clock = time.process_time if clock == "CPU" else time.perf_counter
    first, result = _timed(call, read_clock)
    record: dict[str, Any] = {
        "contender": contender,
        "setting": setting,
        "first_call": library.factor * first,
        "seconds": library.factor * first,
        "peak_bytes": None,
        "process_bytes": None,
    }
    if before is not None:
        _add_peak(record, before)
    record |= library.facts(result, X)
    yield record
    if once:
        return
    del result
    times: list[float] = []
    while len(times) < (1 if cold else N_REPEATS) and (
        not times or sum(times) < MAX_REPEAT_SECONDS
    ):
        before = None if times else _reset_peak()
        seconds, _ = _timed(call, read_clock)
        if before is not None:
            _add_peak(record, before)
        times.append(seconds)
        if not cold:
            record["seconds"] = library.factor * min(times)
        yield record


def _timed(call: Callable[[], Any], read_clock: Callable[[], float]) -> tuple[float, Any]:
    start = read_clock()
    result = call()
    return read_clock() - start, result


def _reset_peak() -> int | None:
    """Current resident memory, after resetting the peak; None if the system does not report it."""
    gc.collect()
    try:
        # Freed memory still held by the allocator would hide what the next call needs.
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
    for record in measure(**json.loads(sys.argv[1])):
        print(json.dumps(record), flush=True)
