"""Scores s = (I - alpha Theta)^-1 v of many queries v, and the best of each, in bounded memory.

Theta is a symmetric matrix with eigenvalues in [-1, 1], so the system is positive definite for
alpha < 1 and conjugate gradients solve it. The walk on a digraph has a Theta that is sparse but for a
symmetric term of rank 2 (teleport); the sparse part has no negative entry, nor has that term, so its
eigenvalues are in [-1, 1] too, and Woodbury's formula puts the term back.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._parallel import blocks, map_threads, progress_bar
from vicinal.operators.conjugate_gradients import solve_positive_definite

TOLERANCE = 1e-13
# Smaller shares of a query's largest score are what the solver leaves over, not an order of points.
RESOLUTION = 1e-12
# Scores that are held at once; the solver needs a few times as many numbers.
BLOCK_ENTRIES = 1 << 23
QUERIES_A_TASK = 16


class Resolvent:
    """(I - alpha Theta)^-1 with Theta = matrix + (left right' + right left') / 2.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        Symmetric.
    alpha : float
        In [0, 1).
    left, right : ndarray of shape (n,), optional
        Theta is the matrix alone without them.
    n_jobs : int, optional
        Number of threads, all cores by default.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        alpha: float,
        left: np.ndarray | None = None,
        right: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_nodes = matrix.shape[0]
        self._system = sparse.csr_array(sparse.eye_array(self.n_nodes) - alpha * matrix)
        self._solved: np.ndarray | None = None
        if left is not None and right is not None and left.any():
            self._add_rank_two(alpha, left, right, n_jobs)

    def _add_rank_two(
        self, alpha: float, left: np.ndarray, right: np.ndarray, n_jobs: int | None
    ) -> None:
        # Only the product of the two matters: of one length, neither is lost to rounding.
        ratio = np.sqrt(np.linalg.norm(right) / np.linalg.norm(left))
        pair = np.column_stack([left * ratio, right / ratio])
        self._solved = self._solve(pair, n_jobs)
        swap = 0.5 * alpha * np.array([[0.0, 1.0], [1.0, 0.0]])
        self._correction = np.linalg.solve(np.eye(2) - swap @ (pair.T @ self._solved), swap)

    def _solve(self, right_sides: np.ndarray, n_jobs: int | None) -> np.ndarray:
        return solve_positive_definite(
            self._system, right_sides, tolerance=TOLERANCE, n_jobs=n_jobs
        ).values

    def __call__(self, starts: sparse.csr_array, n_jobs: int | None = None) -> np.ndarray:
        """Scores, a row for each row v of ``starts``; each depends on its own row only."""
        scores = np.ascontiguousarray(self._solve(starts.toarray().T, n_jobs).T)
        if self._solved is not None:
            shares = starts @ self._solved
            shares = shares[:, :1] * self._correction[0] + shares[:, 1:] * self._correction[1]
            for column in (0, 1):
                scores += np.outer(shares[:, column], self._solved[:, column])
        # No score is negative: the inverse is the sum of the powers of alpha Theta.
        largest = scores.max(axis=1, keepdims=True)
        scores[scores < RESOLUTION * largest] = 0.0
        return scores


def all_scores(
    resolvent: Resolvent,
    starts: sparse.csr_array,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> np.ndarray:
    """Scores of all nodes, a row a query."""
    out = np.empty(starts.shape)
    spans = _spans(starts)
    with progress_bar(len(spans), progress) as bar:
        for first, last in spans:
            out[first:last] = resolvent(starts[first:last], n_jobs)
            bar.update()
    return out


def best_scores(
    resolvent: Resolvent,
    starts: sparse.csr_array,
    k: int,
    left_out: sparse.csr_array | None = None,
    n_jobs: int | None = None,
    progress: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k nodes of the largest scores of each query, and these; ties go to the smaller number.

    Nodes with an entry in ``left_out``, a row a query, do not count; k others must be there.
    """
    n_queries = starts.shape[0]
    indices, scores = np.empty((n_queries, k), dtype=np.int64), np.empty((n_queries, k))
    spans = _spans(starts)
    with progress_bar(len(spans), progress) as bar:
        for first, last in spans:
            found = resolvent(starts[first:last], n_jobs)
            if left_out is not None:
                found[left_out[first:last].nonzero()] = -np.inf
            _select(found, indices[first:last], scores[first:last], n_jobs)
            bar.update()
    return indices, scores


def _select(found: np.ndarray, indices: np.ndarray, scores: np.ndarray, n_jobs: int | None) -> None:
    """Fill in the largest entries of each row of ``found``, which is overwritten."""
    from vicinal.neighbors._brute_kernels import smallest

    np.negative(found, out=found)

    def select(span: tuple[int, int]) -> None:
        rows = slice(*span)
        smallest(found[rows], np.full(span[1] - span[0], -1), indices[rows], scores[rows])

    map_threads(select, blocks(len(found), QUERIES_A_TASK), n_jobs)
    # Of the negated zeros too, so that no score is -0.
    np.abs(scores, out=scores)


def _spans(starts: sparse.csr_array) -> list[tuple[int, int]]:
    n_queries, n = starts.shape
    # The solver deals columns out in fours, so fewer would leave threads without work.
    return blocks(n_queries, 4 * max(2, BLOCK_ENTRIES // (4 * n)))
