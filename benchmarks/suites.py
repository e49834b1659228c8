"""All suites of cases, and everyone who takes part in them."""

from __future__ import annotations

from benchmarks import contenders, perception, tasks
from benchmarks.cases import GRAPHS

SUITES = {"graphs": GRAPHS, "tasks": tasks.TASKS, "perception": perception.PERCEPTION}
CONTENDERS = {**contenders.CONTENDERS, **tasks.CONTENDERS, **perception.CONTENDERS}
