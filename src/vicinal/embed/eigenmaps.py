"""`LaplacianEigenmaps`: the slowest directions of the random walk as coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vicinal._core.precision import like_input
from vicinal.embed._connected import ConnectedEmbedding
from vicinal.operators.eigenpairs import random_walk_eigenvectors

# Residual of the eigenpairs.
TOLERANCE = 1e-9


class LaplacianEigenmaps(ConnectedEmbedding):
    """Embedding by the eigenvectors of the random walk on a graph, its slowest directions first.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    disconnected : {"connect", "raise"}, default="connect"
        If the graph is in pieces: join them by their shortest links, or explain. Without it the first
        directions would only tell the pieces apart.
    graph, graph_params, scale, random_state, n_jobs, verbose :
        As for `SpectralClustering`.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components)
        Solutions of W v = value D v after the constant one; v' D v = 1.
    eigenvalues_ : ndarray (n_components,)
        Their values, descending; 1 - value is an eigenvalue of the normalised Laplacian.
    graph_ : Graph or None
        The graph, links included.
    affinity_ : csr_array
    scale_ : float, ndarray or None

    References
    ----------
    Belkin and Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
    Computation 2003. Bengio et al., "Out-of-sample extensions", NIPS 2003, for `transform`.

    Examples
    --------
    >>> from vicinal import LaplacianEigenmaps
    >>> from vicinal.datasets import make_spirals
    >>> X, _ = make_spirals(200, random_state=0)
    >>> LaplacianEigenmaps(n_components=3).fit_transform(X).shape
    (200, 3)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        disconnected: str = "connect",
        graph: Any = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.disconnected = disconnected
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> LaplacianEigenmaps:
        """Embed points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array (n, n_features), Graph, or affinity (n, n)
        y : ignored

        Returns
        -------
        self
        """
        affinity = self._connected_affinity(X)
        pairs = affinity.eigenpairs(
            self.n_components + 1,
            tolerance=TOLERANCE,
            random_state=self._seed(),
            n_jobs=self.n_jobs,
        )
        self.eigenvalues_ = pairs.values[1:]
        vectors = random_walk_eigenvectors(pairs.vectors[:, 1:], affinity.degrees())
        self.embedding_ = like_input(vectors, X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Embedding of new points, through the Nystrom extension.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m, n_components)
            Training points keep their places.
        """
        check_is_fitted(self)
        return like_input(self._extend(X, self.embedding_, self.eigenvalues_), X)
