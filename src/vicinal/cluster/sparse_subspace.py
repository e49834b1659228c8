"""`SparseSubspaceClustering`: clusters that are subspaces, through sparse codes of any sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal.cluster.spectral import SpectralClustering
from vicinal.codes._l1 import code_points, representation
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch

# Directions that rounding may put so far apart are one.
SAME = 1e-12


class SparseSubspaceClustering(SpectralClustering):
    """Clusters that lie in different subspaces through the origin.

    Each point is written as a sparse combination of others, with coefficients a of any sign. Points of its
    own subspace do that with the least sum of ``|a|``, so the graph of the coefficients falls apart into
    subspaces; its spectral clusters by the affinity (``|A| + |A|'``) / 2 are the result. New points join
    those of nearly the same or the opposite direction, whatever their length.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" takes the one with the clearest gap in the spectrum.
    penalty : float or "auto", default="auto"
        Price of a unit of coefficients, as for `vicinal.graphs.l1`.
    equality : bool, default=False
        Ask for exact codes, for points without noise.
    random_state : int, RandomState or None
        Seed of the assignment.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Attributes
    ----------
    labels_ : ndarray of int (n,)
        Cluster of each point, numbered by their first points.
    n_clusters_ : int
    eigenvalues_, eigengaps_, embedding_ : ndarray
        As for `SpectralClustering`.
    graph_ : Graph
        Symmetric; its ``codes`` tell what each code explains.
    affinity_ : csr_array
    scale_ : float
        Infinite: coefficients are affinities as they are.

    References
    ----------
    Elhamifar and Vidal, "Sparse subspace clustering: algorithm, theory, and applications", PAMI 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import SparseSubspaceClustering
    >>> rng = np.random.default_rng(0)
    >>> planes = [rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6)) for _ in range(3)]
    >>> labels = SparseSubspaceClustering(3, random_state=0).fit_predict(np.vstack(planes))
    >>> [len(set(part)) for part in labels.reshape(3, 40)]
    [1, 1, 1]
    """

    # What the base class is asked for; only codes are to be chosen here.
    method, assign, disconnected, max_clusters = "njw", "auto", "merge", 20
    graph, graph_params, scale = "l1", None, "auto"

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        penalty: float | str = "auto",
        equality: bool = False,
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.equality = equality
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _nearest_in(self, graph: Graph, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Nearest points by direction: a subspace holds all multiples of its points, of any sign."""
        directions, asked = (code_points(check_points(P), True)[0] for P in (graph.points, X))
        search = NeighborSearch(np.vstack([directions, -directions]), n_jobs=self.n_jobs)
        # One of a direction and its opposite is at a right angle or less, so k different ones come first.
        indices, distances = search.nearest(k, queries=asked)
        return indices % len(directions), np.where(distances < SAME, 0.0, distances)

    def _warn_disconnected(self, n_components: int) -> None:
        # Codes that never lead from one subspace to another are the aim.
        if n_components > self.n_clusters_:
            super()._warn_disconnected(n_components)

    def _graph_of(self, points: np.ndarray) -> Graph:
        if len(points) < 2:
            raise InvalidValueError(
                f"X has n_samples={len(points)}, but a graph needs 2 points or more."
            )
        return representation(
            points,
            self.penalty,
            equality=self.equality,
            signed=True,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        ).symmetrize("mean")
