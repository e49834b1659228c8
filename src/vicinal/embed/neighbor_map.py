"""`NeighborMap`: a map of the points in the plane that keeps neighbours together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal._core.fitted import check_is_fitted
from vicinal._core.precision import like_input
from vicinal._core.scalar_checks import check_count
from vicinal.embed._connected import ConnectedEmbedding
from vicinal.embed._neighbor_layout import (
    joint_probabilities,
    lay_out,
    mean_around_medoid,
    open_tsne,
    start_positions,
)
from vicinal.operators.eigenpairs import random_walk_eigenvectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph

# The start only needs to be roughly right.
TOLERANCE = 1e-4
MAX_DIMENSIONS = 3


class NeighborMap(ConnectedEmbedding):
    """Draw a map of the points that keeps the neighbours in their graph together.

    The graph is laid out by t-SNE (with the package openTSNE: ``pip install 'vicinal[map]'``), starting from
    `LaplacianEigenmaps`, which places related clusters next to each other. Distances between far clusters,
    and the sizes of clusters, mean little on such a map.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Number of dimensions.
    n_iter : int, default=500
        Number of iterations, after half as many in which attraction along edges is exaggerated.
    disconnected : {"connect", "raise"}, default="connect"
        What to do with a disconnected graph: add the shortest edges between its components, or raise
        an error. Otherwise the positions of the components would be arbitrary.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="local"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random, of the eigensolver and of the start. The same seed gives the
        same map.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates.
    start_ : ndarray of shape (n, n_components)
        Spectral coordinates from which the layout started.
    graph_ : Graph or None
        The graph, with added edges; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        Affinities of the graph.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

    References
    ----------
    Van der Maaten and Hinton, "Visualizing data using t-SNE", JMLR 2008. Kobak and Linderman, "Initialization
    is critical for preserving global data structure in both t-SNE and UMAP", Nature Biotechnology 2021.
    Poličar et al., "openTSNE", Journal of Statistical Software 2024.

    Examples
    --------
    >>> from vicinal import NeighborMap
    >>> from vicinal.datasets import make_spirals
    >>> X, _ = make_spirals(100, random_state=0)
    >>> model = NeighborMap(random_state=0).fit(X)
    >>> model.embedding_.shape
    (100, 2)
    >>> model.transform(X[:2]).round(6).tolist() == model.embedding_[:2].round(6).tolist()
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_iter: int = 500,
        disconnected: Literal["connect", "raise"] = "connect",
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "local",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_iter = n_iter
        self.disconnected = disconnected
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> NeighborMap:
        """Lay out points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or affinity of shape (n, n)
            Points, a graph, or affinities.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        open_tsne()
        check_count(
            self.n_components,
            "n_components",
            high=MAX_DIMENSIONS,
            remedy="A map is for looking at; LaplacianEigenmaps and Isomap have more dimensions.",
        )
        n_iter = check_count(self.n_iter, "n_iter")
        affinity = self._connected_affinity(X)
        seed = self._seed()
        pairs = affinity.eigenpairs(self.n_components + 1, tolerance=TOLERANCE, random_state=seed)
        self.start_ = random_walk_eigenvectors(pairs.vectors[:, 1:], affinity.degrees())
        layout = lay_out(
            joint_probabilities(affinity.weights),
            start_positions(self.start_, seed),
            n_iter,
        )
        self.embedding_ = like_input(layout, X)
        return self

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Place new points among their nearest training points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of shape (m, n_components)
            Means of the coordinates of neighbours, weighted by their affinities. Neighbours on other parts
            of the map, with up to half of the weight, do not count. Training points keep their coordinates.
        """
        check_is_fitted(self)
        weights = self._weights_of(X)
        n_neighbors = np.diff(weights.indptr)[0] if weights.shape[0] else 0
        neighbors = weights.indices.reshape(-1, n_neighbors)
        shares = weights.data.reshape(-1, n_neighbors)
        positions = np.asarray(self.embedding_, dtype=np.float64)[neighbors]
        return like_input(mean_around_medoid(positions, shares), X)
