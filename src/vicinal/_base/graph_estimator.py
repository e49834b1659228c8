"""Base class of estimators on graphs: the affinity of the graph, and extension to new points."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from scipy import sparse

from vicinal._base.affinity_operator import AffinityOperator, SparseAffinity, SpectralAffinity
from vicinal._base.graph_source import AFFINITY, DISTANCES, GraphSource
from vicinal._base.neighbor_weights import NeighborWeights, kernel_weights
from vicinal._core.array_checks import validate_input
from vicinal._core.fitted import check_is_fitted
from vicinal._core.matrix_checks import check_affinity
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.distance_rows import neighbors_from_rows, neighbors_within
from vicinal.graphs.affinities import affinity_and_scale, check_scale
from vicinal.graphs.graph import Graph
from vicinal.neighbors._exact import nearest_to_new
from vicinal.operators.eigenpairs import nystrom
from vicinal.operators.laplacians import normalize_by_mass

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NeighborArrays, ScaleLike


class GraphEstimator(GraphSource):
    """Base class of estimators that work on a graph of the points.

    Subclasses have the parameters ``graph``, ``graph_params``, ``scale``, ``random_state``, ``n_jobs``
    and ``verbose``.
    """

    scale: ScaleLike
    scale_: float | np.ndarray | None
    affinity_: sparse.csr_array | AffinityOperator

    def _build_affinity(self, X: MatrixLike | Graph) -> sparse.csr_array:
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

    def _build_spectral_affinity(
        self, X: MatrixLike | Graph | AffinityOperator
    ) -> SpectralAffinity:
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

    def _neighbors_of(self, X: MatrixLike) -> NeighborArrays:
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
            search = graph._search()
            return neighbors_within(search, X if sparse.issparse(X) else np.asarray(X), radius)
        if self.graph == "knn" or self._precomputed_kind() == DISTANCES:
            # Nodes of the symmetric graph have more than n_neighbors edges; new points need n_neighbors.
            k = (self.graph_params or {}).get("n_neighbors", self._default_n_neighbors)
        else:
            k = int(np.median(graph.degrees))
        return self._nearest_in(graph, X, min(max(k, 1), graph.n_nodes))

    def _nearest_in(self, graph: Graph, X: MatrixLike, k: int) -> NeighborArrays:
        """Nearest points of a graph, by its own metric."""
        return nearest_to_new(graph._search(), X, k)

    def _weights_of(self, X: MatrixLike) -> sparse.csr_array:
        """Kernel weights of training points for each new point; rows sum to 1.

        If a new point equals training points, only these have a weight, so training points are mapped to
        their own values. If the estimator was fitted on affinities, X holds those of new points.
        """
        if self._is_fitted_on_affinities():
            return self._steps_from(X)
        weights = self._kernel_weights(*self._neighbors_of(X))
        return weights.to_csr(self.affinity_.shape[0])

    def _extend(
        self,
        X: MatrixLike,
        vectors: np.ndarray,
        values: np.ndarray,
        masses: np.ndarray | None = None,
    ) -> np.ndarray:
        """Eigenvectors of the random walk at new points; training points keep their entries.

        With ``masses``, steps are weighted inversely to the mass of the target.
        """
        operator = self._affinity_operator()
        if operator is not None:
            return operator.extend(self._check_queries(X), vectors, values)
        if self._is_fitted_on_affinities():
            steps = self._steps_from(X)
            return nystrom(
                (steps if masses is None else normalize_by_mass(steps, masses)) @ vectors, values
            )
        indices, distances = self._neighbors_of(X)
        weights = self._kernel_weights(indices, distances)
        if masses is None:
            return weights.extend(distances[:, 0] == 0, vectors, values)
        rows = normalize_by_mass(weights.to_csr(len(vectors)), masses) @ vectors
        return np.where(distances[:, :1] == 0, rows, nystrom(rows, values))

    def _extend_labels(self, X: MatrixLike, labels: np.ndarray) -> np.ndarray:
        """Label with the largest total weight among the neighbours of each new point."""
        operator = self._affinity_operator()
        if operator is not None:
            return operator.extend_labels(self._check_queries(X), labels)
        if self._is_fitted_on_affinities():
            values, codes = np.unique(labels, return_inverse=True)
            return values[np.argmax(self._steps_from(X) @ np.eye(len(values))[codes], axis=1)]
        return self._kernel_weights(*self._neighbors_of(X)).labels(labels)

    def _affinity_operator(self) -> AffinityOperator | None:
        """The affinity if it is an operator, None if it is a matrix."""
        return None if sparse.issparse(self.affinity_) else cast("AffinityOperator", self.affinity_)

    def _is_fitted_on_affinities(self) -> bool:
        check_is_fitted(self)
        return self.graph_ is None and self._precomputed_kind() == AFFINITY

    def _steps_from(self, X: MatrixLike) -> sparse.csr_array:
        """First steps of new points, given their affinities (m, n) to the training points."""
        n = self.affinity_.shape[0]
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != n:
            raise InvalidValueError(
                f"X has {shape[1]} columns, but this {type(self).__name__} was fitted on affinities, so "
                "neighbours of new points cannot be found; pass their affinities to the training points, "
                f"of shape (m, {n})."
            )
        rows = validate_input(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        affinities = sparse.csr_array(rows)
        if affinities.nnz and affinities.data.min() < 0:
            raise InvalidValueError(
                f"X contains the negative affinity {affinities.data.min():g}, but affinities must be >= 0."
            )
        sums = np.asarray(affinities.sum(axis=1)).ravel()
        if not (sums > 0).all():
            raise InvalidValueError(
                f"X[{int(np.argmin(sums > 0))}] has no affinity to any training point; drop it."
            )
        return sparse.csr_array(affinities.multiply(1.0 / sums[:, None]))

    def _check_queries(
        self, X: MatrixLike, accept_sparse: str | bool = False
    ) -> np.ndarray | sparse.csr_array:
        """Validate new points against the features of the training points, if these are known."""
        if not hasattr(self, "n_features_in_"):
            return X
        return validate_input(
            self, X, reset=False, accept_sparse=accept_sparse, dtype=(np.float64, np.float32)
        )

    def _kernel_weights(self, indices: np.ndarray, distances: np.ndarray) -> NeighborWeights:
        assert self.scale_ is not None  # only without a graph, and then there are no neighbours
        widen_far = isinstance(self.scale, str) and self.scale == "auto"
        return kernel_weights(indices, distances, self.scale_, widen_far=widen_far)


def warn_disconnected(n_components: int, consequence: str) -> None:
    """Warn that the graph is disconnected, as scikit-learn does."""
    warn_user(
        f"the graph is not fully connected (number of connected components: {n_components}), so "
        f"{consequence}.",
        category=UserWarning,
    )
