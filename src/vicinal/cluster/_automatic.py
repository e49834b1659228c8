"""What clusterers share that find the number of clusters themselves, and membership probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal.cluster._eigengap import n_clusters_by_gap
from vicinal.cluster._evidence import ClusterEvidence, Layer, estimate_clusters
from vicinal.graphs.graph import Graph


class AutomaticClusters:
    """Attributes that the evidence for a number of clusters is stored in."""

    n_clusters_candidates_: list[tuple[int, float]]
    cluster_evidence_: ClusterEvidence
    cluster_layers_: list[Layer]

    def _estimate(self, graph: Graph | None, n_jobs: int | None) -> ClusterEvidence | None:
        """Evidence of the points of a graph, stored; None where there are none, or too few to tell."""
        for name in ("n_clusters_candidates_", "cluster_evidence_", "cluster_layers_"):
            self.__dict__.pop(name, None)
        points = None if graph is None else graph.points
        if graph is None or not isinstance(points, np.ndarray) or graph.metric != "euclidean":
            return None
        found = estimate_clusters(points, n_jobs=n_jobs)
        if not found.prominence:
            return None
        self.n_clusters_candidates_ = found.candidates
        self.cluster_evidence_ = found
        self.cluster_layers_ = found.layers
        return found


def choose_number(gaps: np.ndarray, evidence: ClusterEvidence | None, points: Any) -> int:
    """The number of clusters by the spectrum if it decides, otherwise by the evidence."""
    by_gap = n_clusters_by_gap(gaps)
    if evidence is None or (by_gap > 1 and eigengap_decides(evidence, points.shape[1])):
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
    weights: Any | None, labels: np.ndarray, n_clusters: int, noise: np.ndarray | None = None
) -> np.ndarray:
    """Probabilities of each cluster, and of noise in one more column; rows sum to 1.

    Half of a point's membership is that of its own cluster, the other half is shared by the clusters of its
    neighbours according to the weights. All of it is scaled by the probability that the point is no noise.

    Parameters
    ----------
    weights : sparse or dense matrix (n, n), or None
        Nonnegative affinities; without them neighbours do not count.
    labels : ndarray of int (n,)
        Clusters, -1 for noise.
    n_clusters : int
    noise : ndarray (n,), optional
        Probability of noise; by default 1 for label -1 and 0 otherwise.
    """
    known = labels >= 0
    own = np.zeros((len(labels), n_clusters))
    own[np.flatnonzero(known), labels[known]] = 1.0
    around = np.zeros_like(own) if weights is None else np.asarray(sparse.csr_array(weights) @ own)
    sums = around.sum(axis=1, keepdims=True)
    around = np.divide(around, sums, out=np.full_like(around, 1.0 / n_clusters), where=sums > 0)
    shares = np.where(known[:, None], 0.5 * own + 0.5 * np.where(sums > 0, around, own), around)
    if noise is None:
        noise = np.where(known, 0.0, 1.0)
    return np.column_stack([shares * (1.0 - noise)[:, None], noise])
