"""Inputs that several steps share; each is computed once, on first use."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from vicinal._base.perceptual_estimator import contextual_of_distinct
from vicinal.cluster._perceptual_spectrum import PerceptualSpectrum
from vicinal.cluster._spectral_labels import TOLERANCE
from vicinal.evidence.decision import estimate_clusters
from vicinal.evidence.result import ClusterEvidence
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.graphs.graph import Graph
from vicinal.graphs.trees import max_disjoint_mst
from vicinal.neighbors import NeighborSearch
from vicinal.operators.eigenpairs import Eigenpairs, leading_eigenpairs

# Neighbours per context, and in neighbourhood graphs.
N_NEIGHBORS = 10
# In many dimensions, some rows are in no neighbour list, and a walk along the lists cannot distinguish
# them from noise. Contexts are enlarged until at most this fraction of the rows is left out.
CONTEXT_SIZES, MAX_ORPHAN_FRACTION = (N_NEIGHBORS, 20, 30), 0.03
MAX_TREES = 4
# How many more clusters than reported the finest layer has.
N_FINER = 4


class SharedInputs:
    """Points, seed, a sample of the rows, and lazily computed neighbours, graphs and spectrum.

    ``n_clusters`` is the number of clusters, None until it is requested or chosen.
    """

    def __init__(
        self,
        points: np.ndarray,
        n_sample: int,
        seed: int,
        n_jobs: int | None,
        verbose: int,
        *,
        n_clusters: int | None = None,
        noise: int | Literal["auto"] = "auto",
    ) -> None:
        self.points, self.seed, self.n_jobs, self.verbose = points, seed, n_jobs, verbose
        self.n_clusters, self.noise = n_clusters, noise
        self.sample = sampled_rows(len(points), n_sample, seed)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    @cached_property
    def duplicates(self) -> Duplicates:
        """Groups of equal rows; each group is one point in neighbour lists and contexts."""
        return find_duplicates(self.points)

    @cached_property
    def distinct(self) -> np.ndarray:
        """The distinct points, in order of first occurrence."""
        representative = self.duplicates.representative
        return self.points if len(representative) == self.n else self.points[representative]

    @cached_property
    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """Nearest neighbours of each distinct point among the distinct points."""
        search = NeighborSearch(self.distinct, n_jobs=self.n_jobs, verbose=self.verbose)
        return search.nearest(min(CONTEXT_SIZES[-1], len(self.distinct) - 1))

    @cached_property
    def context(self) -> int:
        """Neighbours per context: the smallest size that leaves few points out of all lists."""
        k = N_NEIGHBORS
        for k in CONTEXT_SIZES:
            is_listed = np.zeros(len(self.distinct), np.bool_)
            is_listed[self.neighbors[0][:, 1 : k + 1]] = True
            if is_listed.mean() >= 1 - MAX_ORPHAN_FRACTION:
                break
        return max(min(k, len(self.distinct) - 1), 2)

    @cached_property
    def digraph(self) -> Graph:
        """Contextual digraph of the distinct points."""
        k = self.context
        nearest = self.neighbors[0][:, : k + 1]
        return contextual_of_distinct(self.distinct, k, neighbors=nearest, n_jobs=self.n_jobs)

    @cached_property
    def evidence(self) -> ClusterEvidence:
        """Evidence for the number of clusters, their layers and the noise."""
        return estimate_clusters(self.distinct, n_jobs=self.n_jobs)

    @property
    def max_clusters(self) -> int:
        """Number of clusters up to which a step may use eigenpairs."""
        return (self.n_clusters or self.evidence.n_clusters) + N_FINER

    @cached_property
    def spectrum(self) -> PerceptualSpectrum:
        """Eigenpairs of the walk on `digraph`, for every number of clusters that a step may use."""
        return PerceptualSpectrum(
            self.digraph,
            min(self.max_clusters, len(self.distinct)),
            noise=self.noise,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )

    @cached_property
    def perceptual_plane(self) -> np.ndarray:
        """The first two directions of the walk for each row; two distinct rows have only one."""
        plane = self.spectrum.pairs.vectors[self.duplicates.group, :2]
        return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))

    def release_walk(self) -> None:
        """Keep `perceptual_plane`, and free the digraph and its walk: they are larger than the points."""
        if "spectrum" in self.__dict__:
            _ = self.perceptual_plane
        for name in ("digraph", "spectrum"):
            self.__dict__.pop(name, None)

    @cached_property
    def trees(self) -> Graph:
        """Four disjoint spanning trees of all rows, or as many as exist: connected, without a scale."""
        # Lists of neighbours leave out duplicates, which trees contain.
        is_distinct = len(self.duplicates.representative) == self.n
        lists = self.neighbors[0][:, 1:] if is_distinct else None
        # With duplicates the first tree can be a star, which leaves its centre without edges for a second.
        n_trees = max(min(MAX_TREES, self.n // 2), 1)
        return max_disjoint_mst(self.points, n_trees, lists=lists)

    @cached_property
    def tree_affinity(self) -> sparse.csr_array:
        """Affinities of `trees`."""
        return self.trees.affinity()

    @cached_property
    def tree_pairs(self) -> Eigenpairs:
        """Eigenpairs of `tree_affinity`: for the clusters, whose number may be open, and for a plane."""
        n_pairs = self.n_clusters or self.evidence.n_clusters
        return leading_eigenpairs(
            self.tree_affinity,
            min(max(n_pairs, 3), self.n),
            tolerance=TOLERANCE,
            random_state=self.seed,
            n_jobs=self.n_jobs,
        )


def sampled_rows(n: int, n_sample: int, seed: int) -> np.ndarray:
    """Row numbers of a sample of ``n`` rows, ascending; all of them if there are no more."""
    if n <= n_sample:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, n_sample, replace=False))
