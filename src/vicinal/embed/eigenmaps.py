"""`LaplacianEigenmaps`: leading eigenvectors of the random walk as coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal._base.chunked_fit import by_chunks, chunked_fit
from vicinal._core.fitted import check_is_fitted
from vicinal._core.parallel import one_blas_thread
from vicinal._core.precision import like_input
from vicinal.embed._connected import ConnectedEmbedding
from vicinal.operators.eigenpairs import random_walk_eigenvectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph

# Residual of the eigenpairs.
TOLERANCE = 1e-9


class LaplacianEigenmaps(ConnectedEmbedding):
    """Embed points by the leading eigenvectors of the random walk on their graph.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    disconnected : {"connect", "raise"}, default="connect"
        What to do with a disconnected graph: add the shortest edges between its components, or raise
        an error. Otherwise the first eigenvectors would only separate the components.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random, and of the eigensolver.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Solutions of W v = value D v after the constant one; v' D v = 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Their eigenvalues, descending; 1 - value is an eigenvalue of the normalised Laplacian.
    graph_ : Graph or None
        The graph, with added edges; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        Affinities of the graph.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

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
        disconnected: Literal["connect", "raise"] = "connect",
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
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

    _accepts_chunks = True

    @chunked_fit
    @one_blas_thread()
    def fit(self, X: Graph | MatrixLike, y: object = None) -> LaplacianEigenmaps:
        """Embed points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or affinity of shape (n, n)
            Points, a graph, or affinities. For a dask array of points and ``graph="knn"``, the embedding is
            a dask array in its chunks.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        affinity = self._connected_affinity(X)
        pairs = affinity.eigenpairs(
            self.n_components + 1,
            tolerance=TOLERANCE,
            random_state=self._seed(),
        )
        self.eigenvalues_ = pairs.values[1:]
        vectors = random_walk_eigenvectors(pairs.vectors[:, 1:], affinity.degrees())
        self.embedding_ = like_input(vectors, X)
        return self

    @by_chunks(lambda model: model.n_components)
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Embed new points with the Nystrom extension.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; their affinities (m, n) to the training points if the model was fitted on affinities.
            A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m, n_components)
            Training points keep their coordinates.
        """
        check_is_fitted(self)
        return like_input(self._extend(X, self.embedding_, self.eigenvalues_), X)
