"""Manifold ranking on the complete graph without the inverse of its matrix.

Scores are (I - alpha S)^-1, divided by the root of the degree of the atom. The leading eigenvector of S, the
roots of the degrees, then adds the same number to all scores of a point, so it is removed. On an orthonormal
basis B of a Krylov space of the rest, H = B'SB, the scores are

    I + alpha S + B ((I - alpha H)^-1 - I - alpha H) B',

up to the squares of the eigenvalues that the space misses. This takes n^2 operations per basis vector instead
of n^3, in single precision. A sample of points, ranked by conjugate gradients, shows whether that is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread

# Fewer points are ranked exactly in tens of milliseconds.
MIN_POINTS = 1000
# Closer to 1, single precision is not enough.
MAX_ALPHA = 0.999
# Affinities of points with smaller degrees underflow.
MIN_DEGREE = 1e-20
# Vectors per block, and numbers of blocks that are tried.
BLOCK_SIZE, N_BLOCKS = 32, (3, 6)
MIN_RECALL, RECALL_SAMPLE = 0.99, 16
# Conjugate gradients for the sample; residuals are relative to the scores of other points.
MAX_STEPS, RESIDUAL_TOLERANCE = 12, 1e-3
# Scores that differ by less, relative to the largest one, are equal up to rounding.
ROUNDING = 1e-6
ROWS_PER_TASK = 128


class Ranked(NamedTuple):
    """Atoms of each point, and the fraction of the best ones found in a sample."""

    atoms: np.ndarray
    recall: float


class Affinity(NamedTuple):
    """Affinities in single precision, roots of the degrees, and the leading eigenvector."""

    values: np.ndarray
    roots: np.ndarray
    leading: np.ndarray

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Product of the normalised affinities with some vectors, without the leading eigenvector."""
        scaled, product = vectors / self.roots[:, None], np.empty_like(vectors)

        def multiply(span: tuple[int, int]) -> None:
            rows = slice(*span)
            np.matmul(self.values[rows], scaled, out=product[rows])
            product[rows] /= self.roots[rows, None]

        map_threads(multiply, blocks(len(vectors), ROWS_PER_TASK))
        return product - self.leading[:, None] * (self.leading @ vectors)


def krylov_atoms(
    points: np.ndarray, n_atoms: int, alpha: float, scale_neighbor: int
) -> Ranked | None:
    """Best atoms of each point by degree-corrected manifold ranking; None if too few would be found."""
    n = len(points)
    if n < MIN_POINTS or alpha > MAX_ALPHA:
        return None
    with one_blas_thread():
        affinity = heat_affinity32(points, scale_neighbor)
        if affinity is None:
            return None
        sample = np.linspace(0, n - 1, RECALL_SAMPLE).astype(np.int64)
        for n_blocks in N_BLOCKS:
            basis, product = krylov_basis(affinity, n_blocks)
            left, right = correction(affinity, basis, product, alpha)
            solve = scores_of(affinity, left, right, alpha)
            recall = sampled_recall(affinity, solve(sample), sample, n_atoms, alpha)
            if recall >= MIN_RECALL:
                return Ranked(select_atoms(solve, n, n_atoms), recall)
    return None


def heat_affinity32(points: np.ndarray, scale_neighbor: int) -> Affinity | None:
    """Heat kernel exp(-d^2 / 4 s^2) of all pairs; None where single precision is not enough."""
    from vicinal.codes._atom_kernels import kth_largest_of_rows

    n = len(points)
    centered = points - points.mean(axis=0)
    largest = np.abs(centered).max()
    if not 0 < largest < np.inf:
        return None
    centered /= largest
    squares = np.einsum("ij,ij->i", centered, centered)
    # Negated squared distances.
    values = np.empty((n, n), dtype=np.float32)
    nearest = np.empty(n, dtype=np.int64)

    def fill(span: tuple[int, int]) -> None:
        rows = slice(*span)
        # Products in double precision: clusters may be far from the origin.
        products = centered[rows] @ centered.T
        products *= 2.0
        products -= squares
        products -= squares[rows, None]
        np.minimum(products, 0.0, out=values[rows])
        values[np.arange(*span), np.arange(*span)] = 0.0
        kth_largest_of_rows(values[rows], scale_neighbor + 1, nearest[rows])

    map_threads(fill, blocks(n, ROWS_PER_TASK))
    scales = np.sqrt(-values[np.arange(n), nearest].astype(np.float64))
    scales = scales[scales > 0]
    if len(scales) == 0:
        return None
    factor = np.float32(0.25 / np.median(scales) ** 2)
    degrees = np.empty(n)

    def apply_kernel(span: tuple[int, int]) -> None:
        rows = values[slice(*span)]
        rows *= factor
        np.exp(rows, out=rows)
        rows[np.arange(len(rows)), np.arange(*span)] = 0.0
        degrees[slice(*span)] = rows.sum(axis=1, dtype=np.float64)

    map_threads(apply_kernel, blocks(n, ROWS_PER_TASK))
    if not degrees.min() > MIN_DEGREE:
        return None
    roots = np.sqrt(degrees)
    leading = roots / np.sqrt(degrees.sum())
    return Affinity(values, roots.astype(np.float32), leading.astype(np.float32))


def krylov_basis(affinity: Affinity, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal basis of a block Krylov space of random vectors, and its product with the matrix."""
    n = len(affinity.roots)
    # The result hardly depends on these vectors, so a fixed seed is enough.
    start = np.random.default_rng(0).standard_normal((n, BLOCK_SIZE)).astype(np.float32)
    basis = np.empty((n, n_blocks * BLOCK_SIZE), dtype=np.float32, order="F")
    products = np.empty_like(basis)
    block = affinity.apply(start)
    for i in range(n_blocks):
        known = basis[:, : i * BLOCK_SIZE]
        # Once is not enough in single precision.
        for _ in range(2):
            block = block - known @ (known.T @ block)
        columns = slice(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE)
        basis[:, columns] = np.linalg.qr(block)[0]
        block = affinity.apply(np.ascontiguousarray(basis[:, columns]))
        products[:, columns] = block
    return basis, products


def correction(
    affinity: Affinity, basis: np.ndarray, products: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Factors of the part of the scores that does not come from single steps."""
    restricted = (basis.T @ products).astype(np.float64)
    values, vectors = np.linalg.eigh((restricted + restricted.T) / 2)
    values = alpha * np.clip(values, -1.0, 1.0)
    ritz = basis @ vectors.astype(np.float32)
    weights = (values**2 / (1 - values)).astype(np.float32)
    return ritz * weights, np.ascontiguousarray((ritz / affinity.roots[:, None]).T)


def scores_of(
    affinity: Affinity, left: np.ndarray, right: np.ndarray, alpha: float
) -> Callable[[np.ndarray | slice], np.ndarray]:
    """Function that returns the scores of some points."""
    atoms = (alpha / affinity.roots**2).astype(np.float32)

    def scores(rows: np.ndarray | slice) -> np.ndarray:
        steps = affinity.values[rows] * atoms
        steps /= affinity.roots[rows, None]
        steps += left[rows] @ right
        return steps

    return scores


def select_atoms(
    scores: Callable[[np.ndarray | slice], np.ndarray], n: int, n_atoms: int
) -> np.ndarray:
    """Best atoms of each point, ascending."""
    from vicinal.codes._atom_kernels import best_columns

    atoms = np.empty((n, n_atoms), dtype=np.int64)

    def select(span: tuple[int, int]) -> None:
        best_columns(scores(slice(*span)), np.arange(*span), atoms[slice(*span)])

    map_threads(select, blocks(n, ROWS_PER_TASK))
    return atoms


def sampled_recall(
    affinity: Affinity, scores: np.ndarray, sample: np.ndarray, n_atoms: int, alpha: float
) -> float:
    """Fraction of the best atoms of a sample that the given scores find; 0 if it cannot be computed."""
    from vicinal.codes._atom_kernels import best_columns

    roots, columns = affinity.roots, np.arange(len(sample))
    start = np.ascontiguousarray(scores.T) * roots[:, None]
    # All scores of a point may differ by a multiple of the leading eigenvector.
    start -= affinity.leading[:, None] * (affinity.leading @ start)
    targets = np.zeros_like(start)
    targets[sample, columns] = 1.0
    targets -= affinity.leading[:, None] * affinity.leading[sample]
    solution = conjugate_gradients(affinity, alpha, start + targets, targets)
    if solution is None:
        return 0.0
    true = np.ascontiguousarray((solution / roots[:, None]).T)
    found, best = np.empty((2, len(sample), n_atoms), dtype=np.int64)
    best_columns(scores, sample, found)
    best_columns(true, sample, best)
    recalls = np.empty(len(sample))
    for i in range(len(sample)):
        last = true[i, best[i]].min()
        # Atoms whose scores differ by rounding only cannot be ranked.
        others = np.delete(true[i], sample[i])
        n_close = np.count_nonzero(np.abs(others - last) <= ROUNDING * np.abs(others).max())
        recalls[i] = max(np.isin(best[i], found[i]).mean() - (n_close - 1) / n_atoms, 0.0)
    return float(recalls.mean())


def conjugate_gradients(
    affinity: Affinity, alpha: float, x: np.ndarray, targets: np.ndarray
) -> np.ndarray | None:
    """Solve (I - alpha S) x = target for each column; None if that takes too many steps."""
    residual = targets - x + np.float32(alpha) * affinity.apply(x)
    goal = RESIDUAL_TOLERANCE**2 * np.square(x - targets).sum(axis=0)
    direction, square = residual.copy(), np.square(residual).sum(axis=0)
    for _ in range(MAX_STEPS):
        if np.all(square <= goal):
            return x
        product = direction - np.float32(alpha) * affinity.apply(direction)
        step = square / np.maximum((direction * product).sum(axis=0), np.float32(1e-30))
        x = x + step * direction
        residual = residual - step * product
        previous, square = square, np.square(residual).sum(axis=0)
        direction = residual + square / np.maximum(previous, np.float32(1e-30)) * direction
    return x if np.all(square <= goal) else None
