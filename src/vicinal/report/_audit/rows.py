"""Outliers, typical and odd rows, and hubs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal.outliers import OutlierDetector
from vicinal.report._shared_inputs import N_NEIGHBORS

# Rows listed of each kind, and in each class.
N_LISTED, N_LISTED_PER_CLASS = 10, 3
# In smaller classes, typical rows are meaningless.
MIN_CLASS_SIZE = 10
# Rows in this many times more neighbour lists than the average are hubs.
HUB_FACTOR = 5


class Outliers(NamedTuple):
    """Outlier scores of all rows.

    Attributes
    ----------
    score : ndarray (n,)
        Score of `OutlierDetector`, 0 for a typical row; higher is more unusual.
    threshold : float
        Rows above it are outliers.
    rows : ndarray of int
        The outliers, the most unusual first.
    reasons : dict of int to str
        Why each of the most unusual rows is unusual.
    """

    score: np.ndarray
    threshold: float
    rows: np.ndarray
    reasons: dict[int, str]


class Typicality(NamedTuple):
    """How typical rows are of their class, or of the table if there are no labels.

    Attributes
    ----------
    rank : ndarray (n,)
        Fraction of the rows of the class that are less typical; NaN for rows without a label, and in
        classes of fewer than 10 rows.
    classes : list of dict
        For each class its name, its size, and its most ``typical`` and most ``odd`` rows.
    """

    rank: np.ndarray
    classes: list[dict[str, Any]]


class Hubs(NamedTuple):
    """Rows in many neighbour lists, and rows in none.

    Attributes
    ----------
    occurrences : ndarray of int (n,)
        Number of 10-neighbour lists that contain each row.
    rows : ndarray of int
        Rows in at least five times as many lists as the average row, the largest first.
    n_orphans : int
        Number of rows in no list.
    """

    occurrences: np.ndarray
    rows: np.ndarray
    n_orphans: int


def find_outliers(
    points: np.ndarray, detector: OutlierDetector, names: list[str] | None
) -> Outliers:
    """Score all rows; reasons name columns if the points have one coordinate for each name."""
    model = detector.fit(points)
    score = -model.score_samples(points)
    rows = np.flatnonzero(model.labels_ == -1)
    listed = np.argsort(-score, kind="stable")[:N_LISTED]
    reasons = {}
    for row, reason in zip(listed.tolist(), model.explain(points[listed]), strict=True):
        named = [(names[column], share) for column, share in reason.columns] if names else []
        reasons[row] = str(reason._replace(columns=named))
    ordered = rows[np.argsort(-score[rows], kind="stable")]
    return Outliers(score, -model.offset_, ordered, reasons)


def find_typical(
    points: np.ndarray, labels: np.ndarray | None, detector: OutlierDetector
) -> Typicality:
    """Rank the rows of each class by their outlier scores within it."""
    rank = np.full(len(points), np.nan)
    classes = []
    groups = {"": np.arange(len(points))}
    n_listed = N_LISTED
    if labels is not None:
        groups = {str(name): np.flatnonzero(labels == name) for name in np.unique(labels) if name}
        n_listed = N_LISTED_PER_CLASS
    for name, rows in groups.items():
        if len(rows) < MIN_CLASS_SIZE:
            continue
        score = -detector.fit(points[rows]).score_samples(points[rows])
        order = rows[np.argsort(score, kind="stable")]
        # Equally typical rows have the same rank.
        rank[rows] = 1.0 - np.searchsorted(np.sort(score), score, side="right") / len(rows)
        n_shown = min(n_listed, len(rows) // 2)
        classes.append(
            {
                "class": name,
                "rows": len(rows),
                "typical": order[:n_shown].tolist(),
                "odd": order[::-1][:n_shown].tolist(),
            }
        )
    return Typicality(rank, classes)


def find_hubs(neighbors: np.ndarray) -> Hubs:
    """Count how many neighbour lists contain each row; each list starts with the row itself."""
    n, k = len(neighbors), min(N_NEIGHBORS, neighbors.shape[1] - 1)
    occurrences = np.bincount(neighbors[:, 1 : k + 1].ravel(), minlength=n)
    order = np.argsort(-occurrences, kind="stable")
    rows = order[: int(np.count_nonzero(occurrences >= HUB_FACTOR * k))]
    return Hubs(occurrences, rows, int(np.count_nonzero(occurrences == 0)))
