"""What was found, in words and small tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.tables import format_rows
from vicinal.report._shared_inputs import NEIGHBORS

if TYPE_CHECKING:
    from vicinal.report.result import Perception

BAR = 24
# Deviations from the mean below which a column tells nothing.
NEAR = 0.2
CLUSTERING = ("number of clusters", "clusters and noise")
# The steps that a finding comes from.
STEPS_OF = {
    "Clusters": CLUSTERING,
    "Noise": CLUSTERING,
    "Agreement": CLUSTERING,
    "Dimension": ("neighbour structure",),
    "Hubs": ("neighbour structure",),
    "Duplicates": ("neighbour structure",),
    "Smoothing": ("smoothing",),
}


def summary(found: Perception) -> str:
    """The main findings, from the whole to its parts."""
    parts = [
        title(found),
        *(f"  - {note}" for note in found.data.notes),
        f"  - scaling: {found.data.why_scaling}",
        "",
        *(f"{heading:<12}{text}" for heading, text in findings(found)),
    ]
    tables = [(_cluster_table, CLUSTERING), (_graph_table, ("graphs compared",))]
    if found.scores is not None:
        tables.append((_score_table, ("scores against labels",)))
    for make, steps in tables:
        parts += ["", found.failure(*steps) or make(found)]
    return "\n".join(parts)


def title(found: Perception) -> str:
    """The table and its size."""
    n, d = found.data.points.shape
    used = f"{d:,} column" + ("s" if d > 1 else "")
    return f"{found.origin.title}: {n:,} rows, {used} used of {len(found.data.columns):,}"


def findings(found: Perception) -> list[tuple[str, str]]:
    """The main findings, a sentence each, under a short heading."""
    near, clusters, smoothing = found.neighborhoods, found.clusters, found.smoothing
    n = len(found.labels)
    noise = int(np.count_nonzero(found.labels < 0))
    sure = stability_word(found.count.stability_of(found.count.n_clusters))
    number = f"{found.n_clusters} cluster" + ("s" if found.n_clusters > 1 else "")
    facts = [
        ("Clusters", f"{number}: {why_so_many(found)}.{sure}"),
        (
            "Noise",
            f"{noise:,} of {n:,} rows ({noise / n:.1%}) belong to no cluster."
            if noise
            else "No row stands out as noise; scores tell which fit least."
            + " Heavy noise would look like this too." * clusters.noise_doubt,
        ),
        ("Agreement", _agreement(found)),
        ("Dimension", _dimension(found)),
        (
            "Hubs",
            f"{near.n_orphans:,} rows are in nobody's list of 10 neighbours, the busiest is in "
            f"{int(near.occurrences.max()):,}; skewness {near.skewness:.2f}"
            f"{' (a few rows are near to very many)' if near.skewness > 1 else ''}."
            f"{_longer_contexts(near.context)}",
        ),
    ]
    if near.n_duplicates:
        facts.append(("Duplicates", repeats(near.n_duplicates)))
    if clusters.labels.max() > 0:
        facts.append(
            (
                "Smoothing",
                f"{smoothing.same_before:.1%} of the nearest rows share a row's cluster; "
                f"{smoothing.same_after:.1%} after {smoothing.t:,.0f} steps of self-smoothing.",
            )
        )
    return [(heading, found.failure(*STEPS_OF[heading]) or words) for heading, words in facts]


def why_so_many(found: Perception) -> str:
    """Why there are so many clusters, and where the rest of those looked for has gone."""
    wanted = found.count.n_clusters
    if found.n_clusters == wanted:
        return found.count.why
    return f"{found.count.why}. Of {wanted} that were looked for, only {found.n_clusters} got rows"


def repeats(n_duplicates: int) -> str:
    """How many rows stand in the table before."""
    if n_duplicates == 1:
        return "1 row repeats an earlier row."
    return f"{n_duplicates:,} rows repeat an earlier row."


def stability_word(stability: float) -> str:
    """How sure the number of clusters is, as a sentence; nothing if it was not measured."""
    if not np.isfinite(stability):
        return ""
    word = "firmly" if stability >= 0.9 else "mostly" if stability >= 0.7 else "hardly"
    return f" They {word} survive a jitter of the rows (adjusted Rand index {stability:.2f})."


def _longer_contexts(context: int) -> str:
    if context <= NEIGHBORS:
        return ""
    return f" So many, that rows are clustered by contexts of {context} neighbours."


def _agreement(found: Perception) -> str:
    clusters = found.clusters
    if found.n_clusters == 1:
        return "With one cluster there is nothing to compare."
    return (
        f"Clusters on spanning trees, a second opinion, put {clusters.same_share:.1%} of these rows "
        f"in the same cluster (adjusted Rand index {clusters.adjusted_rand:.2f})."
    )


def _dimension(found: Perception) -> str:
    near, d = found.neighborhoods, found.data.points.shape[1]
    if not np.isfinite(near.dimension):
        return "Too few different rows to tell."
    second = ""
    if np.isfinite(near.dimension_two_nearest):
        second = f", {near.dimension_two_nearest:.1f} by the first two"
    return f"about {near.dimension:.1f} of {d:,} by the nearest 5 to 20 neighbours{second}."


def _cluster_table(found: Perception) -> str:
    largest = max(size["rows"] for size in found.clusters.sizes)
    rows = [["cluster", "rows", "", "noise score", "agreement", "what tells it apart"]]
    for size in found.clusters.sizes:
        rows.append(
            [
                cluster_name(size["cluster"]),
                f"{size['rows']:,}",
                ("█" * round(BAR * size["rows"] / largest)).ljust(BAR),
                f"{size['noise_score']:.2f}",
                "" if size["agreement"] is None else f"{size['agreement']:.0%}",
                telling(size["telling"]) if found.n_clusters > 1 else "",
            ]
        )
    return _left_last(rows)


def _graph_table(found: Perception) -> str:
    head = ["graph", "edges", "parts", "shortcuts", "between clusters", "survive a jitter"]
    return format_rows(
        [
            head,
            *(
                [
                    row["graph"],
                    f"{row['edges']:,}",
                    f"{row['components']:,}",
                    f"{row['shortcuts']:,}",
                    f"{row['between_clusters']:.1%}",
                    f"{row['stability']:.0%}",
                ]
                for row in found.graphs.table
            ),
        ]
    )


def _score_table(found: Perception) -> str:
    assert found.scores is not None
    head = [f"against {found.data.label_name}", "clusters", "noise", "accuracy", "NMI", "ARI"]
    return format_rows(
        [
            head,
            *(
                [
                    row["method"],
                    str(row["clusters"]),
                    f"{row['noise']:.0%}",
                    f"{row['accuracy']:.1%}",
                    f"{row['mutual_information']:.3f}",
                    f"{row['adjusted_rand']:.3f}",
                ]
                for row in found.scores.table
            ),
        ]
    )


def cluster_name(label: int) -> str:
    """The name of a cluster, or of noise."""
    return "noise" if label < 0 else f"cluster {label}"


def telling(columns: list[dict[str, Any]]) -> str:
    """The columns that tell a cluster from the rest, in words."""
    words = [
        f"{part['column']} {'high' if part['deviations'] > 0 else 'low'} ({part['deviations']:+.1f})"
        for part in columns
        if abs(part["deviations"]) >= NEAR
    ]
    return ", ".join(words) or "near the mean in every column"


def _left_last(rows: list[list[str]]) -> str:
    """Aligned columns, the last to the left."""
    front = format_rows([row[:-1] for row in rows]).splitlines()
    return "\n".join(f"{line}  {row[-1]}".rstrip() for line, row in zip(front, rows, strict=True))
