"""All contenders of a case, each in a new process, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.cases import Case
from benchmarks.contenders import RECALL, installed
from benchmarks.report import case_lines, judge, save
from benchmarks.suites import CONTENDERS, SUITES


def run_cases(suite: str, only: str | None, quick: bool, limit: float, clock: str = "wall") -> None:
    """Measure the cases of a suite whose name contains ``only``, print and save each."""
    names = [case.name for case in SUITES[suite]]
    cases = [case for case in SUITES[suite] if not only or only in case.name]
    if not cases:
        raise LookupError(f"--only {only} matches no case; choose from {', '.join(names)}")
    for case in cases:
        measured = case.quick() if quick else case
        record = judge(measured, run_case(measured, limit, clock)) | {"clock": clock}
        print("\n".join(case_lines(record)), end="\n\n", flush=True)
        # After each case, so that an interrupted run keeps its results.
        if not quick:
            path = save(suite, record, names)
            print(f"written to {path} and {path.with_suffix('.json').name}\n", flush=True)


def run_case(case: Case, limit: float, clock: str = "wall") -> dict[str, dict[str, Any]]:
    """Measurements by contender; peers get ``limit`` seconds per process, vicinal ten times that."""
    results: dict[str, dict[str, Any]] = {}
    for name in ("vicinal", *case.peers):
        contender = CONTENDERS[case.task][name]
        if not installed(contender):
            results[name] = {"skipped": f"{contender.module} is not installed"}
            continue
        time_limit = limit * 10 if name.startswith("vicinal") else limit
        for setting in contender.settings:
            results[name] = _run_worker(case, name, setting, time_limit, clock)
            if results[name].get("recall", 1.0) >= RECALL:
                break
    return results


def _run_worker(
    case: Case, contender: str, setting: dict[str, Any], limit: float, clock: str
) -> dict[str, Any]:
    job = {
        "task": case.task,
        "contender": contender,
        "setting": setting,
        "n": case.n,
        "d": case.d,
        "points": case.points,
        "cold": case.cold,
        "once": case.once,
        "clock": clock,
    }
    command = [sys.executable, "-m", "benchmarks.worker", json.dumps(job)]
    with tempfile.TemporaryDirectory() as folder:
        # Where the first call counts, kernels compiled by an earlier run must not be used.
        changes = {"NUMBA_CACHE_DIR": folder} if case.cold else {}
        if clock == "CPU":
            # Threads that wait for others would count.
            changes |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            process = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit,
                env={**os.environ, **changes},
            )
        except subprocess.TimeoutExpired as timeout:
            finished = (timeout.stdout or b"").splitlines()
            if finished:
                return json.loads(finished[-1])
            # The limit is by the clock, so it does not bound the CPU time.
            return {"limit": limit} if clock == "wall" else {"failed": f"stopped after {limit:g} s"}
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines()
        return {"failed": lines[-1] if lines else f"exit code {process.returncode}"}
    return json.loads(process.stdout.splitlines()[-1])
