"""`PerceptualRanking`: along the digraph of contextual distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._base.perceptual_estimator import PerceptualEstimator
from vicinal._core.scalar_checks import check_choice
from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs.graph import Graph
from vicinal.operators.aligned_laplacian import AlignedWalk
from vicinal.operators.digraph import SymmetricWalk
from vicinal.operators.stationary import TELEPORT
from vicinal.rank._auto_alpha import choose_alpha
from vicinal.rank._queries import RankingMixin, check_alpha, scaled_starts
from vicinal.rank._scores import Resolvent, resolvent


class PerceptualRanking(RankingMixin, PerceptualEstimator):
    """Ranking that keeps to the structure of a query, also in heavy noise.

    A query v, 1 at its labelled points, gives the scores s = (I - alpha Theta)^-1 v, with Theta the
    symmetric walk on the contextual digraph. Noise is ranked low because few contexts lead to it.

    A new point brings its own context, itself and its nearest training points, and starts from these
    with the weights of formula (3), as if it were a node beside them; a duplicate of a training point
    gets the answer of that point. Equal training points are one node with one score; duplicates of the
    query points come first.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    alpha : float or "auto", default="auto"
        How far scores spread, in [0, 1). Small values rank by proximity, large ones by structure. "auto"
        takes the value at which rankings along two halves of each context agree best, compared with the
        agreement of different queries; see ``alpha_curve_``.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability of following an edge; otherwise, and at nodes without edges, the walk jumps anywhere.
        Much smaller values blur the structure. With 1 every node must be reachable from every other.
    laplacian : {"global", "aligned"}, default="global"
        Theta of formula (10), or I - the alignment of all local Laplacians (formulas 4 to 9), which
        separates noise less well.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if above 0.

    Attributes
    ----------
    alpha_ : float
        How far scores spread.
    alpha_curve_ : ndarray (m, 2) or None
        With "auto", values of alpha and at each the reliability of rankings: 1 if two halves of the contexts
        rank alike, 0 if the ranking does not depend on the query. With fewer than 10 distinct rows it is
        empty, and alpha is 0.9.
    stationary_ : ndarray (n,)
        Stationary distribution of the walk; duplicates share it equally.
    graph_ : Graph
        The contextual digraph of the distinct rows, with its ``sigma``; or the given digraph.

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
        alpha: float | str = "auto",
        *,
        descriptor: Any = "coding_length",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: str = "global",
        n_jobs: int | None = -1,
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
        """Fit the ranking to points or to a digraph.

        Parameters
        ----------
        X : array of shape (n, n_features) or Graph
            Points, or a digraph whose strengths are the edge weights.
        y : object
            Ignored.

        Returns
        -------
        PerceptualRanking
            The fitted estimator.
        """
        if isinstance(self.alpha, str):
            check_choice(self.alpha, "alpha", ("auto",))
        else:
            check_alpha(self.alpha)
        walk = self._build_walk(X)
        self.alpha_curve_: np.ndarray | None = None
        if isinstance(self.alpha, str):
            self.alpha_, self.alpha_curve_ = choose_alpha(
                self.graph_, self._masses, self._solver, self.n_jobs
            )
        else:
            self.alpha_ = float(self.alpha)
        self._resolvent = self._scores_along(walk, self.alpha_)
        self._rank_first = None
        if self._duplicates is not None:
            copied = CopiedScores(self._resolvent, self._duplicates)
            self._resolvent, self._rank_first = copied, copied.rows_of
        return self

    def _solver(self, digraph: Graph) -> Callable[[float], Resolvent]:
        """Scores along a part of the digraph, for any alpha."""
        # A part need not be connected as the whole is, so its walk always has a teleport.
        walk = self._walk(digraph, min(float(self.beta), TELEPORT))
        return lambda alpha: self._scores_along(walk, alpha)

    def _scores_along(self, walk: SymmetricWalk | AlignedWalk, alpha: float) -> Resolvent:
        if isinstance(walk, SymmetricWalk):
            return resolvent(walk.sparse_part, alpha, walk.left, walk.right, n_jobs=self.n_jobs)
        return resolvent(walk.matrix, alpha)

    def _start_vectors_of_new(self, X: Any) -> sparse.csr_array:
        starts = scaled_starts(self._new_contexts(X).steps, self._masses)
        if isinstance(self._resolvent, CopiedScores):
            return self._resolvent.from_nodes(starts)
        return starts


class CopiedScores:
    """Scores of nodes, for all rows that they stand for."""

    def __init__(self, nodes: Resolvent, copies: Duplicates) -> None:
        self.n_nodes = len(copies.group)
        self.nodes, self.copies = nodes, copies

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        return self.nodes(self._to_nodes(starts), n_jobs)[:, self.copies.group]

    def rows_of(self, starts: sparse.csr_array) -> sparse.csr_array:
        """Entries at all rows whose nodes have an entry."""
        n, group = self.n_nodes, self.copies.group
        members = sparse.csr_array((np.ones(n), (group, np.arange(n))))
        return sparse.csr_array(self._to_nodes(starts) @ members)

    def from_nodes(self, starts: sparse.csr_array) -> sparse.csr_array:
        """Starts at nodes, as starts at the first rows of these."""
        shape = (starts.shape[0], self.n_nodes)
        columns = self.copies.representative[starts.indices]
        return sparse.csr_array((starts.data, columns, starts.indptr), shape=shape)

    def _to_nodes(self, starts: sparse.csr_array) -> sparse.csr_array:
        at = starts.tocoo()
        shape = (starts.shape[0], len(self.copies.representative))
        nodes = sparse.csr_array((at.data, (at.row, self.copies.group[at.col])), shape=shape)
        # A node is labelled once, however many of its copies are.
        nodes.data = np.minimum(nodes.data, 1.0)
        return nodes
