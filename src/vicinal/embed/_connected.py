"""What embeddings by the random walk share: a graph in one piece, and a place for each point."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from vicinal._base.affinity_operator import SparseAffinity
from vicinal._base.graph_estimator import GraphEstimator, warn_disconnected
from vicinal._core.precision import PreservesPrecision
from vicinal._core.validation import check_choice, check_count
from vicinal.exceptions import InvalidValueError

# A link between components weighs at least this much, or it would not connect: its length is far
# above the scale of the edges.
LINK = 1e-3
# What embeddings do about a graph in several components.
CONNECTED = (
    "the shortest edges between components were added; take more neighbours if the data should be in one "
    "component, or give disconnected='raise'"
)


class ConnectedEmbedding(
    PreservesPrecision, ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator
):
    """Base of embeddings that need a connected graph, with ``n_components`` and ``disconnected``."""

    n_components: int
    disconnected: str
    embedding_: np.ndarray

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """`fit`, and the embedding of the points."""
        return self.fit(X).embedding_

    def _connected_affinity(self, X: Any) -> SparseAffinity:
        """Affinity in one piece, of which ``n_components`` directions can be taken."""
        check_count(self.n_components, "n_components")
        check_choice(self.disconnected, "disconnected", ("connect", "raise"))
        affinity = self._connected(SparseAffinity(self._build_affinity(X)))
        n = affinity.weights.shape[0]
        check_count(
            self.n_components,
            "n_components",
            high=n - 1,
            remedy=f"X has n_samples={n}, and the first direction is constant.",
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
                f"there are {n_components} components, and an embedding needs one; connect the graph, "
                "take more neighbours, or fit on points with disconnected='connect'."
            )
        warn_disconnected(n_components, CONNECTED)
        self.graph_ = self.graph_.connect(n_jobs=self.n_jobs)
        self.affinity_ = _with_links(self.graph_, self._affinity_of(self.graph_), components)
        return SparseAffinity(self.affinity_)


def _with_links(graph: Any, weights: sparse.csr_array, components: np.ndarray) -> sparse.csr_array:
    """Affinities in which edges between different components are strong enough to connect."""
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    links = components[rows] != components[graph.indices]
    values = np.where(links, np.maximum(weights.data, LINK), weights.data)
    return sparse.csr_array((values, weights.indices, weights.indptr), shape=weights.shape)
