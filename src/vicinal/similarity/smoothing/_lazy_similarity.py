"""A smoothed similarity that is never formed: rows on demand, and neighbours by the cheapest safe road."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from vicinal._core.memory import free_memory, require_memory
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import normalized_affinity, transition
from vicinal.similarity.smoothing._sparse_powers import nearest_in_power
from vicinal.similarity.smoothing._spectral import leading_pairs
from vicinal.similarity.smoothing._sweeps import nearest_in_single, single_power
from vicinal.similarity.smoothing._walks import (
    EXACT,
    SparseWalk,
    best_of_rows,
    power_coefficients,
)
from vicinal.similarity.smoothing.operator import check_self_similarity

# Rows on which a road is chosen and its result is measured.
SAMPLE = 16
KEPT = (64, 128, 256, 512, 1024)
# Share of the walks that the kept entries of a half power must hold.
ENOUGH = 0.997
# With fewer of the true neighbours on the sample, more entries are kept.
RECALL = 0.99
# Similarities that differ less, relatively, are equal: single precision does not tell them apart.
ALIKE = 1e-6
# Error of an entry, relative to the typical diagonal entry.
LOW_RANK_ERROR = 1e-3
# Numbers that vectors may take while leading eigenpairs are found, in which they are held five times.
ROOM = 50_000_000
# Full matrices, of which squaring holds three in single precision, are formed up to this size; in the time
# of one operation with a sparse matrix they do so many.
FULL_BYTES, FULL_SPEED = 4e9, 60
# Exact rows that take so many operations take no time.
QUICK = 1e9


class SmoothedSimilarity:
    """Similarities after t steps, self-normalised, computed where they are asked for.

    Attributes
    ----------
    shape : tuple
    t : int
    method : str or None
        How `nearest` found its answer: "pruned powers", "leading eigenpairs", "full power" or "rows".
    left_out : ndarray (n,), float or None
        What that way has left out. Pruned powers: of each row, the share of all walks. Leading
        eigenpairs: a bound of the error of W_t[i, j] in units of sqrt(d_i d_j). A full power, which is held
        in single precision, and rows: 0.
    recall : float or None
        Share of the neighbours in exact rows that `nearest` has found, on a sample.
    """

    def __init__(self, walk: SparseWalk, t: int, verbose: int = 0) -> None:
        self._walk, self.t, self.verbose = walk, t, verbose
        self.shape = walk.weights.shape
        self.method: str | None = None
        self.left_out: Any = None
        self.recall: float | None = None

    def __repr__(self) -> str:
        return f"SmoothedSimilarity(n={self.shape[0]:,}, t={self.t})"

    def rows(self, items: Any) -> np.ndarray:
        """Rows of the similarity, exact to rounding.

        Parameters
        ----------
        items : array of int

        Returns
        -------
        ndarray (len(items), n)
        """
        return np.minimum(self._ranked(np.atleast_1d(np.asarray(items))), 1.0)

    def toarray(self) -> np.ndarray:
        """All rows, where they fit into memory."""
        n = self.shape[0]
        require_memory(
            24.0 * n * n, f"The similarity of {n:,} items", "Ask for rows or neighbours."
        )
        return np.vstack([self.rows(np.arange(s, min(s + 256, n))) for s in range(0, n, 256)])

    def nearest(self, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """The k most similar others of every item, and their similarities, in order.

        Walks that stay local are followed by sparse powers, those that have mixed by leading
        eigenpairs; between the two, the full power is formed if it fits into memory, else rows are
        computed one by one, which takes long.
        """
        n = self.shape[0]
        n_neighbors = check_count(
            n_neighbors, "n_neighbors", high=n - 1, remedy=f"There are {n} items."
        )
        sample = np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False)
        progress = "smoothing" if self.verbose > 0 else None
        for road in self._strategies(sample, n_neighbors, progress):
            found = road()
            if found is None:
                continue
            self.recall = self._measured_recall(found[1], sample)
            if self.recall >= RECALL:
                return np.minimum(found[0], 1.0), found[1]
        self.method, self.left_out, self.recall = "rows", 0.0, 1.0
        found = best_of_rows(
            lambda a, b: self._ranked(np.arange(a, b)), n, n_neighbors, 1, progress
        )
        return np.minimum(found[0], 1.0), found[1]

    def _strategies(
        self, sample: np.ndarray, k: int, progress: str | None
    ) -> Iterator[Callable[[], tuple[np.ndarray, np.ndarray] | None]]:
        """Ways to the neighbours, those that are cheap where they work first."""
        for keep in self._entries_to_keep(sample):
            yield partial(self._by_powers, k, max(keep, 2 * k), progress)
        yield partial(self._by_eigenpairs, sample, k, progress)
        yield partial(self._by_full_power, k)

    def _ranked(self, items: np.ndarray) -> np.ndarray:
        rows = self._walk.rows(self.t, items)
        own = rows[np.arange(len(items)), items]
        check_self_similarity(own, items)
        return rows / own[:, None]

    def _entries_to_keep(self, sample: np.ndarray) -> list[int]:
        """Numbers of entries that hold nearly all of a row of the half power, and cost less than rows."""
        units = np.zeros((len(sample), self.shape[0]))
        units[np.arange(len(sample)), sample] = 1.0
        half = -np.sort(-self._walk.spread(units, (self.t + 1) // 2), axis=1)
        exponent = self.t + 1
        products = exponent.bit_length() + exponent.bit_count()
        a_row = self._products_a_row() * self._walk.weights.nnz + self.shape[0]
        most = np.sqrt(a_row / products)
        return [k for k in KEPT if k <= most and half[:, :k].sum(axis=1).mean() >= ENOUGH]

    def _products_a_row(self) -> int:
        """Number of products with the sparse matrix for an exact row."""
        return len(power_coefficients(self.t, EXACT)) if self._walk.symmetric else self.t

    def _by_powers(self, k: int, keep: int, progress: str | None) -> tuple[np.ndarray, np.ndarray]:
        n = self.shape[0]
        require_memory(
            24.0 * n * keep,
            f"Powers with {keep:,} entries for each of {n:,} items",
            "Lower t or k.",
        )
        found = nearest_in_power(
            transition(self._walk.weights),
            self.t + 1,
            k,
            keep=keep,
            n_jobs=self._walk.n_jobs,
            progress=progress,
        )
        check_self_similarity(found.own)
        self.method, self.left_out = "pruned powers", found.lost
        return found.shares / found.own[:, None], found.items

    def _by_eigenpairs(
        self, sample: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """From leading eigenpairs; None if they cost more than the roads that are left."""
        walk = self._walk
        if not walk.symmetric:
            return None
        rows = walk.rows(self.t, sample)
        own = (rows[np.arange(len(sample)), sample] / walk.sums[sample]).mean()
        spectrum = leading_pairs(
            walk.operator,
            walk.roots,
            (LOW_RANK_ERROR * own) ** (1 / (self.t + 1)),
            budget=min(self._cost_of_rows(), self._cost_of_full_power()),
            widest=ROOM / self.shape[0],
            accuracy=LOW_RANK_ERROR * own,
        )
        if spectrum is None:
            return None
        diagonal = spectrum.diagonal(self.t)
        check_self_similarity(diagonal)
        left = spectrum.vectors * spectrum.weights(self.t) * (spectrum.roots / diagonal)[:, None]
        right = np.ascontiguousarray((spectrum.vectors * spectrum.roots[:, None]).T)
        self.method, self.left_out = "leading eigenpairs", spectrum.left_out(self.t)
        return best_of_rows(lambda a, b: left[a:b] @ right, self.shape[0], k, walk.n_jobs, progress)

    def _by_full_power(self, k: int) -> tuple[np.ndarray, np.ndarray] | None:
        """From the power itself; None if it is too large, too slow or too coarse."""
        walk, rows = self._walk, self._cost_of_rows()
        if rows * walk.weights.nnz < QUICK or rows < self._cost_of_full_power():
            return None
        affinity = normalized_affinity(walk.weights, walk.sums)
        self.method, self.left_out = "full power", 0.0
        power = single_power(affinity, self.t + 1, walk.n_jobs)
        return nearest_in_single(power, walk.roots, k, walk.n_jobs)

    def _cost_of_rows(self) -> float:
        """Of all rows one by one, in products of the sparse matrix with a vector."""
        return float(self.shape[0] * self._products_a_row())

    def _cost_of_full_power(self) -> float:
        """Of squaring, in the same unit; infinite where it has no room or the walk is not symmetric."""
        n, exponent = self.shape[0], self.t + 1
        free = free_memory()
        room = FULL_BYTES if free is None else min(FULL_BYTES, free)
        if not self._walk.symmetric or 12.0 * n * n > room:
            return np.inf
        products = exponent.bit_length() + exponent.bit_count() - 2
        return 0.6 * products * float(n) ** 3 / (FULL_SPEED * self._walk.weights.nnz)

    def _measured_recall(self, found: np.ndarray, sample: np.ndarray) -> float:
        rows = self._ranked(sample)
        rows[np.arange(len(sample)), sample] = -np.inf
        k = found.shape[1]
        last = np.partition(rows, -k, axis=1)[:, -k, None]
        # By similarity: which of equal ones was found makes no difference.
        reached = np.take_along_axis(rows, found[sample], axis=1)
        return float((reached >= last * (1 - ALIKE)).mean())
