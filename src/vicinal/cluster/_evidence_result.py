"""The number of clusters of points, with labels, layers and noise, and the evidence for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._base.row_assignment import number_by_first_occurrence
from vicinal.cluster._background import BackgroundNoise, no_noise


class Layer(NamedTuple):
    """One level of nested clusters.

    Attributes
    ----------
    labels : ndarray of int (n,)
        Cluster of each row.
    n_clusters : int
        Number of clusters.
    persistence : float
        Log ratio of the evidence for the weakest cluster to that for the next candidate.
    """

    labels: np.ndarray
    n_clusters: int
    persistence: float


class ClusterEvidence(NamedTuple):
    """The number of clusters and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    labels : ndarray of int (n,)
        Cluster of each row, numbered by first occurrence.
    source : {"density", "communities", "none"}
        The method that decided; "none" if there is no evidence for more than one cluster.
    candidates : list of (n_clusters, score)
        The chosen number first; a score above 1 is significant.
    layers : list of Layer
        Nested clusters from coarse to fine, including the chosen ones.
    prominence : dict
        Prominences of the modes, descending, for each number of neighbours.
    excess : dict
        Modularity in excess of a single cluster, for each number of neighbours.
    dimension : float
        Intrinsic dimension.
    noise : BackgroundNoise
        Which rows are noise, their scores and the threshold.
    """

    n_clusters: int
    labels: np.ndarray
    source: str
    candidates: list[tuple[int, float]]
    layers: list[Layer]
    prominence: dict[int, np.ndarray]
    excess: dict[int, float]
    dimension: float
    noise: BackgroundNoise

    def __repr__(self) -> str:
        """Number of clusters, what decided, and the amount of noise; arrays are left out."""
        clusters = "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters:,} clusters"
        by = "" if self.source == "none" else f" by {self.source}"
        noise = f"{self.noise.is_noise.mean():.1%} noise"
        return f"ClusterEvidence({clusters}{by} among {len(self.labels):,} rows, {noise})"


def one_cluster(n: int) -> ClusterEvidence:
    """Evidence without clusters or noise."""
    labels = np.zeros(n, dtype=np.int64)
    layers = [Layer(labels, 1, 0.0)]
    return ClusterEvidence(1, labels, "none", [(1, 1.0)], layers, {}, {}, 1.0, no_noise(n))


def expand_to_rows(evidence: ClusterEvidence, group: np.ndarray) -> ClusterEvidence:
    """Expand the results of distinct points to all rows."""
    noise = evidence.noise
    layers = [
        layer._replace(labels=number_by_first_occurrence(layer.labels[group]))
        for layer in evidence.layers
    ]
    return evidence._replace(
        labels=number_by_first_occurrence(evidence.labels[group]),
        layers=layers,
        noise=noise._replace(
            is_noise=noise.is_noise[group],
            score=noise.score[group],
            sparsity=noise.sparsity[group],
            log_background=noise.log_background[group],
        ),
    )
