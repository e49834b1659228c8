"""Sections of the report about the findings: clusters, noise and exemplars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report import _tables
from vicinal.report._explanation_text import explanation_table, noise_table
from vicinal.report._html.colours import columns_by_contrast
from vicinal.report._html.data import notes_on_map
from vicinal.report._html.elements import (
    Html,
    chip,
    figure,
    html_table,
    paragraph,
    row_button,
    section,
    side_by_side,
    text,
)
from vicinal.report._html.figures import Curve, histogram, line_chart
from vicinal.report._summary_text import findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vicinal.report._tables import Record
    from vicinal.report.result import Perception

# Columns shown with typical rows, and how many of them may be categories.
MAX_EXEMPLAR_COLUMNS, MAX_EXEMPLAR_CATEGORIES = 4, 2


def glance(result: Perception) -> Html:
    """Key figures, and a sentence per finding."""
    n_columns = len(result.data.columns)
    cards = [
        (f"{len(result.labels):,}", "rows"),
        (f"{result.data.n_used:,}", f"of {n_columns:,} columns used"),
        (f"{result.n_clusters}", "clusters" if result.n_clusters > 1 else "cluster"),
        (f"{np.mean(result.labels < 0):.1%}", "noise"),
    ]
    if np.isfinite(result.neighborhoods.dimension):
        cards.append((f"{result.neighborhoods.dimension:.1f}", "intrinsic dimension"))
    if result.n_clusters > 1:
        cards.append((f"{result.clusters.same_fraction:.0%}", "agreement of two methods"))
    failures = [failure for step in result.failures if (failure := result.failure(step))]
    prepared = [*result.data.notes, result.data.why_scaling]
    return at_a_glance(cards, findings(result), [*failures, *prepared, *notes_on_map(result)])


def at_a_glance(
    cards: Sequence[tuple[str, str]], facts: Sequence[tuple[str, str]], notes: Sequence[str]
) -> Html:
    """The first section: figures with their names, findings with their headings, and notes."""
    card_items = "".join(f"<li><b>{text(value)}</b> {text(name)}</li>" for value, name in cards)
    finding_items = "".join(
        f"<dt>{text(heading)}</dt><dd>{text(finding)}</dd>" for heading, finding in facts
    )
    note_items = "".join(f"<li>{text(note)}</li>" for note in notes)
    return section(
        "glance",
        "At a glance",
        f'<ul class="cards">{card_items}</ul><dl class="facts">{finding_items}</dl>',
        f'<ul class="notes">{note_items}</ul>',
    )


def clusters(result: Perception) -> Html:
    """The clusters, and the evidence for their number."""
    count = result.count
    figures = []
    if len(count.gaps):
        chart = line_chart(
            [Curve("neighbour graph", np.arange(1, len(count.gaps) + 1), count.gaps)],
            "number of clusters",
            "relative eigengap",
            mark=count.n_clusters,
            level=count.gaps[0],
            log_y=True,
        )
        caption = (
            "Evidence for each number of clusters from the spectrum of the neighbour graph. Gaps above the "
            "dashed line are significant; the vertical line marks the chosen number, for which densities and "
            "communities count, too."
        )
        figures.append(figure(chart, caption))
    if len(count.stability):
        chart = line_chart(
            [Curve("stability", *count.stability.T)],
            "number of clusters",
            "adjusted Rand index",
            mark=count.n_clusters,
        )
        caption = (
            f"Stability of the clusters when {count.n_rows:,} rows are perturbed: 1 means the clusters "
            "are unchanged; 0 means agreement no better than chance."
        )
        figures.append(figure(chart, caption))
    table = html_table(_tables.clusters(result))
    return section("clusters", "Clusters", table, side_by_side(*figures))


def explanations(result: Perception) -> Html:
    """What distinguishes each cluster, and why rows are noise."""
    explained = result.explanations
    tables = []
    if explained.clusters:
        tables.append(html_table(explanation_table(result), has_long_texts=True))
    if explained.noise:
        tables.append(html_table(noise_table(result), result.data.ids, has_long_texts=True))
    return section("explanations", "What distinguishes the clusters", *tables)


def agreement(result: Perception) -> Html:
    """The two clusterings, cross-tabulated."""
    table = html_table(_tables.contingency(result))
    return section("agreement", "Do two methods agree?", table)


def noise(result: Perception) -> Html:
    """Distribution of the noise scores, and the rows with the highest."""
    threshold = result.clusters.noise_threshold
    chart = histogram(result.noise_score, "noise score", level=threshold if threshold < 1 else None)
    conclusion = (
        "Rows to the right of the line are noise."
        if threshold < 1
        else "There is no clear separation, so no row is labelled as noise."
    )
    caption = (
        "Distribution of noise scores, from 0 (typical) to 1 (outside the structure). They are about "
        f"density; the outlier scores of an audit ask whether a row fits the rest at all. {conclusion}"
    )
    table = html_table(_tables.least_typical(result), result.data.ids)
    return section("noise", "Noise", side_by_side(figure(chart, caption), table))


def exemplars(result: Perception) -> Html:
    """Typical and atypical rows of each cluster, as pictures or as tables."""
    pictures = result.data.images is not None
    categories = _distinguishing_categories(result)[:MAX_EXEMPLAR_CATEGORIES]
    n_features = MAX_EXEMPLAR_COLUMNS - len(categories)
    features = columns_by_contrast(result)[:n_features].tolist()
    parts = []
    for picked in result.exemplars.clusters:
        if pictures:
            content = _picture_list(picked, result.data.ids)
        else:
            content = html_table(
                _tables.exemplars(result, picked, features, categories), result.data.ids
            )
        parts.append(f'<div class="exemplars">{chip(picked["cluster"])}{content}</div>')
    note = (
        "Typical rows have the lowest noise scores of their cluster, atypical rows the highest. "
        "Click a row to show it on the map."
    )
    return section(
        "rows",
        "Typical and atypical rows",
        paragraph(note),
        f'<div class="{"grid pictures" if pictures else "grid"}">{"".join(parts)}</div>',
    )


def _distinguishing_categories(result: Perception) -> list[str]:
    """Columns of categories that distinguish some cluster."""
    features = [feature for size in result.clusters.sizes for feature in size["top_features"]]
    return list(dict.fromkeys(f["column"] for f in features if "category" in f))


def _picture_list(picked: Record, ids: Sequence[str]) -> Html:
    lists = [
        f'<dt>{kind}</dt><dd class="rows">'
        + "".join(row_button(i, ids[i]) for i in picked[kind])
        + "</dd>"
        for kind in ("typical", "atypical")
        if picked[kind]
    ]
    return Html(f"<dl>{''.join(lists)}</dl>")
