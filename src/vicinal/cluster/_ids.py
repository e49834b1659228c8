"""`partial_fit` of clusterers: clusters keep their ids when rows are added."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from vicinal._core.array_checks import validate_input
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike


class LastingIds:
    """Mixin with `partial_fit`.

    Clusters are numbered in the order of their centres, and ``labels_`` holds their ids. Both are the same
    after `fit`.
    """

    n_clusters_: int
    labels_: np.ndarray
    # Id of each cluster; None if it is its number.
    _ids: np.ndarray | None = None
    # This and larger ids were never used.
    _next_id: int = 0

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Add rows and compute the clusters of all rows again; clusters keep their ids.

        Clusters are those of `fit` on all rows, without constraints. A cluster keeps the id of the former
        cluster with which it shares most rows; new clusters get new ids.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows; the first call is that of `fit`.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if not hasattr(self, "labels_"):
            fitted: Self = self.fit(X)  # type: ignore[attr-defined]
            return fitted
        points = self._clustered_points()
        if not isinstance(points, np.ndarray):
            raise InvalidValueError(
                f"rows can only be added if {type(self).__name__} was fitted on points in memory; "
                "fit it on all rows instead."
            )
        new = validate_input(self, X, reset=False, dtype=(np.float64, np.float32))
        former, next_id = self.labels_, self._next_id
        self.fit(np.concatenate([points, new]))  # type: ignore[attr-defined]
        self._ids = matched(self.labels_, former, self.n_clusters_, next_id)
        self._next_id = max(next_id, int(self._ids.max()) + 1)
        self.labels_ = self._ids_of(self.labels_)
        return self

    @abstractmethod
    def _clustered_points(self) -> Any:
        """Rows of the last fit; None if they were no points in memory."""

    def _reset_ids(self) -> None:
        self._ids, self._next_id = None, self.n_clusters_

    def _ids_of(self, numbers: np.ndarray) -> np.ndarray:
        """Ids of clusters; -1 for noise, since it is the last entry."""
        return numbers if self._ids is None else np.append(self._ids, -1)[numbers]

    def _numbers_of(self, ids: np.ndarray) -> np.ndarray:
        """The inverse of `_ids_of`."""
        if self._ids is None:
            return ids
        numbers = np.full(self._next_id + 1, -1)
        numbers[self._ids] = np.arange(len(self._ids))
        return numbers[ids]


def matched(labels: np.ndarray, former: np.ndarray, n_clusters: int, next_id: int) -> np.ndarray:
    """Id of each cluster: that of the former cluster it continues, or from ``next_id`` on a new one.

    Clusters and former clusters are matched one to one, such that they share as many rows as possible.
    ``former`` holds ids of the first rows only. A label of -1 is noise, which is no cluster.
    """
    labels = labels[: len(former)]
    both = (labels >= 0) & (former >= 0)
    shared = np.zeros((n_clusters, next_id), np.int64)
    np.add.at(shared, (labels[both], former[both]), 1)
    clusters, known = linear_sum_assignment(shared, maximize=True)
    ids = np.full(n_clusters, -1)
    ids[clusters] = np.where(shared[clusters, known] > 0, known, -1)
    new = np.flatnonzero(ids < 0)
    ids[new] = next_id + np.arange(len(new))
    return ids
