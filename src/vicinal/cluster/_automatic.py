"""Shared by clusterers that choose the number of clusters: evidence, choice and membership probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal.cluster._eigengap import n_clusters_by_gap
from vicinal.cluster._evidence import ClusterEvidence, Layer, estimate_clusters

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs, SparseMatrix
    from vicinal.graphs.graph import Graph


class AutomaticClusters:
    """Mixin that stores the evidence for the number of clusters."""

    n_clusters_candidates_: list[tuple[int, float]]
    cluster_evidence_: ClusterEvidence
    cluster_layers_: list[Layer]

    def _estimate(self, graph: Graph | None, n_jobs: NJobs) -> ClusterEvidence | None:
        """Estimate and store the evidence from the points of a graph; None without enough points."""
        for name in ("n_clusters_candidates_", "cluster_evidence_", "cluster_layers_"):
            self.__dict__.pop(name, None)
        points = None if graph is None else graph.points
        if graph is None or not isinstance(points, np.ndarray) or graph.metric != "euclidean":
            return None
        evidence = estimate_clusters(points, n_jobs=n_jobs)
        if not evidence.prominence:
            return None
        self.n_clusters_candidates_ = evidence.candidates
        self.cluster_evidence_ = evidence
        self.cluster_layers_ = evidence.layers
        return evidence


def choose_number(
    gaps: np.ndarray, evidence: ClusterEvidence | None, points: np.ndarray | SparseMatrix | None
) -> int:
    """Number of clusters by the eigengap if it decides, otherwise by the evidence."""
    by_gap = n_clusters_by_gap(gaps)
    if evidence is None or points is None:
        return by_gap
    if by_gap > 1 and eigengap_decides(evidence, points.shape[1]):
        return by_gap
    return evidence.n_clusters


def eigengap_decides(evidence: ClusterEvidence, n_features: int) -> bool:
    """Whether a significant eigengap is a better guide to the number of clusters than the evidence.

    A significant gap rarely indicates too many clusters, but two kinds of data are exceptions. On a line,
    graphs break at any gap that occurs by chance. Where the evidence is communities, in many dimensions, the
    largest gap often comes after a coarse split with real clusters inside.
    """
    return n_features > 1 and evidence.source != "communities"


def membership(
    weights: MatrixLike | None, labels: np.ndarray, n_clusters: int, noise: np.ndarray | None = None
) -> np.ndarray:
    """Probability of each cluster, and of noise in the last column; rows sum to 1.

    Half of a point's membership belongs to its own cluster. The other half is divided among the clusters of
    its neighbours by affinity. Both are scaled by the probability that the point is not noise.

    Parameters
    ----------
    weights : sparse or dense matrix (n, n), or None
        Nonnegative affinities; if None, neighbours are ignored.
    labels : ndarray of int (n,)
        Cluster of each point, -1 for noise.
    n_clusters : int
        Number of clusters.
    noise : ndarray (n,), optional
        Probability of noise; by default 1 for label -1 and 0 otherwise.
    """
    clustered = labels >= 0
    one_hot = np.zeros((len(labels), n_clusters))
    one_hot[np.flatnonzero(clustered), labels[clustered]] = 1.0
    nearby = np.zeros_like(one_hot)
    if weights is not None:
        nearby = np.asarray(sparse.csr_array(weights) @ one_hot)
    sums = nearby.sum(axis=1, keepdims=True)
    nearby = np.divide(nearby, sums, out=np.full_like(nearby, 1.0 / n_clusters), where=sums > 0)
    mixed = 0.5 * one_hot + 0.5 * np.where(sums > 0, nearby, one_hot)
    probabilities = np.where(clustered[:, None], mixed, nearby)
    if noise is None:
        noise = np.where(clustered, 0.0, 1.0)
    return np.column_stack([probabilities * (1.0 - noise)[:, None], noise])
