"""Ultrametric similarities as operators: products, solutions and exact counts of eigenvalues in O(n).

A similarity that depends only on where two leaves of a tree meet is a sum of blocks of ones, one for each
node. Every node changes the matrix below it by a rank of one, so that a shifted matrix is solved, and its
eigenvalues above the shift are counted, by one pass over the tree. Bisection on the count finds any
eigenvalue to the last digit, however close others are, and inverse iteration its vector: there is no
Krylov space that could miss a multiple eigenvalue or crawl where many of them crowd.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from vicinal.operators._ultrametric_kernels import add_down, factor, multiply, solve, sum_nodes
from vicinal.operators.eigenpairs import Eigenpairs, signed

BISECTIONS = 200
STEPS = 8
# Residual of a pair, relative to the largest eigenvalue.
ACCURATE = 1e-13
# Similarity that rounding hides in the sum of a row.
HIDDEN = 1e-16


class Ultrametric(LinearOperator):
    """The matrix of exp(-height) over a merge tree, relative to the largest similarity.

    Parameters
    ----------
    tree : MergeTree
        Where points meet. The diagonal is the largest similarity off it, the matrix positive
        semi-definite.
    heights : ndarray (n - 1,), optional
        Heights of the nodes, if they are not those of the tree; in the same order of size.
    """

    def __init__(self, tree: Any, heights: np.ndarray | None = None) -> None:
        n = tree.n_points
        super().__init__(np.float64, (n, n))
        self.tree = tree
        self.heights = tree.heights if heights is None else heights
        finite = self.heights[np.isfinite(self.heights)]
        self.lowest = float(finite.min()) if len(finite) else 0.0
        heights = self.heights - self.lowest
        nodes, leaves = tree.parents
        above = np.append(heights, np.inf)  # the place -1, above the root
        self.drops = _fall(heights, above[nodes])
        self.leaf_drops = _fall(np.zeros(n), above[leaves])

    @property
    def structure(self) -> tuple[np.ndarray, ...]:
        tree = self.tree
        return tree.first, tree.split, tree.stop, self.drops, self.leaf_drops

    def in_leaf_order(self, X: np.ndarray) -> np.ndarray:
        """The product for rows in the order of leaves."""
        if len(X) == 1:
            return self.leaf_drops[:, None] * X
        out = np.empty_like(X)
        multiply(*self.structure, X, out)
        return out

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        leaves = self.tree.leaves
        X = np.ascontiguousarray(X, dtype=np.float64).reshape(len(leaves), -1)
        return self.in_leaf_order(X[leaves])[self.tree.positions]

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x).reshape(x.shape)

    def _adjoint(self) -> Ultrametric:
        return self

    def attached(self, X: np.ndarray, points: np.ndarray, heights: np.ndarray) -> np.ndarray:
        """Products of X with rows of new leaves, each tied to a point at a height of its own.

        A new leaf meets its point at this height, everything that its point meets below it there too,
        and all others where its point does. Heights are relative to ``lowest``.

        Parameters
        ----------
        X : ndarray (n, q)
        points : ndarray of int (m,)
        heights : ndarray (m,)

        Returns
        -------
        ndarray (m, q)
        """
        tree = self.tree
        similar = _exp(-heights)[:, None]
        if len(X) == 1:
            return similar * X[points]
        sums = np.empty((len(X) - 1, X.shape[1]))
        added = np.empty_like(sums)
        structure = tree.first, tree.split, tree.stop
        sum_nodes(*structure, np.ascontiguousarray(X[tree.leaves]), sums)
        add_down(*structure, self.drops, sums, added)
        nodes = tree.highest_below(points, heights + self.lowest)
        node_parents, leaf_parents = tree.parents
        is_leaf = nodes < 0
        parents = np.where(is_leaf, leaf_parents[tree.positions[points]], node_parents[nodes])
        below = np.where(is_leaf[:, None], X[points], sums[nodes])
        above = np.where((parents < 0)[:, None], 0.0, added[parents])
        similar_above = np.where(parents < 0, 0.0, _exp(self.lowest - self.heights[parents]))
        return above + (similar - similar_above[:, None]) * below

    def pieces(self) -> np.ndarray:
        """Label of each point; between pieces there is no similarity that a row's sum would feel."""
        faint = self.lowest - np.log(HIDDEN / len(self.tree.leaves))
        return self.tree.clusters(min(faint, np.finfo(float).max))


def _exp(values: np.ndarray) -> np.ndarray:
    with np.errstate(under="ignore"):
        return np.exp(values)


def _fall(heights: np.ndarray, above: np.ndarray) -> np.ndarray:
    """exp(-height) - exp(-above), without the cancellation."""
    with np.errstate(invalid="ignore", under="ignore"):
        step = np.where(np.isinf(heights), 0.0, above - heights)
        return np.exp(-heights) * -np.expm1(-step)


def normalized_ultrametric_pairs(operator: Ultrametric, n_pairs: int, seed: int = 0) -> Eigenpairs:
    """Leading eigenpairs of D^-1/2 S D^-1/2: as `leading_eigenpairs` of S, which is never formed.

    Vectors of pieces come first, each with eigenvalue 1: the constant one, then one piece after the
    other against all smaller ones, the largest first.
    """
    positions = operator.tree.positions
    sums = (operator @ np.ones(operator.shape[0]))[operator.tree.leaves]
    known = _piece_vectors(operator.pieces()[operator.tree.leaves], sums, n_pairs)
    n_known, roots = known.shape[1], np.sqrt(sums)
    values, vectors = np.ones(n_known), known * roots[:, None]
    if n_known < n_pairs:
        pencil = _Pencil(operator, sums, known, 1.0)
        found, others = pencil.leading(n_pairs - n_known, seed)
        values = np.concatenate([values, found])
        vectors = np.hstack([vectors, others * roots[:, None]])
    vectors = signed(vectors[positions])
    scale = roots[positions, None]
    residuals = (operator @ (vectors / scale)) / scale - vectors * values
    return Eigenpairs(values, vectors, np.linalg.norm(residuals, axis=0))


def centred_ultrametric_pairs(operator: Ultrametric, n_pairs: int, seed: int = 0) -> Eigenpairs:
    """Leading eigenpairs of J S J, where J takes the mean away: classical scaling of 2 (s_ii - s_ij)."""
    n = operator.shape[0]
    largest = float((operator @ np.ones(n)).max())
    pencil = _Pencil(operator, np.ones(n), np.full((n, 1), n**-0.5), largest, centred=True)
    values, vectors = pencil.leading(n_pairs, seed)
    vectors = signed(vectors[operator.tree.positions])
    residuals = operator @ vectors
    residuals -= residuals.mean(axis=0) + vectors * values
    return Eigenpairs(values, vectors, np.linalg.norm(residuals, axis=0))


class _Pencil:
    """S y = value * diagonal * y, on the complement of known vectors, with rows in leaf order.

    With ``centred`` the only known vector is constant but no eigenvector: S is compressed to its
    complement. Otherwise known vectors are eigenvectors of the largest value.
    """

    def __init__(
        self,
        operator: Ultrametric,
        diagonal: np.ndarray,
        known: np.ndarray,
        largest: float,
        centred: bool = False,
    ) -> None:
        self.operator, self.diagonal, self.known = operator, diagonal, known
        self.largest, self.centred = largest, centred
        n = len(diagonal)
        self.pivots, self.grown = np.empty(n - 1), np.empty(n - 1)

    def leading(self, n_pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The largest values, descending, and vectors with y' diagonal y = 1."""
        rng = np.random.default_rng(seed)
        n = len(self.diagonal)
        found = np.empty((n, n_pairs), order="F")
        values, high = np.empty(n_pairs), self.largest
        for j in range(n_pairs):
            values[j] = high = self._value(j, high)
            basis = np.hstack([self.known, found[:, :j]])
            found[:, j] = self._vector(values[j], basis, rng)
        return self._separated(found)

    def _factor(self, shift: float) -> int:
        return factor(*self.operator.structure, self.diagonal, shift, self.pivots, self.grown)

    def _count(self, shift: float) -> int:
        """Number of values above a shift, those of known vectors not counted."""
        below = self._factor(shift)
        if self.centred:
            return below - int(self.grown[0] < 0)
        return below - self.known.shape[1]

    def _value(self, j: int, high: float) -> float:
        """Value number j, by bisection; it is at most ``high``."""
        low = 0.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if not low < middle < high or high - low < 1e-17 * self.largest:
                break
            low, high = (middle, high) if self._count(middle) > j else (low, middle)
        return high

    def _vector(self, value: float, basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # A shift that is a value to the last digit would leave nothing of the other side.
        shift = value + 2.0 * np.spacing(self.largest)
        self._factor(shift)
        y = self._complement(rng.standard_normal(len(self.diagonal)), basis)
        for _ in range(STEPS):
            y = self._complement(self._solve(shift, self.diagonal * y), basis)
            product = self.operator.in_leaf_order(y[:, None])[:, 0]
            if self.centred:
                product -= product.mean()
            residual = product - (y @ product) * self.diagonal * y
            if np.linalg.norm(residual / np.sqrt(self.diagonal)) <= ACCURATE * self.largest:
                break
        return y

    def _solve(self, shift: float, b: np.ndarray) -> np.ndarray:
        columns = np.column_stack([b, np.ones_like(b)]) if self.centred else b[:, None]
        out = np.empty_like(columns)
        solve(*self.operator.structure, self.diagonal, shift, self.pivots, self.grown, columns, out)
        if not self.centred:
            return out[:, 0]
        # The multiplier keeps the solution's sum at 0; at an eigenvalue it is infinite.
        total = out[:, 1].sum() or np.finfo(np.float64).eps * np.abs(out[:, 1]).sum()
        return out[:, 0] - out[:, 0].sum() / total * out[:, 1]

    def _complement(self, y: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """`y` without its part along a basis, of unit length."""
        for _ in range(2):
            y = y / np.abs(y).max()
            y = y - basis @ (basis.T @ (self.diagonal * y))
        return y / np.sqrt(y @ (self.diagonal * y))

    def _separated(self, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and vectors by the Rayleigh-Ritz method: close ones are told apart once more."""
        inner = found.T @ self.operator.in_leaf_order(np.ascontiguousarray(found))
        values, turn = np.linalg.eigh((inner + inner.T) / 2)
        return values[::-1], found @ turn[:, ::-1]


def _piece_vectors(pieces: np.ndarray, sums: np.ndarray, n_vectors: int) -> np.ndarray:
    """Vectors that are constant on each piece, orthonormal in the inner product of the sums."""
    n_pieces = int(pieces.max()) + 1
    weights = np.bincount(pieces, sums)
    order = np.argsort(-np.bincount(pieces), kind="stable")
    levels = np.zeros((n_pieces, min(n_pieces, n_vectors)))
    levels[:, 0] = 1.0
    for k in range(1, levels.shape[1]):
        one, rest = order[k - 1], order[k:]
        levels[one, k], levels[rest, k] = 1.0 / weights[one], -1.0 / weights[rest].sum()
    levels /= np.sqrt((weights[:, None] * levels**2).sum(axis=0))
    return levels[pieces]
