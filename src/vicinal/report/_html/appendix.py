"""Sections of the report about the background: graphs, neighbours, labels, columns, reproduction."""

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
from vicinal.report._shared_inputs import NEIGHBORS
from vicinal.report._snippet import snippet, versions
from vicinal.report._summary_text import duplicates, plural

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Longer tables of columns are collapsed.
MAX_OPEN_COLUMNS = 12


def graphs(result: Perception) -> Html:
    """Six graphs of the same rows."""
    parts = [html_table(_tables.graphs(result))]
    n_listed = len(result.graphs.shortcuts)
    if n_listed:
        inner = html_table(_tables.shortcuts(result), result.data.ids)
        summary = f"Edges that look like shortcuts ({n_listed})"
        parts.append(Html(f"<details><summary>{summary}</summary>{inner}</details>"))
    return section("graphs", "Graphs compared", *parts)


def neighbours(result: Perception) -> Html:
    """Dimension, hubs and duplicates."""
    near = result.neighborhoods
    caption = (
        f"Number of {NEIGHBORS}-neighbour lists that contain each row. Hubs are far to the right; "
        f"{plural(near.n_orphans, 'row')} at 0 {'is' if near.n_orphans == 1 else 'are'} in no list."
    )
    figures = [figure(histogram(near.occurrences, "neighbour lists containing the row"), caption)]
    known = near.dimension_curve[np.isfinite(near.dimension_curve[:, 1])]
    if len(known) > 1:
        caption = (
            "Intrinsic dimension at increasing scale: the number of directions in which the rows vary "
            f"locally, of {plural(result.data.points.shape[1], 'column')}."
        )
        chart = line_chart([Curve("", *known.T)], "neighbours", "dimension")
        figures.append(figure(chart, caption))
    figures.append(html_table(_tables.hubs(result), result.data.ids))
    words = paragraph(duplicates(near.n_duplicates))
    return section("neighbours", "Neighbour structure", words, side_by_side(*figures))


def labels(result: Perception) -> Html:
    """Every method compared with the known labels."""
    return section("labels", "Comparison with labels", html_table(_tables.label_scores(result)))


def columns(result: Perception) -> Html:
    """Every numeric column."""
    n_columns = len(result.data.columns)
    is_open = " open" if n_columns <= MAX_OPEN_COLUMNS else ""
    summary = f"<summary>{plural(n_columns, 'numeric column')}</summary>"
    inner = f"<details{is_open}>{summary}{html_table(_tables.columns(result))}</details>"
    return section("columns", "Columns", inner)


def reproduce(result: Perception) -> Html:
    """Command, parameters, versions, a snippet, and times."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in result.parameters.items())
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts = []
    if result.origin.command is not None:
        parts.append(f"<h3>Command</h3><pre>{text(result.origin.command)}</pre>")
    parts.append(f"<h3>Parameters</h3><pre>{text(parameters)}</pre>")
    parts.append(f"<h3>Versions</h3><pre>{text(used)}</pre>")
    parts.append(
        "<h3>The same clusters in Python</h3>"
        f'<pre id="snippet">{text(snippet(result))}</pre>'
        '<button type="button" class="copy" data-copy="snippet">Copy</button>'
    )
    parts.append(html_table(_tables.times(result)))
    note = (
        "The report is deterministic: the same table, parameters (including random_state) and versions "
        "give the same report on any number of threads."
    )
    return section("reproduce", "How to reproduce this report", paragraph(note), *parts)
