"""What a reader wants to know first: what is in the table, how sure that is, and what to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vicinal.report._tables import cluster_name, describe_features

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Stability (adjusted Rand index), and agreement of two methods, from which clusters are reliable or doubtful.
RELIABLE, DOUBTFUL = 0.9, 0.7
# Columns with more values than this are not discrete.
MAX_VALUES = 20
# A column makes the clusters alone if it removes this fraction of the errors of always guessing the largest.
MIN_ERRORS_REMOVED = 0.9
MAX_NAMED = 5
MAX_SIZES = 6


class DefiningColumn(NamedTuple):
    """A discrete column whose value alone determines the cluster of most rows."""

    name: str
    accuracy: float


def defining_columns(result: Perception) -> list[DefiningColumn]:
    """Discrete columns that alone make the clusters, most accurate first."""
    labels, data = result.labels, result.data
    known = labels >= 0
    if result.n_clusters < 2:
        return []
    largest = np.bincount(labels[known]).max() / known.sum()
    columns = {name: data.values[:, j] for j, name in enumerate(data.names)}
    found = []
    for name, values in {**columns, **data.categories}.items():
        distinct, codes = np.unique(values[known], return_inverse=True)
        if 1 < len(distinct) <= MAX_VALUES:
            counts = np.zeros((len(distinct), result.n_clusters))
            np.add.at(counts, (codes, labels[known]), 1)
            accuracy = float(counts.max(axis=1).sum() / known.sum())
            if accuracy - largest >= MIN_ERRORS_REMOVED * (1.0 - largest):
                found.append(DefiningColumn(name, accuracy))
    return sorted(found, key=lambda column: -column.accuracy)


def conclusion(result: Perception) -> dict[str, str]:
    """Sentences by heading."""
    return {
        "Answer": _answer(result),
        "Confidence": _confidence(result),
        "Look at": _look_at(result),
        "Columns": columns_used(result),
    }


def columns_used(result: Perception) -> str:
    """How many columns are used, and which are not and why."""
    columns = result.data.columns
    unused = [column for column in columns if not column["used"]]
    used = f"{result.data.n_used:,} of {len(columns):,} used."
    if not unused:
        return used
    by_reason: dict[str, list[str]] = {}
    for column in unused:
        by_reason.setdefault(column["reason"] or "not comparable", []).append(column["column"])
    named = [f"{_listed(names)} ({reason})" for reason, names in by_reason.items()]
    return f"{used} Not used: {'; '.join(named)}."


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _answer(result: Perception) -> str:
    n = len(result.labels)
    n_noise = int(np.count_nonzero(result.labels < 0))
    noise = f"; {n_noise:,} rows belong to none of them" if n_noise else ""
    if result.n_clusters == 1:
        return f"The {n:,} rows form one group without clear clusters{noise}."
    sizes = sorted(
        (s for s in result.clusters.sizes if s["cluster"] >= 0), key=lambda s: -s["rows"]
    )
    parts = []
    for size in sizes[:MAX_SIZES]:
        # Single pixels of images say little.
        pictured = result.data.images is not None
        words = "" if pictured else f": {describe_features(size['top_features'][:2])}"
        parts.append(f"{cluster_name(size['cluster'])} ({size['rows']:,}{words})")
    n_more = len(sizes) - MAX_SIZES
    more = f" and {n_more} smaller one{'s' * (n_more > 1)}" if n_more > 0 else ""
    return f"The {n:,} rows form {result.n_clusters} clusters: {', '.join(parts)}{more}{noise}."


def _confidence(result: Perception) -> str:
    if result.n_clusters == 1:
        return f"No number of clusters above 1 is supported: {result.count.why}."
    stability = result.count.stability_of(result.count.n_clusters)
    agreement = result.clusters.same_fraction
    worst = min(agreement, stability if np.isfinite(stability) else 1.0)
    word = "High" if worst >= RELIABLE else "Moderate" if worst >= DOUBTFUL else "Low"
    stable = f"they agree to {stability:.2f} (ARI) with those of slightly perturbed rows, and "
    text = (
        f"{word}: {stable if np.isfinite(stability) else ''}a second method assigns {agreement:.0%} of "
        "the rows to the same clusters."
    )
    if word == "Low":
        text += _more_stable(result, stability)
    for column in defining_columns(result)[:1]:
        text += (
            f" But one column makes them: {column.name} alone determines the cluster of "
            f"{column.accuracy:.0%} of the rows. Ignore it to see what else is in the table."
        )
    return text


def _more_stable(result: Perception, stability: float) -> str:
    """The number of clusters with the best stability, if it is reliable and the reported one is not."""
    numbers, indices = result.count.stability.T
    if not len(numbers) or not np.nanmax(indices, initial=-1.0) >= RELIABLE > stability:
        return ""
    best = int(np.nanargmax(indices))
    return (
        f" {int(numbers[best])} clusters would be stable (ARI {indices[best]:.2f}): compare both with "
        f"n_clusters={int(numbers[best])}, on the command line --clusters {int(numbers[best])}."
    )


def _confirms(agreement: float) -> str:
    return f"confirms for only {agreement:.0%} of its rows" if agreement > 0 else "does not find"


def _look_at(result: Perception) -> str:
    hints = []
    clusters = [s for s in result.clusters.sizes if s["cluster"] >= 0]
    doubtful = min(clusters, key=lambda s: s["agreement"])
    if result.n_clusters > 1 and doubtful["agreement"] < RELIABLE:
        hints.append(
            f"{cluster_name(doubtful['cluster'])}, which the second method {_confirms(doubtful['agreement'])}"
        )
    ids = [result.data.ids[row] for row in result.exemplars.noise[:3]]
    if ids:
        hints.append(f"the least typical rows, {', '.join(ids)}")
    n_equal = result.neighborhoods.n_duplicates
    if n_equal:
        rows = "1 row that equals" if n_equal == 1 else f"{n_equal:,} rows that equal"
        hints.append(f"{rows} an earlier one in all columns used")
    if not hints:
        return "Nothing stands out."
    text = "; ".join(hints)
    return f"{text[0].upper()}{text[1:]}."
