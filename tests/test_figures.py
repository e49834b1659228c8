"""Figures in the documentation match the latest benchmark results (`benchmarks.figures`)."""

import re

import pytest

from benchmarks.board import Comparison, board_page, compare, readme_rows, with_rows
from benchmarks.figures import DESIGN_SETS, MARKED, NUMBER, PAGES, ROOT, in_table, load, measured

# Seconds, except time limits of peers (> 20 s), in a table row or a sentence.
SECONDS = re.compile(rf"(?<![>\d.,] )(?<![\d.,]){NUMBER} s\b(?!\**<!-- figure)")

FIGURES = [
    pytest.param(figure, source, id=f"{page.relative_to(ROOT)}:{source}:{figure}")
    for page in PAGES
    for figure, _, source in MARKED.findall(page.read_text(encoding="utf-8"))
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


def test_the_board_equals_the_results():
    page = (ROOT / "docs" / "board.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    remedy = "run python -m benchmarks board"
    assert page == board_page(), remedy
    assert readme == with_rows(readme, readme_rows()), remedy


def test_a_lead_within_chance_is_called_a_tie():
    ours = {"a": 1.0, "b": 0.0, "c": 0.5}
    assert compare(ours, {"a": 0.0, "b": 1.0, "c": 0.5, "d": 9.0}).verdict == "tie"
    better = compare(ours, {name: score - 0.1 for name, score in ours.items()})
    assert better.verdict == "ahead"
    assert better.difference == pytest.approx(0.1)
    assert Comparison(-0.2, -0.3, -0.1, 3).verdict == "behind"


@pytest.mark.slow
def test_the_readme_repeats_what_the_example_of_retrieval_prints():
    from sklearn.datasets import load_digits

    from vicinal import SelfSmoothing
    from vicinal.metrics import retrieval_rate

    X, digit = load_digits(return_X_y=True)
    model = SelfSmoothing(random_state=0).fit(X[:1000])
    before, after = (
        retrieval_rate(similarity, digit[:1000], 100)
        for similarity in (model.at(0), model.similarity_)
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"| **{after:.3f}** | {before:.3f} before smoothing |" in readme
