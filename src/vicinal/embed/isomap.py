"""Isomap: low-dimensional points whose distances are the lengths of shortest paths along a graph."""

from __future__ import annotations

from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from vicinal._base.graph_estimator import GraphEstimator, warn_disconnected
from vicinal._base.graph_source import DISTANCES
from vicinal._core.fitted import check_is_fitted
from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks
from vicinal._core.precision import PreservesPrecision, like_input
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.embed._connected import CONNECTED
from vicinal.embed.scaling import (
    embed_rows,
    principal_axes,
    reconstruction_error,
    rotate,
    scale_distances,
)
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.metrics.geodesic import unexplained_variance
from vicinal.operators._shortest_paths import landmark_nodes, shortest_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike

# New points per block; each needs a row of distances to all training points.
POINTS_PER_BLOCK = 512


class Isomap(PreservesPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):
    """Embed points so that geodesic distances, the lengths of shortest paths, are preserved.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, less than the number of points.
    n_landmarks : int, optional
        Compute paths from this many points only: memory and time grow with n * n_landmarks instead of
        n * n. The landmarks are embedded, and all points are located by their distances to them. A few
        hundred are enough for a few dimensions. Each landmark is the point farthest along the graph
        from the previous ones, so they cover the data, and the choice is deterministic.
    disconnected : {"connect", "raise"}, default="connect"
        What to do with a disconnected graph: add the shortest edges between its components, or raise
        an error.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`, or
        "precomputed_distances" if X holds distances: a dense matrix of all pairs, which has the graph "knn"
        of its points, or a sparse matrix of neighbours as returned by scikit-learn's
        `KNeighborsTransformer`. "precomputed" means the same, as in scikit-learn's Isomap.
    graph_params : dict, optional
        Parameters of the graph, such as ``{"n_neighbors": 15}``.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components)
        Coordinates along principal axes, the longest first.
    geodesics_ : ndarray of shape (n, n) or (n, n_landmarks)
        Lengths of the shortest paths to all points, or to the landmarks.
    landmarks_ : ndarray of int, or None
        Indices of the landmarks.
    residual_variance_ : ndarray of shape (n_components,)
        Variance of the geodesics not explained by the first 1, 2, ... dimensions; it stops decreasing
        at the dimension of the data. Computed on first access.
    graph_ : Graph
        The graph, with added edges.

    See Also
    --------
    vicinal.metrics.residual_variance : Residual variance of any embedding.
    vicinal.operators.shortest_paths : Lengths of shortest paths along a graph.

    References
    ----------
    Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear dimensionality
    reduction", Science 2000. De Silva and Tenenbaum, "Global versus local methods in nonlinear
    dimensionality reduction", NIPS 2002, for landmarks.

    Examples
    --------
    >>> from vicinal import Isomap
    >>> from vicinal.datasets import make_swiss_roll
    >>> X, sheet = make_swiss_roll(500, random_state=0)
    >>> isomap = Isomap(n_components=2, graph="disjoint_mst").fit(X)
    >>> isomap.embedding_.shape
    (500, 2)
    >>> bool(isomap.residual_variance_[1] < 0.01)
    True
    """

    _precomputed = DISTANCES

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_landmarks: int | None = None,
        disconnected: Literal["connect", "raise"] = "connect",
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.disconnected = disconnected
        self.graph = graph
        self.graph_params = graph_params
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> Isomap:
        """Embed points, the nodes of a `Graph`, or with ``graph="precomputed_distances"`` distances.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or distances of shape (n, n)
            Points, a graph, or distances.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_choice(self.disconnected, "disconnected", ("connect", "raise"))
        check_count(self.n_components, "n_components")
        graph = self.graph_ = self._connected(self._build_graph(X))
        n_landmarks = self._check_sizes(graph.n_nodes)
        if n_landmarks is None:
            self.landmarks_ = None
            self.geodesics_ = shortest_paths(graph)
            between = self.geodesics_
        else:
            self.landmarks_ = landmark_nodes(graph, n_landmarks)
            paths = shortest_paths(graph, self.landmarks_)
            self.geodesics_ = paths.T
            between = paths[:, self.landmarks_]
        self._scaling = scale_distances(between, self.n_components)
        if n_landmarks is None:
            self._axes = None
            self.embedding_ = self._scaling.coordinates
        else:
            # The principal axes of the landmarks differ slightly from those of all points.
            coordinates = embed_rows(self._scaling, self.geodesics_)
            self._axes = principal_axes(coordinates)
            self.embedding_ = rotate(coordinates, self._axes)
        self.embedding_ = like_input(self.embedding_, X)
        self._n_features_out = self.n_components
        self.__dict__.pop("residual_variance_", None)
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
        """Embed new points; their paths lead through their nearest training points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; with ``graph="precomputed_distances"``, their distances (m, n) to the training
            points, dense or sparse as in `fit`.

        Returns
        -------
        ndarray of shape (m, n_components)
            Training points keep their coordinates.
        """
        from vicinal.embed._scaling_kernels import paths_through

        check_is_fitted(self)
        indices, distances = self._neighbors_of(X)
        coordinates = np.empty((len(indices), self.n_components))
        for rows in starmap(slice, blocks(len(indices), POINTS_PER_BLOCK)):
            geodesics = np.empty((len(indices[rows]), self.geodesics_.shape[1]))
            paths_through(indices[rows], distances[rows], self.geodesics_, geodesics)
            coordinates[rows] = embed_rows(self._scaling, geodesics)
        if self._axes is not None:
            coordinates = rotate(coordinates, self._axes)
        # A training point might have shorter paths through neighbours that are not adjacent in the graph.
        is_training = distances[:, 0] == 0
        if is_training.any():
            coordinates[is_training] = self.embedding_[indices[is_training, 0]]
        return like_input(coordinates, X)

    def reconstruction_error(self) -> float:
        """Compute the root mean square error of the inner products of the embedding.

        As in scikit-learn: the Frobenius norm of K(geodesics) - K(embedding) divided by n, where K
        centres -1/2 times the squared distances. With landmarks, the error of the landmarks.

        Returns
        -------
        float
            Reconstruction error.
        """
        check_is_fitted(self)
        between = self.geodesics_
        if self.landmarks_ is not None:
            between = between[self.landmarks_]
        return reconstruction_error(self._scaling, between)

    @cached_property
    def residual_variance_(self) -> np.ndarray:
        check_is_fitted(self)
        points = self.embedding_
        targets = points if self.landmarks_ is None else points[self.landmarks_]
        return np.array(
            [
                unexplained_variance(self.geodesics_, points[:, :d], targets[:, :d])
                for d in range(1, points.shape[1] + 1)
            ]
        )

    def _connected(self, graph: Graph) -> Graph:
        if graph.n_components <= 1:
            return graph
        if self.disconnected == "raise" or graph.points is None:
            raise InvalidValueError(
                f"the graph has {graph.n_components} components, and there are no paths between them; "
                "add edges between them, use graph='disjoint_mst', which is always connected, or fit on "
                "points with disconnected='connect'."
            )
        warn_disconnected(graph.n_components, CONNECTED)
        return graph.connect()

    def _check_sizes(self, n: int) -> int | None:
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, which span at most {n - 1} dimension(s).",
        )
        if self.n_landmarks is None:
            require_memory(
                8.0 * n * n + 1e8,
                f"The geodesic distances of {n:,} points",
                "Set n_landmarks, e.g. to 1000, to store paths from this many points only.",
            )
            return None
        return check_count(
            self.n_landmarks,
            "n_landmarks",
            low=self.n_components + 1,
            high=n,
            remedy=f"X has {n} points, and {self.n_components} dimension(s) need at least "
            f"{self.n_components + 1} landmarks.",
        )
