"""Sparse codes of a block of points: rounds that add atoms until every code is optimal."""

from __future__ import annotations

import numpy as np

# Default penalty of a point, as a fraction of its largest correlation with an atom.
AUTO_PENALTY = 0.1
# Atoms that may be added to a code in one round.
MAX_NEW_ATOMS = 64
# Correlations that exceed the penalty by less than this fraction of it, or by rounding, count as equal.
TOLERANCE, ROUNDING = 1e-11, 1e-15
MAX_ROUNDS = 200
# Exact codes are searched along decreasing penalties, each a tenth of the previous one.
MAX_DECADES = 12
# Relative tolerance of the optimality certificate of an exact code.
CERTIFICATE_TOLERANCE = 1e-9
# Products with single atoms are slower per atom than one matrix product with all points, by this factor if
# the points are in the cache of the processor, or not.
CACHED_GATHER_COST, GATHER_COST = 2, 15
CACHED_BYTES = 1 << 23


class CodeBlock:
    """State of the codes of points first ... last - 1, with their atoms, or None for all other points."""

    def __init__(
        self,
        points: np.ndarray,
        atoms: np.ndarray | None,
        signed: bool,
        max_length: float,
        first: int,
        last: int,
    ) -> None:
        n, n_features = points.shape
        size = last - first
        self.points, self.signed = points, signed
        self.targets = points[first:last]
        self.excluded = np.arange(first, last) if atoms is None else np.full(size, -1)
        self.atoms = np.arange(n)[None] if atoms is None else atoms
        self.uses_all_points = atoms is None
        cost = CACHED_GATHER_COST if points.nbytes <= CACHED_BYTES else GATHER_COST
        self.reads_atoms = atoms is not None and n > cost * atoms.shape[1]
        # More atoms than dimensions are never needed; one more row to detect dependence.
        capacity = min(n_features, self.atoms.shape[1]) + 2
        self.positions = np.zeros((size, capacity), dtype=np.int64)
        self.coefficients = np.zeros((size, capacity))
        self.counts = np.zeros(size, dtype=np.int64)
        self.residuals = self.targets.copy()
        self.largest = np.zeros(size)
        self.penalties = np.zeros(size)
        self.gaps = np.zeros(size)
        self.squared_lengths = np.einsum("ij,ij->i", self.targets, self.targets)
        # Products are rounded relative to the lengths of both vectors.
        self.rounding = ROUNDING * np.sqrt(n_features) * max_length * np.sqrt(self.squared_lengths)

    def penalised(self, penalty: float | None) -> tuple[np.ndarray, ...]:
        """Optimal codes for a penalty."""
        rows = np.arange(len(self.targets))
        self._set_penalties(rows, penalty)
        self._optimise(rows)
        return self._result(np.zeros(len(rows), dtype=bool))

    def exact(self, penalty: float | None) -> tuple[np.ndarray, ...]:
        """Shortest exact codes; penalised codes where there is none."""
        rows = np.arange(len(self.targets))
        impossible = np.zeros(len(rows), dtype=bool)
        self._set_penalties(rows, None)
        impossible[self.penalties == 0] = True
        rows = rows[self.penalties > 0]
        for _ in range(MAX_DECADES):
            self._optimise(rows)
            proved, disproved = self._extrapolate(rows)
            impossible[rows[disproved]] = True
            rows = rows[~(proved | disproved)]
            if len(rows) == 0:
                break
            self.penalties[rows] /= 10
        impossible[rows] = True
        rows = np.flatnonzero(impossible)
        self._set_penalties(rows, penalty)
        self.counts[rows] = 0
        self.residuals[rows] = self.targets[rows]
        self._optimise(rows)
        return self._result(impossible)

    def _set_penalties(self, rows: np.ndarray, penalty: float | None) -> None:
        if penalty is not None:
            self.penalties[rows] = penalty
        else:
            self.penalties[rows] = AUTO_PENALTY * self._largest(self.targets[rows], rows)

    def _correlate(self, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Inner products of one vector per row with the atoms of that row."""
        if self.uses_all_points:
            return vectors @ self.points.T
        if not self.reads_atoms:
            return np.take_along_axis(vectors @ self.points.T, self.atoms[rows], axis=1)
        from vicinal.codes._code_kernels import correlate

        products = np.empty((len(rows), self.atoms.shape[1]))
        correlate(self.points, vectors, self.atoms[rows], products)
        return products

    def _largest(self, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Largest inner product with another point, 0 if none is positive."""
        products = self._correlate(vectors, rows)
        if self.uses_all_points:
            products[np.arange(len(rows)), self.excluded[rows]] = 0.0
        if self.signed:
            np.abs(products, out=products)
        return products.max(axis=1, initial=0.0)

    def _dictionaries(self, rows: np.ndarray) -> np.ndarray:
        return self.atoms if self.uses_all_points else self.atoms[rows]

    def _optimise(self, rows: np.ndarray) -> None:
        """Add atoms until none improves a code, then compute the duality gaps."""
        from vicinal.codes._code_kernels import advance, complete

        # A penalty of 0 marks points that are not correlated with any atom: their codes are empty.
        rows = rows[self.penalties[rows] > 0]
        self.largest[rows] = np.inf
        for _ in range(1 if self.reads_atoms else MAX_ROUNDS):
            if len(rows) == 0:
                return
            residuals, penalties = self.residuals[rows], self.penalties[rows]
            codes = (
                self.positions[rows],
                self.coefficients[rows],
                self.counts[rows],
                self.largest[rows],
                np.empty(len(rows), dtype=bool),
            )
            tolerances = np.maximum(TOLERANCE * penalties, self.rounding[rows])
            settings = penalties, tolerances, self.signed, MAX_NEW_ATOMS
            targets, atoms = self.targets[rows], self._dictionaries(rows)
            if self.reads_atoms:
                complete(self.points, targets, atoms, *settings, MAX_ROUNDS, codes, residuals)
            else:
                products = self._correlate(residuals, rows)
                excluded = self.excluded[rows]
                advance(
                    self.points, targets, excluded, atoms, products, *settings, codes, residuals
                )
            self.positions[rows], self.coefficients[rows], self.counts[rows] = codes[:3]
            self.residuals[rows], self.largest[rows] = residuals, codes[3]
            self._set_gaps(rows[~codes[4]])
            rows = rows[codes[4]]
        self.largest[rows] = self._largest(self.residuals[rows], rows)
        self._set_gaps(rows)

    def _set_gaps(self, rows: np.ndarray) -> None:
        """Relative gaps to the dual objective at the residual, scaled to be feasible."""
        residuals, penalties = self.residuals[rows], self.penalties[rows]
        used = np.arange(self.positions.shape[1]) < self.counts[rows, None]
        sums = np.abs(self.coefficients[rows]).sum(axis=1, where=used)
        squares = np.einsum("ij,ij->i", residuals, residuals)
        primal = 0.5 * squares + penalties * sums
        shrink = penalties / np.maximum(np.maximum(self.largest[rows], penalties), 1e-300)
        products = np.einsum("ij,ij->i", residuals, self.targets[rows])
        dual = shrink * products - 0.5 * shrink**2 * squares
        self.gaps[rows] = np.maximum(primal - dual, 0.0) / np.where(primal > 0, primal, 1.0)

    def _extrapolate(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows with an exact code, which is stored, and rows proved to have none."""
        from vicinal.codes._code_kernels import extrapolate

        codes = self.positions[rows], self.coefficients[rows], self.counts[rows]
        vectors = np.zeros((len(rows), self.points.shape[1]))
        spanned = np.empty(len(rows), dtype=np.int64)
        targets = self.targets[rows]
        extrapolate(self.points, targets, self._dictionaries(rows), codes, vectors, spanned)
        largest = self._largest(vectors, rows)
        proved = (spanned == 1) & (largest <= 1 + CERTIFICATE_TOLERANCE)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        disproved = (spanned == 0) & (largest <= CERTIFICATE_TOLERANCE * lengths)
        exact = rows[proved]
        self.coefficients[exact] = codes[1][proved]
        self.penalties[exact] = 0.0
        self.residuals[exact] = 0.0
        self.gaps[exact] = 1 - 1 / np.maximum(largest[proved], 1.0)
        return proved, disproved

    def _result(self, impossible: np.ndarray) -> tuple[np.ndarray, ...]:
        used = np.arange(self.positions.shape[1]) < self.counts[:, None]
        used &= self.coefficients != 0
        atoms = (
            self.positions
            if self.uses_all_points
            else np.take_along_axis(self.atoms, self.positions, 1)
        )
        # Unused positions last.
        order = np.argsort(np.where(used, atoms, len(self.points)), axis=1)
        counts = used.sum(axis=1)
        first = np.arange(used.shape[1]) < counts[:, None]
        explained = 1 - np.einsum("ij,ij->i", self.residuals, self.residuals) / self.squared_lengths
        return (
            counts,
            np.take_along_axis(atoms, order, 1)[first],
            np.take_along_axis(self.coefficients, order, 1)[first],
            self.penalties,
            explained,
            self.gaps,
            impossible,
        )
