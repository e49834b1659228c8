"""All suites of cases, and all contenders."""

from __future__ import annotations

from benchmarks import codes, contenders, large, paths, perception, smoothing, tasks
from benchmarks.cases import GRAPHS

SUITES = {
    "graphs": GRAPHS,
    "tasks": tasks.TASKS,
    "perception": perception.PERCEPTION,
    "paths": paths.PATHS,
    "smoothing": smoothing.SMOOTHING,
    "l1": codes.CODES,
    "large": large.LARGE,
}
CONTENDERS = {
    **contenders.CONTENDERS,
    **tasks.CONTENDERS,
    **perception.CONTENDERS,
    **paths.CONTENDERS,
    **smoothing.CONTENDERS,
    **codes.CONTENDERS,
    **large.CONTENDERS,
}
