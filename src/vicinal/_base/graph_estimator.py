"""Base class of estimators on graphs: building the graph and its affinity, and extension to new points."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal import graphs
from vicinal._base.affinity_operator import AffinityOperator, SparseAffinity, SpectralAffinity
from vicinal._base.nested_params import NestedGraphParams
from vicinal._core.array_checks import validate_input
from vicinal._core.matrix_checks import check_affinity
from vicinal._core.options import check_mapping, check_options, seed_from
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.distance_rows import (
    graph_from_distances,
    neighbors_from_rows,
    neighbors_within,
)
from vicinal.graphs._checks import check_has_nodes
from vicinal.graphs.affinities import MAX_SCALE_RATIO, affinity_and_scale, check_scale
from vicinal.graphs.graph import Graph
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric
from vicinal.operators.eigenpairs import nystrom
from vicinal.operators.laplacians import normalize_by_mass

DEFAULT_N_NEIGHBORS = 10
# Public names of `graphs` that do not build an undirected graph of points.
NOT_BUILDERS = {"Graph", "grid", "contextual", "contextual_distance", "affinity", "edge_scale"}
BUILDERS = tuple(name for name in graphs.__all__ if name not in NOT_BUILDERS)
DISTANCES: str = "precomputed_distances"
AFFINITY: str = "precomputed_affinity"


class GraphEstimator(NestedGraphParams):
    """Base class of estimators that work on a graph of the points.

    Subclasses have the parameters ``graph``, ``graph_params``, ``scale``, ``random_state``, ``n_jobs``
    and ``verbose``.
    """

    # What graph="precomputed" means, as in scikit-learn's estimator for the same task.
    _precomputed = AFFINITY
    # Functions, by name, that return an `AffinityOperator` instead of a Graph.
    _operator_builders: ClassVar[Mapping[str, Callable[..., Any]]] = MappingProxyType({})
    graph: Any
    graph_params: dict[str, Any] | None
    scale: Any
    random_state: Any
    n_jobs: int | None
    verbose: int
    graph_: Graph | None
    scale_: Any
    affinity_: sparse.csr_array

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = (
            self._precomputed_kind() is not None or self._accepts_sparse_points()
        )
        return tags

    def _build_graph(self, X: Any) -> Graph:
        """Build the undirected graph for ``graph`` and X, and store it as ``graph_``."""
        return self._use_graph(self._graph_from_input(X))

    def _graph_from_input(self, X: Any) -> Any:
        """Build the graph for ``graph`` and X, or an `AffinityOperator` if the estimator accepts those."""
        check_options(self)
        if isinstance(X, Graph):
            check_has_nodes(X, "X")
            reset_feature_attributes(self)
            return X if self._operator_builder() is None else self._operator_of(X)
        if self._operator_builders and isinstance(X, AffinityOperator):
            reset_feature_attributes(self)
            return X
        if self._precomputed_kind() == AFFINITY:
            raise InvalidValueError(
                f"graph={self.graph!r}, but {type(self).__name__} needs edge lengths; pass distances "
                f"with graph={DISTANCES!r}, or a Graph as X."
            )
        if self._precomputed_kind() == DISTANCES:
            given = validate_input(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
            if sparse.issparse(given):
                return graph_from_distances(given)
            return graphs.complete(given, metric="precomputed")
        accepted = "csr" if self._accepts_sparse_points() else False
        points = validate_input(self, X, accept_sparse=accepted, dtype=(np.float64, np.float32))
        if sparse.issparse(points):
            points = check_sparse_points(points)
        return self._graph_of(points)

    def _use_graph(self, graph: Graph) -> Graph:
        if graph.directed:
            raise InvalidValueError(
                "the graph is directed, but an undirected one is needed; "
                "use graph.symmetrize('union'), 'mean' or 'intersection'."
            )
        self.graph_ = graph
        return graph

    def _build_affinity(self, X: Any) -> sparse.csr_array:
        """Compute the affinity of the graph, or check the given matrix, and store it as ``affinity_``."""
        check_scale(self.scale)
        if self._precomputed_kind() == AFFINITY and not isinstance(X, Graph):
            matrix = validate_input(self, X, accept_sparse=True, dtype=None)
            self.graph_, self.scale_ = None, None
            self.affinity_ = check_affinity(matrix, name="X")
        else:
            graph = self._build_graph(X)
            self.affinity_ = self._affinity_of(graph)
        return self.affinity_

    def _affinity_of(self, graph: Graph) -> sparse.csr_array:
        weights, self.scale_ = affinity_and_scale(graph, self.scale)
        return weights

    def _build_spectral_affinity(self, X: Any) -> SpectralAffinity:
        """Build the affinity for spectral methods, and store it as ``affinity_``."""
        check_scale(self.scale)
        if self._precomputed_kind() != AFFINITY or isinstance(X, (Graph, AffinityOperator)):
            graph = self._graph_from_input(X)
            if not isinstance(graph, Graph):
                self.affinity_, self.graph_, self.scale_ = graph, None, graph.sigma
                return graph
            self.affinity_ = self._affinity_of(self._use_graph(graph))
        else:
            self._build_affinity(X)
        return SparseAffinity(self.affinity_, self.graph_)

    def _neighbors_of(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Nearest training points of new points, as many as training points have neighbours."""
        check_is_fitted(self)
        graph = self.graph_
        if self._precomputed_kind() == DISTANCES and sparse.issparse(X):
            X = validate_input(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            return neighbors_from_rows(X)
        if graph is None or graph.points is None:
            raise InvalidValueError(
                f"this {type(self).__name__} was fitted on a graph or matrix without points, so "
                "neighbours of new points cannot be found; fit it on points, or on a Graph that has "
                "points."
            )
        X = self._check_queries(X, "csr" if sparse.issparse(graph.points) else False)
        radius = (self.graph_params or {}).get("radius")
        if self.graph == "epsilon_ball" and radius is not None:
            search = graph._search(self.n_jobs)
            return neighbors_within(search, X if sparse.issparse(X) else np.asarray(X), radius)
        if self.graph == "knn":
            # Nodes of the symmetric graph have more than n_neighbors edges; new points need n_neighbors.
            k = (self.graph_params or {}).get("n_neighbors", DEFAULT_N_NEIGHBORS)
        else:
            k = int(np.median(graph.degrees))
        return self._nearest_in(graph, X, min(max(k, 1), graph.n_nodes))

    def _nearest_in(self, graph: Graph, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return graph._search(self.n_jobs).nearest(k, queries=X)

    def _weights_of(self, X: Any) -> sparse.csr_array:
        """Kernel weights of training points for each new point; rows sum to 1.

        If a new point equals training points, only these have a weight, so training points are mapped to
        their own values.
        """
        return self._kernel_weights(*self._neighbors_of(X))

    def _extend(
        self,
        X: Any,
        vectors: np.ndarray,
        values: np.ndarray,
        masses: np.ndarray | None = None,
    ) -> np.ndarray:
        """Eigenvectors of the random walk at new points; training points keep their entries.

        With ``masses``, steps are weighted inversely to the mass of the target.
        """
        if isinstance(self.affinity_, AffinityOperator):
            return self.affinity_.extend(self._check_queries(X), vectors, values, self.n_jobs)
        indices, distances = self._neighbors_of(X)
        weights = self._kernel_weights(indices, distances)
        rows = (weights if masses is None else normalize_by_mass(weights, masses)) @ vectors
        return np.where(distances[:, :1] == 0, rows, nystrom(rows, values))

    def _extend_labels(self, X: Any, labels: np.ndarray) -> np.ndarray:
        """Label with the largest total weight among the neighbours of each new point."""
        if isinstance(self.affinity_, AffinityOperator):
            return self.affinity_.extend_labels(self._check_queries(X), labels, self.n_jobs)
        values, codes = np.unique(labels, return_inverse=True)
        return values[np.argmax(self._weights_of(X) @ np.eye(len(values))[codes], axis=1)]

    def _check_queries(self, X: Any, accept_sparse: str | bool = False) -> Any:
        """Validate new points against the features of the training points, if these are known."""
        if not hasattr(self, "n_features_in_"):
            return X
        return validate_input(
            self, X, reset=False, accept_sparse=accept_sparse, dtype=(np.float64, np.float32)
        )

    def _kernel_weights(self, indices: np.ndarray, distances: np.ndarray) -> sparse.csr_array:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            squares = np.square(distances / self._scales_of(indices, distances))
            # Relative to the nearest neighbour, so that weights of far points do not all underflow.
            squares = np.nan_to_num(squares - squares.min(axis=1, keepdims=True), nan=0.0)
            weights = np.exp(-0.5 * squares)
        coincides = distances == 0
        weights = np.where(coincides[:, :1], coincides, weights)
        weights /= weights.sum(axis=1, keepdims=True)
        indptr = np.arange(len(indices) + 1) * indices.shape[1]
        return sparse.csr_array(
            (weights.ravel(), indices.ravel(), indptr),
            shape=(len(indices), self.affinity_.shape[0]),
        )

    def _scales_of(self, indices: np.ndarray, distances: np.ndarray) -> Any:
        if isinstance(self.scale_, float):
            # As in `Graph.affinity`, outlying points have a larger scale.
            finite = np.isfinite(distances)
            far_out = distances.mean(axis=1, keepdims=True, where=finite) / MAX_SCALE_RATIO
            return np.maximum(far_out, self.scale_) if self.scale == "auto" else self.scale_
        # The local scale of a new point is that of its nearest training point.
        scales = np.sqrt(self.scale_)
        return scales[indices] * scales[indices[:, :1]]

    def _seed(self) -> int:
        """Seed of this fit; always the same if ``random_state`` is an int."""
        return seed_from(self.random_state)

    def _operator_builder(self) -> Callable[..., Any] | None:
        """The operator builder given as ``graph`` (a name, a function or a partial), or None."""
        if isinstance(self.graph, str):
            return self._operator_builders.get(self.graph)
        function = self.graph
        while isinstance(function, functools.partial):
            function = function.func
        known = any(function is builder for builder in self._operator_builders.values())
        return self.graph if known else None

    def _operator_of(self, points_or_graph: Any) -> Any:
        builder = self._operator_builder()
        assert builder is not None
        defaults = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        bound = getattr(builder, "keywords", {})  # of a partial
        return builder(points_or_graph, **defaults | bound | self._checked_graph_params(builder))

    def _checked_graph_params(self, builder: Callable[..., Any]) -> dict[str, Any]:
        parameters = check_mapping(self.graph_params, "graph_params")
        accepted = inspect.signature(builder).parameters
        unknown = [name for name in parameters if name not in accepted]
        if unknown:
            raise InvalidTypeError(
                f"graph_params={self.graph_params!r} contains {unknown[0]!r}, but graph={self.graph!r} takes "
                f"{', '.join(name for name in accepted if name != 'X')}."
            )
        return parameters

    def _graph_of(self, points: np.ndarray) -> Any:
        n = points.shape[0]
        if self._operator_builder() is not None:
            _check_two_points(n)
            return self._operator_of(points)
        if callable(self.graph):
            parameters = check_mapping(self.graph_params, "graph_params")
            return self._check_built(self.graph(points, **parameters), n)
        if not isinstance(self.graph, str) or self.graph not in BUILDERS:
            names = ", ".join(map(repr, (*BUILDERS, *self._operator_builders)))
            raise InvalidValueError(
                f"graph={self.graph!r}, but one of {names}, 'precomputed', "
                f"{DISTANCES!r}, {AFFINITY!r}, or a function from points to a Graph is needed."
            )
        _check_two_points(n)
        builder = getattr(graphs, self.graph)
        parameters = self._checked_graph_params(builder)
        accepted = inspect.signature(builder).parameters
        defaults = {"n_jobs": self.n_jobs, "verbose": self.verbose, "random_state": self._seed()}
        if self.graph == "knn":
            parameters.setdefault("n_neighbors", min(DEFAULT_N_NEIGHBORS, n - 1))
        graph = builder(points, **{k: v for k, v in defaults.items() if k in accepted} | parameters)
        # Sparse codes are directed; their graphs are clustered by (W + W') / 2.
        return graph.symmetrize("mean") if graph.strengths_are_affinities else graph

    def _check_built(self, graph: Any, n: int) -> Any:
        """Check that a function returned a Graph of n points, or an accepted operator."""
        if isinstance(graph, Graph):
            n_nodes = graph.n_nodes
        elif self._operator_builders and isinstance(graph, AffinityOperator):
            n_nodes = graph.shape[0]
        else:
            n_nodes = None
        if n_nodes != n:
            raise InvalidTypeError(
                f"graph={self.graph!r} returned {graph!r}, but a Graph of the {n} points is needed."
            )
        return graph

    def _precomputed_kind(self) -> str | None:
        """`DISTANCES` or `AFFINITY` if X is a precomputed matrix, otherwise None."""
        if not isinstance(self.graph, str):
            return None
        named = self._precomputed if self.graph == "precomputed" else self.graph
        return named if named in (DISTANCES, AFFINITY) else None

    def _accepts_sparse_points(self) -> bool:
        """Whether the graph can be built on sparse rows."""
        parameters = self.graph_params if isinstance(self.graph_params, dict) else {}
        metric = parameters.get("metric", "euclidean")
        return (
            isinstance(self.graph, str)
            and self.graph in ("knn", "epsilon_ball", "complete", "gaussian")
            and as_metric(metric).accepts_sparse
            and parameters.get("method") != "approximate"
        )

    def _is_pairwise(self) -> bool:
        parameters = self.graph_params if isinstance(self.graph_params, dict) else {}
        metric = parameters.get("metric", "euclidean")
        return self._precomputed_kind() is not None or as_metric(metric).is_precomputed


def _check_two_points(n: int) -> None:
    if n < 2:
        raise InvalidValueError(f"X has n_samples={n}, but a graph needs at least 2 points.")


def reset_feature_attributes(estimator: BaseEstimator) -> None:
    """Remove the feature attributes of an earlier fit on a table, because a graph has no features."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)


def warn_disconnected(n_components: int, consequence: str) -> None:
    """Warn that the graph is disconnected, as scikit-learn does."""
    warn_user(
        f"the graph is not fully connected (number of connected components: {n_components}), so "
        f"{consequence}.",
        category=UserWarning,
    )
