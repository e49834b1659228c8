"""Shared by clusterers that choose the number of clusters: evidence, choice and membership probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal._core.chunked import in_memory
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.cluster._communities import louvain, modularity
from vicinal.cluster._eigengap import MIN_EIGENGAP, n_clusters_by_gap, relative_gaps
from vicinal.cluster._evidence import (
    MAX_POINTS,
    ClusterEvidence,
    Layer,
    count_modes,
    estimate_clusters,
)
from vicinal.cluster._spectral_labels import TOLERANCE
from vicinal.graphs.neighborhoods import knn
from vicinal.neighbors._directions import as_directions
from vicinal.neighbors.metric import as_metric
from vicinal.operators.eigenpairs import leading_eigenpairs

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs
    from vicinal.graphs.graph import Graph

# Eigengaps of at least this many clusters are compared.
MIN_CANDIDATES = 20
# A gap has to be this many times the minimum if neither densities nor communities support it. An annulus has
# 1.04, half-cylinders in noise 1.9.
UNSUPPORTED_FACTOR = 1.5
# Neighbours of the graph that is tried where another one has no gap. With 7 the largest gap of uniform and
# normal samples of 50 to 1,000 points, of rings and of rolls exceeds the unsupported minimum once in 200
# samples; with 5, rings of 200 points break at gaps that occur by chance.
N_FEW_NEIGHBORS = 7


class AutomaticClusters:
    """Mixin that stores the evidence for the number of clusters."""

    n_clusters_candidates_: list[tuple[int, float]]
    cluster_evidence_: ClusterEvidence
    cluster_layers_: list[Layer]

    def _estimate(self, graph: Graph | None, n_jobs: NJobs) -> ClusterEvidence | None:
        """Estimate and store the evidence from the points of a graph; None without enough points."""
        for name in ("n_clusters_candidates_", "cluster_evidence_", "cluster_layers_"):
            self.__dict__.pop(name, None)
        points = None if graph is None else points_to_choose_by(graph)
        if (
            graph is None
            or not isinstance(points, np.ndarray)
            or not (as_metric(graph.metric).is_euclidean or as_metric(graph.metric).is_cosine)
        ):
            return None
        evidence = estimate_clusters(points, n_jobs=n_jobs)
        if not evidence.prominence:
            return None
        self.n_clusters_candidates_ = evidence.candidates
        self.cluster_evidence_ = evidence
        self.cluster_layers_ = evidence.layers
        return evidence


def points_to_choose_by(graph: Graph) -> object:
    """Points of a graph, in memory: densities are compared across all of them.

    With cosine distances they are scaled to length 1: Euclidean distances then order pairs in the same way.
    """
    points = in_memory(
        graph.points,
        'n_clusters="auto" with the evidence of all points',
        "Pass the number of clusters, which needs only the graph.",
    )
    if isinstance(points, np.ndarray) and as_metric(graph.metric).is_cosine:
        return as_directions(points)
    return points


def check_max_clusters(max_clusters: int | str) -> None:
    """Raise an error unless the maximum number of clusters is positive or "auto"."""
    if isinstance(max_clusters, str):
        check_choice(max_clusters, "max_clusters", ("auto",))
    else:
        check_count(max_clusters, "max_clusters")


def n_candidates(evidence: ClusterEvidence | None, weights: MatrixLike | None) -> int:
    """Number of clusters up to which eigengaps are compared, by the data.

    It is the number found by the evidence or, without evidence, the number of communities, of which separate
    clusters have at least one each; but at least `MIN_CANDIDATES`.
    """
    if evidence is not None:
        return max(MIN_CANDIDATES, evidence.n_clusters)
    if weights is None:
        return MIN_CANDIDATES
    communities = louvain(sparse.csr_array(weights)).levels[-1]
    return max(MIN_CANDIDATES, int(communities.max()) + 1)


class Spectrum(NamedTuple):
    """Symmetric affinities of nodes, leading eigenvectors, and the settings to cluster by them."""

    weights: MatrixLike
    vectors: np.ndarray
    seed: int
    n_jobs: NJobs = -1


def choose_number(
    gaps: np.ndarray, evidence: ClusterEvidence | None, points: object, spectrum: Spectrum
) -> int:
    """Number of clusters by the eigengap and the evidence.

    A significant gap rarely indicates too many clusters, but the largest one often comes after a coarse
    split. Therefore the evidence decides where it is communities. Where densities find more clusters than
    the gap, each cluster of the gap is examined by itself; where they find one, the gap has to be larger.
    On a line, graphs break at any gap that occurs by chance, so the evidence decides. A graph without a
    significant gap may link clusters that are close to each other, so a sparser one is tried.

    Parameters
    ----------
    gaps : ndarray (m,)
        Relative eigengaps.
    evidence : ClusterEvidence or None
        Evidence of the points; None if there is none.
    points : ndarray or other
        The points; without an array, the gap decides.
    spectrum : Spectrum
        The affinities and eigenvectors that the gaps belong to.
    """
    by_gap = n_clusters_by_gap(gaps)
    if evidence is None or not isinstance(points, np.ndarray):
        return by_gap
    if points.shape[1] == 1 or evidence.source == "communities":
        return evidence.n_clusters
    minimum = MIN_EIGENGAP * (UNSUPPORTED_FACTOR if evidence.n_clusters == 1 else 1.0)
    if by_gap == 1 or gaps.max() < minimum:
        # Many points are so close together that 10 neighbours do not link clusters either.
        if len(points) > MAX_POINTS:
            return evidence.n_clusters
        gaps, spectrum = _sparser_spectrum(points, len(gaps), spectrum)
        by_gap = n_clusters_by_gap(gaps)
        if by_gap == 1 or gaps.max() < minimum:
            return evidence.n_clusters
    if evidence.n_clusters <= by_gap:
        return by_gap
    rows = unit_rows(spectrum.vectors[:, :by_gap])
    labels = assign_rows(rows, by_gap, "kmeans", spectrum.seed).labels
    members = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    return sum(_n_within(points[rows], rows, spectrum) for rows in members)


def _sparser_spectrum(
    points: np.ndarray, n_gaps: int, spectrum: Spectrum
) -> tuple[np.ndarray, Spectrum]:
    """Relative eigengaps of a graph with few neighbours, and its spectrum."""
    graph = knn(points, N_FEW_NEIGHBORS, n_jobs=spectrum.n_jobs)
    weights = graph.affinity()
    pairs = leading_eigenpairs(
        weights,
        min(n_gaps + 1, len(points)),
        tolerance=TOLERANCE,
        random_state=spectrum.seed,
        n_jobs=spectrum.n_jobs,
    )
    return relative_gaps(pairs.values), spectrum._replace(weights=weights, vectors=pairs.vectors)


def _n_within(points: np.ndarray, rows: np.ndarray, spectrum: Spectrum) -> int:
    """Number of clusters within a cluster of the eigengap.

    Density modes count if the spectrum of the cluster alone has any gap up to their number. Along a ring,
    where densities vary by chance, it has none.
    """
    n_modes = count_modes(points, n_jobs=spectrum.n_jobs)
    if n_modes == 1:
        return 1
    weights = sparse.csr_array(spectrum.weights)[rows][:, rows]
    pairs = leading_eigenpairs(
        weights,
        min(max(MIN_CANDIDATES, n_modes) + 1, len(rows)),
        tolerance=TOLERANCE,
        random_state=spectrum.seed,
        n_jobs=spectrum.n_jobs,
    )
    has_gap = relative_gaps(pairs.values)[1:n_modes].max() > 1.0
    return n_modes if has_gap else 1


def are_communities_better(
    evidence: ClusterEvidence, labels: np.ndarray, weights: MatrixLike
) -> bool:
    """Whether communities of the evidence separate nodes better than as many clusters by eigenvectors.

    Both are compared by their modularity in the graph that the eigenvectors belong to. In many dimensions,
    where clusters have no eigengap, k-means on eigenvectors often splits a large cluster and merges others.

    Parameters
    ----------
    evidence : ClusterEvidence
        Evidence of the nodes, in their order.
    labels : ndarray of int (n,)
        Cluster of each node, -1 for noise, which is not compared.
    weights : sparse or dense matrix (n, n)
        Symmetric affinities of the nodes.
    """
    if evidence.source != "communities":
        return False
    kept = np.flatnonzero(labels >= 0)
    communities = evidence.labels[kept]
    if len(np.unique(communities)) != labels.max() + 1:
        return False
    among = sparse.csr_array(weights)
    if len(kept) < len(labels):
        among = sparse.csr_array(among[kept][:, kept])
    return modularity(among, communities) > modularity(among, labels[kept])


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
