"""`LabelPropagationRanking`: ranking by the probability that a walk reaches the query in a few steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._base.graph_estimator import GraphEstimator
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import degrees, transition
from vicinal.rank._queries import RankingMixin
from vicinal.rank._scores import ClampedWalk

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph


class LabelPropagationRanking(RankingMixin, GraphEstimator):
    """Ranking by label propagation from a query.

    Scores are 1 at the labelled points of a query and 0 elsewhere; each step averages them over the
    neighbours, f <- P f, and sets the labelled back to 1. So a score is the probability that a random
    walk from that point reaches the query within ``n_steps`` steps. In the limit every point of a
    component has score 1, so the number of steps sets the scale of the ranking.

    A new point is connected with its nearest training points, by an edge of affinity 1 to the nearest and
    smaller affinities to the others. A duplicate of a training point gets the results of that point.

    Parameters
    ----------
    n_steps : int, default=100
        Number of steps. Points more edges away score 0; points that miss the query with a probability
        below 1e-16 score 1.
    graph : str or callable, default="knn"
        Name of a graph in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    graph_ : Graph or None
        The graph; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        Affinities of the graph.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

    References
    ----------
    Zhu and Ghahramani, "Learning from labeled and unlabeled data with label propagation", 2002. Bai,
    Yang, Latecki, Liu and Tu, "Learning context-sensitive shape similarity by graph transduction",
    PAMI 2010, for its use in retrieval.

    Examples
    --------
    >>> from vicinal import LabelPropagationRanking
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> indices, scores = LabelPropagationRanking(5, graph_params={"n_neighbors": 2}).fit(X).rank([0, 5], 2)
    >>> indices
    array([[1, 2],
           [4, 3]])
    """

    def __init__(
        self,
        n_steps: int = 100,
        *,
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_steps = n_steps
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> LabelPropagationRanking:
        """Fit the ranking to points, to a `Graph`, or to a precomputed matrix.

        Parameters
        ----------
        X : array of shape (n, n_features), Graph, or matrix of shape (n, n)
            Points, a graph, or affinities or distances as ``graph`` says.
        y : object
            Ignored.

        Returns
        -------
        LabelPropagationRanking
            The fitted estimator.
        """
        n_steps = check_count(self.n_steps, "n_steps")
        weights = self._build_affinity(X)
        self._degrees = degrees(weights)
        self._resolvent = ClampedWalk(transition(weights), n_steps)
        return self

    def _start_vectors_of_new(self, X: MatrixLike) -> sparse.csr_array:
        """Probability that the next step of each training point leads to the new point."""
        indices, distances = self._neighbors_of(X)
        links = self._kernel_weights(indices, distances).to_csr(len(self._degrees))
        largest = np.repeat(links.max(axis=1).toarray().ravel(), np.diff(links.indptr))
        affinity = links.data / largest
        absorbed = affinity / (affinity + self._degrees[links.indices])
        coincides = np.repeat(distances[:, 0] == 0, np.diff(links.indptr))
        # A new point at the position of a training point is that point: only that point absorbs walks.
        absorbed = np.where(coincides, links.data > 0, np.nan_to_num(absorbed, nan=0.0))
        return sparse.csr_array((absorbed, links.indices, links.indptr), shape=links.shape)
