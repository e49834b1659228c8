"""Base of transductive estimators: local affinities, and the evidence at new points."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._base.graph_estimator import GraphEstimator
from vicinal._core.scalar_checks import as_float
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.affinities import EDGES_PER_NODE, MAX_SCALE_RATIO, edge_scale
from vicinal.semi_supervised._locality import keep_local

if TYPE_CHECKING:
    from vicinal._base.neighbor_weights import NeighborWeights
    from vicinal._core.types import MatrixLike
    from vicinal.graphs.graph import Graph

EPSILON = float(np.finfo(np.float64).eps)


class LocalScales:
    """Scale of each training point, and the typical one, computed at the first prediction."""

    def __init__(self, graph: Graph | None) -> None:
        self._graph = graph

    @cached_property
    def values(self) -> np.ndarray:
        assert self._graph is not None  # otherwise there are no neighbours
        return np.asarray(edge_scale(self._graph, "local"))

    @cached_property
    def typical(self) -> float:
        return float(np.median(self.values))


class TransductiveEstimator(GraphEstimator):
    """Base of estimators that spread labels over all nodes of a graph."""

    reached_: np.ndarray
    _local_scales: LocalScales

    def _local_affinity(self, X: Graph | MatrixLike, n_groups: int) -> sparse.csr_array:
        """The affinity; a full matrix that cannot separate ``n_groups`` groups is made sparse."""
        affinity = self._build_affinity(X)
        self._local_scales = LocalScales(self.graph_)
        if self.graph_ is None:
            affinity = self.affinity_ = keep_local(affinity, n_groups)
        elif self.graph_.n_edges and not affinity.data.any():
            raise InvalidValueError(
                f"scale={self.scale!r} is so small that the affinities of all edges are 0; use a larger "
                "scale, or 'auto'."
            )
        return affinity

    def _evidence(self, X: MatrixLike) -> tuple[NeighborWeights, np.ndarray, np.ndarray]:
        """Weights of new points, and whether labels reach them.

        Returns
        -------
        weights : NeighborWeights
            Weights of the nearest training points.
        proximity : ndarray of shape (m,)
            1 for points as close to training points as these are to each other, 0 far away.
        known : ndarray of bool of shape (m,)
            Whether any labels reach the point.
        """
        indices, distances = self._neighbors_of(X)
        weights = self._kernel_weights(indices, distances)
        proximity = self._proximity(indices, distances)
        reached = np.add.reduce(weights.only(self.reached_).values, axis=1)
        return weights, proximity, proximity * reached > EPSILON

    def _proximity(self, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """A Gaussian of the mean distance, relative to that of the nearest training points.

        It starts to fall where `Graph.affinity` treats training points as outliers.
        """
        scales, typical = self._local_scales.values, self._local_scales.typical
        if not isinstance(self.scale, str):
            typical = as_float(self.scale)
        nearest = slice(0, EDGES_PER_NODE)
        near, nearest_distances = indices[:, nearest], distances[:, nearest]
        # Sums, because the overhead of `mean` is half the time of a search for one point.
        local = np.maximum(np.add.reduce(scales[near], axis=1) / near.shape[1], typical)
        with np.errstate(over="ignore", under="ignore"):
            length = np.add.reduce(nearest_distances, axis=1) / near.shape[1]
            if length.max() == np.inf:  # missing neighbours are at infinite distance
                length = nearest_distances.mean(axis=1, where=np.isfinite(nearest_distances))
            ratio = np.maximum(length / local / MAX_SCALE_RATIO, 1.0)
            return np.exp(0.5 * (1.0 - np.square(ratio)))
