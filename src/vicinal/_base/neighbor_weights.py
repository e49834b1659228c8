"""`NeighborWeights`: how much each of its nearest training points counts for a new point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base._weight_kernels import (
    extended_vectors,
    gaussian_weights,
    heaviest_labels,
    weighted_means,
)
from vicinal.graphs.affinities import MAX_SCALE_RATIO
from vicinal.operators.eigenpairs import MIN_NYSTROM_EIGENVALUE

NO_LOCAL_SCALES = np.zeros(0)


class NeighborWeights(NamedTuple):
    """Nearest training points of new points (m, k), and their weights (m, k).

    Lists of the same length need no sparse matrix, whose fixed costs exceed those of a search for one point.
    """

    indices: np.ndarray
    values: np.ndarray

    @classmethod
    def concatenate(cls, parts: Sequence[NeighborWeights]) -> NeighborWeights:
        """The weights of all new points of several parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def means(self, vectors: np.ndarray) -> np.ndarray:
        """Weighted means (m, q) of the rows of ``vectors`` (n, q); rows without a weight may be NaN."""
        means = np.empty((len(self.indices), vectors.shape[1]))
        weighted_means(
            self.indices, self.values, np.ascontiguousarray(vectors, dtype=np.float64), means
        )
        return means

    def extend(self, coincides: np.ndarray, vectors: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Nyström extension of eigenvectors of the random walk.

        New points that ``coincides`` (m,) marks equal a training point and get its entries.
        """
        rows = np.empty((len(self.indices), vectors.shape[1]))
        vectors = np.ascontiguousarray(vectors, dtype=np.float64)
        values = np.ascontiguousarray(values, dtype=np.float64)
        extended_vectors(*self, coincides, vectors, values, MIN_NYSTROM_EIGENVALUE, rows)
        return rows

    def only(self, used: np.ndarray) -> NeighborWeights:
        """The weights of some training points; those of the others are 0."""
        return NeighborWeights(self.indices, self.values * used[self.indices])

    def labels(self, labels: np.ndarray) -> np.ndarray:
        """The one of the ``labels`` (n,) of the training points with the largest total weight."""
        heaviest = np.empty(len(self.indices), np.int64)
        heaviest_labels(*self, np.ascontiguousarray(labels, dtype=np.int64), heaviest)
        return heaviest

    def to_csr(self, n: int) -> sparse.csr_array:
        """The weights as a sparse matrix of shape (m, n)."""
        m, k = self.indices.shape
        return sparse.csr_array(
            (self.values.ravel(), self.indices.ravel(), np.arange(m + 1) * k), shape=(m, n)
        )


def kernel_weights(
    indices: np.ndarray,
    distances: np.ndarray,
    scale: float | np.ndarray,
    *,
    widen_far: bool = False,
) -> NeighborWeights:
    """Gaussian weights of the neighbours of new points.

    Parameters
    ----------
    indices, distances : ndarray (m, k)
        Neighbours and their distances, ascending; infinite where there are fewer.
    scale : float or ndarray (n,)
        Scale of the kernel, or those of the training points. Then the scale of a new point is that of its
        nearest training point.
    widen_far : bool, default=False
        Whether points far from all training points have a larger scale, as in `Graph.affinity`.
    """
    local = scale if isinstance(scale, np.ndarray) else NO_LOCAL_SCALES
    width = 0.0 if isinstance(scale, np.ndarray) else float(scale)
    indices = np.ascontiguousarray(indices, dtype=np.int64)
    distances = np.ascontiguousarray(distances, dtype=np.float64)
    weights = np.empty(distances.shape)
    ratio = MAX_SCALE_RATIO if widen_far else np.inf
    gaussian_weights(indices, distances, width, local, ratio, weights)
    return NeighborWeights(indices, weights)
