"""Base class of estimators on the contextual digraph: its random walk, and extension to new points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from vicinal._base.contextual_extension import (
    NewContexts,
    Points,
    TrainingContexts,
    new_contexts,
    symmetric_rows,
)
from vicinal._base.graph_source import reset_feature_attributes
from vicinal._base.neighbor_weights import NeighborWeights
from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import ChunkedRows, is_chunked, validate_chunks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.options import seed_from
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicates import Duplicates, find_duplicates
from vicinal.graphs._checks import check_has_nodes
from vicinal.graphs._contextual import contextual
from vicinal.graphs._contextual_distance import directions_of
from vicinal.graphs.graph import Graph
from vicinal.neighbors._sparse_points import check_sparse_points
from vicinal.neighbors.metric import as_metric
from vicinal.operators.aligned_laplacian import AlignedWalk
from vicinal.operators.digraph import SymmetricWalk
from vicinal.operators.eigenpairs import Eigenpairs, walk_eigenpairs

if TYPE_CHECKING:
    from vicinal._core.types import DescriptorLike, MatrixLike, NJobs, RandomStateLike

Walk: TypeAlias = SymmetricWalk | AlignedWalk


class PerceptualEstimator(FitCallbacks, BaseEstimator):
    """Base class of estimators on the contextual digraph.

    Duplicate rows are one node of the digraph. Otherwise ties among duplicates would be broken by row
    number, and the last ones would be in no neighbour list. Each row gets the results of its node.

    Subclasses have the parameters ``n_neighbors``, ``descriptor``, ``epsilon``, ``beta``, ``laplacian``,
    ``n_jobs`` and ``verbose``, and ``random_state`` if they need a seed.
    """

    # Whether X may be a dask array.
    _accepts_chunks = False
    n_neighbors: int
    descriptor: DescriptorLike
    epsilon: float | None
    beta: float
    laplacian: Literal["global", "aligned"]
    random_state: RandomStateLike
    n_jobs: NJobs
    verbose: int
    graph_: Graph
    _duplicates: Duplicates | None
    _masses: np.ndarray
    _total_mass: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _build_walk(self, X: MatrixLike | Graph) -> Walk:
        """Build the symmetric walk on the digraph of X; stores ``graph_`` and ``stationary_``."""
        check_choice(self.laplacian, "laplacian", ("global", "aligned"))
        check_real(self.beta, "beta", low=0.0, high=1.0)
        if isinstance(X, Graph):
            check_has_nodes(X, "X")
            self.graph_, self._duplicates = X, None
            reset_feature_attributes(self)
        else:
            self.graph_ = self._digraph_of(X)
        walk = self._walk(self.graph_, float(self.beta))
        self._masses = self.stationary_ = walk.stationary
        self._total_mass = float(self._masses.sum())
        if self._duplicates is not None:
            self.stationary_ = self._of_rows(walk.stationary / self._multiplicity())
        return walk

    def _walk(self, digraph: Graph, beta: float) -> Walk:
        kind = SymmetricWalk if self.laplacian == "global" else AlignedWalk
        return kind(digraph, beta)

    def _eigenpairs(self, walk: Walk, n_pairs: int, tolerance: float = 1e-9) -> Eigenpairs:
        """Compute eigenpairs of the walk, without the trivial one."""
        if n_pairs == 0:  # a single node
            return Eigenpairs(np.empty(0), np.empty((walk.shape[0], 0)), np.empty(0))
        return walk_eigenpairs(walk, n_pairs, tolerance=tolerance, random_state=self._seed())

    def _of_rows(self, values: np.ndarray) -> np.ndarray:
        """Expand values of nodes to rows."""
        return values if self._duplicates is None else values[self._duplicates.group]

    def _of_nodes(self, values: Any) -> Any:
        """Reduce values of rows, which are equal for duplicates, to nodes."""
        return values if self._duplicates is None else values[self._duplicates.representative]

    def _multiplicity(self) -> np.ndarray:
        """Number of rows of each node."""
        if self._duplicates is None:
            return np.ones(self.graph_.n_nodes, dtype=np.int64)
        return self._duplicates.counts

    def _digraph_of(self, X: MatrixLike) -> Graph:
        if self._accepts_chunks and is_chunked(X):
            points: Any = validate_chunks(self, X)
        else:
            points = validate_input(self, X, accept_sparse="csr", dtype=np.float64)
        if sparse.issparse(points):
            points = check_sparse_points(points)
        points = self._in_metric(points)
        n = points.shape[0]
        k = check_count(self.n_neighbors, "n_neighbors", low=2)
        if n < 3:
            raise InvalidValueError(f"X has n_samples={n}, but a context needs 3 points or more.")
        duplicates = find_duplicates(points)
        self._duplicates = duplicates if len(duplicates.representative) < n else None
        points = self._of_nodes(points)
        n_distinct = points.shape[0]
        if k >= n_distinct:
            available = (
                f"n_samples={n}" if self._duplicates is None else f"{n_distinct} distinct row(s)"
            )
            warn_user(
                f"n_neighbors={k}, but X has {available}; {n_distinct - 1} neighbours are used.",
            )
        return contextual_of_distinct(
            points,
            min(k, n_distinct - 1),
            descriptor=self.descriptor,
            epsilon=self.epsilon,
        )

    def _new_contexts(self, X: MatrixLike, *, entered: bool = False) -> NewContexts:
        """Contexts of new points and, with ``entered``, the contexts that they enter."""
        points = self._new_points(X)
        known = TrainingContexts.of_graph(self.graph_, **self._descriptor())
        return new_contexts(known, points, entered=entered)

    def _symmetric_rows(self, contexts: NewContexts) -> NeighborWeights:
        """Rows of Theta for new points; a point that equals a training point leads to it only."""
        return symmetric_rows(contexts, self._masses, float(self.beta), self._total_mass)

    def _rows_of_nodes(self, weights: NeighborWeights) -> NeighborWeights:
        """Weights of nodes as weights of their first rows, to look up results of rows."""
        if self._duplicates is None:
            return weights
        return NeighborWeights(self._duplicates.representative[weights.indices], weights.values)

    def _new_points(self, X: MatrixLike) -> Points:
        check_is_fitted(self)
        # A given digraph may have been built on other points, with another descriptor or from distances.
        if not hasattr(self, "n_features_in_"):
            raise InvalidValueError(
                f"this {type(self).__name__} was fitted on a digraph, so contexts of new points cannot be "
                "computed; fit it on points."
            )
        accepted = "csr" if sparse.issparse(self.graph_.points) else False
        points = validate_input(self, X, reset=False, accept_sparse=accepted, dtype=np.float64)
        if sparse.issparse(self.graph_.points):
            points = check_sparse_points(sparse.csr_array(points))
        return self._in_metric(points)

    def _in_metric(self, points: Any) -> Any:
        """The points, scaled to length 1 if only their directions count."""
        metric = getattr(self, "metric", "euclidean")
        if metric == "precomputed":
            raise InvalidValueError(
                f"metric='precomputed', but {type(self).__name__} needs 'euclidean' or 'cosine', because the "
                "contexts of new points need coordinates; for distances of the training points, pass their "
                "digraph as X: vicinal.graphs.contextual(D, metric='precomputed', n_features=...)."
            )
        check_choice(metric, "metric", ("euclidean", "cosine"))
        return directions_of(points) if as_metric(metric).is_cosine else points

    def _descriptor(self) -> dict[str, Any]:
        return {"descriptor": self.descriptor, "epsilon": self.epsilon}

    def _seed(self) -> int:
        return seed_from(self.random_state)


def contextual_of_distinct(
    points: Points | ChunkedRows, n_neighbors: int, *args: Any, **kwargs: Any
) -> Graph:
    """Contextual digraph of distinct points; one or two points have no contexts and are only connected."""
    n = points.shape[0]
    if n > 2:
        return contextual(points, n_neighbors, *args, **kwargs)
    pairs = np.array([[0, 1], [1, 0]])[: 2 * (n - 1)]
    return Graph.from_edges(
        n, pairs, np.zeros(len(pairs)), np.ones(len(pairs)), directed=True, points=points
    )
