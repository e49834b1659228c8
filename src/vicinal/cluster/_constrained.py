"""Mixin of clusterers that accept constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.cluster._constraints import Constraints, constrained_labels, read_constraints


class ConstrainedClusters:
    """Mixin with the constraints of a fit, which change its labels at the end."""

    min_cluster_size: int | None = None
    max_cluster_size: int | None = None
    n_clusters_: int
    _centers: np.ndarray
    # Pairs given to the fit that is running, and what they mean.
    _given_pairs: tuple[Any, Any] = (None, None)
    _constraints: Constraints | None = None

    @property
    def _min_clusters(self) -> int:
        """Number of clusters that the constraints of the running fit need."""
        return 1 if self._constraints is None else self._constraints.min_clusters

    def _read_constraints(self, weights: np.ndarray, node: np.ndarray | None = None) -> None:
        """Check the constraints on nodes with these numbers of rows; ``node`` is that of each row."""
        self._constraints = read_constraints(
            *self._given_pairs, self.min_cluster_size, self.max_cluster_size, weights, node
        )

    def _constrained(self, labels: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Labels of nodes that satisfy the constraints, given the rows of the embedding.

        A node keeps its label unless a constraint forbids it; then the cluster whose mean is nearest counts.
        """
        constraints, self._constraints, self._given_pairs = self._constraints, None, (None, None)
        if constraints is None:
            return labels
        n_clusters = max(int(labels.max()) + 1, self.n_clusters_)
        costs = preferences(labels, rows, n_clusters)
        kept = np.flatnonzero((labels >= 0) | constraints.constrained)
        changed = labels.copy()
        changed[kept] = constrained_labels(costs[kept], constraints.of_nodes(kept))
        used = np.unique(changed[changed >= 0])
        changed[changed >= 0] = np.searchsorted(used, changed[changed >= 0])
        self.n_clusters_ = len(used)
        if hasattr(self, "_centers") and used[-1] < len(self._centers):
            self._centers = self._centers[used]
        return changed


def preferences(labels: np.ndarray, rows: np.ndarray, n_clusters: int) -> np.ndarray:
    """Cost of each node in each cluster: lowest for its own, otherwise the distance to the cluster's mean."""
    costs = np.full((len(labels), n_clusters), np.inf)
    for cluster in range(n_clusters):
        members = labels == cluster
        if members.any():
            costs[:, cluster] = np.square(rows - rows[members].mean(axis=0)).sum(axis=1)
    # Clusters without members are used if there is no other.
    finite = costs[np.isfinite(costs)]
    costs[np.isinf(costs)] = 1.0 + 2.0 * float(finite.max(initial=0.0))
    own = labels >= 0
    costs[own, labels[own]] -= 1.0 + float(finite.max(initial=0.0))
    return costs
