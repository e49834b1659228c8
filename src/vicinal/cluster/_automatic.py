"""Shared by clusterers that choose the number of clusters: evidence, choice and membership probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._core.chunked import in_memory
from vicinal._core.options import seed_from
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal._core.warn import warn_user
from vicinal.evidence.communities import louvain, modularity
from vicinal.evidence.constants import MIN_CANDIDATES
from vicinal.evidence.decision import estimate_clusters
from vicinal.evidence.result import ClusterEvidence, Layer
from vicinal.neighbors._coordinates import coordinates_of
from vicinal.neighbors._directions import as_directions
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike
    from vicinal.graphs.graph import Graph

# Parts of the evidence that compare all points with each other; the eigengap needs only the graph.
OF_POINTS = ("density", "communities")
NOT_EUCLIDEAN = (
    "the number of clusters is that of the eigengap alone: densities and communities are compared with those "
    "of points, and no points have these distances as Euclidean distances; check the number with n_clusters, "
    "or for cosine distances fit on the points with graph_params={'metric': 'cosine'}."
)


class AutomaticClusters:
    """Mixin that stores the evidence for the number of clusters."""

    n_clusters_: int
    eigengaps_: np.ndarray
    cluster_evidence_: ClusterEvidence
    cluster_layers_: list[Layer]
    evidence_left_out_: tuple[str, ...]
    n_clusters: int | str
    max_clusters: int | str
    random_state: RandomStateLike
    n_jobs: NJobs

    @property
    def n_clusters_candidates_(self) -> list[tuple[int, float]]:
        scores = dict(self.cluster_evidence_.candidates)
        chosen = self.n_clusters_
        gaps = self.eigengaps_ if isinstance(self.n_clusters, str) else np.empty(0)
        # A number by the eigengap counts relative to the threshold, which is the first entry.
        by_gap = float(gaps[chosen - 1] / gaps[0]) if chosen <= len(gaps) else 0.0
        first = chosen, scores.pop(chosen, by_gap)
        return [first, *sorted(scores.items(), key=lambda candidate: -candidate[1])]

    def _assignment_seed(self) -> int:
        """Seed of the assignment; a fixed one for an automatic number, whose answer is always the same."""
        return seed_from(0 if isinstance(self.n_clusters, str) else self.random_state)

    def _without_evidence(self) -> None:
        """Forget the evidence of an earlier fit."""
        for name in ("cluster_evidence_", "cluster_layers_", "evidence_left_out_"):
            self.__dict__.pop(name, None)

    def _estimate(self, points: np.ndarray | None, n_jobs: NJobs) -> ClusterEvidence | None:
        """Estimate and store the evidence of `points_to_choose_by`; None without enough points."""
        self._without_evidence()
        evidence = None if points is None else estimate_clusters(points, n_jobs=n_jobs)
        self.evidence_left_out_ = () if evidence and len(evidence.gaps) else OF_POINTS
        if evidence is None or self.evidence_left_out_:
            return None
        self.cluster_evidence_ = evidence
        self.cluster_layers_ = evidence.layers
        return evidence

    def _max_candidates(self, weights: MatrixLike | None) -> int:
        """Number of clusters up to which eigengaps are compared without evidence of points.

        "auto" is the number of communities, of which separate clusters have at least one each.
        """
        if not isinstance(self.max_clusters, str):
            return self.max_clusters
        if weights is None:
            return MIN_CANDIDATES
        communities = louvain(sparse.csr_array(weights)).levels[-1]
        return max(MIN_CANDIDATES, int(communities.max()) + 1)


def points_to_choose_by(graph: Graph) -> np.ndarray | None:
    """Points of a graph whose Euclidean distances order pairs as its metric does; None if it has none.

    Densities are compared across all of them, so they are in memory. With cosine distances they are scaled
    to length 1, and for given distances they are points with these distances.
    """
    points = in_memory(
        graph.points,
        'n_clusters="auto" with the evidence of all points',
        "Pass the number of clusters, which needs only the graph.",
    )
    metric = as_metric(graph.metric)
    if not isinstance(points, np.ndarray):
        return None
    if metric.is_precomputed:
        coordinates = coordinates_of(points)
        if coordinates is None:
            warn_user(NOT_EUCLIDEAN)
        return coordinates
    if metric.is_cosine:
        return as_directions(points)
    return points if metric.is_euclidean else None


def check_max_clusters(max_clusters: int | str) -> None:
    """Raise an error unless the maximum number of clusters is positive or "auto"."""
    if isinstance(max_clusters, str):
        check_choice(max_clusters, "max_clusters", ("auto",))
    else:
        check_count(max_clusters, "max_clusters")


def is_evidence_better(evidence: ClusterEvidence, labels: np.ndarray, weights: MatrixLike) -> bool:
    """Whether the clusters of the evidence separate nodes better than as many clusters by eigenvectors.

    Both are compared by their modularity in the graph that the eigenvectors belong to. Where clusters have
    no eigengap, k-means on eigenvectors often splits a large cluster and merges others.

    Parameters
    ----------
    evidence : ClusterEvidence
        Evidence of the nodes, in their order.
    labels : ndarray of int (n,)
        Cluster of each node, -1 for noise, which is not compared.
    weights : sparse or dense matrix (n, n)
        Symmetric affinities of the nodes.
    """
    kept = np.flatnonzero((labels >= 0) & ~evidence.noise.is_noise)
    if not len(kept) or evidence.n_clusters == 1:
        return False
    own = evidence.labels[kept]
    if len(np.unique(own)) != labels.max() + 1:
        return False
    among = sparse.csr_array(weights)
    if len(kept) < len(labels):
        among = sparse.csr_array(among[kept][:, kept])
    return modularity(among, own) > modularity(among, labels[kept])


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
