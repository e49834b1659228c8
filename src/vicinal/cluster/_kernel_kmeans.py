"""k-means in the feature space of a kernel, without forming the cluster means.

With S[c, i] the sum of K[i, j] over the members j of cluster c, the squared distance of item i to the
mean of c is K[i, i] - 2 S[c, i] / n_c plus the mean of K inside c. Only the rows of moved items change S, so
the cost of an iteration is proportional to the number of moves.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

# Smaller squared distances, as a fraction of the mean squared length, are rounding errors: items would move
# endlessly for gains of that size.
MIN_RELATIVE_GAIN = 1e-12


class Kernel(Protocol):
    """Inner products of items in feature space."""

    diagonal: np.ndarray

    def rows(self, items: np.ndarray) -> np.ndarray:
        """Inner products of some items with all items."""

    def move(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray) -> None:
        """Update the sums of rows over clusters; an old cluster of -1 means none."""


class FullKernel:
    """A kernel matrix."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix, self.diagonal = matrix, matrix.diagonal().copy()

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self.matrix[items]

    def move(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray) -> None:
        from vicinal.cluster._kmeans_kernels import move_rows

        move_rows(self.matrix, moved, old, new, sums)


class SparseKernel:
    """A sparse kernel matrix."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        self.matrix, self.diagonal = matrix, matrix.diagonal()

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self.matrix[items].toarray()

    def move(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray) -> None:
        from vicinal.cluster._kmeans_kernels import move_sparse_rows

        matrix = self.matrix
        move_sparse_rows(matrix.indptr, matrix.indices, matrix.data, moved, old, new, sums)


class FactoredKernel:
    """A kernel F F' of low rank, given by its factors."""

    def __init__(self, factors: np.ndarray) -> None:
        self.factors = factors
        self.diagonal = np.einsum("ij,ij->i", factors, factors)

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self.factors[items] @ self.factors.T

    def move(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray) -> None:
        change = np.zeros((len(sums), self.factors.shape[1]))
        np.add.at(change, new, self.factors[moved])
        left = old >= 0
        np.subtract.at(change, old[left], self.factors[moved[left]])
        sums += change @ self.factors.T


class Clusters(NamedTuple):
    """A partition, its sum of squared distances to the means, and the number of iterations."""

    labels: np.ndarray
    inertia: float
    n_iter: int


def kernel_kmeans(
    kernel: Kernel, n_clusters: int, seed: int | np.random.SeedSequence, max_iter: int
) -> Clusters:
    """Clusters from one initialisation; none is empty.

    Parameters
    ----------
    kernel : Kernel
        Positive semi-definite; otherwise k-means may not converge.
    n_clusters : int
        At most the number of items.
    seed : int or SeedSequence
        Seed of the initialisation.
    max_iter : int
        Maximum number of iterations.
    """
    new = kmeans_plus_plus(kernel, n_clusters, np.random.default_rng(seed))
    n, diagonal = len(new), kernel.diagonal
    items = np.arange(n)
    labels, sums = np.full(n, -1), np.zeros((n_clusters, n))
    min_gain = MIN_RELATIVE_GAIN * float(np.abs(diagonal).mean())
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        moved = np.flatnonzero(new != labels)
        kernel.move(moved, labels[moved], new[moved], sums)
        labels = new
        sizes = np.bincount(labels, minlength=n_clusters)
        within = np.bincount(labels, weights=sums[labels, items], minlength=n_clusters)
        costs = (within / sizes**2)[:, None] - 2.0 * (sums / sizes[:, None])
        current = costs[labels, items]
        best = np.argmin(costs, axis=0)
        new = np.where(costs[best, items] < current - min_gain, best, labels)
        _fill_empty(new, costs[new, items] + diagonal, n_clusters)
        if (new == labels).all():
            break
    inertia = float(diagonal.sum() - (within / sizes).sum())
    return Clusters(labels, max(inertia, 0.0), n_iter)


def kmeans_plus_plus(kernel: Kernel, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels by the nearest of the centres drawn with greedy k-means++."""
    diagonal = kernel.diagonal
    n = len(diagonal)
    trials = 2 + int(np.log(n_clusters))
    # Smaller squared distances are those of duplicates.
    rounding = MIN_RELATIVE_GAIN * float(np.abs(diagonal).mean())
    labels, nearest = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    centers: list[int] = []
    for c in range(n_clusters):
        total = nearest.sum()
        if c == 0:
            candidates = rng.integers(n, size=1)
        elif total > 0:
            cumulative = np.cumsum(nearest)
            draws = rng.random(trials) * cumulative[-1]
            candidates = np.searchsorted(cumulative, draws, side="right")
            candidates = np.minimum(candidates, n - 1)
        else:  # all remaining items are duplicates of centres
            candidates = rng.choice(np.setdiff1d(np.arange(n), centers), size=1)
        squares = diagonal[candidates][:, None] + diagonal - 2.0 * kernel.rows(candidates)
        squares[squares < rounding] = 0.0
        closer = np.minimum(squares, nearest)
        best = int(np.argmin(closer.sum(axis=1)))
        labels[closer[best] < nearest] = c
        nearest = closer[best]
        centers.append(int(candidates[best]))
        nearest[centers] = 0.0
    labels[centers] = np.arange(n_clusters)
    return labels


def _fill_empty(labels: np.ndarray, squares: np.ndarray, n_clusters: int) -> None:
    """Move the item farthest from its mean into each empty cluster, from a cluster with other members."""
    sizes = np.bincount(labels, minlength=n_clusters)
    for c in np.flatnonzero(sizes == 0):
        chosen = int(np.argmax(np.where(sizes[labels] > 1, squares, -np.inf)))
        sizes[labels[chosen]] -= 1
        labels[chosen], sizes[c], squares[chosen] = c, 1, -np.inf
