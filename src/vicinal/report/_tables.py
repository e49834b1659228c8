"""The tables of the report, each defined once and rendered as HTML, text and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from vicinal.report._value_text import readable, statistic_text, value_formats

if TYPE_CHECKING:
    from vicinal.report.result import Perception

Record = Mapping[str, Any]
# z-scores below this do not distinguish a cluster.
MIN_Z_SCORE = 0.2


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    key : str
        Key of the values in the records, and in JSON.
    heading : str
        Heading on the page and in the terminal.
    format : str or callable
        Format string, or function from a value to its text.
    kind : {"number", "text", "cluster", "bar", "row"}
        How values look: numbers are aligned right; clusters, bars and rows have their own elements on
        the page. The value of a "row" column is a row number of the analysed table.
    shade : callable or None
        Function from a record to the strength (0 to 1) of the background on the page.
    describe : callable or None
        Function from a record to its text, where the value alone is not enough.
    """

    key: str
    heading: str
    format: str | Callable[[Any], str] = "{:,}"
    kind: Literal["number", "text", "cluster", "bar", "row"] = "number"
    shade: Callable[[Record], float] | None = None
    describe: Callable[[Record], str] | None = None

    def text(self, record: Record) -> str:
        """The value of a record as text; empty for None."""
        if self.describe is not None:
            return self.describe(record)
        value = record[self.key]
        if value is None:
            return ""
        return self.format(value) if callable(self.format) else self.format.format(value)


class Table(NamedTuple):
    """Columns, records, and a caption for the page."""

    columns: Sequence[Column]
    records: Sequence[Record]
    caption: str

    @property
    def shown_columns(self) -> list[Column]:
        """All columns except those of texts that are empty in every record."""
        return [
            column
            for column in self.columns
            if column.kind != "text" or not self.records or any(map(column.text, self.records))
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """The records as dictionaries with the keys of the columns."""
        keys = [column.key for column in self.columns]
        return [{key: record[key] for key in keys} for record in self.records]


def clusters(result: Perception) -> Table:
    """Size, noise and distinguishing columns of each cluster."""
    features = describe_features if result.n_clusters > 1 else lambda _: ""
    columns = [
        Column("cluster", "cluster", cluster_name, "cluster"),
        Column("rows", "rows"),
        Column("fraction", "", kind="bar"),
        Column("noise_score", "noise score", "{:.2f}"),
        Column("agreement", "agreement", "{:.0%}"),
        Column("counterpart", "in the second method", "{}", "text"),
        Column("top_features", "distinguishing columns", features, "text"),
    ]
    caption = (
        "Size and mean noise score of each cluster, the fraction of its rows that the second method "
        "assigns to the same cluster, and the columns whose cluster mean is farthest from the overall "
        "mean, in standard deviations."
    )
    records = [size | {"counterpart": _counterpart(result, size)} for size in result.clusters.sizes]
    return Table(columns, records, caption)


def _counterpart(result: Perception, size: Record) -> str:
    """Where most rows of a cluster are in the second method, if elsewhere, as if it merged two clusters."""
    label = size["cluster"]
    counts = result.clusters.contingency[label]
    if label < 0 or 2 * counts[label] >= counts.sum():
        return ""
    other = int(counts.argmax())
    merged = result.labels[result.clusters.other_labels == other]
    shared = np.flatnonzero(np.bincount(merged[merged >= 0]) > 0.1 * len(merged))
    if len(shared) > 1:
        *first, last = map(str, shared)
        return f"merged: clusters {', '.join(first)} and {last} are one"
    return f"most rows are in its cluster {other}"


def contingency(result: Perception) -> Table:
    """Number of rows by cluster and by cluster of the other method."""
    counts = result.clusters.contingency
    used = np.flatnonzero(counts.any(axis=0)).tolist()
    noise = len(counts) - 1
    columns = [Column("cluster", "", cluster_name, "cluster")]
    for j in used:
        key = f"other_cluster_{j}"
        columns.append(Column(key, cluster_name(j), shade=_fraction_of_rows(key)))
    records = [
        {"cluster": -1 if i == noise else i, "rows": int(counts[i].sum())}
        | {f"other_cluster_{j}": int(counts[i, j]) for j in used}
        for i in range(len(counts))
        if counts[i].any()
    ]
    caption = (
        f"Rows: clusters of this report, by {result.clusters.method}. Columns: clusters by "
        f"{result.clusters.other_method}. The more rows are on the diagonal, the better the two agree."
    )
    return Table(columns, records, caption)


def least_typical(result: Perception) -> Table:
    """Rows with the highest noise scores."""
    columns = [
        Column("row", "row", kind="row"),
        Column("noise_score", "noise score", "{:.3f}"),
        Column("cluster", "", cluster_name, "cluster"),
    ]
    records = [
        {"row": i, "noise_score": result.noise_score[i], "cluster": int(result.labels[i])}
        for i in result.exemplars.noise
    ]
    return Table(columns, records, "The least typical rows. Click one to show it on the map.")


def exemplars(
    result: Perception, picked: Record, features: Sequence[int], categories: Sequence[str] = ()
) -> Table:
    """Typical and atypical rows of a cluster with their numbers and categories in some columns."""
    names, formats = result.data.names, value_formats(result.data)
    columns = [
        Column("row", "row", kind="row"),
        Column("kind", "", "{}", "text"),
        Column("noise_score", "noise score", "{:.2f}"),
        *(Column(f"column_{j}", names[j], formats.get(names[j], readable)) for j in features),
        *(Column(f"category_{j}", name, "{}", "text") for j, name in enumerate(categories)),
    ]
    records = [
        {"row": i, "kind": kind, "noise_score": result.noise_score[i]}
        | {f"column_{j}": result.data.values[i, j] for j in features}
        | {f"category_{j}": result.data.categories[name][i] for j, name in enumerate(categories)}
        for kind in ("typical", "atypical")
        for i in picked[kind]
    ]
    caption = "The most and least typical rows, with the columns that differ most between clusters."
    return Table(columns, records, caption)


def hubs(result: Perception) -> Table:
    """Rows in the most neighbour lists."""
    occurrences = result.neighborhoods.occurrences
    records = [{"row": int(i), "lists": int(occurrences[i])} for i in result.neighborhoods.hubs]
    columns = [Column("row", "hub", kind="row"), Column("lists", "neighbour lists")]
    return Table(columns, records, "Rows that appear in the most neighbour lists (hubs).")


def label_scores(result: Perception) -> Table:
    """Every method scored against the known labels."""
    scores, labels = result.scores, result.data.labels
    assert scores is not None
    columns = [
        Column("method", f"compared with {result.data.label_name}", "{}", "text"),
        Column("clusters", "clusters"),
        Column("noise", "noise", "{:.0%}"),
        Column("accuracy", "accuracy", "{:.3f}", shade=lambda r: r["accuracy"]),
        Column("mutual_information", "NMI", "{:.3f}", shade=lambda r: r["mutual_information"]),
        Column("adjusted_rand", "ARI", "{:.3f}", shade=lambda r: r["adjusted_rand"]),
    ]
    n_labelled = int(np.count_nonzero(labels != ""))
    kind = "rows" if n_labelled == len(result.labels) else "labelled rows"
    caption = (
        f"Clusters compared with the {scores.n_classes} classes of {result.data.label_name!r} on "
        f"{sample_size(scores.n_rows, n_labelled, kind)}. Every method was given "
        f"{result.count.n_clusters} as the number of clusters except HDBSCAN, which chooses its own "
        "(default settings). Noise is scored as one cluster. No method used the labels. NMI: normalised "
        "mutual information; ARI: adjusted Rand index."
    )
    return Table(columns, scores.table, caption)


def columns(result: Perception) -> Table:
    """Kind, statistics and use of every column."""
    statistics = ("mean", "std", "min", "median", "max")
    described = [
        Column("column", "column", "{}", "text"),
        *(Column(name, name, describe=partial(statistic_text, name=name)) for name in statistics),
        Column("missing", "missing"),
        Column("kind", "kind", "{}", "text"),
        Column("weight", "weight", "{:.2f}"),
        Column("used", "", lambda used: "used" if used else "not used", "text"),
        Column("reason", "", "{}", "text"),
    ]
    caption = f"Columns before scaling ({result.data.why_scaling})."
    return Table(described, result.data.columns, caption)


def times(result: Perception) -> Table:
    """Time per step."""
    columns = [Column("step", "step", "{}", "text"), Column("seconds", "seconds", "{:.1f}")]
    records = [{"step": name, "seconds": seconds} for name, seconds in result.seconds.items()]
    return Table(columns, records, "Time per step; some run at the same time.")


def _fraction_of_rows(key: str) -> Callable[[Record], float]:
    return lambda record: record[key] / record["rows"]


def cluster_name(label: int) -> str:
    """Name of a cluster, or "noise"."""
    return "noise" if label < 0 else f"cluster {label}"


def describe_features(features: Sequence[Record]) -> str:
    """The columns that distinguish a cluster, in words."""
    words = [_describe_feature(f) for f in features if abs(f["z_score"]) >= MIN_Z_SCORE]
    return ", ".join(words) or "near the mean in every column"


def _describe_feature(feature: Record) -> str:
    if "category" in feature:
        return (
            f"{feature['column']} is {feature['category']} "
            f"({feature['inside']:.0%}, others {feature['outside']:.0%})"
        )
    direction = "high" if feature["z_score"] > 0 else "low"
    return f"{feature['column']} {direction} ({feature['z_score']:+.1f})"


def sample_size(n: int, total: int, kind: str = "rows") -> str:
    """How many rows something was computed on, in words."""
    return f"all {n:,} {kind}" if n == total else f"a sample of {n:,} of the {total:,} {kind}"
