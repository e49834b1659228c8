"""`SparseSubspaceClustering`: clusters in linear subspaces, from sparse codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vicinal._base.graph_source import check_two_points
from vicinal._core.array_checks import check_points
from vicinal.cluster.spectral import SpectralClustering
from vicinal.codes._directions import code_points
from vicinal.codes._l1 import representation
from vicinal.graphs.graph import Graph
from vicinal.neighbors import NeighborSearch

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs, RandomStateLike

# Directions closer than this differ only by rounding.
MIN_DISTANCE = 1e-12


class SparseSubspaceClustering(SpectralClustering):
    """Clusters that lie in different subspaces through the origin.

    Each point is written as a sparse combination of other points, with coefficients a of any sign. Points of
    the same subspace need the smallest sum of ``|a|``, so the coefficients mainly connect points within
    subspaces. The clusters are the spectral clusters of the affinity (``|A| + |A|'``) / 2. New points are
    assigned by direction, up to sign.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" as for `SpectralClustering`.
    penalty : float or "auto", default="auto"
        L1 penalty of the coefficients, as for `vicinal.graphs.l1`.
    equality : bool, default=False
        Require exact codes, for data without noise.
    random_state : int, RandomState or None, default=None
        Seed of the assignment.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, numbered by first occurrence.
    n_clusters_ : int
        Number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of the normalised affinity, descending.
    eigengaps_ : ndarray
        With "auto", entry k - 1 is the evidence for k clusters.
    embedding_ : ndarray of shape (n, n_clusters)
        The rows assigned to clusters.
    probabilities_ : ndarray of shape (n, n_clusters + 1)
        Membership of each point in each cluster, smoothed over the points that its code uses. The last
        column, for noise, is 0. Rows sum to 1.
    graph_ : Graph
        Symmetric graph of the coefficients.
    affinity_ : csr_array
        Affinities of the points.
    scale_ : float
        Infinite, because the coefficients themselves are the affinities.

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
    >>> [len(set(plane)) for plane in labels.reshape(3, 40)]
    [1, 1, 1]
    """

    # Fixed parameters of the base class.
    method, assign, disconnected, max_clusters = "njw", "auto", "merge", "auto"
    graph, graph_params, scale = "l1", None, "auto"

    _accepts_chunks = False

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        penalty: float | Literal["auto"] = "auto",
        equality: bool = False,
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty = penalty
        self.equality = equality
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _nearest_in(self, graph: Graph, X: ArrayLike, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Nearest points by direction: a subspace contains all multiples of its points, of any sign."""
        directions, queries = (code_points(check_points(P), True)[0] for P in (graph.points, X))
        search = NeighborSearch(np.vstack([directions, -directions]), n_jobs=self.n_jobs)
        # Either a direction or its opposite is within 90 degrees, so the k nearest are distinct points.
        indices, distances = search.nearest(k, queries=queries)
        return indices % len(directions), np.where(distances < MIN_DISTANCE, 0.0, distances)

    def _warn_disconnected(self, n_components: int) -> None:
        # One component per subspace is the ideal result.
        if n_components > self.n_clusters_:
            super()._warn_disconnected(n_components)

    def _graph_of(self, points: np.ndarray) -> Graph:
        check_two_points(len(points))
        return representation(
            points,
            self.penalty,
            equality=self.equality,
            signed=True,
        ).symmetrize("mean")
