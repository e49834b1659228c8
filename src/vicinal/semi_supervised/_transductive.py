"""Base of transductive estimators: local affinities, and the evidence at new points."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from vicinal._base.graph_estimator import GraphEstimator
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import as_float
from vicinal._core.warn import warn_user
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.affinities import EDGES_PER_NODE, MAX_SCALE_RATIO, edge_scale

if TYPE_CHECKING:
    from vicinal._base.neighbor_weights import NeighborWeights
    from vicinal._core.types import MatrixLike
    from vicinal.graphs.graph import Graph

EPSILON = float(np.finfo(np.float64).eps)
# The default of `knn`.
NEIGHBORS = 10
# A matrix is full if it stores more than this fraction of all pairs.
FULL_DENSITY = 0.5
ENTRIES_PER_BLOCK = 1 << 22


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


def keep_local(affinity: sparse.csr_array, n_groups: int) -> sparse.csr_array:
    """Keep only the most similar items of each item if the affinity is full and not local.

    It is not local if the weight of a typical item is spread over more than half the items of an
    average group. The participation ratio of a row is the number of items its weight is spread over.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric and nonnegative.
    n_groups : int
        Number of groups to separate: the classes, or 2 for a value that is not constant.
    """
    n = affinity.shape[0]
    if affinity.nnz <= FULL_DENSITY * n * n or n <= NEIGHBORS + 1:
        return affinity
    spread = _spread(affinity)
    if spread <= 0.5 * n / n_groups:
        return affinity
    warn_user(
        f"X is a full similarity matrix, and the weight of a typical item is spread over {spread:.0f} of "
        f"{n} items, so labels would not stay local. Only the {NEIGHBORS} most similar items of each item "
        "are used; pass a sparse matrix to choose another number.",
    )
    return most_similar(affinity, NEIGHBORS)


def most_similar(affinity: sparse.csr_array, k: int) -> sparse.csr_array:
    """Entries among the k largest of their row or column, and all entries tied with the k-th."""
    n = affinity.shape[0]
    parts = []
    for a, b in blocks(n, max(1, ENTRIES_PER_BLOCK // n)):
        rows = affinity[a:b].toarray()
        rows[np.arange(b - a), np.arange(a, b)] = 0.0
        smallest_kept = np.partition(rows, n - k, axis=1)[:, n - k, None]
        parts.append(sparse.csr_array(np.where(rows >= smallest_kept, rows, 0.0)))
    kept = sparse.csr_array(sparse.vstack(parts))
    return sparse.csr_array(kept.maximum(kept.T))


def _spread(affinity: sparse.csr_array) -> float:
    """Median participation ratio of the rows, without the diagonal."""
    largest = affinity.max()
    if largest == 0:
        return 0.0
    # Relative to the largest, so that squares neither overflow nor underflow.
    scaled = affinity / largest
    diagonal = scaled.diagonal()
    total = np.asarray(scaled.sum(axis=1)).ravel() - diagonal
    squares = np.asarray(scaled.power(2).sum(axis=1)).ravel() - diagonal**2
    ratio = np.divide(total**2, squares, out=np.zeros(len(diagonal)), where=squares > 0)
    return float(np.median(ratio))
