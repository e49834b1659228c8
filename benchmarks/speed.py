"""``python -m benchmarks speed``: all times of docs/how-fast.md in one run, on one machine.

The suites run one after the other; over an hour on two cores. The machine has to be idle: even programs at
the lowest priority slow multithreaded libraries down.
"""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from benchmarks import automatic, overhead, products, start
from benchmarks.report import machine, write_results
from benchmarks.runner import run_cases
from benchmarks.suites import CONTENDERS

TABLES = {
    "overhead": overhead.run,
    "start": start.run,
    "products": products.run,
    "automatic": automatic.run,
}
# Suites of cases, with the time limit per peer in seconds; vicinal has ten times as much.
LIMITS = {
    "graphs": 20,
    "tasks": 60,
    "perception": 150,
    "paths": 20,
    "smoothing": 60,
    "l1": 60,
    "large": 60,
}
WARM = "from vicinal.cli import main; main(['warm'])"


def run(only: str | None, quick: bool) -> None:
    """Run the suites whose name contains ``only``; with `quick`, without writing files."""
    if missing := missing_peers():
        print(f"not measured, because not installed: {', '.join(missing)}", flush=True)
    if not quick:
        # Cases that are called once should not compile.
        subprocess.run([sys.executable, "-c", WARM], check=True)
    rows: list[dict[str, Any]] = []
    for suite in (name for name in (*TABLES, *LIMITS) if not only or only in name):
        began, seconds = datetime.now(), time.perf_counter()
        print(f"{began:%H:%M} {suite}", flush=True)
        if suite in TABLES:
            TABLES[suite](None, quick)
        else:
            run_cases(suite, None, quick, LIMITS[suite])
        minutes = (time.perf_counter() - seconds) / 60
        rows.append({"suite": suite, "started": f"{began:%Y-%m-%d %H:%M}", "minutes": minutes})
        # A part is not one run of everything.
        if not quick and not only:
            write_results("speed", {"machine": machine(), "suites": rows}, markdown(rows))


def missing_peers() -> list[str]:
    """Modules of contenders that are not installed; rows measured with them before would be kept."""
    modules = {c.module for contenders in CONTENDERS.values() for c in contenders.values()}
    modules |= {module for module, *_ in start.CONTENDERS.values()} | {overhead.GENIE}
    return sorted(name for name in modules if find_spec(name) is None)


def markdown(rows: list[dict[str, Any]]) -> str:
    """The suites of the run, with their start and duration."""
    about = machine()
    return "\n".join(
        [
            "# Benchmark: speed",
            "",
            "All suites with times of docs/how-fast.md, measured in one run by "
            f"`python -m benchmarks speed` on {about['processor']}, {about['cores']} cores, "
            f"Python {about['python']}.",
            "",
            "| suite | started | minutes |",
            "| --- | --- | ---: |",
            *(
                f"| [{row['suite']}]({row['suite']}.md) | {row['started']} | {row['minutes']:.1f} |"
                for row in rows
            ),
            "",
        ]
    )
