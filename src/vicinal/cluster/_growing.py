"""Mixin of clusterers whose rows can be inserted and removed, with clusters that keep their ids."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from vicinal._core.array_checks import validate_input
from vicinal._core.fitted import check_is_fitted
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._growing_base import check_rows

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike

# Clusters are computed again once this fraction of the rows was only assigned to them.
MAX_ASSIGNED_FRACTION = 0.05


class GrowingClusters:
    """Mixin with `partial_fit`, `insert` and `remove`.

    ``labels_`` holds ids of clusters. After `fit` they are 0, 1, ...; later clusters keep the ids of the
    former ones with which they share most rows, and others get ids that were never used.
    """

    n_clusters_: int
    labels_: np.ndarray
    # Ids of the clusters, in the order of their centres; None if they are 0, 1, ...
    _ids: np.ndarray | None = None
    _next_id: int = 0
    # Rows that were assigned to clusters since these were computed.
    _assigned: np.ndarray | None = None

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
        self._refit(np.concatenate([self._all_points(), self._check_new(X)]), self.labels_)
        return self

    def insert(self, X: ArrayLike) -> np.ndarray:
        """Add rows, and compute the clusters again only if many rows were added.

        New rows are assigned to the present clusters as by `predict`, until 5 % of all rows were added
        in this way. Then the clusters of all rows are computed again, as by `partial_fit`. Until then, all
        attributes but ``labels_`` describe the rows for which clusters were computed.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows. They are numbered after the present ones.

        Returns
        -------
        ndarray of int of shape (m,)
            Labels of the new rows.
        """
        check_is_fitted(self)
        new = self._check_new(X)
        waiting = new if self._assigned is None else np.concatenate([self._assigned, new])
        n = len(self.labels_) + len(new)
        if len(waiting) > MAX_ASSIGNED_FRACTION * n:
            self.partial_fit(new)
            return self.labels_[n - len(new) :]
        labels = self.predict(new)  # type: ignore[attr-defined]
        self._assigned = waiting
        self.labels_ = np.concatenate([self.labels_, labels])
        return np.asarray(labels)

    def remove(self, rows: ArrayLike) -> Self:
        """Remove rows and compute the clusters of the others again; clusters keep their ids.

        Parameters
        ----------
        rows : int or array-like of int
            Row numbers, each once. Later rows move up.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_is_fitted(self)
        kept = np.delete(np.arange(len(self.labels_)), check_rows(rows, len(self.labels_), 2))
        self._refit(self._all_points()[kept], self.labels_[kept])
        return self

    @abstractmethod
    def _clustered_points(self) -> Any:
        """Rows for which clusters were computed; None if the model was not fitted on points in memory."""

    def _all_points(self) -> np.ndarray:
        points = self._clustered_points()
        if not isinstance(points, np.ndarray):
            raise InvalidValueError(
                f"rows can only be inserted or removed if {type(self).__name__} was fitted on points in "
                "memory; fit it on all rows instead."
            )
        return points if self._assigned is None else np.concatenate([points, self._assigned])

    def _check_new(self, X: Any) -> np.ndarray:
        new: np.ndarray = validate_input(self, X, reset=False, dtype=(np.float64, np.float32))
        return new

    def _refit(self, points: np.ndarray, former: np.ndarray) -> None:
        """Fit on all rows, of which the first had labels; clusters keep their ids."""
        next_id = max(self._next_id, int(former.max(initial=-1)) + 1)
        self.fit(points)  # type: ignore[attr-defined]
        self._ids, self._next_id = match_ids(self.labels_, former, self.n_clusters_, next_id)
        self.labels_ = self._with_ids(self.labels_)

    def _reset_ids(self) -> None:
        self._ids, self._assigned, self._next_id = None, None, self.n_clusters_

    def _with_ids(self, labels: np.ndarray) -> np.ndarray:
        """Ids of clusters given by the numbers of their centres; -1 stays."""
        if self._ids is None:
            return labels
        return np.where(labels >= 0, self._ids[np.maximum(labels, 0)], -1)

    def _center_numbers(self) -> np.ndarray:
        """Numbers of the centres of the clusters of all rows for which clusters were computed."""
        n_assigned = 0 if self._assigned is None else len(self._assigned)
        return self._numbers_of(self.labels_[: len(self.labels_) - n_assigned])

    def _numbers_of(self, labels: np.ndarray) -> np.ndarray:
        """Numbers of the centres of clusters given by their ids."""
        if self._ids is None:
            return labels
        number = np.full(self._next_id, -1)
        number[self._ids] = np.arange(len(self._ids))
        return np.where(labels >= 0, number[np.maximum(labels, 0)], -1)


def match_ids(
    labels: np.ndarray, former: np.ndarray, n_clusters: int, next_id: int
) -> tuple[np.ndarray, int]:
    """Id of each cluster, and the next id that was never used.

    Clusters and former clusters are matched one to one, such that they share as many rows as possible.
    """
    both = (labels[: len(former)] >= 0) & (former >= 0)
    pairs = labels[: len(former)][both], former[both]
    shared = sparse.coo_array(
        (np.ones(len(pairs[0])), pairs), shape=(n_clusters, next_id)
    ).toarray()
    ids = np.full(n_clusters, -1)
    for cluster, known in zip(*linear_sum_assignment(-shared), strict=True):
        if shared[cluster, known] > 0:
            ids[cluster] = known
    new = np.flatnonzero(ids < 0)
    ids[new] = next_id + np.arange(len(new))
    return ids, next_id + len(new)
