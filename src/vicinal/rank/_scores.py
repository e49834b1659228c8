"""Scores s = (I - alpha Theta)^-1 v of many queries v, and the best of each, in bounded memory.

Theta is a symmetric matrix with eigenvalues in [-1, 1], so the system is positive definite for
alpha < 1 and can be solved by conjugate gradients. For a walk on a digraph, Theta is sparse except for a
symmetric term of rank 2 (teleport). Both are nonnegative, so the eigenvalues of the sparse part are in
[-1, 1], too, and Woodbury's formula adds the term.

For small alpha, scores fall by orders of magnitude from node to node, below the accuracy of conjugate
gradients. Then the powers of alpha Theta are summed directly: the sum is short, and because all terms are
nonnegative, every score has full relative precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads, n_threads, progress_bar
from vicinal._core.warn import LongWork
from vicinal.operators._conjugate_gradients import PositiveDefiniteSolver

SMALL_ALPHA = 0.5
TOLERANCE = 1e-12
# From this alpha and number of nodes on, corrections on coarser levels save more iterations than they cost.
COARSE_MIN_ALPHA, COARSE_MIN_NODES = 0.995, 5_000
# Up to this alpha, condition numbers are at most 2e4, and iterations in single precision converge.
SINGLE_MAX_ALPHA = 0.9999
# Scores below this fraction of a query's largest score are solver errors, not an order of points.
RESOLUTION = 1e-11
# Number of scores per block; the solver needs a few times as many numbers.
BLOCK_ENTRIES = 1 << 23
QUERIES_PER_TASK = 8
# The solver assigns queries to threads in groups of this size, so smaller blocks would leave threads idle.
QUERIES_PER_GROUP = 16


def resolvent(
    matrix: sparse.csr_array,
    alpha: float,
    left: np.ndarray | None = None,
    right: np.ndarray | None = None,
    n_jobs: int | None = -1,
) -> Resolvent:
    """(I - alpha Theta)^-1 with Theta = matrix + (left right' + right left') / 2.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Symmetric and nonnegative.
    alpha : float
        In [0, 1).
    left, right : ndarray of shape (n,), optional
        Nonnegative; Theta is the matrix alone without them.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    """
    pair = np.empty((matrix.shape[0], 0))
    if left is not None and right is not None and left.any():
        # Only the product matters; with equal norms, neither is lost to rounding.
        ratio = np.sqrt(np.linalg.norm(right) / np.linalg.norm(left))
        pair = np.column_stack([left * ratio, right / ratio])
    if alpha <= SMALL_ALPHA:
        return PowerSeries(matrix, alpha, pair)
    return ConjugateGradientScores(matrix, alpha, pair, n_jobs)


class Resolvent(Protocol):
    """Scores of many queries at once."""

    n_nodes: int

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        """One row of scores per row v of ``starts``, independent of the other rows."""


class ConjugateGradientScores:
    """Scores by conjugate gradients, with the rank-2 term by Woodbury's formula."""

    def __init__(
        self, matrix: sparse.csr_array, alpha: float, pair: np.ndarray, n_jobs: int | None
    ) -> None:
        self.n_nodes = matrix.shape[0]
        self.system = sparse.csr_array(sparse.eye_array(self.n_nodes) - alpha * matrix)
        self._coarse = alpha >= COARSE_MIN_ALPHA and self.n_nodes >= COARSE_MIN_NODES
        self._single = alpha <= SINGLE_MAX_ALPHA
        self._solver: PositiveDefiniteSolver | None = None
        self.solved = self.solve(pair, n_jobs)
        swap = 0.5 * alpha * np.eye(pair.shape[1])[::-1]
        inner = np.eye(len(swap)) - swap @ (pair.T @ self.solved)
        self.correction = np.linalg.solve(inner, swap)

    def solve(self, right_sides: np.ndarray, n_jobs: int | None) -> np.ndarray:
        if right_sides.shape[1] == 0:
            return np.empty(right_sides.shape)
        if self._solver is None:
            self._solver = PositiveDefiniteSolver(
                self.system, coarse=self._coarse, single=self._single
            )
        return self._solver.solve(right_sides, tolerance=TOLERANCE).values

    def __getstate__(self) -> dict[str, Any]:
        # The preconditioner is as large as the system, and quickly built again.
        return self.__dict__ | {"_solver": None}

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        scores = np.ascontiguousarray(self.solve(starts.toarray().T, n_jobs).T)
        projections = starts @ self.solved

        def correct(span: tuple[int, int]) -> None:
            for row in range(*span):
                # Terms added separately, because the rounding of a matrix product may depend on its shape.
                for weights, column in zip(self.correction, self.solved.T, strict=True):
                    scores[row] += sum(projections[row] * weights) * column
                scores[row, scores[row] < RESOLUTION * scores[row].max()] = 0.0

        map_threads(correct, blocks(len(scores), QUERIES_PER_TASK), n_jobs)
        return scores


class PowerSeries:
    """Scores by the sum of the powers of alpha Theta."""

    def __init__(self, matrix: sparse.csr_array, alpha: float, pair: np.ndarray) -> None:
        self.n_nodes = matrix.shape[0]
        self.step = alpha * matrix
        self.gather = sparse.csr_array(pair.T)
        self.scatter = 0.5 * alpha * pair.T[::-1]

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        return in_columns(self._sum, starts, n_jobs)

    def _sum(self, flow: np.ndarray) -> np.ndarray:
        total = flow.copy()
        while flow.any():
            new = self.step @ flow
            for amounts, column in zip(self.gather @ flow, self.scatter, strict=True):
                new += np.outer(column, amounts)
            total += new
            # Once a term is negligible in every entry of a column, so are all later ones. Denormal
            # numbers are set to 0, because rounding may keep them from ever vanishing.
            new[:, (new <= 1e-16 * total + 1e-300).all(axis=0)] = 0.0
            flow = new
        return total


class ClampedWalk:
    """Probability that a walk is absorbed by a query within some steps.

    A row c of starts contains the absorption probability of each node: f = c at first, then
    f <- c + (1 - c) P f. With c = 1 at labelled nodes, this is label propagation.
    """

    def __init__(self, walk: sparse.csr_array, n_steps: int) -> None:
        self.n_nodes, self.walk, self.n_steps = walk.shape[0], walk, n_steps

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        return in_columns(self._spread, starts, n_jobs)

    def _spread(self, absorbed: np.ndarray) -> np.ndarray:
        passed, flow = 1.0 - absorbed, absorbed
        for _ in range(self.n_steps):
            flow = self.walk @ flow
            flow *= passed
            flow += absorbed
        # Sums of probabilities may round to slightly above 1.
        return np.minimum(flow, 1.0)


def in_columns(
    solve: Callable[[np.ndarray], np.ndarray], starts: sparse.csr_array, n_jobs: int | None
) -> np.ndarray:
    """Rows of scores from a function of a few start vectors (columns), in threads."""
    scores = np.empty(starts.shape)

    def task(span: tuple[int, int]) -> None:
        # A fixed number of columns, because the rounding of a product may depend on it.
        columns = np.zeros((starts.shape[1], QUERIES_PER_TASK))
        columns[:, : span[1] - span[0]] = starts[slice(*span)].toarray().T
        scores[slice(*span)] = solve(columns).T[: span[1] - span[0]]

    map_threads(task, blocks(starts.shape[0], QUERIES_PER_TASK), n_jobs)
    return scores


def all_scores(
    solver: Resolvent,
    starts: sparse.csr_array,
    n_jobs: int | None = -1,
    progress: str | None = None,
) -> np.ndarray:
    """Scores of all nodes, one row per query."""
    out = np.empty(starts.shape)
    spans = _spans(starts, n_jobs)
    with progress_bar(len(spans), progress, _long_ranking(starts)) as bar:
        for first, last in spans:
            out[first:last] = solver(starts[first:last], n_jobs)
            bar.update()
    return out


def best_scores(
    solver: Resolvent,
    starts: sparse.csr_array,
    k: int,
    excluded: sparse.csr_array | None = None,
    n_jobs: int | None = -1,
    progress: str | None = None,
    rank_first: Callable[[sparse.csr_array], sparse.csr_array] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k nodes with the largest scores of each query, and these scores; ties by node number.

    Entries of ``excluded``, one row per query, are not results; at least k other nodes must remain.
    ``rank_first`` is a function from start vectors to the entries that are ranked before all others.
    """
    n_queries = starts.shape[0]
    indices, scores = np.empty((n_queries, k), dtype=np.int64), np.empty((n_queries, k))
    spans = _spans(starts, n_jobs)
    with progress_bar(len(spans), progress, _long_ranking(starts)) as bar:
        for first, last in spans:
            block = solver(starts[first:last], n_jobs)
            if rank_first is not None:
                leading = rank_first(starts[first:last]).nonzero()
                leading_scores = block[leading]
                block[leading] = np.inf
            if excluded is not None:
                block[excluded[first:last].nonzero()] = -np.inf
            _select(block, indices[first:last], scores[first:last], n_jobs)
            if rank_first is not None:
                block[leading] = leading_scores
                rows, columns = np.nonzero(np.isinf(scores[first:last]))
                scores[first + rows, columns] = block[rows, indices[first + rows, columns]]
            bar.update()
    return indices, scores


def _select(block: np.ndarray, indices: np.ndarray, scores: np.ndarray, n_jobs: int | None) -> None:
    """Fill in the largest entries of each row of ``block``, which is overwritten."""
    from vicinal.neighbors._brute_kernels import smallest

    np.negative(block, out=block)

    def select(span: tuple[int, int]) -> None:
        rows = slice(*span)
        smallest(block[rows], np.full(span[1] - span[0], -1), indices[rows], scores[rows])

    map_threads(select, blocks(len(block), QUERIES_PER_TASK), n_jobs)
    # Undoes the negation, of zeros too.
    np.abs(scores, out=scores)


def _long_ranking(starts: sparse.csr_array) -> LongWork:
    n_queries, n = starts.shape
    return LongWork(
        f"ranking of {n:,} points for {n_queries:,} queries",
        "pass fewer queries, or use a smaller alpha",
    )


def _spans(starts: sparse.csr_array, n_jobs: int | None) -> list[tuple[int, int]]:
    """Blocks of queries; if possible, their number of groups is a multiple of the number of threads."""
    n_queries, n = starts.shape
    threads = n_threads(n_jobs)
    n_groups = max(2, BLOCK_ENTRIES // (QUERIES_PER_GROUP * n))
    if n_groups > threads:
        n_groups -= n_groups % threads
    return blocks(n_queries, QUERIES_PER_GROUP * n_groups)
