"""The sections of the report about the whole: its clusters, noise, rows to look at, and similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.cluster._eigengap import CLEAR
from vicinal.report._html.data import columns_by_contrast, not_offered
from vicinal.report._html.elements import (
    Html,
    bar,
    chip,
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
from vicinal.report._summary_text import cluster_name, findings, telling

if TYPE_CHECKING:
    from vicinal.report.result import Perception

SHOWN_COLUMNS = 4


def glance(found: Perception) -> Html:
    """The figures to take away, and a sentence on each finding."""
    n, d = found.data.points.shape
    noise = float(np.mean(found.labels < 0))
    cards = [
        (f"{n:,}", "rows"),
        (f"{d:,}", "columns used"),
        (f"{found.n_clusters}", "clusters" if found.n_clusters > 1 else "cluster"),
        (f"{noise:.1%}", "noise"),
    ]
    if np.isfinite(found.neighborhoods.dimension):
        cards.append((f"{found.neighborhoods.dimension:.1f}", "intrinsic dimension"))
    if found.n_clusters > 1:
        cards.append((f"{found.clusters.same_share:.0%}", "agreement of two methods"))
    shown = "".join(f"<li><b>{text(a)}</b> {text(b)}</li>" for a, b in cards)
    facts = "".join(f"<dt>{text(a)}</dt><dd>{text(b)}</dd>" for a, b in findings(found))
    failed = [text_of for step in found.failures if (text_of := found.failure(step))]
    notes = [*failed, *found.data.notes, f"scaling: {found.data.why_scaling}", *not_offered(found)]
    listed = "".join(f"<li>{text(note)}</li>" for note in notes)
    return section(
        "glance",
        "At a glance",
        f'<ul class="cards">{shown}</ul><dl class="facts">{facts}</dl>',
        f'<ul class="notes">{listed}</ul>',
    )


def clusters(found: Perception) -> Html:
    """Each cluster, and why there are so many."""
    sizes, count = found.clusters.sizes, found.count
    largest = max(size["rows"] for size in sizes)
    rows = [
        [
            chip(size["cluster"]),
            f"{size['rows']:,}",
            bar(size["rows"] / largest, size["cluster"]),
            f"{size['noise_score']:.2f}",
            "" if size["agreement"] is None else f"{size['agreement']:.0%}",
            telling(size["telling"]) if found.n_clusters > 1 else "",
        ]
        for size in sizes
    ]
    head = ["cluster", "rows", "", "noise score", "agreement", "what tells it apart"]
    parts = [
        table(
            head,
            rows,
            "Each cluster, the mean noise score of its rows, how many of them the second method puts "
            "there too, and the columns whose mean lies farthest from that of all rows, in deviations.",
        )
    ]
    curves = [
        Curve(name, np.arange(1, len(gaps) + 1), gaps)
        for name, gaps in (
            ("contextual digraph", count.perceptual_gaps),
            ("spanning trees", count.tree_gaps),
        )
        if len(gaps)
    ]
    figures = []
    if curves:
        chart = line_chart(
            curves, "number of clusters", "gap", mark=count.n_clusters, level=CLEAR, log_y=True
        )
        figures.append(
            figure(
                chart,
                "How clearly the spectra of two graphs speak for each number of clusters; only a gap "
                "above the dashed level counts, and the upright line is the number taken.",
            )
        )
    if len(count.stability):
        numbers, index = count.stability.T
        chart = line_chart(
            [Curve("stability", numbers, index)],
            "number of clusters",
            "adjusted Rand index",
            mark=count.n_clusters,
        )
        figures.append(
            figure(
                chart,
                f"How well clusters survive a jitter of {count.n_rows:,} rows, by their number: at 1 "
                "they stay the same, at 0 they are as good as new.",
            )
        )
    return section("clusters", "Clusters", *parts, row_of(*figures))


def agreement(found: Perception) -> Html:
    """The two clusterings side by side."""
    counts = found.clusters.shared
    kept = [i for i in range(len(counts)) if counts[i].any()]
    columns = [j for j in range(counts.shape[1]) if counts[:, j].any()]
    sums = np.maximum(counts.sum(axis=1), 1)
    names = [i if i < len(counts) - 1 else -1 for i in range(len(counts))]
    rows = [
        [chip(names[i]), *(shade(f"{counts[i, j]:,}", counts[i, j] / sums[i]) for j in columns)]
        for i in kept
    ]
    caption = (
        "Rows by their cluster here, and by their cluster in spectral clustering on disjoint spanning "
        "trees, which looks at lengths of edges and not at contexts: the stronger the colour on the "
        "diagonal, the more two different views agree."
    )
    return section(
        "agreement",
        "Do two methods agree?",
        table(["", *(cluster_name(j) for j in columns)], rows, caption),
    )


def noise(found: Perception) -> Html:
    """The distribution of noise scores, and the rows with the highest."""
    scores = found.noise_score
    threshold = found.clusters.noise_threshold
    caption = (
        "How many rows have which noise score: 0 is at home in the structure, 1 is outside of it"
    )
    caption += (
        "; rows to the right of the line are noise."
        if threshold < 1
        else ". No two groups can be told apart, so no row is called noise."
    )
    rows = [
        [row_link(i, found.data.ids[i]), f"{scores[i]:.3f}", chip(int(found.labels[i]))]
        for i in found.exemplars.noise
    ]
    return section(
        "noise",
        "Noise",
        row_of(
            figure(
                histogram(scores, "noise score", level=threshold if threshold < 1 else None),
                caption,
            ),
            table(
                ["row", "noise score", ""], rows, "The rows that fit least. Click one to see it."
            ),
        ),
    )


def exemplars(found: Perception) -> Html:
    """Typical and odd rows of each cluster."""
    columns = columns_by_contrast(found)[:SHOWN_COLUMNS]
    pictures = found.data.images is not None
    parts = []
    for picked in found.exemplars.clusters:
        groups = [("typical", picked["typical"]), ("odd", picked["odd"])]
        if pictures:
            lists = "".join(
                f'<dt>{name}</dt><dd class="rows">'
                + "".join(row_link(i, found.data.ids[i]) for i in rows)
                + "</dd>"
                for name, rows in groups
                if rows
            )
            parts.append(f'<div class="exemplars">{chip(picked["cluster"])}<dl>{lists}</dl></div>')
            continue
        body = [
            [
                row_link(i, found.data.ids[i]),
                name,
                f"{found.noise_score[i]:.2f}",
                *(f"{found.data.values[i, j]:.4g}" for j in columns),
            ]
            for name, rows in groups
            for i in rows
        ]
        head = ["row", "", "noise score", *(found.data.names[j] for j in columns)]
        caption = "The rows that fit this cluster best and least, with the columns that tell clusters apart."
        parts.append(
            f'<div class="exemplars">{chip(picked["cluster"])}{table(head, body, caption)}</div>'
        )
    note = "Typical rows have the lowest noise scores of their cluster, odd ones the highest."
    return section(
        "rows",
        "Typical and odd rows",
        sentence(note),
        f'<div class="{"grid pictures" if pictures else "grid"}">{"".join(parts)}</div>',
    )


def similarity(found: Perception) -> Html:
    """Similarity matrices before and after smoothing."""
    smoothing = found.smoothing
    canvas = '<canvas class="matrix" data-matrix="{}" role="img" aria-label="{}"></canvas>'
    n_shown, n_rows = len(smoothing.shown), len(smoothing.rows)
    figures = [
        figure(
            canvas.format("before", "similarity matrix before smoothing"),
            f"Similarity of {n_shown:,} rows by their distance, sorted by cluster (the coloured edge): "
            "bright blocks are clusters. Colours are logarithmic; the darkest is what half of all pairs "
            "have, or less.",
        ),
        figure(
            canvas.format("after", "similarity matrix after smoothing"),
            f"The same after {smoothing.t:,.0f} steps of self-smoothing, in which similarity spreads "
            "along dense regions: blocks fill, and what lies between them fades.",
        ),
    ]
    if len(smoothing.t_curve) > 1:
        steps, correlation = smoothing.t_curve.T
        chart = line_chart(
            [Curve("correlation", steps, correlation)],
            "steps",
            "correlation",
            mark=smoothing.t,
            level=0.0,
            log_x=True,
        )
        figures.append(
            figure(
                chart,
                "Why so many steps: they are taken until the chance to be back at the start no longer "
                "depends on the density there, where the curve passes 0.",
            )
        )
    sampled = (
        "" if n_rows == len(found.labels) else f" It was computed on a sample of {n_rows:,} rows."
    )
    words = (
        f"Of the {smoothing.before.shape[1]} nearest rows, {smoothing.same_before:.1%} share the row's "
        f"cluster before smoothing and {smoothing.same_after:.1%} after.{sampled}"
    )
    return section(
        "similarity", "Similarity, before and after smoothing", sentence(words), row_of(*figures)
    )
