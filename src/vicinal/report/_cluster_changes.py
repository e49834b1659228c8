"""How the clusters of one result differ from those of another: moved rows, split and merged clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from vicinal._core.suggestions import quoted
from vicinal.exceptions import InvalidValueError

NOISE = "-1"
# A cluster is split into, or merged from, clusters that hold at least this fraction of its rows.
MIN_FRACTION = 0.1
# A column with more values hardly contains clusters, and matching them would take minutes.
MAX_CLUSTERS = 2000
# Longer numbers are sorted as text.
MAX_DIGITS = 18


class LabelledRows(NamedTuple):
    """Names of rows, and the names of their clusters; noise is "-1"."""

    ids: list[str]
    clusters: list[str]


class ClusterChanges(NamedTuple):
    """Differences of two results on the rows that both have.

    Attributes
    ----------
    n_rows, n_only_before, n_only_after : int
        Number of rows in both results, and in one only.
    adjusted_rand : float
        Adjusted Rand index; noise counts as one cluster.
    contingency : list of dict
        Number of rows for each cluster before and each cluster after, where there are any, with the fraction
        of both clusters.
    matched : dict
        Cluster before that each cluster after continues: those that keep the most rows.
    split, merged : list of dict
        Clusters before with the clusters that they were split into, and clusters after with those that they
        were merged from.
    moved : list of dict
        Rows whose cluster after does not continue their cluster before.
    """

    n_rows: int
    n_only_before: int
    n_only_after: int
    adjusted_rand: float
    contingency: list[dict[str, Any]]
    matched: dict[str, str]
    split: list[dict[str, Any]]
    merged: list[dict[str, Any]]
    moved: list[dict[str, str]]


def compare_clusters(before: LabelledRows, after: LabelledRows) -> ClusterChanges:
    """Compare two results by the names of their rows."""
    old, new = _by_id(before, "the first result"), _by_id(after, "the second result")
    ids = [name for name in old if name in new]
    if not ids:
        raise InvalidValueError(
            f"the results have no row in common: the first has rows such as {_first(old)}, the second such "
            f"as {_first(new)}; choose the column of row names with --id, here and for the "
            "commands that wrote the results."
        )
    pairs = [(old[name], new[name]) for name in ids]
    old_names, new_names = (_sorted({pair[i] for pair in pairs}) for i in (0, 1))
    for which, names in (("first", old_names), ("second", new_names)):
        if len(names) > MAX_CLUSTERS:
            raise InvalidValueError(
                f"the {which} result has {len(names):,} clusters for {len(ids):,} rows, but at most "
                f"{MAX_CLUSTERS:,} can be compared; choose the column of clusters with --cluster."
            )
    counts = np.zeros((len(old_names), len(new_names)), dtype=np.int64)
    rows, columns = {n: i for i, n in enumerate(old_names)}, {n: j for j, n in enumerate(new_names)}
    for a, b in pairs:
        counts[rows[a], columns[b]] += 1
    matched = _match(counts, old_names, new_names)
    return ClusterChanges(
        n_rows=len(ids),
        n_only_before=len(old) - len(ids),
        n_only_after=len(new) - len(ids),
        adjusted_rand=float(adjusted_rand_score(*zip(*pairs, strict=True))),
        contingency=_records(counts, old_names, new_names),
        matched=matched,
        split=_divided(counts, old_names, new_names),
        merged=_divided(counts.T, new_names, old_names),
        moved=[
            {"id": name, "before": a, "after": b}
            for name, (a, b) in zip(ids, pairs, strict=True)
            if matched.get(b) != a
        ],
    )


def _by_id(result: LabelledRows, what: str) -> dict[str, str]:
    clusters = dict(zip(result.ids, result.clusters, strict=True))
    if len(clusters) < len(result.ids):
        seen: set[str] = set()
        double = next(name for name in result.ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidValueError(
            f"{what} has the row {quoted(double)} more than once; choose a column of unique names with --id."
        )
    return clusters


def _first(clusters: dict[str, str]) -> str:
    return ", ".join(map(quoted, list(clusters)[:3]))


def _sorted(names: set[str]) -> list[str]:
    """Names in order of numbers, then of text, and noise last."""

    def key(name: str) -> tuple[bool, bool, int, str]:
        # Not only isdigit, which is true of superscripts.
        is_number = name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS
        return name == NOISE, not is_number, int(name) if is_number else 0, name

    return sorted(names, key=key)


def _match(counts: np.ndarray, before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Cluster before of each cluster after, so that as many rows as possible stay; noise stays noise."""
    old = [i for i, name in enumerate(before) if name != NOISE]
    new = [j for j, name in enumerate(after) if name != NOISE]
    rows, columns = linear_sum_assignment(counts[np.ix_(old, new)], maximize=True)
    matched = {
        after[new[j]]: before[old[i]]
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        if counts[old[i], new[j]]
    }
    return matched | {NOISE: NOISE}


def _records(
    counts: np.ndarray, before: Sequence[str], after: Sequence[str]
) -> list[dict[str, Any]]:
    return [
        {
            "before": before[i],
            "after": after[j],
            "rows": int(counts[i, j]),
            "of_before": float(counts[i, j] / counts[i].sum()),
            "of_after": float(counts[i, j] / counts[:, j].sum()),
        }
        for i, j in np.argwhere(counts).tolist()
    ]


def _divided(
    counts: np.ndarray, whole: Sequence[str], parts: Sequence[str]
) -> list[dict[str, Any]]:
    """Clusters that are the union of several others: each holds enough of it, and is mostly in it."""
    divided = []
    for i, name in enumerate(whole):
        inside = [
            parts[j]
            for j in range(len(parts))
            if parts[j] != NOISE
            and counts[i, j] >= MIN_FRACTION * counts[i].sum()
            and 2 * counts[i, j] > counts[:, j].sum()
        ]
        if name != NOISE and len(inside) > 1:
            divided.append({"cluster": name, "parts": inside})
    return divided
