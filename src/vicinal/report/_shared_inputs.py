"""The points and what several steps need of them, each found once, when it is first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from vicinal import graphs
from vicinal._base.perceptual_estimator import contextual_of_distinct
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch

# Neighbours in a context, and in graphs of neighbours.
NEIGHBORS = 10
# Longer contexts, for data in so many dimensions that many rows stand on nobody's list: a walk along lists
# cannot tell these from noise. In few dimensions such rows are rare.
CONTEXTS, ORPHANS = (NEIGHBORS, 20, 30), 0.03
N_TREES = 4


class SharedInputs:
    """Points, the seed of all chance, and the rows that quadratic views look at."""

    def __init__(
        self, points: np.ndarray, n_sample: int, seed: int, n_jobs: int | None, verbose: int
    ) -> None:
        self.points, self.seed, self.n_jobs, self.verbose = points, seed, n_jobs, verbose
        n = len(points)
        self.sample = np.arange(n)
        if n > n_sample:
            rng = np.random.default_rng(seed)
            self.sample = np.sort(rng.choice(n, n_sample, replace=False))

    @property
    def n(self) -> int:
        return len(self.points)

    @cached_property
    def sample_points(self) -> np.ndarray:
        return self.points[self.sample]

    @cached_property
    def copies(self) -> Duplicates:
        """Sets of equal rows: lists of neighbours and contexts are those of their first rows."""
        return find_duplicates(self.points)

    @cached_property
    def distinct(self) -> np.ndarray:
        """The distinct points, in the order of their first rows."""
        return (
            self.points
            if len(self.copies.representative) == self.n
            else self.points[self.copies.representative]
        )

    @cached_property
    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """The nearest neighbours of distinct points among these."""
        search = NeighborSearch(self.distinct, n_jobs=self.n_jobs, verbose=self.verbose)
        return search.nearest(min(CONTEXTS[-1], len(self.distinct) - 1))

    @cached_property
    def context(self) -> int:
        """Number of neighbours in a context: as few as leave few points on nobody's list."""
        k = NEIGHBORS
        for k in CONTEXTS:
            listed = np.unique(self.neighbors[0][:, 1 : k + 1])
            if len(listed) >= (1 - ORPHANS) * len(self.distinct):
                break
        return max(min(k, len(self.distinct) - 1), 2)

    @cached_property
    def digraph(self) -> Graph:
        """The contextual digraph of the distinct points."""
        k = self.context
        nearest = self.neighbors[0][:, : k + 1]
        return contextual_of_distinct(self.distinct, k, neighbors=nearest, n_jobs=self.n_jobs)

    @cached_property
    def trees(self) -> Graph:
        """Disjoint spanning trees of all rows: connected, and free of a scale to choose."""
        return disjoint_trees(self.points, self.n_jobs, self.verbose)


def disjoint_trees(points: np.ndarray, n_jobs: int | None, verbose: int = 0) -> Graph:
    """As many disjoint spanning trees as asked for, or as there are.

    Duplicates can make a star of the first tree, which leaves its centre without an edge.
    """
    for n_trees in range(min(N_TREES, len(points) // 2), 1, -1):
        try:
            return graphs.disjoint_mst(points, n_trees, n_jobs=n_jobs, verbose=verbose)
        except ValueError:
            continue
    return graphs.mst(points, n_jobs=n_jobs, verbose=verbose)
