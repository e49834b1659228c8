"""`PerceptualEmbedding`: clusters on lines through the origin, noise near it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from vicinal._base.perceptual_estimator import PerceptualEstimator
from vicinal._core.fitted import check_is_fitted
from vicinal._core.precision import PreservesPrecision, like_input
from vicinal._core.scalar_checks import check_count

if TYPE_CHECKING:
    from vicinal._core.types import DescriptorLike, MatrixLike, NJobs, RandomStateLike
    from vicinal.graphs.graph import Graph


class PerceptualEmbedding(
    PreservesPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PerceptualEstimator
):
    """Embed points by the random walk on their contextual digraph.

    Points that fit the structure of their contexts lie far from the origin, each cluster near a linear
    subspace; noise points lie near the origin. Duplicate rows share one position; if there are too few
    distinct rows, the remaining dimensions are 0.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" compares directions only: points are scaled to length 1.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability of following an edge; otherwise the walk jumps to a random point. Much smaller values
        blur the clusters.
    laplacian : {"global", "aligned"}, default="global"
        Formula (10), or the alignment of all local Laplacians (formulas 4 to 9).
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if greater than 0.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components)
        Eigenvectors of the largest eigenvalues after the first.
    eigenvalues_ : ndarray of shape (n_components,)
        Their eigenvalues, descending.
    stationary_ : ndarray of shape (n,)
        Stationary distribution of the walk; duplicates share the probability of their row equally.
    graph_ : Graph
        The contextual digraph of the distinct rows, with its ``sigma``, or the given digraph.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import PerceptualEmbedding
    >>> from vicinal.datasets import make_half_cylinders
    >>> X, labels = make_half_cylinders(200, 200, random_state=0)
    >>> Y = PerceptualEmbedding(5).fit_transform(X)
    >>> far = np.linalg.norm(Y, axis=1)
    >>> bool(far[labels == -1].mean() < 0.6 * far[labels >= 0].mean())
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 10,
        descriptor: DescriptorLike = "coding_length",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: Literal["global", "aligned"] = "global",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.descriptor = descriptor
        self.metric = metric
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> PerceptualEmbedding:
        """Embed points, or the nodes of a digraph whose strengths are its weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features), or Graph
            Points or a digraph.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_count(self.n_components, "n_components")
        walk = self._build_walk(X)
        n = len(self.stationary_)
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, and the first eigenvector is trivial.",
        )
        n_pairs = min(self.n_components, walk.shape[0] - 1)
        pairs = self._eigenpairs(walk, n_pairs)
        # With duplicates there are fewer eigenvectors than rows.
        n_missing = self.n_components - n_pairs
        self.eigenvalues_ = np.pad(pairs.values, (0, n_missing))
        embedding = self._of_rows(np.pad(pairs.vectors, ((0, 0), (0, n_missing))))
        self.embedding_ = np.ascontiguousarray(like_input(embedding, X))
        self._n_features_out = self.n_components
        return self

    def fit_transform(self, X: Graph | MatrixLike, y: object = None) -> np.ndarray:
        """Fit the model and return the embedding of the points.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or Graph
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n, n_components)
            The embedding.
        """
        return self.fit(X).embedding_

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Embed new points by the walk from their contexts and from the contexts that they join.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of shape (m, n_components)
            Training points keep their coordinates.
        """
        check_is_fitted(self)
        contexts = self._new_contexts(X, entered=True)
        rows = self._rows_of_nodes(self._symmetric_rows(contexts))
        coordinates = rows.extend(contexts.coincides, self.embedding_, self.eigenvalues_)
        return like_input(coordinates, X)
