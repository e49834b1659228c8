"""The tables of an audit, each defined once and rendered as HTML, text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report._audit.rows import N_LISTED
from vicinal.report._html.elements import Html, text
from vicinal.report._html.pictures import png_address, thumbnails
from vicinal.report._tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal.report.audit_result import Audit

# Groups of near-duplicates and pairs that are listed, and rows of a group.
N_GROUPS, N_PAIRS, N_MEMBERS = 20, 10, 8
N_DOUBTFUL = 30


def duplicate_groups(result: Audit) -> Table:
    """The largest groups of near-duplicates."""
    found = result.duplicates
    n_groups = len(found.groups)
    order = sorted(range(n_groups), key=lambda g: (-len(found.groups[g]), g))[:N_GROUPS]
    records = []
    for group in order:
        rows, kept = found.groups[group], int(found.representatives[group])
        others = [int(row) for row in rows if row != kept]
        records.append(
            {"group": group, "n_rows": len(rows), "representative": kept, "others": others}
        )
    columns = [
        Column("group", "group"),
        Column("n_rows", "rows"),
        Column("representative", "representative", _row_name(result), "text"),
        Column("others", "near-duplicates of it", _row_names(result), "text"),
    ]
    listed = f"; the largest {N_GROUPS} of {n_groups:,} are listed" if n_groups > N_GROUPS else ""
    caption = (
        f"Groups of rows that are connected by pairs within a distance of {found.threshold:.3g}{listed}. "
        "The representative has the most near-duplicates in its group."
    )
    return Table(columns, records, caption)


def least_similar(result: Audit) -> Table:
    """The accepted pairs with the largest distances."""
    found = result.duplicates
    ends = found.distinct_pairs[::-1][:N_PAIRS]
    first = np.unique(found.distinct_rows, return_index=True)[1]
    records = [
        {"row": int(first[i]), "other": int(first[j]), "distance": float(distance)}
        for (i, j), distance in zip(
            ends.tolist(), found.distinct_distances[::-1][:N_PAIRS], strict=True
        )
    ]
    columns = [
        Column("row", "row", _row_name(result), "text"),
        Column("other", "near-duplicate", _row_name(result), "text"),
        Column("distance", "distance", "{:.4g}"),
    ]
    caption = "The least similar pairs that count as near-duplicates: if they are not, lower the threshold."
    return Table(columns, records, caption)


def outliers(result: Audit) -> Table:
    """The most unusual rows."""
    score, reasons = result.outliers.score, result.outliers.reasons
    records = [
        {"row": row, "score": float(score[row]), "reason": reason}
        for row, reason in reasons.items()
    ]
    columns = [
        Column("row", "row", _row_name(result), "text"),
        Column("score", "outlier score", "{:.2f}"),
        Column("reason", "why", "{}", "text"),
    ]
    caption = (
        "The most unusual rows. The score joins the distances to the rest, to the neighbours and to the "
        "centre in units of the spread. It is not the noise score of a clustering, which is high where "
        "rows are sparse, between clusters too."
    )
    return Table(columns, records, caption)


def doubtful_labels(result: Audit) -> Table:
    """Labels that disagree with their neighbourhood."""
    doubts, labels = result.label_doubts, result.data.labels
    assert doubts is not None
    assert labels is not None
    rows = result.doubtful_rows[:N_DOUBTFUL]
    if len(rows) == 0:
        disagreeing = np.flatnonzero((doubts.suggested != labels) & (labels != ""))
        rows = disagreeing[np.argsort(doubts.support[disagreeing], kind="stable")][:N_LISTED]
    records = [
        {
            "row": int(i),
            "label": str(labels[i]),
            "suggested": str(doubts.suggested[i]),
            "probability": float(doubts.probability[i]),
            "support": float(doubts.support[i]),
        }
        for i in rows
    ]
    columns = [
        Column("row", "row", _row_name(result), "text"),
        Column("label", result.data.label_name, "{}", "text"),
        Column("suggested", "suggested", "{}", "text"),
        Column("probability", "probability wrong", "{:.2f}", shade=lambda r: r["probability"]),
        Column("support", "support of the label", "{:.3f}"),
    ]
    caption = (
        f"Labels that disagree most with the {doubts.n_neighbors} nearest labelled rows. The probability "
        f"that a label is wrong is calibrated by all labels, of which {doubts.error_rate:.1%} are estimated "
        "to be wrong; support is the probability of the label by the votes of the neighbours."
    )
    return Table(columns, records, caption)


def leakage(result: Audit) -> Table:
    """Rows of each split with near-duplicates in another."""
    assert result.leakage is not None
    columns = [
        Column("split", "rows of", "{}", "text"),
        Column("of", "rows"),
        Column("other", "with a near-duplicate in", "{}", "text"),
        Column("rows", "leaking rows"),
        Column("fraction", "fraction", "{:.1%}", shade=lambda record: record["fraction"]),
    ]
    records = [r | {"fraction": r["rows"] / r["of"]} for r in result.leakage.table]
    return Table(columns, records, "Rows that have a near-duplicate in another split.")


def typical(result: Audit) -> Table:
    """Typical and odd rows of each class."""
    columns = [
        Column("rows", "rows"),
        Column("typical", "typical", _row_names(result), "text"),
        Column("odd", "odd", _row_names(result), "text"),
    ]
    kind = "table"
    if result.data.labels is not None:
        columns.insert(0, Column("class", result.data.label_name, "{}", "text"))
        kind = "class"
    caption = f"Rows with the lowest and the highest outlier scores within the {kind}."
    return Table(columns, result.typicality.classes, caption)


def hubs(result: Audit) -> Table:
    """Rows in the most neighbour lists."""
    occurrences = result.hubs.occurrences
    order = np.argsort(-occurrences, kind="stable")[:N_LISTED]
    records = [{"row": int(i), "lists": int(occurrences[i])} for i in order]
    columns = [
        Column("row", "row", _row_name(result), "text"),
        Column("lists", "neighbour lists"),
    ]
    return Table(columns, records, "Rows that are among the 10 nearest of the most other rows.")


def to_json(result: Audit) -> dict[str, Any]:
    """Figures by name, and tables as lists of records."""
    found = result.duplicates
    facts: dict[str, Any] = {
        "rows": len(result.data.ids),
        "columns": result.data.n_used,
        "notes": [*result.data.notes, result.data.why_scaling],
        "duplicate_threshold": found.threshold,
        "duplicate_pairs": found.n_pairs,
        "duplicate_groups": len(found.groups),
        "rows_to_drop": int((~found.keep).sum()),
        "outliers": result.outliers.rows.tolist(),
        "outlier_threshold": float(result.outliers.threshold),
        "hubs": result.hubs.rows.tolist(),
        "orphans": result.hubs.n_orphans,
        "groups": [rows.tolist() for rows in found.groups],
        "least_similar": least_similar(result).to_json(),
        "most_unusual": outliers(result).to_json(),
        "typical_rows": typical(result).to_json(),
        "largest_hubs": hubs(result).to_json(),
    }
    if result.label_doubts is not None:
        assert result.conflicts is not None
        facts |= {
            "doubtful_labels": len(result.doubtful_rows),
            "estimated_label_errors": result.label_doubts.error_rate,
            "doubtful_rows": doubtful_labels(result).to_json(),
            "conflicting_duplicates": result.conflicts.tolist(),
        }
    if result.leakage is not None:
        facts |= {
            "leaking_rows": result.leaking_rows.tolist(),
            "leakage": result.leakage.table,
        }
    return facts | {"parameters": result.parameters, "ids": list(result.data.ids)}


def _row_name(result: Audit) -> Callable[[int], str]:
    """Function from a row to its name, with its picture if there are images."""
    ids, images = result.data.ids, result.data.images

    def name(row: int) -> str:
        if images is None:
            return ids[row]
        source = png_address(thumbnails(images, np.array([row]))[0])
        return Html(f'<img class="thumbnail" src="{source}" alt=""> {text(ids[row])}')

    return name


def _row_names(result: Audit) -> Callable[[list[int]], str]:
    """Function from rows to their names."""
    name = _row_name(result)

    def names(rows: list[int]) -> str:
        shown = [text(name(row)) for row in rows[:N_MEMBERS]]
        more = f" and {len(rows) - N_MEMBERS:,} more" if len(rows) > N_MEMBERS else ""
        return Html(", ".join(shown) + more)

    return names
