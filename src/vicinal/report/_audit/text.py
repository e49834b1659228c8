"""The findings of an audit as sentences, and its summary for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.report._audit import tables
from vicinal.report._summary_text import plural, text_table

if TYPE_CHECKING:
    from vicinal.report.audit_result import Audit


def title(result: Audit) -> str:
    """Name and size of the table."""
    columns = plural(len(result.data.columns), "column")
    rows = plural(len(result.data.ids), "row")
    return f"Audit of {result.origin.title}: {rows}, {result.data.n_used:,} of {columns} used"


def findings(result: Audit) -> list[tuple[str, str]]:
    """The main findings, each as a heading and a sentence or two."""
    facts = [("Duplicates", _duplicates(result))]
    if result.leakage is not None:
        facts.append(("Leakage", _leakage(result)))
    if result.label_doubts is not None:
        facts.append(("Labels", _labels(result)))
    return [*facts, ("Outliers", _outliers(result)), ("Hubs", _hubs(result))]


def summary(result: Audit) -> str:
    """The findings, then the tables of leakage and of doubtful labels."""
    lines = [
        title(result),
        *(f"  - {note}" for note in result.data.notes),
        f"  - {result.data.why_scaling}",
        "",
        *(f"{heading:<12}{text}" for heading, text in findings(result)),
    ]
    if result.leakage is not None and len(result.leaking_rows):
        lines += ["", text_table(tables.leakage(result))]
    if len(result.doubtful_rows) and result.data.images is None:
        lines += ["", text_table(tables.doubtful_labels(result))]
    return "\n".join(lines)


def _duplicates(result: Audit) -> str:
    found = result.duplicates
    if not found.groups:
        return "No near-duplicate rows."
    n_dropped = int((~found.keep).sum())
    return (
        f"{plural(found.n_pairs, 'pair')} of near-duplicates in {plural(len(found.groups), 'group')} "
        f"(distance at most {found.threshold:.3g}); dropping {plural(n_dropped, 'row')} leaves "
        "one row per group."
    )


def _leakage(result: Audit) -> str:
    n = len(result.leaking_rows)
    if n == 0:
        return "No row has a near-duplicate in another split."
    return f"{plural(n, 'row')} {'has' if n == 1 else 'have'} a near-duplicate in another split."


def _labels(result: Audit) -> str:
    doubts, conflicts = result.label_doubts, result.conflicts
    assert doubts is not None
    assert conflicts is not None
    n, n_labelled = len(result.doubtful_rows), int((doubts.suggested != "").sum())
    text = (
        f"{plural(n, 'label')} of {n_labelled:,} {'is' if n == 1 else 'are'} more likely wrong than right; "
        f"about {doubts.error_rate:.1%} of all labels are estimated to be wrong."
    )
    if len(conflicts):
        verb = "has a near-duplicate" if len(conflicts) == 1 else "have near-duplicates"
        text += f" {plural(len(conflicts), 'row')} {verb} with another label."
    return text + _unrelated_labels(result)


def _unrelated_labels(result: Audit) -> str:
    """A warning if the neighbours predict labels no better than the most frequent class does."""
    doubts, labels = result.label_doubts, result.data.labels
    assert doubts is not None
    assert labels is not None
    known = labels != ""
    counts = np.unique(labels[known], return_counts=True)[1]
    if len(counts) < 2:
        return ""
    n = int(counts.sum())
    predicted, frequent = float((doubts.suggested == labels)[known].mean()), counts.max() / n
    margin = 2.0 * np.sqrt(predicted * (1.0 - predicted) / n)
    if predicted - margin > frequent:
        return ""
    return (
        f" But the columns hardly predict the labels: the nearest rows suggest the given label for "
        f"{predicted:.0%} of the rows, and always guessing the most frequent class would be right for "
        f"{frequent:.0%}. So wrong labels cannot be recognised reliably here."
    )


def _outliers(result: Audit) -> str:
    n, total = len(result.outliers.rows), len(result.data.ids)
    verb = "is" if n == 1 else "are"
    return f"{n:,} of {total:,} rows ({n / total:.1%}) {verb} far from the rest."


def _hubs(result: Audit) -> str:
    hubs = result.hubs
    verb = "is" if hubs.n_orphans == 1 else "are"
    return (
        f"The largest hub is among the 10 nearest neighbours of {int(hubs.occurrences.max()):,} rows; "
        f"{plural(hubs.n_orphans, 'row')} {verb} among those of no other row."
    )
