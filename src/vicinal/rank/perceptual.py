"""`PerceptualRanking`: along the digraph of contextual distances."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from vicinal._perception import PerceptualEstimator
from vicinal.operators.digraphs import SymmetricWalk
from vicinal.rank.queries import RankingMixin, check_alpha, scaled_starts
from vicinal.rank.scores import resolvent


class PerceptualRanking(RankingMixin, PerceptualEstimator):
    """Ranking that keeps to the structure of a query, also in heavy noise.

    A query v, 1 at its labelled points, gives the scores s = (I - alpha Theta)^-1 v, with Theta the
    symmetric walk on the contextual digraph. Noise is ranked low because few contexts lead to it.

    A new point brings its own context, itself and its nearest training points, and starts from these
    with the weights of formula (3), as if it were a node beside them; a copy of a training point has
    the answer of that point.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    alpha : float, default=0.999
        How far scores flow, in [0, 1). Small values rank by nearness, large ones by structure.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability to follow an edge; else, and at a node without any edge, the walk goes on anywhere.
        Much smaller values blur the structure. With 1 every node must be reachable from every other.
    laplacian : {"global", "aligned"}, default="global"
        Theta of formula (10), or I - the alignment of all local Laplacians (formulas 4 to 9), which
        tells noise less well.
    n_jobs : int, optional
        Number of threads, all cores by default. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if above 0.

    Attributes
    ----------
    stationary_ : ndarray (n,)
        Stationary distribution of the walk.
    graph_ : Graph
        The contextual digraph, with its ``sigma``; or the digraph that was given.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.
    Zhou, Huang and Schölkopf, "Learning from labeled and unlabeled data on a directed graph", ICML 2005.

    Examples
    --------
    Most of what is ranked first lies on the half-cylinder of the query, though noise is all around:

    >>> from vicinal.datasets import make_half_cylinders
    >>> from vicinal import PerceptualRanking
    >>> X, labels = make_half_cylinders(400, 200, random_state=0)
    >>> indices, scores = PerceptualRanking().fit(X).rank(0, 300)
    >>> bool((labels[indices] == labels[0]).mean() > 0.9)
    True
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        alpha: float = 0.999,
        *,
        descriptor: Any = "coding_length",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: str = "global",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.descriptor = descriptor
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> PerceptualRanking:
        """Prepare for queries on points, or on the nodes of a digraph whose strengths are its weights.

        Parameters
        ----------
        X : array (n, n_features) or Graph
        y : ignored

        Returns
        -------
        self
        """
        alpha = check_alpha(self.alpha)
        walk = self._build_walk(X)
        if isinstance(walk, SymmetricWalk):
            self._resolvent = resolvent(
                walk.sparse_part, alpha, walk.left, walk.right, n_jobs=self.n_jobs
            )
        else:
            self._resolvent = resolvent(walk.matrix, alpha)
        return self

    def _inserted(self, X: Any) -> sparse.csr_array:
        return scaled_starts(self._context_weights(X)[0], self.stationary_)
