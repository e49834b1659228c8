"""The number of clusters of points, with labels, layers and noise, and the evidence for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._base.row_assignment import number_by_first_occurrence
from vicinal.evidence.noise import BackgroundNoise, no_noise


class Layer(NamedTuple):
    """One level of nested clusters.

    Attributes
    ----------
    labels : ndarray of int (n,)
        Cluster of each row.
    n_clusters : int
        Number of clusters.
    source : {"gap", "density", "communities", "none"}
        The measurement that the layer stands by.
    score : float
        Its weakest measurement, relative to the least that one cluster does not show by chance. From 1 on it
        is significant. It is no probability.
    """

    labels: np.ndarray
    n_clusters: int
    source: str
    score: float


class ClusterEvidence(NamedTuple):
    """The number of clusters and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    labels : ndarray of int (n,)
        Cluster of each row, numbered by first occurrence.
    source : {"gap", "density", "communities", "none"}
        The measurement that decided; "none" if there is no evidence for more than one cluster.
    layers : list of Layer
        Nested clusters from coarse to fine, including the chosen ones.
    gaps : ndarray
        Relative eigengaps of the neighbour graph: entry k - 1 is that of k clusters. The first entry is the
        threshold for the others. Empty for fewer than 40 distinct points.
    dimension : float
        Intrinsic dimension.
    noise : BackgroundNoise
        Which rows are noise, their scores and the threshold.
    """

    n_clusters: int
    labels: np.ndarray
    source: str
    layers: list[Layer]
    gaps: np.ndarray
    dimension: float
    noise: BackgroundNoise

    @property
    def candidates(self) -> list[tuple[int, float]]:
        """The number of clusters of each layer with its score: the chosen number first, then the best."""
        scores = {layer.n_clusters: layer.score for layer in self.layers}
        chosen = self.n_clusters, scores.pop(self.n_clusters)
        return [chosen, *sorted(scores.items(), key=lambda item: (-item[1], item[0]))]

    def of_rows(self, group: np.ndarray) -> ClusterEvidence:
        """The evidence of rows, each of which is one of the points."""
        layers = [
            layer._replace(labels=number_by_first_occurrence(layer.labels[group]))
            for layer in self.layers
        ]
        labels = number_by_first_occurrence(self.labels[group])
        return self._replace(labels=labels, layers=layers, noise=self.noise.of_rows(group))

    def __repr__(self) -> str:
        """Number of clusters, what decided, and the amount of noise; arrays are left out."""
        clusters = "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters:,} clusters"
        by = "" if self.source == "none" else f" by {self.source}"
        noise = f"{self.noise.is_noise.mean():.1%} noise"
        return f"ClusterEvidence({clusters}{by} among {len(self.labels):,} rows, {noise})"


def one_cluster(n: int) -> ClusterEvidence:
    """Evidence without clusters or noise."""
    labels = np.zeros(n, dtype=np.int64)
    layers = [Layer(labels, 1, "none", 1.0)]
    return ClusterEvidence(1, labels, "none", layers, np.empty(0), 1.0, no_noise(n))
