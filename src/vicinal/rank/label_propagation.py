"""`LabelPropagationRanking`: by how soon a random walk reaches the query."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._base.graph_estimator import GraphEstimator
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import degrees, transition
from vicinal.rank._queries import RankingMixin
from vicinal.rank._scores import ClampedWalk


class LabelPropagationRanking(RankingMixin, GraphEstimator):
    """Ranking by label propagation from a query.

    Scores are 1 at the labelled points of a query and 0 elsewhere; each step averages them over the
    neighbours, f <- P f, and sets the labelled back to 1. So a score is the probability that a random
    walk from that point reaches the query within ``n_steps`` steps. In the limit every point of a
    component has score 1, so the number of steps sets the scale of the ranking.

    A new point joins the graph beside its nearest training points, as an edge of affinity 1 to the
    nearest and less to the others; a duplicate of a training point gets the answer of that point.

    Parameters
    ----------
    n_steps : int, default=100
        Number of steps. Points more hops away score 0; points that miss the query with a probability
        below 1e-16 all score 1.
    graph : str or callable, default="knn"
        Name of a graph in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of random graphs.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. Results do not depend on it.
    verbose : int, default=0
        Show progress bars if above 0.

    Attributes
    ----------
    graph_ : Graph or None
    affinity_ : csr_array of shape (n, n)
    scale_ : float, ndarray or None

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
        graph: Any = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_steps = n_steps
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> LabelPropagationRanking:
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

    def _inserted(self, X: Any) -> sparse.csr_array:
        """Probability of each training point's next step to lead to the new point."""
        indices, distances = self._neighbors_of(X)
        links = self._kernel_weights(indices, distances)
        largest = np.repeat(links.max(axis=1).toarray().ravel(), np.diff(links.indptr))
        affinity = links.data / largest
        met = affinity / (affinity + self._degrees[links.indices])
        here = np.repeat(distances[:, 0] == 0, np.diff(links.indptr))
        # At a training point it is that point: met where it is, and only there.
        met = np.where(here, links.data > 0, np.nan_to_num(met, nan=0.0))
        return sparse.csr_array((met, links.indices, links.indptr), shape=links.shape)
