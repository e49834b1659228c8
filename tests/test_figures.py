"""Figures in the documentation match the latest benchmark results.

A figure is followed by a comment with its source (suite, case, contender and field, or page, row and column
of a study): ``4.9 s<!-- figure: tasks/spectral clustering/vicinal/seconds -->``.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
MARKED = re.compile(NUMBER + r"(?: (?:s|MiB|GiB|GB|minutes|%))?\**<!-- figure: (.+?) -->")
# Seconds, except time limits of peers (> 20 s), in a table row or a sentence.
SECONDS = re.compile(rf"(?<![>\d.,] )(?<![\d.,]){NUMBER} s\b(?!\**<!-- figure)")

# Data sets that were used to design the choice of t.
DESIGN_SETS = ("shapes", "faces", "digits")


def load(suite):
    return json.loads((ROOT / "benchmarks" / "results" / f"{suite}.json").read_text())


def measured(source):
    """Value of a figure in the results of the benchmarks, or in the table of a study."""
    suite, *path = source.split("/")
    if suite.endswith("-study"):
        return in_table(ROOT / "docs" / f"{suite}.md", *path)
    return SUITES.get(suite, case_value)(load(suite), *path)


def in_table(page, row, column):
    """Number in the first table of a page that has this row and this column."""
    header = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells or not header:
            header = cells
        elif cells[0] == row and column in header:
            return float(re.match(NUMBER, cells[header.index(column)])[1])
    raise LookupError(f"{page.name} has no row {row!r} with a column {column!r}")


def table_value(results, row, column):
    """Entry of a table, or the mean over one of its rows or columns."""
    if column == "mean":
        return float(np.mean(list(results[row].values())))
    if row == "mean":
        return float(np.mean([values[column] for values in results.values()]))
    return results[row][column]


def start_value(results, contender, column):
    return next(row[column] for row in results if row["contender"] == contender)


def shortfall(results, _, statistic):
    held_out = [row["shortfall"] for row in results if not row["set"].startswith(DESIGN_SETS)]
    return 100 * {"mean": np.mean, "max": np.max}[statistic](held_out)


def kernel_value(results, part, column):
    """Mean adjusted Rand index of a half, or of the real sets."""
    chosen = [r for r in results if part in (r["half"], "real" if is_real(r["set"]) else "")]
    return float(np.mean([row["ari"][column] for row in chosen]))


def is_real(name):
    return name.startswith(("uci/", "digits", "mnist", "orl"))


def noise_value(results, group, half, field, method):
    rows = [row for row in results if (row["group"], row["half"]) == (group, half)]
    return float(np.mean([row[field][method] for row in rows]))


def case_value(results, case, contender, field=None):
    """Ratio of a case, or time, memory or score of a contender in it."""
    case = next(each for each in results["cases"] if each["case"] == case)
    if contender == "ratio":
        return case["ratio"]
    if contender == "ratio per t":
        return case["ratio"] / 50
    values = case["results"][contender]
    units = {"MiB": 2**20, "GiB": 2**30, "GB": 1e9}
    if field in units:
        return values["peak_bytes"] / units[field]
    if field == "bytes per point":
        return (values["peak_bytes"] - values["output_bytes"]) / case["n"]
    return values["seconds"] / 60 if field == "minutes" else values[field]


SUITES = {
    "shapes": table_value,
    "trees": table_value,
    "outliers": table_value,
    "start": start_value,
    "steps": shortfall,
    "kernels": kernel_value,
    "noise": noise_value,
}


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


def rows_of(page, width):
    """Rows of the tables of a page with this many columns, without headers."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in rows if len(row) == width and re.match(r"[\d.]+$", row[1])]


def test_the_table_of_rankings_equals_the_measured_precisions():
    results = load("retrieval")
    rows = {row[0]: row[1:] for row in rows_of("guides/choosing-parameters.md", 5)}
    assert rows == {
        name + r" \*" * row["held_out"]: [
            *(f"{row[column]:.3f}" for column in ("euclidean", "fixed", "auto")),
            f"{row['alpha']:g}",
        ]
        for name, row in results.items()
    }


def test_the_table_of_smoothing_steps_equals_the_measured_precisions():
    columns = ("before", "chosen_t", "chosen", "best_t", "best", "shortfall")
    rows = {row[0]: row[1:] for row in rows_of("guides/choosing-t.md", 7)}
    assert rows == {
        row["set"] + r" \*" * row["set"].startswith(DESIGN_SETS): [
            f"{row[c]:.0f}" if c.endswith("_t") else f"{100 * row[c]:.1f}" for c in columns
        ]
        for row in load("steps")
    }


def test_a_study_is_searched_for_row_and_column():
    page = ROOT / "docs" / "contextual-distance-study.md"
    assert in_table(page, "k-means", "1200 noise") == 0.43
    with pytest.raises(LookupError, match="no row"):
        in_table(page, "k-means", "1201 noise")


def test_the_guide_repeats_the_goals_of_the_clusters_benchmark():
    page = (ROOT / "benchmarks" / "results" / "clusters.md").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "guides" / "number-of-clusters.md").read_text(encoding="utf-8")
    goals = page.split("| goal |")[1].split("\n\n")[0].splitlines()[2:]
    assert goals
    assert [line for line in goals if line not in guide] == []
