"""Building the graph that an estimator works on, from its parameters and X."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from vicinal import graphs
from vicinal._base.affinity_operator import AffinityOperator
from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import ChunkedRows, is_chunked, validate_chunks
from vicinal._core.options import check_mapping, check_options, parameter_names, seed_from
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.distance_rows import graph_from_distances
from vicinal.graphs._checks import check_has_nodes
from vicinal.graphs.graph import Graph
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike

# Public names of `graphs` that do not build an undirected graph of points.
NOT_BUILDERS = {
    "Graph",
    "affinity",
    "connecting_neighbors",
    "contextual",
    "contextual_distance",
    "edge_scale",
    "grid",
}
BUILDERS = tuple(name for name in dir(graphs) if name not in NOT_BUILDERS)
# Graphs that can be built on sparse rows.
SPARSE_BUILDERS = (
    "knn",
    "epsilon_ball",
    "complete",
    "gaussian",
    "mst",
    "disjoint_mst",
    "perturbed_mst",
)
# Graphs that can be built on dask arrays.
CHUNKED_BUILDERS = (
    "knn",
    "mst",
    "disjoint_mst",
    "perturbed_mst",
    "l1",
    "structure_aware_l1",
)
DISTANCES: str = "precomputed_distances"
AFFINITY: str = "precomputed_affinity"
PREFIX = "graph_params__"


class NestedGraphParams(FitCallbacks, BaseEstimator):
    """Mixin that exposes ``graph_params["n_neighbors"]`` as ``graph_params__n_neighbors``."""

    graph_params: dict[str, Any] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the entries of ``graph_params``, as ``graph_params__<name>``.

        Returns
        -------
        dict
            Parameter names mapped to their values.
        """
        params = super().get_params(deep)
        given = params.get("graph_params")
        if deep and isinstance(given, Mapping):
            params |= {f"{PREFIX}{name}": value for name, value in given.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params
            ``graph_params__<name>`` sets one entry of ``graph_params`` and keeps the others, for
            instance in ``GridSearchCV(model, {"graph_params__n_neighbors": [5, 10]})``.

        Returns
        -------
        self
        """
        nested = {name for name in params if name.startswith(PREFIX)}
        super().set_params(**{name: params[name] for name in params if name not in nested})
        if nested:
            # Do not modify the old dict: it may belong to the caller or to another estimator.
            entries = {name.removeprefix(PREFIX): params[name] for name in params if name in nested}
            self.graph_params = {**(self.graph_params or {}), **entries}
        return self


class GraphSource(NestedGraphParams):
    """Base class of estimators that build a graph from the parameters ``graph`` and ``graph_params``."""

    # Number of neighbours of graph="knn", unless ``graph_params`` gives it.
    _default_n_neighbors: ClassVar[int] = 10
    # Whether X may be a dask array, and the graphs that can be built on it.
    _accepts_chunks = False
    # What graph="precomputed" means, as in scikit-learn's estimator for the same task.
    _precomputed = AFFINITY
    # Functions, by name, that return an `AffinityOperator` instead of a Graph.
    _operator_builders: ClassVar[Mapping[str, Callable[..., AffinityOperator]]] = MappingProxyType(
        {}
    )
    graph: str | Callable[..., Graph | AffinityOperator]
    random_state: RandomStateLike
    n_jobs: NJobs
    verbose: int
    graph_: Graph | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = (
            self._precomputed_kind() is not None or self._accepts_sparse_points()
        )
        return tags

    def _build_graph(self, X: MatrixLike | Graph) -> Graph:
        """Build the undirected graph for ``graph`` and X, and store it as ``graph_``."""
        graph = self._graph_from_input(X)
        assert isinstance(graph, Graph)  # operators are handled by `_build_spectral_affinity`
        return self._use_graph(graph)

    def _graph_from_input(
        self, X: MatrixLike | Graph | AffinityOperator
    ) -> Graph | AffinityOperator:
        """Build the graph for ``graph`` and X, or an `AffinityOperator` if the estimator accepts those."""
        check_options(self)
        if isinstance(X, Graph):
            check_has_nodes(X, "X")
            reset_feature_attributes(self)
            return X if self._operator_builder() is None else self._operator_of(X)
        # Whether an array has the methods of an operator takes longer to find out than its checks.
        may_be_operator = self._operator_builders and not isinstance(X, np.ndarray)
        if may_be_operator and isinstance(X, AffinityOperator):
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
            # Points that only their distances are known of have the same graph as points.
            check_two_points(len(given))
            return self._built("knn", given, metric="precomputed")
        if self._accepts_chunks and is_chunked(X):
            return self._graph_of(self._check_chunks(X))
        accepted = "csr" if self._accepts_sparse_points() else False
        points = validate_input(self, X, accept_sparse=accepted, dtype=(np.float64, np.float32))
        if sparse.issparse(points):
            points = check_sparse_points(points)
        return self._graph_of(points)

    def _check_chunks(self, X: Any) -> ChunkedRows:
        if not isinstance(self.graph, str) or self.graph not in CHUNKED_BUILDERS:
            names = ", ".join(map(repr, CHUNKED_BUILDERS))
            raise InvalidValueError(
                f"X is a dask Array, but graph={self.graph!r} needs all points in memory; use {names}, or "
                "pass X.compute()."
            )
        return validate_chunks(self, X)

    def _use_graph(self, graph: Graph) -> Graph:
        if graph.directed:
            raise InvalidValueError(
                "the graph is directed, but an undirected one is needed; "
                "use graph.symmetrize('union'), 'mean' or 'intersection'."
            )
        self.graph_ = graph
        return graph

    def _seed(self) -> int:
        """Seed of this fit; always the same if ``random_state`` is an int."""
        return seed_from(self.random_state)

    def _operator_builder(self) -> Callable[..., AffinityOperator] | None:
        """The operator builder given as ``graph`` (a name, a function or a partial), or None."""
        if isinstance(self.graph, str):
            return self._operator_builders.get(self.graph)
        function = self.graph
        while isinstance(function, functools.partial):
            function = function.func
        known = any(function is builder for builder in self._operator_builders.values())
        return cast("Callable[..., AffinityOperator]", self.graph) if known else None

    def _operator_of(self, points_or_graph: MatrixLike | Graph) -> AffinityOperator:
        builder = self._operator_builder()
        assert builder is not None
        return builder(points_or_graph, **self._checked_graph_params(builder))

    def _checked_graph_params(self, builder: Callable[..., Any]) -> dict[str, Any]:
        parameters = check_mapping(self.graph_params, "graph_params")
        accepted = parameter_names(builder)
        unknown = [name for name in parameters if name not in accepted]
        if unknown:
            raise InvalidTypeError(
                f"graph_params={self.graph_params!r} contains {unknown[0]!r}, but graph={self.graph!r} takes "
                f"{', '.join(name for name in accepted if name != 'X')}."
            )
        return parameters

    def _graph_of(self, points: Any) -> Graph | AffinityOperator:
        n = points.shape[0]
        if self._operator_builder() is not None:
            check_two_points(n)
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
        check_two_points(n)
        return self._built(self.graph, points)

    def _built(self, name: str, points: Any, **fixed: Any) -> Graph:
        """The named graph with ``graph_params`` and, before these, the ``fixed`` parameters."""
        builder = getattr(graphs, name)
        parameters = self._checked_graph_params(builder) | fixed
        if name == "knn":
            n_neighbors = min(self._default_n_neighbors, points.shape[0] - 1)
            parameters.setdefault("n_neighbors", n_neighbors)
        if "random_state" in parameter_names(builder):
            parameters.setdefault("random_state", self._seed())
        graph = builder(points, **parameters)
        # Sparse codes are directed; their graphs are clustered by (W + W') / 2.
        return graph.symmetrize("mean") if graph.strengths_are_affinities else graph

    def _check_built(self, graph: object, n: int) -> Graph | AffinityOperator:
        """Check that a function returned a Graph of n points, or an accepted operator."""
        if isinstance(graph, Graph) and graph.n_nodes == n:
            return graph
        accepts_operators = bool(self._operator_builders)
        if accepts_operators and isinstance(graph, AffinityOperator) and graph.shape[0] == n:
            return graph
        raise InvalidTypeError(
            f"graph={self.graph!r} returned {graph!r}, but a Graph of the {n} points is needed."
        )

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
            and self.graph in SPARSE_BUILDERS
            and as_metric(metric).accepts_sparse
            and parameters.get("method") != "approximate"
        )

    def _is_pairwise(self) -> bool:
        parameters = self.graph_params if isinstance(self.graph_params, dict) else {}
        metric = parameters.get("metric", "euclidean")
        return self._precomputed_kind() is not None or as_metric(metric).is_precomputed


def check_two_points(n: int) -> None:
    if n < 2:
        raise InvalidValueError(f"X has n_samples={n}, but a graph needs at least 2 points.")


def reset_feature_attributes(estimator: BaseEstimator) -> None:
    """Remove the feature attributes of an earlier fit on a table, because a graph has no features."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
