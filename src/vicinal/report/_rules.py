"""Short rules for clusters: a conjunction of conditions from a small decision tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

MAX_DEPTH = 3
# Rules are found on at most this many rows, and measured on as many others.
MAX_ROWS = 4000
# Categories beyond the most frequent ones are not in rules.
MAX_CATEGORIES = 12
# A rule needs this many rows of its cluster.
MIN_MEMBERS = 5


class Feature(NamedTuple):
    """A column of numbers, or whether a column has a category."""

    column: str
    category: str | None
    values: np.ndarray


def rule_features(
    values: np.ndarray, names: Sequence[str], categories: Mapping[str, np.ndarray]
) -> list[Feature]:
    """Features that rules may use."""
    features = [Feature(name, None, column) for name, column in zip(names, values.T, strict=True)]
    for name, words in categories.items():
        found, counts = np.unique(words[words != ""].astype(str), return_counts=True)
        frequent = found[np.argsort(-counts, kind="stable")][:MAX_CATEGORIES]
        features += [Feature(name, str(word), (words == word).astype(float)) for word in frequent]
    return features


def find_rule(
    features: Sequence[Feature], members: np.ndarray, rng: np.random.Generator
) -> dict[str, Any] | None:
    """The rule for a group of rows, with precision and recall on rows that it was not found on.

    None if the group or one half of the rows has too few rows.
    """
    from sklearn.tree import DecisionTreeClassifier

    rows = rng.permutation(len(members))[: 2 * MAX_ROWS]
    fitted, held_out = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    enough = members[fitted].sum() >= MIN_MEMBERS and members[held_out].any()
    if not enough or members[fitted].all() or not features:
        return None
    X = np.column_stack([feature.values[fitted] for feature in features])
    y = members[fitted]
    # Trees use float32: values relative to the median, in units of the largest difference. Halved, because
    # the difference of two values may overflow.
    center = np.quantile(X, 0.5, axis=0, method="lower")
    scaled = X / 2 - center / 2
    unit = np.maximum(np.abs(scaled).max(axis=0), np.finfo(float).tiny)
    scaled /= unit
    tree = DecisionTreeClassifier(
        max_depth=MAX_DEPTH, min_samples_leaf=2, class_weight="balanced", random_state=0
    ).fit(scaled, y)
    best = max(_paths(tree.tree_), key=lambda path: _f1(_fits(scaled, path), y))
    conditions = _conditions(best, features, X, center, unit)
    if not conditions:
        return None
    covered = np.ones(len(held_out), dtype=bool)
    for condition in conditions:
        covered &= _holds(condition, features, held_out)
    hits = int(np.count_nonzero(covered & members[held_out]))
    return {
        "conditions": [{k: v for k, v in c.items() if k != "feature"} for c in conditions],
        "precision": hits / covered.sum() if covered.any() else None,
        "recall": hits / int(members[held_out].sum()),
        "rows": len(held_out),
    }


def _paths(tree: Any) -> list[list[tuple[int, float, bool]]]:
    """Conditions (feature, threshold, whether above) that lead to each leaf."""
    paths: list[list[tuple[int, float, bool]]] = []
    stack: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while stack:
        node, path = stack.pop()
        if tree.children_left[node] < 0:
            paths.append(path)
            continue
        test = int(tree.feature[node]), float(tree.threshold[node])
        stack.append((int(tree.children_left[node]), [*path, (*test, False)]))
        stack.append((int(tree.children_right[node]), [*path, (*test, True)]))
    return paths


def _fits(X: np.ndarray, path: Sequence[tuple[int, float, bool]]) -> np.ndarray:
    fits = np.ones(len(X), dtype=bool)
    for j, threshold, above in path:
        fits &= (X[:, j] > threshold) == above
    return fits


def _f1(covered: np.ndarray, members: np.ndarray) -> float:
    return 2.0 * np.count_nonzero(covered & members) / (covered.sum() + members.sum())


def _conditions(
    path: Sequence[tuple[int, float, bool]],
    features: Sequence[Feature],
    X: np.ndarray,
    center: np.ndarray,
    unit: np.ndarray,
) -> list[dict[str, Any]]:
    """Conditions of a path with readable thresholds; of several on one feature, the strictest."""
    strictest: dict[tuple[int, bool], float] = {}
    for j, threshold, above in path:
        value = 2.0 * (threshold * unit[j] + center[j] / 2)
        known = strictest.get((j, above), value)
        strictest[j, above] = max(known, value) if above else min(known, value)
    conditions = []
    for (j, above), value in strictest.items():
        feature = features[j]
        record: dict[str, Any] = {"feature": j, "column": feature.column}
        if feature.category is not None:
            record |= {"is": above, "category": feature.category}
        else:
            record |= {"above": above, "value": _readable(value, X[:, j])}
        conditions.append(record)
    return conditions


def _readable(value: float, column: np.ndarray) -> float:
    """A threshold rounded to a hundredth of the spread of its column."""
    halves = column / 2
    spread = float(np.subtract(*np.quantile(halves, [0.9, 0.1]))) or float(np.ptp(halves))
    if spread == 0:
        return float(value)
    return float(round(value, 2 - int(np.floor(np.log10(spread)))))


def _holds(
    condition: Mapping[str, Any], features: Sequence[Feature], rows: np.ndarray
) -> np.ndarray:
    values = features[condition["feature"]].values[rows]
    if "category" in condition:
        return (values > 0) == condition["is"]
    return (values > condition["value"]) == condition["above"]
