"""Figures in the documentation match the latest benchmark results.

A figure is followed by a comment with its source (suite, case, contender and field):
``4.9 s<!-- figure: tasks/spectral clustering/vicinal/seconds -->``.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
MARKED = re.compile(NUMBER + r"(?: (?:s|MiB|GiB|GB|minutes))?\**<!-- figure: (.+?) -->")
# Seconds, except time limits of peers (> 20 s), in a table row or a sentence.
SECONDS = re.compile(rf"(?<![>\d.,] )(?<![\d.,]){NUMBER} s\b(?!\**<!-- figure)")

# Data sets that were used to design the choice of t.
DESIGN_SETS = ("shapes", "faces", "digits")


def measured(source):
    """Value of a figure in the results of the benchmarks."""
    suite, *path = source.split("/")
    results = json.loads((ROOT / "benchmarks" / "results" / f"{suite}.json").read_text())
    if suite == "shapes":
        contender, column = path
        row = results[contender]
        return float(np.mean(list(row.values()))) if column == "mean" else row[column]
    if suite == "start":
        contender, column = path
        return next(row[column] for row in results if row["contender"] == contender)
    if suite == "steps":
        held_out = [row["shortfall"] for row in results if not row["set"].startswith(DESIGN_SETS)]
        return 100 * {"mean": np.mean, "max": np.max}[path[1]](held_out)
    case = next(case for case in results["cases"] if case["case"] == path[0])
    if path[1] == "ratio":
        return case["ratio"]
    values = case["results"][path[1]]
    units = {"MiB": 2**20, "GiB": 2**30, "GB": 1e9}
    if path[2] in units:
        return values["peak_bytes"] / units[path[2]]
    return values["seconds"] / 60 if path[2] == "minutes" else values[path[2]]


FIGURES = [
    pytest.param(figure, source, id=f"{page.relative_to(ROOT)}:{source}:{figure}")
    for page in PAGES
    for figure, source in MARKED.findall(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("figure", "source"), FIGURES)
def test_a_figure_equals_the_measured_value_to_its_last_digit(figure, source):
    digits = len(figure.partition(".")[2])
    unit = 10.0**-digits
    assert float(figure.replace(",", "")) == pytest.approx(measured(source), abs=0.501 * unit)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_marker_follows_a_figure(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- figure: ") == len(MARKED.findall(text))


def test_every_row_of_the_readme_that_a_benchmark_measures_is_checked():
    rows = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and "python -m benchmarks" in line
    ]
    assert len(rows) > 5
    for row in rows:
        assert "<!-- figure: " in row
        assert SECONDS.findall(row) == []


@pytest.mark.parametrize("name", ["docs/how-fast.md", "docs/guides/a-million-points.md"])
def test_every_time_in_the_tables_of_benchmarks_is_checked(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    unchecked = [line for line in lines if line.startswith("|") and SECONDS.search(line)]
    assert unchecked == []
