"""Ratios, targets, and the written tables."""

from __future__ import annotations

import json
import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import RECALL

RESULTS = Path(__file__).parent / "results"
# Score differences below this are not significant: seeds change scores by as much.
SCORE_TOLERANCE = 0.01
PACKAGES = [
    "vicinal",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "pyamg",
    "faiss-cpu",
    "hnswlib",
    "usearch",
    "quitefastmst",
    "fast-hdbscan",
    "libpysal",
    "nglpy",
]


def judge(case: Case, results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Record of a case: measurements, ratio to the fastest peer, and whether targets are met."""
    ours = results["vicinal"]
    peers: dict[str, float] = {
        name: result["seconds"] if "seconds" in result else result["limit"]
        for name, result in results.items()
        if name != "vicinal" and _is_comparable(result, ours)
    }
    fastest = min(peers, key=lambda name: peers[name], default=None)
    record: dict[str, Any] = {
        "case": case.name,
        "n": case.n,
        "d": case.d,
        "points": case.points,
        "calls": "once" if case.once else "cold" if case.cold else "repeated",
        "measured": date.today().isoformat(),
        "results": results,
        "fastest_peer": fastest,
        "ratio": ours["seconds"] / peers[fastest] if fastest and "seconds" in ours else None,
        # A peer stopped at its time limit would have taken longer, so the true ratio is smaller.
        "ratio_is_bound": fastest is not None and "limit" in results[fastest],
        "targets": {},
    }
    if "seconds" in ours:
        record["targets"] = _targets(case, results, peers, record["ratio"])
        record["answers"] = _compare(case, results)
    for result in results.values():
        result.pop("sketch", None)
    return record


def _is_comparable(result: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether a peer counts for the comparison; one with a wrong result does not."""
    if "seconds" not in result:
        return "limit" in result
    if "recall" in result:
        return result["recall"] >= RECALL
    if "score" in result:
        return True
    return "vicinal" in result["contender"] or _same_weight(result, ours)


def _same_weight(one: dict[str, Any], other: dict[str, Any]) -> bool:
    # In single precision, libraries may choose another of two almost equal edges.
    return bool(np.isclose(one.get("weight", np.nan), other.get("weight", np.nan), rtol=1e-6))


def _targets(
    case: Case, results: dict[str, dict[str, Any]], peers: dict[str, float], ratio: float | None
) -> dict[str, bool]:
    ours = results["vicinal"]
    targets = {}
    if case.max_ratio is not None and ratio is not None:
        targets[f"time <= {case.max_ratio:.3g} x fastest peer"] = ratio <= case.max_ratio
    if case.max_seconds is not None:
        targets[f"time <= {case.max_seconds:g} s"] = ours["seconds"] <= case.max_seconds
    if case.ratio_to is not None and case.ratio_to[0] in peers:
        name, ratio_limit = case.ratio_to
        targets[f"time <= {ratio_limit:.3g} x {name}"] = (
            ours["seconds"] <= ratio_limit * peers[name]
        )
    if case.k is not None and ours["peak_bytes"] is not None:
        k = 2 * ours["edges"] / case.n if case.k == "degree" else float(case.k)
        extra_bytes = ours["peak_bytes"] - ours["output_bytes"]
        targets[f"memory <= 200 * n * {k:.3g} bytes"] = extra_bytes <= 200 * case.n * k
    if "recall" in ours:
        targets[f"recall >= {case.recall:g}"] = ours["recall"] >= case.recall
    if case.max_bytes is not None and ours["process_bytes"] is not None:
        bound = f"memory of the process <= {case.max_bytes / 1e9:g} GB"
        targets[bound] = ours["process_bytes"] <= case.max_bytes
    scores = [results[name]["score"] for name in peers if "score" in results[name]]
    if scores:
        name = f"{case.measure} at least that of peers"
        targets[name] = ours["score"] >= max(scores) - SCORE_TOLERANCE
    return targets


def _compare(case: Case, results: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Result of each peer compared with ours."""
    ours = results["vicinal"]
    verdicts = {}
    for name, other in results.items():
        if "recall" in other:
            verdicts[name] = f"recall {other['recall']:.4f}"
        elif "score" in other:
            verdicts[name] = f"{case.measure} {other['score']:.4f}" + _distance(other, ours)
        elif "fingerprint" not in other or name.startswith("vicinal"):
            continue
        elif other["fingerprint"] == ours["fingerprint"]:
            verdicts[name] = "same edges"
        elif _same_weight(other, ours):
            verdicts[name] = "same weight"
        else:
            verdicts[name] = f"{other['edges'] - ours['edges']:+,} edges, different weight"
    return verdicts


def _distance(other: dict[str, Any], ours: dict[str, Any]) -> str:
    if other is ours or "sketch" not in other:
        return ""
    theirs, reference = np.array(other["sketch"]), np.array(ours["sketch"])
    return f", distances differ by {np.abs(theirs - reference).max() / reference.max():.1e}"


def save(suite: str, record: dict[str, Any], order: list[str]) -> Path:
    """Write JSON and Markdown in the given order; other cases keep their earlier record."""
    path = RESULTS / f"{suite}.json"
    earlier = json.loads(path.read_text())["cases"] if path.exists() else []
    records = {known["case"]: known for known in [*earlier, record]}
    content = {
        "machine": machine(),
        "cases": [records[name] for name in order if name in records],
    }
    return write_results(suite, content, markdown(suite, content))


def write_results(suite: str, records: object, page: str) -> Path:
    """Write the records of a suite as JSON and its page as Markdown; returns the path of the page."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{suite}.json"
    path.write_text(json.dumps(records, indent=1) + "\n")
    path.with_suffix(".md").write_text(page)
    return path.with_suffix(".md")


def markdown(suite: str, content: dict[str, Any]) -> str:
    """The whole suite as a Markdown page."""
    about = content["machine"]
    lines = [
        f"# Benchmark: {suite}",
        "",
        f"Measured by `python -m benchmarks {suite}` on {about['processor']}, {about['cores']} "
        f"cores, Python {about['python']}. Every contender runs in a new process on all cores. "
        "Time is the best of up to three calls after the first, which is shown next to it; slow ones are "
        "called less often, and cases where only the first call counts say so. Memory is the peak during "
        "the call minus the memory before it, including the result. `> 20 s` means stopped at that limit.",
        "",
    ]
    for record in content["cases"]:
        lines += [*case_lines(record), ""]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return "\n".join([*lines, f"Versions: {versions}.", ""])


def case_lines(record: dict[str, Any]) -> list[str]:
    """One case as Markdown."""
    lines = [
        f"## {record['case']}",
        "",
        f"n = {record['n']:,}, D = {record['d']}, {record['points']} points.{_calls(record)}",
        "",
        "| | time | first call | memory | result |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    answers = record.get("answers", {})
    for name, result in record["results"].items():
        cells = [name, *_cells(result), answers.get(name, "")]
        lines.append(f"| {' | '.join(cells)} |")
    if record["ratio"] is not None:
        bound = "at most " if record["ratio_is_bound"] else ""
        lines += ["", f"vicinal / {record['fastest_peer']}: {bound}{record['ratio']:.3g}"]
    for target, met in record["targets"].items():
        lines.append(f"- {'met' if met else '**not met**'}: {target}")
    return lines


def _calls(record: dict[str, Any]) -> str:
    notes = {"cold": " The first call counts.", "once": " Called once."}
    cpu = " CPU time of all threads." if record.get("clock") == "CPU" else ""
    return notes.get(record.get("calls", ""), "") + cpu


def _cells(result: dict[str, Any]) -> list[str]:
    if "seconds" not in result:
        limit = result.get("limit")
        reason = f"> {limit:g} s" if limit else result.get("failed", result.get("skipped", ""))
        return [reason.replace("|", "/"), "", ""]
    peak = result["peak_bytes"]
    memory = "" if peak is None else f"{peak / 2**20:,.0f} MiB"
    setting = ", ".join(f"{name} {value}" for name, value in result["setting"].items())
    time = f"{result['seconds']:.3g} s" + (f" ({setting})" if setting else "")
    return [time, f"{result['first_call']:.3g} s", memory]


def machine() -> dict[str, Any]:
    """Processor, cores, and versions of Python and the measured packages."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
        processor = names[0] if names else processor
    except OSError:
        pass
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }
