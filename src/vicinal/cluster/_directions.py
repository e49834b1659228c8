"""Clusters of nodes by the directions of their rows in the eigenvectors of a walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal.cluster.subspaces import k_subspaces

if TYPE_CHECKING:
    from vicinal._base.perceptual_estimator import Walk

# Clusters are separate if less than this fraction of the steps of a walk leads from one to another.
MAX_FLOW_BETWEEN_SEPARATE = 1e-4


class DirectionClusters(NamedTuple):
    """Clusters of the kept nodes, and the centres or bases they are assigned to.

    ``first`` is the first of the eigenvectors that were used: 0 with the trivial one, 1 without.
    """

    labels: np.ndarray
    centers: np.ndarray
    first: int


def cluster_directions(
    walk: Walk, vectors: np.ndarray, kept: np.ndarray, n_clusters: int, assign: str, seed: int
) -> DirectionClusters:
    """Cluster the kept nodes by rows of eigenvectors, starting with the trivial one.

    If the clusters are connected, the trivial vector does not separate them; subspaces then use the vectors
    after it if lines explain more of these.
    """
    rows = vectors[kept, :n_clusters]
    if assign != "subspaces":
        return DirectionClusters(*assign_rows(unit_rows(rows), n_clusters, assign, seed), 0)
    best = k_subspaces(rows, n_clusters, random_state=seed)
    after = vectors[:, 1 : n_clusters + 1]
    between = flow_between(walk, kept, best.labels)
    if after.shape[1] == n_clusters and between > MAX_FLOW_BETWEEN_SEPARATE:
        other = k_subspaces(after[kept], n_clusters, random_state=seed)
        if other.explained > best.explained:
            return DirectionClusters(other.labels, other.bases, 1)
    return DirectionClusters(best.labels, best.bases, 0)


def flow_between(walk: Walk, kept: np.ndarray, labels: np.ndarray) -> float:
    """Fraction of the steps of a walk on the kept nodes that lead from one cluster to another."""
    # pi_i P_ij, symmetrised, is root_i Theta_ij root_j; it is summed over the clusters of i and j.
    shape = (len(walk.trivial_vector), int(labels.max()) + 1)
    roots = sparse.csr_array((walk.trivial_vector[kept], (kept, labels)), shape=shape)
    flow = (roots.T @ (walk.sparse_part @ roots)).toarray()
    total = float(flow.sum())
    return 1.0 - float(np.trace(flow)) / total if total > 0 else 0.0
