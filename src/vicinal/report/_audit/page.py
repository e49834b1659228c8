"""The report of an audit as one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report._audit import tables
from vicinal.report._audit.text import findings, title
from vicinal.report._html.elements import (
    Html,
    figure,
    html_table,
    paragraph,
    section,
    side_by_side,
    text,
)
from vicinal.report._html.figures import Curve, histogram, line_chart
from vicinal.report._html.page import Section, fill_page, in_frame, template_file
from vicinal.report._html.sections import at_a_glance
from vicinal.report._snippet import versions

if TYPE_CHECKING:
    from vicinal.report.audit_result import Audit

MAX_CURVE_POINTS = 40


def render(result: Audit) -> str:
    """The whole page."""
    cards = [
        (f"{len(result.data.ids):,}", "rows"),
        (f"{int((~result.duplicates.keep).sum()):,}", "near-duplicates to drop"),
        (f"{len(result.outliers.rows):,}", "outliers"),
    ]
    if result.label_doubts is not None:
        cards.append((f"{len(result.doubtful_rows):,}", "doubtful labels"))
    if result.leakage is not None:
        cards.append((f"{len(result.leaking_rows):,}", "rows that leak between splits"))
    notes = [*result.data.notes, result.data.why_scaling]
    return fill_page(
        _sections(result),
        title=title(result),
        name=result.origin.title,
        glance=at_a_glance(cards, findings(result), notes),
        script=f'\n"use strict";\n{template_file("theme.js")}',
    )


def render_inline(result: Audit) -> str:
    """An iframe with the page for notebooks."""
    return in_frame(render(result), title(result))


def _sections(result: Audit) -> list[Section]:
    """Anchor, name and content of every section."""
    page_sections = [("duplicates", "Duplicates", _duplicates(result))]
    if result.leakage is not None:
        leakage = section("leakage", "Leakage between splits", html_table(tables.leakage(result)))
        page_sections.append(("leakage", "Leakage", leakage))
    if result.label_doubts is not None:
        page_sections.append(("labels", "Labels", _labels(result)))
    return [
        *page_sections,
        ("outliers", "Outliers", _outliers(result)),
        ("typical", "Typical rows", _typical(result)),
        ("hubs", "Hubs", _hubs(result)),
        ("reproduce", "Reproduce", _reproduce(result)),
    ]


def _duplicates(result: Audit) -> Html:
    found = result.duplicates
    parts: list[str] = []
    if found.groups:
        parts.append(html_table(tables.duplicate_groups(result)))
    if len(found.distinct_pairs):
        parts.append(html_table(tables.least_similar(result)))
    shown = found.curve[(found.curve[:, 0] > 0) & (found.curve[:, 1] > 0)]
    if len(shown) > 1:
        shown = shown[np.unique(np.linspace(0, len(shown) - 1, MAX_CURVE_POINTS).astype(int))]
        chart = line_chart(
            [
                Curve("pairs", shown[:, 0], shown[:, 1]),
                Curve("expected by chance", shown[:, 0], np.maximum(shown[:, 2], 0.1)),
            ],
            "distance",
            "pairs within it",
            mark=found.threshold,
            log_x=True,
            log_y=True,
        )
        threshold = (
            "The vertical line is the threshold."
            if found.threshold > 0
            else "There are no more near pairs than expected, so only equal rows are duplicates."
        )
        caption = (
            "Pairs of distinct rows within each distance, and how many are expected among ordinary rows. "
            + threshold
        )
        parts.append(figure(chart, caption))
    if not parts:
        parts.append(paragraph("There are no near-duplicate rows."))
    return section("duplicates", "Near-duplicates", *parts)


def _labels(result: Audit) -> Html:
    doubts = result.label_doubts
    assert doubts is not None
    table = tables.doubtful_labels(result)
    known = doubts.probability[np.isfinite(doubts.probability)]
    chart = histogram(known, "probability that the label is wrong", level=0.5)
    caption = "Distribution over all labelled rows. Labels to the right of the line are doubtful."
    note = "Every label agrees with its neighbourhood."
    content = html_table(table) if table.records else paragraph(note)
    return section("labels", "Doubtful labels", content, figure(chart, caption))


def _outliers(result: Audit) -> Html:
    found = result.outliers
    chart = histogram(found.score, "outlier score", level=found.threshold)
    caption = "Outlier scores of all rows; rows to the right of the line are outliers."
    content = side_by_side(figure(chart, caption), html_table(tables.outliers(result)))
    return section("outliers", "Outliers", content)


def _typical(result: Audit) -> Html:
    if not result.typicality.classes:
        note = paragraph("No class has enough rows.")
        return section("typical", "Typical and odd rows", note)
    return section("typical", "Typical and odd rows", html_table(tables.typical(result)))


def _hubs(result: Audit) -> Html:
    chart = histogram(result.hubs.occurrences, "neighbour lists containing the row")
    caption = "Number of 10-neighbour lists that contain each row. Hubs are far to the right."
    content = side_by_side(figure(chart, caption), html_table(tables.hubs(result)))
    return section("hubs", "Hubs", content)


def _reproduce(result: Audit) -> Html:
    parameters = ", ".join(f"{name}={value!r}" for name, value in result.parameters.items())
    package_versions = ", ".join(f"{name} {number}" for name, number in versions().items())
    command = result.origin.command
    parts = [f"<h3>Command</h3><pre>{text(command)}</pre>"] if command is not None else []
    parts.append(f"<h3>Parameters</h3><pre>{text(parameters)}</pre>")
    parts.append(f"<h3>Versions</h3><pre>{text(package_versions)}</pre>")
    return section("reproduce", "How to reproduce this report", *parts)
