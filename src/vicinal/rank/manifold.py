"""`ManifoldRanking`: ranking along an undirected graph of the points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

from vicinal._base.graph_estimator import GraphEstimator
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import degrees, normalized_affinity, transition
from vicinal.rank._queries import RankingMixin, absorbing_starts, check_alpha, scaled_starts
from vicinal.rank._scores import ClampedWalk, resolvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph


class ManifoldRanking(RankingMixin, GraphEstimator):
    """Ranking by how well paths in a graph connect points with a query.

    A query v, 1 at its labelled points, gives the scores s = (I - alpha D^-1/2 W D^-1/2)^-1 v, with W
    the affinity of the graph and D its degrees: a sum over all paths from the query in which each edge
    contributes a factor alpha. A point that no path connects to the query scores 0.

    With ``n_steps``, the ranking is label propagation from the query: scores are 1 at its labelled points and
    0 elsewhere, and each step averages them over the neighbours, f <- D^-1 W f, and sets the labelled back to
    1. So a score is the probability that a random walk from that point reaches the query within so many
    steps. In the limit every point of a component has score 1: the number of steps sets the range of the
    ranking, as alpha does otherwise.

    A new point starts from its nearest training points, with weights as if it were a node of the graph. For
    label propagation it is connected with them, by an edge of affinity 1 to the nearest and smaller
    affinities to the others. A duplicate of a training point gets the results of that point.

    Parameters
    ----------
    alpha : float, default=0.99
        How far scores spread, in [0, 1). Small values rank by proximity; close to 1, the scores within a
        component differ only by the square roots of the degrees. Has no effect with ``n_steps``.
    n_steps : int, optional
        Number of steps of label propagation, which then replaces the formula above; 100 is a good first
        choice. Points more edges away score 0; points that miss the query with a probability below 1e-16
        score 1.
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
    Zhou, Weston, Gretton, Bousquet and Schölkopf, "Ranking on data manifolds", NIPS 2003.
    Bai, Yang, Latecki, Liu and Tu, "Learning context-sensitive shape similarity by graph transduction",
    PAMI 2010, for label propagation from a query.

    Examples
    --------
    >>> from vicinal import ManifoldRanking
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> indices, scores = ManifoldRanking(graph_params={"n_neighbors": 2}).fit(X).rank([0, 5], 2)
    >>> indices
    array([[1, 2],
           [4, 3]])
    >>> ManifoldRanking(n_steps=1, graph="mst", scale=1.0).fit(X).scores([0]).round(2)
    array([[1. , 0.5, 0. , 0. , 0. , 0. ]])
    """

    def __init__(
        self,
        alpha: float = 0.99,
        *,
        n_steps: int | None = None,
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.n_steps = n_steps
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> ManifoldRanking:
        """Fit the ranking to points, to a `Graph`, or to a precomputed matrix.

        Parameters
        ----------
        X : array of shape (n, n_features), Graph, or matrix of shape (n, n)
            Points, a graph, or affinities or distances as ``graph`` says.
        y : object
            Ignored.

        Returns
        -------
        ManifoldRanking
            The fitted estimator.
        """
        alpha = check_alpha(self.alpha)
        n_steps = None if self.n_steps is None else check_count(self.n_steps, "n_steps")
        weights = self._build_affinity(X)
        self._degrees = degrees(weights)
        if n_steps is None:
            self._resolvent = resolvent(normalized_affinity(weights, self._degrees), alpha)
        else:
            self._resolvent = ClampedWalk(transition(weights), n_steps)
        return self

    def _start_vectors_of_new(self, X: MatrixLike) -> sparse.csr_array:
        if not isinstance(self._resolvent, ClampedWalk):
            return scaled_starts(self._weights_of(X), self._degrees)
        indices, distances = self._neighbors_of(X)
        links = self._kernel_weights(indices, distances).to_csr(len(self._degrees))
        return absorbing_starts(links, distances[:, 0] == 0, self._degrees)
