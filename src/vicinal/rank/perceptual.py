"""`PerceptualRanking`: ranking along the contextual digraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from vicinal._base.chunked_fit import chunked_fit
from vicinal._base.perceptual_estimator import PerceptualEstimator, Walk
from vicinal._core.options import check_options
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice
from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs.graph import Graph
from vicinal.operators.digraph import SymmetricWalk
from vicinal.operators.stationary import TELEPORT
from vicinal.rank._auto_alpha import choose_alpha, warn_if_choice_is_long
from vicinal.rank._queries import RankingMixin, check_alpha, scaled_starts
from vicinal.rank._scores import Resolvent, resolvent

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, DescriptorLike, MatrixLike, NJobs


class PerceptualRanking(RankingMixin, PerceptualEstimator):
    """Rank points along the structure of a query, even in heavy noise.

    A query v, 1 at its labelled points, gives the scores s = (I - alpha Theta)^-1 v, with Theta the
    symmetric walk on the contextual digraph. Noise is ranked low because few contexts lead to it.

    A new point forms a context with its nearest training points, and its query starts from these with the
    weights of formula (3). A new point equal to a training point gets the scores of that point. Duplicate
    training points are one node with one score; duplicates of the query points are ranked first.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    alpha : float or "auto", default="auto"
        How far scores spread, in [0, 1). Small values rank by proximity, large values by structure. "auto"
        uses the value at which the rankings along two halves of the contexts agree best, relative to the
        agreement of different queries; see ``alpha_curve_``.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" compares directions only: points are scaled to length 1.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability of following an edge; otherwise, and at nodes without edges, the walk jumps to a random
        node. Much smaller values blur the structure. If 1, every node must be reachable from every other.
    laplacian : {"global", "aligned"}, default="global"
        Theta of formula (10) of [1], or I minus the alignment of all local Laplacians (formulas 4 to 9),
        which separates noise less well.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if greater than 0.

    Attributes
    ----------
    alpha_ : float
        How far scores spread.
    alpha_curve_ : ndarray of shape (m, 2) or None
        With "auto", values of alpha and the reliability of rankings: 1 if two halves of the contexts give the
        same ranking, 0 if the ranking does not depend on the query. With fewer than 10 distinct rows it is
        empty, and alpha is 0.9.
    stationary_ : ndarray of shape (n,)
        Stationary distribution of the walk, divided equally among duplicates.
    graph_ : Graph
        The contextual digraph of the distinct rows, with its ``sigma``; or the given digraph.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.
    Zhou, Huang and Schölkopf, "Learning from labeled and unlabeled data on a directed graph", ICML 2005.

    Examples
    --------
    Most of the first results are on the half-cylinder of the query, in spite of the noise:

    >>> from vicinal.datasets import make_half_cylinders
    >>> from vicinal import PerceptualRanking
    >>> X, labels = make_half_cylinders(400, 200, random_state=0)
    >>> indices, scores = PerceptualRanking().fit(X).rank(0, 300)
    >>> bool((labels[indices] == labels[0]).mean() > 0.9)
    True
    """

    _accepts_chunks = True

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        alpha: float | Literal["auto"] = "auto",
        descriptor: DescriptorLike = "coding_length",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: Literal["global", "aligned"] = "global",
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.descriptor = descriptor
        self.metric = metric
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.n_jobs = n_jobs
        self.verbose = verbose

    @chunked_fit
    @one_blas_thread()
    def fit(self, X: MatrixLike | Graph, y: object = None) -> PerceptualRanking:
        """Fit the ranking to points or to a digraph.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_features), or Graph
            Points, or a digraph whose strengths are the edge weights. For a dask array of points,
            ``stationary_`` is a dask array in its chunks.
        y : None
            Ignored.

        Returns
        -------
        PerceptualRanking
            The fitted estimator.
        """
        if isinstance(self.alpha, str):
            check_choice(self.alpha, "alpha", ("auto",))
            check_options(self)
            if self.verbose <= 0:
                warn_if_choice_is_long(_n_rows(X), self.n_jobs)
        else:
            check_alpha(self.alpha)
        walk = self._build_walk(X)
        self.alpha_curve_: np.ndarray | None = None
        if isinstance(self.alpha, str):
            self.alpha_, self.alpha_curve_ = choose_alpha(
                self.graph_,
                self._masses,
                self._solver,
                self.n_jobs,
                "alpha" if self.verbose > 0 else None,
            )
        else:
            self.alpha_ = float(self.alpha)
        self._resolvent = scores_along(walk, self.alpha_, self.n_jobs)
        self._rank_first = None
        if self._duplicates is not None:
            expanded = ExpandedScores(self._resolvent, self._duplicates)
            self._resolvent, self._rank_first = expanded, expanded.rows_of
        return self

    def _solver(self, digraph: Graph, n_jobs: int) -> Callable[[float], Resolvent]:
        """Scores along a subgraph of the digraph, for any alpha."""
        # A subgraph may be disconnected, so its walk always has a teleport.
        walk = self._walk(digraph, min(float(self.beta), TELEPORT))
        return lambda alpha: scores_along(walk, alpha, n_jobs)

    def _start_vectors_of_new(self, X: ArrayLike) -> sparse.csr_array:
        steps = self._new_contexts(X).steps.to_csr(len(self._masses))
        starts = scaled_starts(steps, self._masses)
        if isinstance(self._resolvent, ExpandedScores):
            return self._resolvent.from_nodes(starts)
        return starts


def scores_along(walk: Walk, alpha: float, n_jobs: int | None) -> Resolvent:
    """Scores along a walk."""
    if isinstance(walk, SymmetricWalk):
        return resolvent(walk.sparse_part, alpha, walk.left, walk.right, n_jobs=n_jobs)
    return resolvent(walk.matrix, alpha, n_jobs=n_jobs)


def _n_rows(X: MatrixLike | Graph) -> int:
    """Number of rows of an array, not checked yet, or of nodes; 0 if it is not known without a copy."""
    n = X.n_nodes if isinstance(X, Graph) else (*getattr(X, "shape", ()), 0)[0]
    return n if isinstance(n, int) else 0


class ExpandedScores:
    """Scores of nodes, expanded to all of their duplicate rows."""

    def __init__(self, nodes: Resolvent, duplicates: Duplicates) -> None:
        self.n_nodes = len(duplicates.group)
        self.nodes, self.duplicates = nodes, duplicates

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        return self.nodes(self._to_nodes(starts), n_jobs)[:, self.duplicates.group]

    def rows_of(self, starts: sparse.csr_array) -> sparse.csr_array:
        """Set entries at all rows of the nodes that have an entry."""
        n, group = self.n_nodes, self.duplicates.group
        members = sparse.csr_array((np.ones(n), (group, np.arange(n))))
        return sparse.csr_array(self._to_nodes(starts) @ members)

    def from_nodes(self, starts: sparse.csr_array) -> sparse.csr_array:
        """Move start vectors from nodes to their first rows."""
        shape = (starts.shape[0], self.n_nodes)
        columns = self.duplicates.representative[starts.indices]
        return sparse.csr_array((starts.data, columns, starts.indptr), shape=shape)

    def _to_nodes(self, starts: sparse.csr_array) -> sparse.csr_array:
        at = starts.tocoo()
        shape = (starts.shape[0], len(self.duplicates.representative))
        nodes = sparse.csr_array((at.data, (at.row, self.duplicates.group[at.col])), shape=shape)
        # A node counts once, even if several of its rows are labelled.
        nodes.data = np.minimum(nodes.data, 1.0)
        return nodes
