"""Sparse codes of many points: each as a short combination of others.

Two problems for a point x with the dictionary Z of its atoms, both with a >= 0 unless signs are allowed:

- penalised: min 1/2 |x - Z'a|^2 + penalty sum(a),
- exact: min sum(a) such that x = Z'a, the limit of small penalties, where there is one.

Points are worked off in blocks, in rounds. A round is one product of the block's residuals with all
atoms, which tells the atoms that would improve a code; a few of them join and the small problem is solved
(`_code_kernels`). When no atom is left that would improve it, the code is optimal for all of them.
No matrix of all pairs is held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread

# Share of a point's largest correlation with an atom that is its penalty if none is given.
AUTO_PENALTY = 0.1
# Atoms that may join a code in one round.
JOINING = 64
# Correlations above the penalty by less than this share of it, or than rounding makes, are equal to it.
TOLERANCE, ROUNDING = 1e-11, 1e-15
MAX_ROUNDS = 200
# An exact code is looked for from one penalty to the next, each a tenth of the one before.
DECADES = 12
# Relative length by which the proof of an exact code may be off.
PROOF = 1e-9
# A product with all points takes the time of products with so many times fewer atoms one by one.
SCATTERED = 15
ENTRIES_PER_BLOCK, ROWS_PER_BLOCK = 1 << 22, 256


class Codes(NamedTuple):
    """Codes of all points in compressed rows, atoms in increasing order, and what they achieve.

    Attributes
    ----------
    indptr, indices, values : ndarray
        Coefficients, by point.
    penalties : ndarray of shape (n,)
        Penalty of each point, 0 for an exact code.
    explained : ndarray of shape (n,)
        Share of the squared length of a point that its code explains.
    gaps : ndarray of shape (n,)
        Relative duality gap: how much longer than the optimum a code may be at most.
    inexact : ndarray of int
        Points of which an exact code was wanted but does not exist.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    penalties: np.ndarray
    explained: np.ndarray
    gaps: np.ndarray
    inexact: np.ndarray


class CodeQuality(NamedTuple):
    """What the codes behind a graph achieve; stored as its ``codes``.

    Attributes
    ----------
    unit : float
        Strengths times this are coefficients. It is 1 unless a coefficient exceeds 1; then it is the
        largest one.
    support_sizes : ndarray of int of shape (n,)
        Number of atoms that each point uses.
    penalties, explained, gaps, inexact :
        As in `Codes`.
    recall : float
        Share of the atoms ranked best that the dictionaries hold, in a sample of points; 1 if all points
        are atoms or ranking was exact.
    """

    unit: float
    support_sizes: np.ndarray
    penalties: np.ndarray
    explained: np.ndarray
    gaps: np.ndarray
    inexact: np.ndarray
    recall: float = 1.0


def sparse_codes(
    points: np.ndarray,
    atoms: np.ndarray | None = None,
    *,
    penalty: float | None = None,
    equality: bool = False,
    signed: bool = False,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> Codes:
    """Code of each point over others.

    Parameters
    ----------
    points : ndarray of float64 of shape (n, n_features)
        Of lengths near 1, none of them 0.
    atoms : ndarray of int of shape (n, n_atoms), optional
        Dictionary of each point, without the point itself; all others by default.
    penalty : float, optional
        By default a tenth of each point's largest correlation with an atom.
    equality : bool, default=False
        Look for exact codes; points that have none get a penalised one.
    signed : bool, default=False
        Whether coefficients may be negative.
    n_jobs, progress :
        As for `map_threads`.
    """
    n = len(points)
    longest = float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))

    def code(span: tuple[int, int]) -> tuple[np.ndarray, ...]:
        block = _Block(points, atoms, signed, longest, *span)
        return block.exact(penalty) if equality else block.penalised(penalty)

    width = n if atoms is None else atoms.shape[1]
    size = min(ROWS_PER_BLOCK, max(16, ENTRIES_PER_BLOCK // max(width, 1)))
    with one_blas_thread():
        parts = map_threads(code, blocks(n, size), n_jobs, progress=progress)
    counts, indices, values, penalties, explained, gaps, inexact = map(
        np.concatenate, zip(*parts, strict=True)
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Codes(indptr, indices, values, penalties, explained, gaps, np.flatnonzero(inexact))


class _Block:
    """Codes of the points from ``first`` to ``last`` in the making."""

    def __init__(
        self,
        points: np.ndarray,
        atoms: np.ndarray | None,
        signed: bool,
        longest: float,
        first: int,
        last: int,
    ) -> None:
        n, n_features = points.shape
        size = last - first
        self.points, self.signed = points, signed
        self.targets = points[first:last]
        self.own = np.arange(first, last) if atoms is None else np.full(size, -1)
        self.atoms = np.arange(n)[None] if atoms is None else atoms[first:last]
        self.everything = atoms is None
        # More atoms than dimensions are never needed; one row more to find that out.
        capacity = min(n_features, self.atoms.shape[1]) + 2
        self.places = np.zeros((size, capacity), dtype=np.int64)
        self.coefficients = np.zeros((size, capacity))
        self.counts = np.zeros(size, dtype=np.int64)
        self.residuals = self.targets.copy()
        self.largest = np.zeros(size)
        self.penalties = np.zeros(size)
        self.gaps = np.zeros(size)
        self.lengths = np.einsum("ij,ij->i", self.targets, self.targets)
        # Products are rounded relative to the lengths of both vectors.
        self.rounding = ROUNDING * np.sqrt(n_features) * longest * np.sqrt(self.lengths)

    def penalised(self, penalty: float | None) -> tuple[np.ndarray, ...]:
        """Optimal codes at a penalty."""
        every = np.arange(len(self.targets))
        self._set_penalties(every, penalty)
        self._optimise(every)
        return self._result(np.zeros(len(every), dtype=bool))

    def exact(self, penalty: float | None) -> tuple[np.ndarray, ...]:
        """Shortest exact codes; penalised ones where there are none."""
        rows = np.arange(len(self.targets))
        impossible = np.zeros(len(rows), dtype=bool)
        self._set_penalties(rows, None)
        impossible[self.penalties == 0] = True
        rows = rows[self.penalties > 0]
        for _ in range(DECADES):
            self._optimise(rows)
            proved, none = self._extrapolate(rows)
            impossible[rows[none]] = True
            rows = rows[~(proved | none)]
            if len(rows) == 0:
                break
            self.penalties[rows] /= 10
        impossible[rows] = True
        again = np.flatnonzero(impossible)
        self._set_penalties(again, penalty)
        self.counts[again] = 0
        self.residuals[again] = self.targets[again]
        self._optimise(again)
        return self._result(impossible)

    def _set_penalties(self, rows: np.ndarray, penalty: float | None) -> None:
        if penalty is not None:
            self.penalties[rows] = penalty
        else:
            self.penalties[rows] = AUTO_PENALTY * self._largest(self.targets[rows], rows)

    def _correlate(self, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Products of a vector for each row with the atoms of that row."""
        if self.everything:
            return vectors @ self.points.T
        if len(self.points) <= SCATTERED * self.atoms.shape[1]:
            return np.take_along_axis(vectors @ self.points.T, self.atoms[rows], axis=1)
        from vicinal.codes._code_kernels import correlate

        products = np.empty((len(rows), self.atoms.shape[1]))
        correlate(self.points, vectors, self.atoms[rows], products)
        return products

    def _largest(self, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Largest of these products that is not the point's own, 0 if none is positive."""
        products = self._correlate(vectors, rows)
        if self.everything:
            products[np.arange(len(rows)), self.own[rows]] = 0.0
        if self.signed:
            np.abs(products, out=products)
        return products.max(axis=1, initial=0.0)

    def _dictionaries(self, rows: np.ndarray) -> np.ndarray:
        return self.atoms if self.everything else self.atoms[rows]

    def _optimise(self, rows: np.ndarray) -> None:
        """Rounds until no atom improves any of the codes; then their gaps are known."""
        from vicinal.codes._code_kernels import advance

        # A penalty of 0 stands for a point that no atom is correlated with: its code is empty.
        rows = rows[self.penalties[rows] > 0]
        self.largest[rows] = np.inf
        for _ in range(MAX_ROUNDS):
            if len(rows) == 0:
                return
            residuals, penalties = self.residuals[rows], self.penalties[rows]
            codes = (
                self.places[rows],
                self.coefficients[rows],
                self.counts[rows],
                self.largest[rows],
                np.empty(len(rows), dtype=bool),
            )
            advance(
                self.points,
                self.targets[rows],
                self.own[rows],
                self._dictionaries(rows),
                self._correlate(residuals, rows),
                penalties,
                np.maximum(TOLERANCE * penalties, self.rounding[rows]),
                self.signed,
                JOINING,
                codes,
                residuals,
            )
            self.places[rows], self.coefficients[rows], self.counts[rows] = codes[:3]
            self.residuals[rows], self.largest[rows] = residuals, codes[3]
            self._set_gaps(rows[~codes[4]])
            rows = rows[codes[4]]
        self.largest[rows] = self._largest(self.residuals[rows], rows)
        self._set_gaps(rows)

    def _set_gaps(self, rows: np.ndarray) -> None:
        """Relative gaps to the dual objective at the residual, shrunk until it is feasible."""
        residuals, penalties = self.residuals[rows], self.penalties[rows]
        used = np.arange(self.places.shape[1]) < self.counts[rows, None]
        sums = np.abs(self.coefficients[rows]).sum(axis=1, where=used)
        squares = np.einsum("ij,ij->i", residuals, residuals)
        primal = 0.5 * squares + penalties * sums
        shrink = penalties / np.maximum(np.maximum(self.largest[rows], penalties), 1e-300)
        products = np.einsum("ij,ij->i", residuals, self.targets[rows])
        dual = shrink * products - 0.5 * shrink**2 * squares
        self.gaps[rows] = np.maximum(primal - dual, 0.0) / np.where(primal > 0, primal, 1.0)

    def _extrapolate(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which rows have an exact code, now stored, and which are proved to have none."""
        from vicinal.codes._code_kernels import extrapolate

        codes = self.places[rows], self.coefficients[rows], self.counts[rows]
        vectors = np.zeros((len(rows), self.points.shape[1]))
        spanned = np.empty(len(rows), dtype=np.int64)
        targets = self.targets[rows]
        extrapolate(self.points, targets, self._dictionaries(rows), codes, vectors, spanned)
        largest = self._largest(vectors, rows)
        proved = (spanned == 1) & (largest <= 1 + PROOF)
        left = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        none = (spanned == 0) & (largest <= PROOF * left)
        found = rows[proved]
        self.coefficients[found] = codes[1][proved]
        self.penalties[found] = 0.0
        self.residuals[found] = 0.0
        self.gaps[found] = 1 - 1 / np.maximum(largest[proved], 1.0)
        return proved, none

    def _result(self, impossible: np.ndarray) -> tuple[np.ndarray, ...]:
        used = np.arange(self.places.shape[1]) < self.counts[:, None]
        used &= self.coefficients != 0
        atoms = self.places if self.everything else np.take_along_axis(self.atoms, self.places, 1)
        # Unused places last.
        order = np.argsort(np.where(used, atoms, len(self.points)), axis=1)
        counts = used.sum(axis=1)
        first = np.arange(used.shape[1]) < counts[:, None]
        explained = 1 - np.einsum("ij,ij->i", self.residuals, self.residuals) / self.lengths
        return (
            counts,
            np.take_along_axis(atoms, order, 1)[first],
            np.take_along_axis(self.coefficients, order, 1)[first],
            self.penalties,
            explained,
            self.gaps,
            impossible,
        )
