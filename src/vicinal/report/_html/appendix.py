"""Sections of the report about the background: neighbours, labels, columns, reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report import _tables
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
from vicinal.report._shared_inputs import N_NEIGHBORS
from vicinal.report._snippet import snippet, versions
from vicinal.report._summary_text import duplicates, plural

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Longer tables of columns are collapsed.
MAX_OPEN_COLUMNS = 12


def neighbours(result: Perception) -> Html:
    """Dimension, hubs and duplicates."""
    stats = result.neighborhoods
    caption = (
        f"Number of {N_NEIGHBORS}-neighbour lists that contain each row. Hubs are far to the right; "
        f"{plural(stats.n_orphans, 'row')} at 0 {'is' if stats.n_orphans == 1 else 'are'} in no list."
    )
    figures = [figure(histogram(stats.occurrences, "neighbour lists containing the row"), caption)]
    curve = stats.dimension_curve[np.isfinite(stats.dimension_curve[:, 1])]
    if len(curve) > 1:
        caption = (
            "Intrinsic dimension at increasing scale: the number of directions in which the rows vary "
            f"locally, of {plural(result.data.n_used, 'column')}."
        )
        chart = line_chart([Curve("", *curve.T)], "neighbours", "dimension")
        figures.append(figure(chart, caption))
    figures.append(html_table(_tables.hubs(result), result.data.ids))
    note = paragraph(duplicates(stats.n_duplicates))
    return section("neighbours", "Neighbour structure", note, side_by_side(*figures))


def labels(result: Perception) -> Html:
    """Every method compared with the known labels."""
    return section("labels", "Comparison with labels", html_table(_tables.label_scores(result)))


def columns(result: Perception) -> Html:
    """Every column."""
    n_columns = len(result.data.columns)
    is_open = " open" if n_columns <= MAX_OPEN_COLUMNS else ""
    summary = f"<summary>{plural(n_columns, 'column')}</summary>"
    inner = f"<details{is_open}>{summary}{html_table(_tables.columns(result))}</details>"
    return section("columns", "Columns", inner)


def reproduce(result: Perception) -> Html:
    """Command, parameters, versions, a snippet, and times."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in result.parameters.items())
    package_versions = ", ".join(f"{name} {number}" for name, number in versions().items())
    content = []
    if result.origin.command is not None:
        content.append(f"<h3>Command</h3><pre>{text(result.origin.command)}</pre>")
    content.append(f"<h3>Parameters</h3><pre>{text(parameters)}</pre>")
    content.append(f"<h3>Versions</h3><pre>{text(package_versions)}</pre>")
    content.append(
        "<h3>The same clusters in Python</h3>"
        f'<pre id="snippet">{text(snippet(result))}</pre>'
        '<button type="button" class="copy" data-copy="snippet">Copy</button>'
    )
    content.append(html_table(_tables.times(result)))
    note = (
        "The report is deterministic: the same table, parameters (including random_state) and versions "
        "give the same report on any number of threads."
    )
    return section("reproduce", "How to reproduce this report", paragraph(note), *content)
