"""`PerceptualEmbedding`: clusters on lines through the origin, noise near it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._base.perceptual_estimator import PerceptualEstimator
from vicinal._core.precision import PreservesPrecision, like_input
from vicinal._core.validation import check_count
from vicinal.operators.eigenpairs import nystrom


class PerceptualEmbedding(
    PreservesPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PerceptualEstimator
):
    """Embedding of points by the walk on their contextual digraph.

    Points that fit the structure of their contexts lie far from the origin, each cluster near a linear
    subspace; noise, which few contexts lead to, lies near the origin. Equal rows are one point: each has
    its place, and as many directions are 0 as there are too few distinct rows for.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability to follow an edge; else the walk goes on anywhere. Much smaller values blur the
        clusters.
    laplacian : {"global", "aligned"}, default="global"
        Formula (10), or the alignment of all local Laplacians (formulas 4 to 9).
    random_state : int, RandomState or None
        Seed of the eigensolver's start.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if above 0.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components)
        Eigenvectors of the largest eigenvalues after the first.
    eigenvalues_ : ndarray (n_components,)
    stationary_ : ndarray (n,)
        Stationary distribution of the walk; copies of a row have equal parts of what it has.
    graph_ : Graph
        The contextual digraph of the distinct rows, with its ``sigma``; or the digraph that was given.

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
        descriptor: Any = "coding_length",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: str = "global",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.descriptor = descriptor
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> PerceptualEmbedding:
        """Embed points, or the nodes of a digraph whose strengths are its weights.

        Parameters
        ----------
        X : array (n, n_features) or Graph
        y : ignored

        Returns
        -------
        self
        """
        check_count(self.n_components, "n_components")
        walk = self._build_walk(X)
        n = len(self.stationary_)
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, and the first direction is known.",
        )
        found = min(self.n_components, walk.shape[0] - 1)
        pairs = self._eigenpairs(walk, found)
        # Copies leave fewer directions than there are rows.
        lacking = self.n_components - found
        self.eigenvalues_ = np.pad(pairs.values, (0, lacking))
        embedding = self._of_rows(np.pad(pairs.vectors, ((0, 0), (0, lacking))))
        self.embedding_ = like_input(embedding, X)
        self._n_features_out = self.n_components
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """`fit`, and the embedding of the points."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Embedding of new points, by the walk from their contexts and from contexts that they enter.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m, n_components)
            Training points keep their places.
        """
        check_is_fitted(self)
        rows, known = self._new_rows(X)
        steps = rows @ self._of_nodes(self.embedding_)
        placed = np.where(known[:, None], steps, nystrom(steps, self.eigenvalues_))
        return like_input(placed, X)
