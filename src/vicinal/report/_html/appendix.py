"""The sections of the report about its grounds: graphs, neighbours, labels, columns, and how to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report._html.elements import (
    Html,
    figure,
    row_link,
    row_of,
    section,
    sentence,
    shade,
    table,
    text,
)
from vicinal.report._html.figures import Curve, histogram, line_chart
from vicinal.report._snippet import snippet, versions
from vicinal.report._summary_text import repeats

if TYPE_CHECKING:
    from vicinal.report.result import Perception


def graphs(found: Perception) -> Html:
    """Six graphs of the same rows."""
    compared = found.graphs
    rows = [
        [
            row["graph"],
            f"{row['edges']:,}",
            f"{row['components']:,}",
            f"{row['isolates']:,}",
            f"{row['median_length']:.3g}",
            f"{row['longest']:.3g}",
            f"{row['shortcuts']:,}",
            f"{row['between_clusters']:.1%}",
            shade(f"{row['stability']:.0%}", row["stability"]),
        ]
        for row in compared.table
    ]
    head = [
        "graph",
        "edges",
        "parts",
        "isolates",
        "median length",
        "longest",
        "shortcuts",
        "between clusters",
        "survive a jitter",
    ]
    caption = (
        f"Six graphs of {_rows(compared.n_rows, len(found.labels))}. Shortcuts are edges more than twice "
        "as long as is usual around both ends; the last column is the share of edges that are there "
        "again when rows move by a fifth of the distance to their neighbours."
    )
    parts: list[str] = [table(head, rows, caption)]
    if compared.shortcuts:
        ids = found.data.ids
        listed = [
            [
                row["graph"],
                row_link(row["source"], ids[row["source"]]),
                row_link(row["target"], ids[row["target"]]),
                f"{row['times_usual']:.1f}",
            ]
            for row in compared.shortcuts
        ]
        inner = table(
            ["graph", "from", "to", "times the usual length"],
            listed,
            "The edges that look most like shortcuts in each graph: look whether their ends belong "
            "together.",
        )
        parts.append(
            f"<details><summary>Edges that look like shortcuts ({len(listed)})</summary>{inner}</details>"
        )
    return section("graphs", "Graphs compared", *parts)


def neighbours(found: Perception) -> Html:
    """Dimension, hubs and duplicates."""
    near = found.neighborhoods
    figures = [
        figure(
            histogram(near.occurrences, "lists of 10 neighbours that a row is in"),
            "Hubs stand far to the right, in the lists of very many rows; "
            f"{near.n_orphans:,} rows at 0 are in nobody's.",
        )
    ]
    known = near.dimension_curve[np.isfinite(near.dimension_curve[:, 1])]
    if len(known) > 1:
        figures.append(
            figure(
                line_chart([Curve("", *known.T)], "neighbours", "dimension"),
                "The intrinsic dimension at growing distance: how many directions rows really spread "
                f"into, of {found.data.points.shape[1]:,} columns.",
            )
        )
    ids = found.data.ids
    hubs = [[row_link(int(i), ids[i]), f"{near.occurrences[i]:,}"] for i in near.hubs]
    figures.append(table(["hub", "lists"], hubs, "The rows that are near to the most others."))
    words = repeats(near.n_duplicates) if near.n_duplicates else "No two rows hold the same values."
    return section("neighbours", "Neighbour structure", sentence(words), row_of(*figures))


def labels(found: Perception) -> Html:
    """Every method against the known labels."""
    scores = found.scores
    assert scores is not None
    rows = [
        [
            row["method"],
            f"{row['clusters']}",
            f"{row['noise']:.0%}",
            *(
                shade(f"{row[name]:.3f}", max(row[name], 0.0))
                for name in ("accuracy", "mutual_information", "adjusted_rand")
            ),
        ]
        for row in scores.table
    ]
    n_labelled = int(np.count_nonzero(found.data.labels != ""))
    kind = "rows" if n_labelled == len(found.labels) else "rows that have a label"
    caption = (
        f"Clusters against the {scores.n_classes} classes of {found.data.label_name!r}, on "
        f"{_rows(scores.n_rows, n_labelled, kind)}. All are told {found.count.n_clusters} as the "
        "number of clusters but HDBSCAN, which finds its own with its default settings; noise counts as a "
        "cluster of its own. No method saw the labels."
    )
    head = ["method", "clusters", "noise", "accuracy", "mutual information", "adjusted Rand index"]
    return section("labels", "Against the labels", table(head, rows, caption))


def columns(found: Perception) -> Html:
    """Every numeric column."""
    rows = [
        [
            column["column"],
            *(
                f"{column[name]:.4g}"
                for name in ("mean", "deviation", "lowest", "median", "highest")
            ),
            f"{column['missing']:,}",
            "used" if column["used"] else "constant, dropped",
        ]
        for column in found.data.columns
    ]
    head = ["column", "mean", "deviation", "lowest", "median", "highest", "missing", ""]
    caption = f"The numeric columns, before scaling. Scaling: {found.data.why_scaling}."
    inner = table(head, rows, caption)
    count = f"{len(rows):,} numeric column{'s' if len(rows) > 1 else ''}"
    is_open = " open" if len(rows) <= 12 else ""
    return section(
        "columns", "Columns", f"<details{is_open}><summary>{count}</summary>{inner}</details>"
    )


def again(found: Perception) -> Html:
    """Command, parameters, versions, times, and a snippet."""
    given = ", ".join(f"{name}={value!r}" for name, value in found.parameters.items())
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts = []
    if found.origin.command is not None:
        parts.append(f"<h3>Command</h3><pre>{text(found.origin.command)}</pre>")
    parts.append(f"<h3>Parameters</h3><pre>{text(given)}</pre>")
    parts.append(f"<h3>Versions</h3><pre>{text(used)}</pre>")
    parts.append(
        "<h3>The same clusters in Python</h3>"
        f'<pre id="snippet">{text(snippet(found))}</pre>'
        '<button type="button" class="copy" data-copy="snippet">Copy</button>'
    )
    times = [[name, f"{seconds:.1f}"] for name, seconds in found.seconds.items()]
    parts.append(table(["step", "seconds"], times, "How long each step took."))
    note = (
        "Chance enters by the seed random_state only: the same table, parameters and versions give the "
        "same report, on any number of threads."
    )
    return section("again", "How to get this again", sentence(note), *parts)


def _rows(n: int, of: int, kind: str = "rows") -> str:
    return f"all {n:,} {kind}" if n == of else f"a sample of {n:,} of the {of:,} {kind}"
