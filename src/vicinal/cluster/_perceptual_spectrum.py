"""Perceptual clusterings of one digraph into several numbers of clusters, from one solve."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

from vicinal.cluster.perceptual import NOISE_DIRECTIONS, TOLERANCE, PerceptualClustering
from vicinal.exceptions import VicinalWarning

if TYPE_CHECKING:
    from vicinal.evidence.result import ClusterEvidence
    from vicinal.graphs.graph import Graph


class PerceptualSpectrum:
    """The walk on a digraph and its leading eigenpairs, solved once.

    Parameters
    ----------
    digraph : Graph
        Contextual digraph.
    max_clusters : int
        Largest number of clusters that `cluster` accepts, at most the number of nodes.
    noise : "auto" or int
        Noise of `PerceptualClustering`; 0 for none.
    random_state : int
        Seed of the solver and of the assignments.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self,
        digraph: Graph,
        max_clusters: int,
        *,
        noise: int | Literal["auto"] = "auto",
        random_state: int,
        n_jobs: int | None,
    ) -> None:
        self._model = PerceptualClustering(
            max_clusters, noise=noise, random_state=random_state, n_jobs=n_jobs
        )
        self._walk = self._model._build_walk(digraph)
        n_pairs = min(max(max_clusters, NOISE_DIRECTIONS), digraph.n_nodes - 1)
        self.pairs = self._model._eigenpairs(self._walk, n_pairs, TOLERANCE)
        self._detected: dict[Any, Any] = {}

    def cluster(
        self, n_clusters: int, evidence: ClusterEvidence | None = None
    ) -> PerceptualClustering:
        """Cluster the nodes; every call returns the same model, refitted.

        If evidence is given, densities help to find noise. Doubtful noise sets ``noise_doubt_`` instead of
        causing a warning.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VicinalWarning)
            model = self._model.set_params(n_clusters=n_clusters)
            return model._cluster(self._walk, self.pairs, evidence, self._detected)
