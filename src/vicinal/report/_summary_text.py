"""The main findings as sentences and small tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report import _tables
from vicinal.report._conclusion import conclusion
from vicinal.report._shared_inputs import N_NEIGHBORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vicinal.report._tables import Column, Record, Table
    from vicinal.report.result import Perception

BAR_WIDTH = 24
# Stability (adjusted Rand index) from which clusters are called stable, or mostly stable.
STABLE, MOSTLY_STABLE = 0.9, 0.7
# Skewness of the occurrences in neighbour lists from which hubs are pointed out.
HUB_SKEWNESS = 1.0
CLUSTERING = ("number of clusters", "clusters and noise")
# The steps that each finding depends on.
STEPS_BY_FINDING = {
    "Answer": CLUSTERING,
    "Confidence": CLUSTERING,
    "Look at": CLUSTERING,
    "Columns": (),
    "Clusters": CLUSTERING,
    "Noise": CLUSTERING,
    "Agreement": CLUSTERING,
    "Dimension": ("neighbour structure",),
    "Hubs": ("neighbour structure",),
    "Duplicates": ("neighbour structure",),
}


def summary(result: Perception) -> str:
    """The findings, then the tables of clusters and scores."""
    lines = [
        title(result),
        *(f"  - {note}" for note in result.data.notes),
        f"  - {result.data.why_scaling}",
        "",
        *(f"{heading:<12}{text}" for heading, text in findings(result)),
        "",
        result.failure(*CLUSTERING) or text_table(_tables.clusters(result)),
        *_explanations(result),
    ]
    if result.scores is not None:
        failure = result.failure("scores against labels")
        lines += ["", failure or text_table(_tables.label_scores(result))]
    return "\n".join(lines)


def _explanations(result: Perception) -> list[str]:
    from vicinal.report._explanation_text import explanation_lines

    if "explanations" in result.failures:
        return ["", str(result.failure("explanations"))]
    lines = explanation_lines(result)
    return ["", *lines] if lines else []


def title(result: Perception) -> str:
    """Name and size of the table."""
    columns = plural(len(result.data.columns), "column")
    rows = plural(len(result.labels), "row")
    return f"{result.origin.title}: {rows}, {result.data.n_used:,} of {columns} used"


def findings(result: Perception) -> list[tuple[str, str]]:
    """The conclusion and the main findings, each as a heading and a sentence or two."""
    texts = conclusion(result) | {
        "Clusters": _clusters(result),
        "Noise": _noise(result),
        "Agreement": _agreement(result),
        "Dimension": _dimension(result),
        "Hubs": _hubs(result),
    }
    if result.neighborhoods.n_duplicates:
        texts["Duplicates"] = duplicates(result.neighborhoods.n_duplicates)
    return [
        (heading, result.failure(*STEPS_BY_FINDING[heading]) or text)
        for heading, text in texts.items()
    ]


def explain_n_clusters(result: Perception) -> str:
    """Why there is this number of clusters, and whether some of them stayed empty."""
    requested = result.count.n_clusters
    if result.n_clusters == requested:
        return result.count.why
    return f"{result.count.why}. Only {result.n_clusters} of {requested} clusters contain rows"


def duplicates(n_duplicates: int) -> str:
    """How many rows are duplicates, as a sentence."""
    if n_duplicates == 0:
        return "There are no duplicate rows."
    if n_duplicates == 1:
        return "1 row equals an earlier one in all columns used."
    return f"{n_duplicates:,} rows equal an earlier one in all columns used."


def plural(n: int, noun: str) -> str:
    """A count with its noun."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def text_table(table: Table) -> str:
    """A table as aligned text: numbers to the right, everything else to the left."""
    columns = table.shown_columns
    rendered = []
    for i, column in enumerate(columns):
        cells = [column.heading, *_cells(column, table.records)]
        width = 0 if i == len(columns) - 1 and column.kind != "number" else max(map(len, cells))
        align = str.rjust if column.kind == "number" else str.ljust
        rendered.append([align(cell, width) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*rendered, strict=True))


def _cells(column: Column, records: Sequence[Record]) -> list[str]:
    if column.kind != "bar":
        return [column.text(record) for record in records]
    largest = max(record[column.key] for record in records)
    return ["█" * round(BAR_WIDTH * record[column.key] / largest) for record in records]


def _clusters(result: Perception) -> str:
    stability = _stability(result.count.stability_of(result.count.n_clusters))
    return f"{plural(result.n_clusters, 'cluster')}: {explain_n_clusters(result)}.{stability}"


def _stability(index: float) -> str:
    if not np.isfinite(index):
        return ""
    if index < MOSTLY_STABLE:
        return (
            f" Not stable: small perturbations of the data change the clusters (ARI {index:.2f})."
        )
    word = "Stable" if index >= STABLE else "Mostly stable"
    return f" {word} under small perturbations of the data (ARI {index:.2f})."


def _noise(result: Perception) -> str:
    n, n_noise = len(result.labels), int(np.count_nonzero(result.labels < 0))
    if n_noise:
        return f"{n_noise:,} of {n:,} rows ({n_noise / n:.1%}) are noise."
    if result.data.categories:
        return (
            "Not separated: densities mean little where columns are categories. See the noise scores for "
            "the least typical rows."
        )
    text = "No noise detected; see the noise scores for the least typical rows."
    return text + " Note: very heavy noise can go undetected." * result.clusters.noise_doubt


def _agreement(result: Perception) -> str:
    if result.n_clusters == 1:
        return "Not applicable to a single cluster."
    return (
        f"{result.clusters.other_method.capitalize()}, an independent method, assigns "
        f"{result.clusters.same_fraction:.1%} of the non-noise rows to the same cluster "
        f"(ARI {result.clusters.adjusted_rand:.2f})."
    )


def _dimension(result: Perception) -> str:
    stats, d = result.neighborhoods, result.data.n_used
    if not np.isfinite(stats.dimension):
        return "Too few distinct rows to estimate."
    two_nn = stats.dimension_two_nearest
    second = f"; TwoNN estimate {two_nn:.1f}" if np.isfinite(two_nn) else ""
    columns = plural(d, "column")
    return (
        f"About {stats.dimension:.1f} (of {columns}; maximum likelihood, 5–20 neighbours){second}."
    )


def _hubs(result: Perception) -> str:
    stats = result.neighborhoods
    verb = "is" if stats.n_orphans == 1 else "are"
    text = (
        f"{plural(stats.n_orphans, 'row')} {verb} not among the {N_NEIGHBORS} nearest neighbours of any "
        f"other row; the largest hub appears in {int(stats.occurrences.max()):,} neighbour lists "
        f"(skewness {stats.skewness:.2f}{', a few strong hubs' * (stats.skewness > HUB_SKEWNESS)})."
    )
    if stats.context > N_NEIGHBORS:
        text += (
            f" Because of this, neighbourhoods of {stats.context} points were used for clustering."
        )
    return text
