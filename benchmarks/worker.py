"""One contender on one case, alone in this process; the measurement is printed as JSON.

The first call counts imports and compilation. Later calls are timed for the best of three, the
first of them with its peak of memory above the state before it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.cases import make_points
from benchmarks.contenders import CONTENDERS

REPEATS = 3
# Slow contenders are not called four times: what they took once is precise enough.
ENOUGH_SECONDS = 60.0


def measure(
    task: str, contender: str, setting: dict[str, Any], n: int, d: int, points: str, cold: bool
) -> dict[str, Any]:
    """Times, memory and facts of one contender."""
    X = make_points(points, n, d)
    chosen = CONTENDERS[task][contender]

    def call() -> Any:
        return chosen.run(X, **setting)

    first, answer = _timed(call)
    seconds, spent, peak = [first] if cold else [], first, None
    while len(seconds) < REPEATS and spent < ENOUGH_SECONDS:
        del answer
        before = _start_of_peak() if peak is None else None
        took, answer = _timed(call)
        if before is not None:
            peak = max(0, _status("VmHWM") - before)
        seconds.append(took)
        spent += took
        if cold:
            break
    return {
        "contender": contender,
        "first_call": first,
        "seconds": first if cold else min(seconds, default=first),
        "peak_bytes": peak,
        "setting": setting,
        **chosen.facts(answer, X),
    }


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


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
