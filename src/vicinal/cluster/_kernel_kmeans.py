"""k-means in the feature space of a kernel: means of clusters that are never formed.

With S[c, i] the sum of K[i, j] over the members j of cluster c, the squared distance of item i to the
mean of c is K[i, i] - 2 S[c, i] / n_c plus the mean of K inside c. Items that move change S by their rows
only, so a round costs what has moved.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

# A move must gain more than this share of the mean squared length, or rounding would move items on and on.
GAIN = 1e-12


class Kernel(Protocol):
    """Inner products of items in feature space."""

    diagonal: np.ndarray

    def rows(self, items: np.ndarray) -> np.ndarray:
        """Inner products of some items with all."""

    def move(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray) -> None:
        """Bring the sums of rows over clusters up to date; an old cluster of -1 is none."""


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
    """A kernel matrix of which most entries are 0."""

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
    """A partition, its sum of squared distances to the means, and the rounds it took."""

    labels: np.ndarray
    inertia: float
    n_rounds: int


def kernel_kmeans(kernel: Kernel, n_clusters: int, seed: Any, max_rounds: int) -> Clusters:
    """Clusters from one start; none of them is empty.

    Parameters
    ----------
    kernel : Kernel
        Positive semi-definite, or rounds may never end.
    n_clusters : int
        At most the number of items.
    seed : int or SeedSequence
    max_rounds : int
    """
    new = kmeans_plus_plus(kernel, n_clusters, np.random.default_rng(seed))
    n, diagonal = len(new), kernel.diagonal
    every = np.arange(n)
    labels, sums = np.full(n, -1), np.zeros((n_clusters, n))
    least = GAIN * float(np.abs(diagonal).mean())
    n_rounds = 0
    while n_rounds < max_rounds:
        n_rounds += 1
        moved = np.flatnonzero(new != labels)
        kernel.move(moved, labels[moved], new[moved], sums)
        labels = new
        sizes = np.bincount(labels, minlength=n_clusters)
        within = np.bincount(labels, weights=sums[labels, every], minlength=n_clusters)
        costs = (within / sizes**2)[:, None] - 2.0 * (sums / sizes[:, None])
        own = costs[labels, every]
        best = np.argmin(costs, axis=0)
        new = np.where(costs[best, every] < own - least, best, labels)
        _fill_empty(new, costs[new, every] + diagonal, n_clusters)
        if (new == labels).all():
            break
    inertia = float(diagonal.sum() - (within / sizes).sum())
    return Clusters(labels, max(inertia, 0.0), n_rounds)


def kmeans_plus_plus(kernel: Kernel, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Labels by the nearest of items that are drawn far apart (greedy k-means++)."""
    diagonal = kernel.diagonal
    n = len(diagonal)
    trials = 2 + int(np.log(n_clusters))
    labels, nearest = np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    taken: list[int] = []
    for c in range(n_clusters):
        total = nearest.sum()
        if c == 0:
            candidates = rng.integers(n, size=1)
        elif total > 0:
            steps = np.cumsum(nearest)
            candidates = np.searchsorted(steps, rng.random(trials) * steps[-1], side="right")
            candidates = np.minimum(candidates, n - 1)
        else:  # only copies of what is taken are left
            candidates = rng.choice(np.setdiff1d(np.arange(n), taken), size=1)
        squares = diagonal[candidates][:, None] + diagonal - 2.0 * kernel.rows(candidates)
        closer = np.minimum(np.maximum(squares, 0.0), nearest)
        best = int(np.argmin(closer.sum(axis=1)))
        labels[closer[best] < nearest] = c
        nearest = closer[best]
        taken.append(int(candidates[best]))
        nearest[taken] = 0.0
    labels[taken] = np.arange(n_clusters)
    return labels


def _fill_empty(labels: np.ndarray, squares: np.ndarray, n_clusters: int) -> None:
    """Give each empty cluster the item that is farthest from its mean, of a cluster that has others."""
    sizes = np.bincount(labels, minlength=n_clusters)
    for c in np.flatnonzero(sizes == 0):
        chosen = int(np.argmax(np.where(sizes[labels] > 1, squares, -np.inf)))
        sizes[labels[chosen]] -= 1
        labels[chosen], sizes[c], squares[chosen] = c, 1, -np.inf
