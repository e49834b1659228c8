"""Base of embeddings by random walks, which need a connected graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from vicinal._base.affinity_operator import SparseAffinity
from vicinal._base.graph_estimator import GraphEstimator, warn_disconnected
from vicinal._core.precision import PreservesPrecision
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike

# Minimum affinity of an added edge: it is much longer than the other edges, so the affinity from the kernel
# would hardly connect the components.
MIN_BRIDGE_AFFINITY = 1e-3
# Part of the warning about a disconnected graph.
CONNECTED = (
    "the shortest edges between components were added; for another graph use graph='disjoint_mst', which is "
    "always connected, or set disconnected='raise'"
)


class ConnectedEmbedding(
    PreservesPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator
):
    """Base of embeddings that need a connected graph, with ``n_components`` and ``disconnected``."""

    n_components: int
    disconnected: str
    embedding_: np.ndarray

    def fit_transform(self, X: Graph | MatrixLike, y: object = None) -> np.ndarray:
        """Fit the model and return the embedding of the points.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or affinity of shape (n, n)
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n, n_components)
            The embedding.
        """
        return self.fit(X).embedding_

    def _connected_affinity(self, X: Any) -> SparseAffinity:
        """A connected affinity with at least ``n_components`` nontrivial directions."""
        check_count(self.n_components, "n_components")
        check_choice(self.disconnected, "disconnected", ("connect", "raise"))
        affinity = self._connected(SparseAffinity(self._build_affinity(X)))
        n = affinity.weights.shape[0]
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, and the first eigenvector is constant.",
        )
        self._n_features_out = self.n_components
        return affinity

    def _connected(self, affinity: SparseAffinity) -> SparseAffinity:
        components = affinity.components()
        n_components = int(components.max()) + 1
        if n_components == 1:
            return affinity
        if self.disconnected == "raise" or self.graph_ is None or self.graph_.points is None:
            raise InvalidValueError(
                f"the graph has {n_components} components, but the embedding needs a connected graph; "
                "add edges between them, use graph='disjoint_mst', which is always connected, or fit on "
                "points with disconnected='connect'."
            )
        warn_disconnected(n_components, CONNECTED)
        self.graph_ = self.graph_.connect()
        self.affinity_ = _with_bridges(self.graph_, self._affinity_of(self.graph_), components)
        return SparseAffinity(self.affinity_)


def _with_bridges(
    graph: Graph, weights: sparse.csr_array, components: np.ndarray
) -> sparse.csr_array:
    """Affinities with a minimum for the edges between components."""
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    bridges = components[rows] != components[graph.indices]
    values = np.where(bridges, np.maximum(weights.data, MIN_BRIDGE_AFFINITY), weights.data)
    return sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
