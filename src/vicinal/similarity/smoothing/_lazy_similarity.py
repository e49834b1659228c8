"""A smoothed similarity that is never formed: rows on demand, neighbours by the cheapest safe strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from vicinal._core.memory import free_memory, require_memory
from vicinal._core.pickles import Stamped
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import normalized_affinity, transition
from vicinal.similarity.smoothing._locality import NodeOrder, local_order, reordered
from vicinal.similarity.smoothing._selection import best_of_rows
from vicinal.similarity.smoothing._sparse_powers import nearest_in_power
from vicinal.similarity.smoothing._spectral import leading_pairs
from vicinal.similarity.smoothing._sweeps import nearest_in_single, single_power
from vicinal.similarity.smoothing._walks import EXACT, SparseWalk, power_coefficients
from vicinal.similarity.smoothing.operator import check_self_similarity

# Number of rows on which a strategy is chosen and its result is measured.
N_SAMPLED = 16
# Numbers of entries per row that pruned powers try.
ENTRIES_PER_ROW = (64, 128, 256, 512, 1024)
# Fraction of the mass of a row of the half power that the kept entries must contain.
MIN_KEPT_MASS = 0.997
# If the recall on the sample is lower, more entries are kept.
MIN_RECALL = 0.99
# Similarities with a smaller relative difference are equal in single precision.
RELATIVE_TOLERANCE = 1e-6
# Error of an entry, relative to the mean diagonal entry.
LOW_RANK_ERROR = 1e-3
# Largest number of entries of the block of vectors while computing leading eigenpairs.
MAX_VECTOR_ENTRIES = 50_000_000
# Dense powers may take this much memory; squaring stores three matrices in single precision.
DENSE_MAX_BYTES = 4e9
# Dense operations in the time of one sparse operation.
DENSE_SPEEDUP = 60
# Exact rows with fewer operations are always fast enough.
MAX_FAST_OPERATIONS = 1e9


class SmoothedSimilarity(Stamped):
    """Self-normalised similarities after t steps, computed on demand.

    Attributes
    ----------
    shape : tuple
        (n, n).
    t : int
        Number of steps.
    method : str or None
        Strategy of the last `nearest`: "pruned powers", "leading eigenpairs", "full power" or "rows".
    truncation_error : ndarray (n,), float or None
        Its truncation error. For pruned powers, the lost mass of each row; for leading eigenpairs, an error
        bound of W_t[i, j] in units of sqrt(d_i d_j); for a full power, which is in single precision, and for
        rows, 0.
    recall : float or None
        Fraction of the true neighbours that `nearest` found, measured on a sample of rows.
    """

    def __init__(self, walk: SparseWalk, t: int, verbose: int = 0) -> None:
        self._walk, self.t, self.verbose = walk, t, verbose
        self.shape = walk.weights.shape
        self.method: str | None = None
        self.truncation_error: Any = None
        self.recall: float | None = None

    def __repr__(self) -> str:
        return f"SmoothedSimilarity(n={self.shape[0]:,}, t={self.t})"

    def rows(self, items: Any) -> np.ndarray:
        """Rows of the similarity, exact up to rounding.

        Parameters
        ----------
        items : array of int
            Row numbers.

        Returns
        -------
        ndarray of shape (len(items), n)
            Similarities of these items to all items.
        """
        return np.minimum(self._ranked(np.atleast_1d(np.asarray(items))), 1.0)

    def toarray(self) -> np.ndarray:
        """The full matrix, if it fits into memory.

        Returns
        -------
        ndarray of shape (n, n)
            All similarities.
        """
        n = self.shape[0]
        require_memory(24.0 * n * n, f"The similarity of {n:,} items", "Use rows or nearest.")
        return np.vstack([self.rows(np.arange(s, min(s + 256, n))) for s in range(0, n, 256)])

    def nearest(self, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the most similar items of every item.

        Pruned powers serve few steps, leading eigenpairs many; in between, the dense power is computed if it
        fits into memory. Otherwise rows are computed one by one, which is slow.

        Parameters
        ----------
        n_neighbors : int
            Number of neighbours.

        Returns
        -------
        similarities : ndarray of shape (n, n_neighbors)
            Similarities in descending order.
        indices : ndarray of int of shape (n, n_neighbors)
            The similar items.
        """
        n = self.shape[0]
        n_neighbors = check_count(
            n_neighbors, "n_neighbors", high=n - 1, remedy=f"There are {n} items."
        )
        sample = np.random.default_rng(0).choice(n, min(N_SAMPLED, n), replace=False)
        order = local_order(self._walk.weights)
        progress = "smoothing" if self.verbose > 0 else None
        for strategy in self._strategies(sample, order, n_neighbors, progress):
            neighbors = strategy()
            if neighbors is None:
                continue
            similarities, indices = neighbors
            self.recall = self._measured_recall(indices, sample, order)
            if self.recall >= MIN_RECALL:
                return np.minimum(similarities, 1.0), indices
        self.method, self.truncation_error, self.recall = "rows", 0.0, 1.0
        similarities, indices = best_of_rows(
            lambda a, b: self._ranked(np.arange(a, b)), n, n_neighbors, 1, progress
        )
        return np.minimum(similarities, 1.0), indices

    def _strategies(
        self, sample: np.ndarray, order: NodeOrder, k: int, progress: str | None
    ) -> Iterator[Callable[[], tuple[np.ndarray, np.ndarray] | None]]:
        """Strategies for neighbours, the cheapest first."""
        for keep in self._entries_to_keep(sample, order):
            yield partial(self._by_powers, k, max(keep, 2 * k), order, progress)
        yield partial(self._by_eigenpairs, sample, k, progress)
        yield partial(self._by_dense_power, k)

    def _ranked(self, items: np.ndarray) -> np.ndarray:
        """Rows divided by the diagonal, not clipped."""
        rows = self._walk.rows(self.t, items)
        return self._over_diagonal(rows, items, items)

    def _over_diagonal(
        self, rows: np.ndarray, positions: np.ndarray, items: np.ndarray
    ) -> np.ndarray:
        """Rows of items over their entries at ``positions``, those of the items themselves."""
        diagonal = rows[np.arange(len(items)), positions]
        check_self_similarity(diagonal, items)
        return rows / diagonal[:, None]

    def _local_walk(self, order: NodeOrder) -> SparseWalk:
        """The walk in an order of the nodes in which products take a third of the time."""
        walk = self._walk
        return SparseWalk(reordered(walk.weights, order), walk.symmetric, walk.n_jobs)

    def _entries_to_keep(self, sample: np.ndarray, order: NodeOrder) -> list[int]:
        """Numbers of entries that contain most mass of a row of the half power and cost less than rows."""
        units = np.zeros((len(sample), self.shape[0]))
        units[np.arange(len(sample)), order.positions[sample]] = 1.0
        half = -np.sort(-self._local_walk(order).spread(units, (self.t + 1) // 2), axis=1)
        exponent = self.t + 1
        products = exponent.bit_length() + exponent.bit_count()
        row_cost = self._products_per_row() * self._walk.weights.nnz + self.shape[0]
        largest = np.sqrt(row_cost / products)
        candidates = [k for k in ENTRIES_PER_ROW if k <= largest]
        return [k for k in candidates if half[:, :k].sum(axis=1).mean() >= MIN_KEPT_MASS]

    def _products_per_row(self) -> int:
        """Number of products with the sparse matrix per exact row."""
        return len(power_coefficients(self.t, EXACT)) if self._walk.symmetric else self.t

    def _by_powers(
        self, k: int, keep: int, order: NodeOrder, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        n = self.shape[0]
        require_memory(
            24.0 * n * keep,
            f"Powers with {keep:,} entries for each of {n:,} items",
            "Use a smaller t or fewer neighbours.",
        )
        neighbors = nearest_in_power(
            transition(self._walk.weights),
            self.t + 1,
            k,
            keep=keep,
            order=order,
            n_jobs=self._walk.n_jobs,
            progress=progress,
        )
        check_self_similarity(neighbors.diagonal)
        self.method, self.truncation_error = "pruned powers", neighbors.truncation_error
        return neighbors.values / neighbors.diagonal[:, None], neighbors.items

    def _by_eigenpairs(
        self, sample: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Neighbours from leading eigenpairs; None if these cost more than the other strategies."""
        walk = self._walk
        if not walk.symmetric:
            return None
        rows = walk.rows(self.t, sample)
        mean_return = (rows[np.arange(len(sample)), sample] / walk.sums[sample]).mean()
        spectrum = leading_pairs(
            walk.operator,
            walk.roots,
            (LOW_RANK_ERROR * mean_return) ** (1 / (self.t + 1)),
            budget=min(self._rows_cost(), self._dense_power_cost()),
            max_vectors=MAX_VECTOR_ENTRIES / self.shape[0],
            accuracy=LOW_RANK_ERROR * mean_return,
        )
        if spectrum is None:
            return None
        diagonal = spectrum.diagonal(self.t)
        check_self_similarity(diagonal)
        left = spectrum.vectors * spectrum.weights(self.t) * (spectrum.roots / diagonal)[:, None]
        right = np.ascontiguousarray((spectrum.vectors * spectrum.roots[:, None]).T)
        self.method, self.truncation_error = "leading eigenpairs", spectrum.truncation_error(self.t)
        return best_of_rows(lambda a, b: left[a:b] @ right, self.shape[0], k, walk.n_jobs, progress)

    def _by_dense_power(self, k: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Neighbours from the dense power; None if it is too large, too slow or too inaccurate."""
        walk, rows = self._walk, self._rows_cost()
        if rows * walk.weights.nnz < MAX_FAST_OPERATIONS or rows < self._dense_power_cost():
            return None
        affinity = normalized_affinity(walk.weights, walk.sums)
        self.method, self.truncation_error = "full power", 0.0
        power = single_power(affinity, self.t + 1, walk.n_jobs)
        return nearest_in_single(power, walk.roots, k, walk.n_jobs)

    def _rows_cost(self) -> float:
        """Cost of all rows one by one, in products of the sparse matrix with a vector."""
        return float(self.shape[0] * self._products_per_row())

    def _dense_power_cost(self) -> float:
        """Cost of squaring, in the same unit; infinite if memory is short or the walk is asymmetric."""
        n, exponent = self.shape[0], self.t + 1
        free = free_memory()
        available = DENSE_MAX_BYTES if free is None else min(DENSE_MAX_BYTES, free)
        if not self._walk.symmetric or 12.0 * n * n > available:
            return np.inf
        products = exponent.bit_length() + exponent.bit_count() - 2
        return 0.6 * products * float(n) ** 3 / (DENSE_SPEEDUP * self._walk.weights.nnz)

    def _measured_recall(self, indices: np.ndarray, sample: np.ndarray, order: NodeOrder) -> float:
        positions = order.positions[sample]
        rows = self._local_walk(order).rows(self.t, positions)
        rows = self._over_diagonal(rows, positions, sample)
        rows[np.arange(len(sample)), positions] = -np.inf
        k = indices.shape[1]
        last = np.partition(rows, -k, axis=1)[:, -k, None]
        # Compared by similarity, so that ties do not matter.
        reached = np.take_along_axis(rows, order.positions[indices[sample]], axis=1)
        return float((reached >= last * (1 - RELATIVE_TOLERANCE)).mean())
