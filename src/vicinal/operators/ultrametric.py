"""Ultrametric similarities as operators, with products, solutions and eigenvalue counts in O(n).

A similarity that only depends on the lowest common ancestor of two leaves is a sum of blocks of ones, one per
node of the tree. Each node is a rank-one update of the matrix below it, so one pass over the tree solves a
shifted system, and counts the eigenvalues above the shift. Bisection on the count finds every eigenvalue to
machine precision, even in tight clusters, and inverse iteration its vector. Unlike Krylov methods, this
cannot miss multiple eigenvalues or converge slowly where eigenvalues are dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from vicinal.operators._ultrametric_kernels import (
    add_down,
    attach,
    factor,
    multiply,
    solve,
    sum_nodes,
)
from vicinal.operators.eigenpairs import Eigenpairs, signed

MAX_BISECTIONS = 200
MAX_INVERSE_ITERATIONS = 8
# Residual of an eigenpair, relative to the largest eigenvalue.
RESIDUAL_TOLERANCE = 1e-13
# Similarities below this fraction of a row sum vanish in rounding.
NEGLIGIBLE = 1e-16


class Ultrametric(LinearOperator):
    """The matrix of exp(-height) over a merge tree, relative to the largest similarity.

    Parameters
    ----------
    tree : MergeTree
        Tree of the points. The diagonal is the largest off-diagonal similarity, and the matrix is positive
        semi-definite.
    heights : ndarray (n - 1,), optional
        Heights of the nodes, if they differ from those of the tree; they must have the same order.
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
        above = np.append(heights, np.inf)  # entry -1 is the parent of the root
        self.drops = _difference(heights, above[nodes])
        self.leaf_drops = _difference(np.zeros(n), above[leaves])
        self._attached: AttachedLeaves | None = None

    @property
    def structure(self) -> tuple[np.ndarray, ...]:
        tree = self.tree
        return tree.first, tree.split, tree.stop, self.drops, self.leaf_drops

    def in_leaf_order(self, X: np.ndarray) -> np.ndarray:
        """Product with vectors in leaf order."""
        if len(X) == 1:
            return self.leaf_drops[:, None] * X
        out = np.empty_like(X)
        multiply(*self.structure, X, np.empty((len(X) - 1, X.shape[1])), out)
        return out

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        leaves = self.tree.leaves
        X = np.ascontiguousarray(X, dtype=np.float64).reshape(len(leaves), -1)
        return self.in_leaf_order(X[leaves])[self.tree.positions]

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._matmat(x).reshape(x.shape)

    def _adjoint(self) -> Ultrametric:
        return self

    def attached_to(self, vectors: np.ndarray) -> AttachedLeaves:
        """Products of vectors (n, q) with the rows of new leaves, kept until other vectors are given."""
        if self._attached is None or self._attached.vectors is not vectors:
            self._attached = AttachedLeaves(self, vectors)
        return self._attached

    def __getstate__(self) -> dict[str, Any]:
        # Sums over the tree are computed faster than they are loaded.
        return {**self.__dict__, "_attached": None}

    def components(self) -> np.ndarray:
        """Component of each point; similarities between components are numerically negligible."""
        height = self.lowest - np.log(NEGLIGIBLE / len(self.tree.leaves))
        return self.tree.clusters(min(height, np.finfo(float).max))


def _difference(heights: np.ndarray, above: np.ndarray) -> np.ndarray:
    """exp(-height) - exp(-above), without cancellation."""
    with np.errstate(invalid="ignore", under="ignore"):
        step = np.where(np.isinf(heights), 0.0, above - heights)
        return np.exp(-heights) * -np.expm1(-step)


def normalized_ultrametric_pairs(operator: Ultrametric, n_pairs: int, seed: int = 0) -> Eigenpairs:
    """Leading eigenpairs of D^-1/2 S D^-1/2, like `leading_eigenpairs`, without forming S.

    The vectors of components, with eigenvalue 1, come first: the constant one, then contrasts of each
    component with all smaller ones, the largest component first.
    """
    positions = operator.tree.positions
    sums = (operator @ np.ones(operator.shape[0]))[operator.tree.leaves]
    known = _component_vectors(operator.components()[operator.tree.leaves], sums, n_pairs)
    n_known, roots = known.shape[1], np.sqrt(sums)
    values, vectors = np.ones(n_known), known * roots[:, None]
    if n_known < n_pairs:
        pencil = _Pencil(operator, sums, known, 1.0)
        other_values, others = pencil.leading(n_pairs - n_known, seed)
        values = np.concatenate([values, other_values])
        vectors = np.hstack([vectors, others * roots[:, None]])
    vectors = signed(vectors[positions])
    scale = roots[positions, None]
    residuals = (operator @ (vectors / scale)) / scale - vectors * values
    return Eigenpairs(values, vectors, np.linalg.norm(residuals, axis=0))


def centered_ultrametric_pairs(operator: Ultrametric, n_pairs: int, seed: int = 0) -> Eigenpairs:
    """Leading eigenpairs of J S J, where J subtracts the mean: classical scaling of 2 (s_ii - s_ij)."""
    n = operator.shape[0]
    largest = float((operator @ np.ones(n)).max())
    pencil = _Pencil(operator, np.ones(n), np.full((n, 1), n**-0.5), largest, centered=True)
    values, vectors = pencil.leading(n_pairs, seed)
    vectors = signed(vectors[operator.tree.positions])
    residuals = operator @ vectors
    residuals -= residuals.mean(axis=0) + vectors * values
    return Eigenpairs(values, vectors, np.linalg.norm(residuals, axis=0))


class _Pencil:
    """Eigenproblem S y = value * diagonal * y on the complement of known vectors, in leaf order.

    With ``centered``, the only known vector is constant and not an eigenvector: S is projected to its
    complement. Otherwise, known vectors are eigenvectors with the largest eigenvalue.
    """

    def __init__(
        self,
        operator: Ultrametric,
        diagonal: np.ndarray,
        known: np.ndarray,
        largest: float,
        centered: bool = False,
    ) -> None:
        self.operator, self.diagonal, self.known = operator, diagonal, known
        self.largest, self.centered = largest, centered
        n = len(diagonal)
        self.pivots, self.grown = np.empty(n - 1), np.empty(n - 1)

    def leading(self, n_pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The largest eigenvalues, descending, and eigenvectors with y' diagonal y = 1."""
        rng = np.random.default_rng(seed)
        n = len(self.diagonal)
        vectors = np.empty((n, n_pairs), order="F")
        values, high = np.empty(n_pairs), self.largest
        for j in range(n_pairs):
            values[j] = high = self._value(j, high)
            basis = np.hstack([self.known, vectors[:, :j]])
            vectors[:, j] = self._vector(values[j], basis, rng)
        return self._rayleigh_ritz(vectors)

    def _factor(self, shift: float) -> int:
        return factor(*self.operator.structure, self.diagonal, shift, self.pivots, self.grown)

    def _count(self, shift: float) -> int:
        """Number of eigenvalues above a shift, without those of known vectors."""
        n_above = self._factor(shift)
        if self.centered:
            return n_above - int(self.grown[0] < 0)
        return n_above - self.known.shape[1]

    def _value(self, j: int, high: float) -> float:
        """Eigenvalue number j, which is at most ``high``, by bisection."""
        low = 0.0
        for _ in range(MAX_BISECTIONS):
            middle = (low + high) / 2
            if not low < middle < high or high - low < 1e-17 * self.largest:
                break
            low, high = (middle, high) if self._count(middle) > j else (low, middle)
        return high

    def _vector(self, value: float, basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # A shift that equals an eigenvalue to the last digit would make the system singular.
        shift = value + 2.0 * np.spacing(self.largest)
        self._factor(shift)
        y = self._complement(rng.standard_normal(len(self.diagonal)), basis)
        for _ in range(MAX_INVERSE_ITERATIONS):
            y = self._complement(self._solve(shift, self.diagonal * y), basis)
            product = self.operator.in_leaf_order(y[:, None])[:, 0]
            if self.centered:
                product -= product.mean()
            residual = product - (y @ product) * self.diagonal * y
            if (
                np.linalg.norm(residual / np.sqrt(self.diagonal))
                <= RESIDUAL_TOLERANCE * self.largest
            ):
                break
        return y

    def _solve(self, shift: float, b: np.ndarray) -> np.ndarray:
        columns = np.column_stack([b, np.ones_like(b)]) if self.centered else b[:, None]
        out = np.empty_like(columns)
        solve(*self.operator.structure, self.diagonal, shift, self.pivots, self.grown, columns, out)
        if not self.centered:
            return out[:, 0]
        # The Lagrange multiplier keeps the sum of the solution at 0; at an eigenvalue it is infinite.
        total = out[:, 1].sum() or np.finfo(np.float64).eps * np.abs(out[:, 1]).sum()
        return out[:, 0] - out[:, 0].sum() / total * out[:, 1]

    def _complement(self, y: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Project y to the complement of a basis, and normalise it."""
        for _ in range(2):
            y = y / np.abs(y).max()
            y = y - basis @ (basis.T @ (self.diagonal * y))
        return y / np.sqrt(y @ (self.diagonal * y))

    def _rayleigh_ritz(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenpairs by the Rayleigh-Ritz method, which separates close eigenvectors better."""
        inner = vectors.T @ self.operator.in_leaf_order(np.ascontiguousarray(vectors))
        values, rotation = np.linalg.eigh((inner + inner.T) / 2)
        return values[::-1], vectors @ rotation[:, ::-1]


def _component_vectors(components: np.ndarray, sums: np.ndarray, n_vectors: int) -> np.ndarray:
    """Vectors that are constant on each component, orthonormal in the inner product of the sums."""
    n_components = int(components.max()) + 1
    weights = np.bincount(components, sums)
    order = np.argsort(-np.bincount(components), kind="stable")
    contrasts = np.zeros((n_components, min(n_components, n_vectors)))
    contrasts[:, 0] = 1.0
    for k in range(1, contrasts.shape[1]):
        one, rest = order[k - 1], order[k:]
        contrasts[one, k], contrasts[rest, k] = 1.0 / weights[one], -1.0 / weights[rest].sum()
    contrasts /= np.sqrt((weights[:, None] * contrasts**2).sum(axis=0))
    return contrasts[components]


class AttachedLeaves:
    """Products of vectors with the rows of new leaves, each attached to a point at a given height.

    The common ancestor of a new leaf and its point has this height, also for leaves that the point joins
    below it; for all others, the ancestor is that of the point.

    Parameters
    ----------
    operator : Ultrametric
        The matrix of the known points.
    vectors : ndarray (n, q)
        Vectors.
    """

    def __init__(self, operator: Any, vectors: np.ndarray) -> None:
        self.vectors, self._operator = vectors, operator
        tree = operator.tree
        columns = np.ones((len(vectors), vectors.shape[1] + 1))
        columns[:, :-1] = vectors
        self._columns = columns[tree.leaves]
        self._sums = np.empty((len(vectors) - 1, columns.shape[1]))
        self._added = np.empty_like(self._sums)
        if len(vectors) > 1:
            structure = tree.first, tree.split, tree.stop
            sum_nodes(*structure, self._columns, self._sums)
            add_down(*structure, operator.drops, self._sums, self._added)

    def products(self, points: np.ndarray, heights: np.ndarray) -> np.ndarray:
        """Products (m, q + 1) with the vectors and, last, with ones.

        Parameters
        ----------
        points : ndarray of int (m,)
            Point that each new leaf is attached to.
        heights : ndarray (m,)
            Height of each new leaf, relative to the lowest height of the tree.
        """
        operator, tree = self._operator, self._operator.tree
        products = np.empty((len(points), self._columns.shape[1]))
        attach(
            operator.heights,
            operator.lowest,
            *tree.parents,
            tree.positions[points],
            heights,
            self._columns,
            self._sums,
            self._added,
            products,
        )
        return products
