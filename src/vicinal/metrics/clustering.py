"""Comparison of clusters with classes, based on their contingency table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.memory import require_memory
from vicinal._core.tables import homogeneous, is_null
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike


class Contingency(NamedTuple):
    """Contingency table of two partitions: ``counts[p]`` points of class ``rows[p]`` in ``columns[p]``."""

    counts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Fraction of correctly clustered points under the best matching of clusters to classes.

    Parameters
    ----------
    labels_true : array of shape (n,)
        Class of each point: numbers or strings.
    labels_pred : array of shape (n,)
        Cluster of each point: numbers or strings. There may be more or fewer clusters than classes;
        unmatched ones count as wrong.

    Returns
    -------
    float
        Above 0, at most 1.

    Examples
    --------
    >>> from vicinal.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b", "b"], [1, 1, 0, 0, 1])
    0.8
    """
    from scipy.optimize import linear_sum_assignment

    table = contingency(labels_true, labels_pred)
    shape = len(table.row_sums), len(table.column_sums)
    require_memory(
        16.0 * shape[0] * shape[1],
        f"Matching {shape[0]:,} classes with {shape[1]:,} clusters",
        "For such fine partitions use rand_index or normalized_mutual_info.",
    )
    overlap = sparse.coo_array((table.counts, (table.rows, table.columns)), shape=shape).toarray()
    matched = linear_sum_assignment(overlap, maximize=True)
    return int(overlap[matched].sum()) / table.total


def normalized_mutual_info(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Mutual information of two partitions, divided by the mean of their entropies.

    Parameters
    ----------
    labels_true : array of shape (n,)
        Class of each point: numbers or strings.
    labels_pred : array of shape (n,)
        Cluster of each point: numbers or strings.

    Returns
    -------
    float
        From 0 (independent) to 1 (identical). Two partitions with a single cluster are identical.

    References
    ----------
    With the arithmetic mean, as in [2] Jiang, Wang and Tu, "Unsupervised metric learning
    by self-smoothing operator", ICCV 2011.

    Examples
    --------
    >>> from vicinal.metrics import normalized_mutual_info
    >>> normalized_mutual_info([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    >>> normalized_mutual_info([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    table = contingency(labels_true, labels_pred)
    if len(table.counts) == len(table.row_sums) == len(table.column_sums):
        return 1.0
    n = table.total
    entropies = _entropy(table.row_sums / n) + _entropy(table.column_sums / n)
    # Separate logarithms, because the product of the factors may overflow an integer.
    gains = np.log(table.counts) + np.log(n)
    gains -= np.log(table.row_sums[table.rows]) + np.log(table.column_sums[table.columns])
    information = float(np.sum(table.counts / n * gains))
    return min(1.0, max(0.0, 2 * information / entropies))


def rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Fraction of pairs of points on which two partitions agree: together in both, or in neither.

    Parameters
    ----------
    labels_true : array of shape (n,)
        Class of each point: numbers or strings.
    labels_pred : array of shape (n,)
        Cluster of each point: numbers or strings.

    Returns
    -------
    float
        From 0 to 1, not corrected for chance; 1 for a single point.

    Examples
    --------
    >>> from vicinal.metrics import rand_index
    >>> rand_index([0, 0, 1, 1], [0, 0, 1, 2]) == 5 / 6
    True
    """
    table = contingency(labels_true, labels_pred)
    n = table.total
    if n == 1:
        return 1.0
    # Ordered pairs, including each point with itself; the latter cancel in the differences.
    together = _sum_of_squares(table.counts)
    disagreements = (
        _sum_of_squares(table.row_sums) + _sum_of_squares(table.column_sums) - 2 * together
    )
    return (n * (n - 1) - disagreements) / (n * (n - 1))


def contingency(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    names: tuple[str, str] = ("labels_true", "labels_pred"),
) -> Contingency:
    """Contingency table of two partitions; only its positive entries are stored."""
    rows, row_sums = label_codes(labels_true, names[0])
    columns, column_sums = label_codes(labels_pred, names[1])
    if len(rows) != len(columns):
        raise InvalidValueError(
            f"labels_true has {len(rows)} entries and labels_pred {len(columns)}, but each point "
            "needs both."
        )
    pairs, counts = np.unique(rows * len(column_sums) + columns, return_counts=True)
    return Contingency(counts, *np.divmod(pairs, len(column_sums)), row_sums, column_sums)


def label_codes(labels: ArrayLike, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Class index of each item, and the size of each class."""
    array = read_array(labels, name)
    if array.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        array = np.array(
            labels, dtype=object
        )  # otherwise NaN and numbers among strings become strings
    if array.ndim != 1 or len(array) == 0:
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but a non-empty 1-D array of labels is needed; "
            f"use {name}.ravel() for a label map."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidValueError(
            f"{name} contains NaN or infinity; drop these points from both partitions."
        )
    if array.dtype.kind == "O":
        missing = np.array([is_null(label) for label in array.tolist()])
        if missing.any():
            raise InvalidValueError(
                f"{name} contains {missing.sum()} missing label(s), the first at [{np.argmax(missing)}]; "
                "drop these points from both partitions."
            )
        array = homogeneous(array, name)
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return codes, counts


def _entropy(probabilities: np.ndarray) -> float:
    return float(-np.sum(probabilities * np.log(probabilities)))


def _sum_of_squares(counts: np.ndarray) -> int:
    return int(np.dot(counts, counts))
