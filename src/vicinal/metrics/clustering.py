"""Clusters beside classes, from the table of how many points they share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.memory import require_memory
from vicinal._core.tables import is_nothing, of_one_type
from vicinal.exceptions import InvalidValueError


class Contingency(NamedTuple):
    """Points that two partitions share: ``counts[p]`` of class ``rows[p]`` in cluster ``columns[p]``."""

    counts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Share of points that are right when clusters are matched with classes as well as possible.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n,)
        Class and cluster of each point: numbers or strings. The names do not matter, and there may
        be more clusters than classes, or fewer; those left over count as wrong.

    Returns
    -------
    float
        From above 0 to 1.

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
        "Compare such fine partitions by rand_index or normalized_mutual_info.",
    )
    shared = sparse.coo_array((table.counts, (table.rows, table.columns)), shape=shape).toarray()
    matched = linear_sum_assignment(shared, maximize=True)
    return int(shared[matched].sum()) / table.total


def normalized_mutual_info(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information of two partitions over the mean of their entropies.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n,)
        Class and cluster of each point: numbers or strings.

    Returns
    -------
    float
        From 0 (the partitions tell nothing about each other) to 1 (they are the same). Two
        partitions into a single part are the same.

    References
    ----------
    The formula with the arithmetic mean is that of [2] Jiang, Wang and Tu, "Unsupervised metric learning
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
    # Logarithms of the factors apart: their product may exceed what an integer holds.
    gains = np.log(table.counts) + np.log(n)
    gains -= np.log(table.row_sums[table.rows]) + np.log(table.column_sums[table.columns])
    information = float(np.sum(table.counts / n * gains))
    return min(1.0, max(0.0, 2 * information / entropies))


def rand_index(labels_true: Any, labels_pred: Any) -> float:
    """Share of the pairs of points on which two partitions agree: together in both, or in neither.

    Parameters
    ----------
    labels_true, labels_pred : array of shape (n,)
        Class and cluster of each point: numbers or strings.

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
    # Ordered pairs, the point with itself included, cancel out of the differences.
    together = _sum_of_squares(table.counts)
    apart = _sum_of_squares(table.row_sums) + _sum_of_squares(table.column_sums) - 2 * together
    return (n * (n - 1) - apart) / (n * (n - 1))


def contingency(
    labels_true: Any, labels_pred: Any, names: tuple[str, str] = ("labels_true", "labels_pred")
) -> Contingency:
    """Table of two partitions, of which only the entries above 0 are held."""
    rows, row_sums = label_codes(labels_true, names[0])
    columns, column_sums = label_codes(labels_pred, names[1])
    if len(rows) != len(columns):
        raise InvalidValueError(
            f"labels_true has {len(rows)} entries and labels_pred {len(columns)}, but each point "
            "needs one of both."
        )
    pairs, counts = np.unique(rows * len(column_sums) + columns, return_counts=True)
    return Contingency(counts, *np.divmod(pairs, len(column_sums)), row_sums, column_sums)


def label_codes(labels: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Class of each item as a number, and the size of each class."""
    array = read_array(labels, name)
    if array.dtype.kind in "US" and isinstance(labels, (list, tuple)):
        array = np.array(labels, dtype=object)  # or NaN and numbers among words would become words
    if array.ndim != 1 or len(array) == 0:
        raise InvalidValueError(
            f"{name} has shape {array.shape}, but one label for each of at least 1 point is needed; "
            f"{name}.ravel() makes a list of a map."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidValueError(
            f"{name} holds NaN or infinity; leave these points out of both partitions."
        )
    if array.dtype.kind == "O":
        missing = np.array([is_nothing(label) for label in array.tolist()])
        if missing.any():
            raise InvalidValueError(
                f"{name} holds {missing.sum()} missing label(s), the first at [{np.argmax(missing)}]; "
                "leave these points out of both partitions."
            )
        array = of_one_type(array, name)
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return codes, counts


def _entropy(shares: np.ndarray) -> float:
    return float(-np.sum(shares * np.log(shares)))


def _sum_of_squares(counts: np.ndarray) -> int:
    return int(np.dot(counts, counts))
