"""Figures in the documentation: where they come from, and how to update them.

A figure is followed by a comment with its source (suite, case, contender and field, or page, row and column
of a study): ``4.9 s<!-- figure: tasks/spectral clustering/vicinal/seconds -->``. ``python -m benchmarks
figures`` writes the latest results into all pages; the tests fail if a page differs from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import RESULTS

ROOT = RESULTS.parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
MARKED = re.compile(NUMBER + r"((?: (?:s|MiB|GiB|GB|minutes|%))?\**<!-- figure: (.+?) -->)")
# Data sets that were used to design the choice of t.
DESIGN_SETS = ("shapes", "faces", "digits", "texts", "normal")


def run(only: str | None, quick: bool) -> None:
    """Write the latest results into pages whose name contains ``only``; list differences with ``quick``."""
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        text = page.read_text(encoding="utf-8")
        if only and only not in name:
            continue
        updated = MARKED.sub(_refresh, text)
        if updated != text:
            print(f"{name} differs from the results")
            if not quick:
                page.write_text(updated, encoding="utf-8")


def _refresh(match: re.Match[str]) -> str:
    """A marked figure with its measured value, to as many digits as before."""
    figure, rest, source = match.groups()
    value = measured(source)
    digits = len(figure.partition(".")[2])
    if abs(float(figure.replace(",", "")) - value) <= 0.501 * 10.0**-digits:
        return match[0]
    return f"{value:,.{digits}f}{rest}"


def load(suite: str) -> Any:
    """Results of a suite."""
    return json.loads((RESULTS / f"{suite}.json").read_text())


def measured(source: str) -> float:
    """Value of a figure in the results of the benchmarks, or in the table of a study."""
    suite, *path = source.split("/")
    if suite.endswith("-study"):
        return in_table(ROOT / "docs" / f"{suite}.md", *path)
    read: Callable[..., float] = SUITES.get(suite, case_value)
    return read(load(suite), *path)


def in_table(page: Path, row: str, column: str) -> float:
    """Number in the first table of a page that has this row and this column."""
    header: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells or not header:
            header = cells
        elif cells[0] == row and column in header:
            number = re.match(NUMBER, cells[header.index(column)])
            if number:
                return float(number[1])
    raise LookupError(f"{page.name} has no row {row!r} with a column {column!r}")


def table_value(results: Any, row: str, column: str) -> float:
    """Entry of a table, or the mean over one of its rows or columns."""
    if column == "mean":
        return float(np.mean(list(results[row].values())))
    if row == "mean":
        return float(np.mean([values[column] for values in results.values()]))
    return float(results[row][column])


def start_value(results: Any, contender: str, column: str) -> float:
    """Time of a contender's first call."""
    return float(next(row[column] for row in results if row["contender"] == contender))


def overhead_value(results: Any, case: str, column: str) -> float:
    """CPU milliseconds of a case (``vicinal``, ``peer ms``), seconds (``seconds``), or their ``ratio``."""
    row = next(row for row in results if row["case"] == case)
    values = {
        **row,
        "ratio": row["vicinal"] / row["peer ms"],
        "seconds": row["vicinal"] / 1e3,
    }
    return float(values[column])


def shortfall(results: Any, _: str, statistic: str) -> float:
    """Points of precision lost by the chosen t on sets that the choice was not designed on."""
    held_out = [row["shortfall"] for row in results if not row["set"].startswith(DESIGN_SETS)]
    return 100 * float(max(held_out) if statistic == "max" else np.mean(held_out))


def kernel_value(results: Any, part: str, column: str) -> float:
    """Mean adjusted Rand index of a half, or of the real sets."""
    chosen = [r for r in results if part in (r["half"], "real" if is_real(r["set"]) else "")]
    return float(np.mean([row["ari"][column] for row in chosen]))


def is_real(name: str) -> bool:
    """Whether a set was not generated."""
    return name.startswith(("uci/", "digits", "mnist", "orl"))


def noise_value(results: Any, group: str, half: str, field: str, method: str) -> float:
    """Mean of a field over the sets of a group in a half, or in both (``all``)."""
    rows = [row for row in results if row["group"] == group and half in (row["half"], "all")]
    return float(np.mean([row[field][method] for row in rows]))


def cluster_value(results: Any, group: str, method: str, field: str) -> float:
    """Mean of a field over a group of sets; ``above 1`` is the percentage with more than one cluster."""
    found = [row["methods"][method] for row in results if row["group"] == group]
    if field == "above 1":
        return 100 * float(np.mean([each["n_clusters"] > 1 for each in found]))
    return float(np.mean([each[field] for each in found]))


def map_value(results: Any, part: str, *path: str) -> float:
    """Mean of a score of a method over all sets, or its time."""
    if part == "seconds":
        return float(results["seconds"][path[0]])
    score, method = path
    return float(np.mean([row[method][score] for row in results["scores"].values()]))


def choice_value(results: Any, part: str, statistic: str) -> float:
    """Mean over sets that were looked at or not: correlation, or rank of the chosen or of a given graph."""
    group = [row for row in results.values() if row["looked_at"] == (part == "looked at")]
    if statistic in ("correlation", "rank"):
        return float(np.mean([row[statistic] for row in group if row[statistic] is not None]))
    return float(np.mean([row["ranks"][statistic] for row in group]))


def rerank_value(results: Any, part: str, *path: str) -> float:
    """Mean score of a method over sets that the rule was or was not chosen on, or of the large gallery."""
    if part.startswith("large"):
        return float(results[part][path[0]])
    mode, method, score = path
    found = [row for row in results["sets"].values() if row["development"] == (part == "chosen on")]
    return float(np.mean([row[mode][method][score] for row in found]))


def case_value(results: Any, case: str, contender: str, field: str = "seconds") -> float:
    """Ratio of a case, or time, memory or score of a contender in it."""
    record = next(each for each in results["cases"] if each["case"] == case)
    if contender == "ratio":
        return float(record["ratio"])
    if contender == "ratio per t":
        return float(record["ratio"]) / 50
    if contender.startswith("ratio to "):
        peer = record["results"][contender.removeprefix("ratio to ")]
        return float(record["results"]["vicinal"]["seconds"] / peer["seconds"])
    values = record["results"][contender]
    units = {"MiB": 2**20, "GiB": 2**30, "GB": 1e9}
    if field in units:
        return float(values["peak_bytes"] / units[field])
    if field == "bytes per point":
        return float((values["peak_bytes"] - values["output_bytes"]) / record["n"])
    return float(values["seconds"] / 60 if field == "minutes" else values[field])


SUITES: dict[str, Callable[..., float]] = {
    "automatic": table_value,
    "clusters": cluster_value,
    "given": cluster_value,
    "graph_choice": choice_value,
    "kernels": kernel_value,
    "map": map_value,
    "noise": noise_value,
    "outliers": lambda results, row, column: table_value(results["auc"], row, column),
    "overhead": overhead_value,
    "products": table_value,
    "retrieval": table_value,
    "rerank": rerank_value,
    "shapes": table_value,
    "start": start_value,
    "steps": shortfall,
    "tables": table_value,
    "trees": table_value,
}
