"""Stationary distribution of the random walk on a digraph.

With teleport, the stationary distribution solves a sparse linear system, (I - beta P') pi = (1 - beta) / n e
(formula 12 of the paper). Beta should be close to 1, where power iteration needs 1 / (1 - beta) steps or
more. BiCGSTAB with incomplete LU factors, of the chain and of its aggregates, solves the system in tens of
steps, followed by iterative refinement until the residual bounds the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from vicinal._core.array_checks import real_array
from vicinal._core.matrix_checks import check_affinity
from vicinal._core.options import entry
from vicinal._core.parallel import map_threads, one_blas_thread
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError, NotConvergedError
from vicinal.operators._chain_levels import ChainLevel
from vicinal.operators.laplacians import walk_matrix

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, NJobs
    from vicinal.graphs.graph import Graph
if TYPE_CHECKING:
    from vicinal.operators._chain_levels import ChainLevel

TELEPORT = 0.99999
# Up to this number of nodes, systems are solved by a sparse LU factorisation.
DIRECT_MAX_NODES = 2000
# Up to this number of nodes, chains without teleport are solved by dense elimination.
ELIMINATION_MAX_NODES = 500
MAX_REFINEMENTS = 8
MAX_ITER = 1000
# Reduction of the residual by a correction; a smaller one would be lost in rounding. The first only improves
# the estimate that aggregates are formed by.
FIRST_REDUCTION, REDUCTION = 1e-3, 1e-7
# Steps of the chain, and the probability to move in each, for the first estimate, and for a later one, which
# may have entries below 0.
N_STEPS, N_REPAIR_STEPS, MOVE = 30, 5, 0.5
# Smaller errors cannot be reached because of rounding.
MIN_TOLERANCE = 1e-15


@entry
def stationary_distribution(
    digraph: Graph | MatrixLike,
    beta: float = TELEPORT,
    *,
    landing: ArrayLike | None = None,
    tolerance: float = 1e-10,
    n_jobs: NJobs = -1,
) -> np.ndarray:
    """Compute the stationary distribution of the random walk on a digraph, with teleport (PageRank).

    In PageRank, ``beta`` is called the damping factor (``alpha`` in networkx), usually 0.85, and ``landing``
    the personalization.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths. From a node without edges, the
        walk continues at a random node, see ``landing``.
    beta : float, default=0.99999
        Probability of following an edge, in [0, 1]; otherwise the walk continues at a random node. With 1,
        the limit, the walk must end in a single closed class of nodes; all others have probability 0.
    landing : array of shape (n,), optional
        Weights >= 0, not all 0, with which the random node is chosen; by default, all nodes are equally
        likely. If the walk always lands on one node, the others are ranked by how near they are to it.
    tolerance : float, default=1e-10
        Largest sum of the absolute errors of all entries.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities that sum to 1.

    References
    ----------
    Page, Brin, Motwani and Winograd, "The PageRank citation ranking", 1998.

    Examples
    --------
    >>> from vicinal.operators import stationary_distribution
    >>> stationary_distribution([[0, 1, 0], [0, 0, 1], [1, 1, 0]], beta=1).round(6)
    array([0.2, 0.4, 0.4])

    PageRank of pages that link to each other, then relative to the page 1:

    >>> links = [[0, 1, 1], [0, 0, 1], [1, 0, 0]]
    >>> stationary_distribution(links, 0.85).round(3)
    array([0.388, 0.215, 0.397])
    >>> stationary_distribution(links, 0.85, landing=[0, 1, 0]).round(3)
    array([0.327, 0.289, 0.384])
    """
    beta = check_real(beta, "beta", low=0.0, high=1.0)
    tolerance = check_real(tolerance, "tolerance", low=MIN_TOLERANCE)
    weights = edge_weights(digraph)
    walk, dangling = walk_matrix(weights)
    start = None if landing is None else _landing_distribution(landing, walk.shape[0])
    if beta < 1:
        return solve_teleport(walk, dangling, beta, tolerance, start)
    if dangling.any():
        raise InvalidValueError(
            f"beta=1, but {int(dangling.sum())} node(s) have no edge to follow, the first is "
            f"{int(np.argmax(dangling))}; use beta < 1 (0.99999 is close to the limit)."
        )
    closed = closed_class(walk)
    probabilities = np.zeros(walk.shape[0])
    inside = walk[closed][:, closed]
    if len(closed) <= ELIMINATION_MAX_NODES:
        probabilities[closed] = _by_elimination(inside)
    else:
        probabilities[closed] = solve_teleport(
            inside, np.zeros(len(closed), dtype=bool), 1.0, tolerance
        )
    return probabilities


def edge_weights(digraph: Any) -> sparse.csr_array:
    """Edge weights of a digraph: the strengths of a graph, or a checked matrix."""
    from vicinal.graphs._checks import check_has_nodes
    from vicinal.graphs.graph import Graph

    if isinstance(digraph, Graph):
        check_has_nodes(digraph, "digraph")
        return sparse.csr_array(digraph.to_scipy("strengths"))
    return check_affinity(digraph, name="digraph", symmetric=False)


def _landing_distribution(landing: ArrayLike, n: int) -> np.ndarray:
    weights = np.array(real_array(landing, "landing"), dtype=np.float64)
    if weights.shape != (n,):
        raise InvalidValueError(
            f"landing has shape {weights.shape}, but one weight for each of the {n} nodes is needed."
        )
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise InvalidValueError(
            "landing contains negative, NaN or infinite weights, or only zeros; weights must be >= 0, and "
            "at least one positive."
        )
    # Divided by the largest first, because a sum of huge weights may overflow.
    weights /= weights.max()
    return weights / weights.sum()


def closed_class(walk: sparse.csr_array) -> np.ndarray:
    """Nodes of the closed class, which the walk never leaves; raises an error if there are several."""
    n_classes, labels = connected_components(walk, connection="strong")
    rows = np.repeat(np.arange(walk.shape[0]), np.diff(walk.indptr))
    leaving = labels[rows] != labels[walk.indices]
    is_open = np.zeros(n_classes, dtype=bool)
    is_open[labels[rows[leaving]]] = True
    closed = np.flatnonzero(~is_open)
    if len(closed) > 1:
        raise InvalidValueError(
            f"beta=1, but the digraph has {len(closed)} closed classes of nodes that a walk cannot leave, "
            "so the distribution depends on the start; use beta < 1 (0.99999 is close to the limit), or "
            "select one class with Graph.subgraph."
        )
    return np.flatnonzero(labels == closed[0])


def _by_elimination(walk: sparse.csr_array) -> np.ndarray:
    """Distribution of a small chain, accurate even if its components are weakly connected."""
    from vicinal.operators._stationary_kernels import exact_stationary

    probabilities = np.empty(walk.shape[0])
    exact_stationary(walk.toarray(), probabilities)
    return probabilities


def solve_teleport(
    walk: sparse.csr_array,
    dangling: np.ndarray,
    beta: float,
    tolerance: float,
    landing: np.ndarray | None = None,
) -> np.ndarray:
    """Distribution of the walk with teleport to ``landing``, by default uniform.

    The walk always teleports from dangling nodes, which only changes the sum; hence the normalisation.
    """
    n = walk.shape[0]
    if n == 1:
        return np.ones(1)
    matrix = sparse.csr_array(sparse.identity(n) - beta * walk.T)
    order = reverse_cuthill_mckee(matrix, symmetric_mode=False)
    matrix = matrix[order][:, order]
    matrix.sort_indices()
    # Start from the landing distribution: nodes that cannot be reached from it stay at 0.
    solution = np.full(n, 1.0 / n) if landing is None else landing[order]
    right = (1.0 - beta) * solution
    closed = not dangling.any()
    if n <= DIRECT_MAX_NODES:
        solver: DirectSolver | IterativeSolver = DirectSolver(matrix, beta)
    else:
        # Coarse corrections reach all nodes, also those that cannot be reached from the landing; with
        # beta = 1, their matrix is singular.
        coarse = landing is None and beta < 1
        # Columns of A = I - beta P' sum to 1 - beta or more, so |A^-1 r| <= |r| / (1 - beta) in sums of
        # absolute values. The normalisation may double an error.
        solver = IterativeSolver(matrix, 0.5 * (1.0 - beta) * tolerance, coarse)
    residual = right - matrix @ solution
    for n_refined in range(MAX_REFINEMENTS):
        # Threads of small matrix products would wait for each other, and change the order of summation.
        with one_blas_thread():
            refined = solution + solver.solve(residual, solution)
        if closed:
            # The sum must be 1; its error is the component that converges most slowly.
            refined /= refined.sum()
        change = np.abs(refined - solution).sum()
        solution = refined
        residual = right - matrix @ solution
        size = np.abs(solution).sum()
        # The first correction is rough, so it may be small although the error is not.
        is_small = n_refined > 0 and change <= tolerance * size
        if is_small or np.abs(residual).sum() <= solver.residual * size:
            break
    else:
        raise NotConvergedError(
            f"the stationary distribution did not reach an error of {tolerance:g}, the last correction "
            f"was {change:.1e}; use a beta below {beta} or a larger tolerance."
        )
    result = np.empty(n)
    result[order] = np.maximum(solution, right if closed else 0.0)
    return result / result.sum()


class DirectSolver:
    """Corrections by a sparse LU factorisation."""

    # Corrections are cheap, so they continue until they are small.
    residual = 0.0

    def __init__(self, matrix: sparse.csr_array, beta: float) -> None:
        if beta == 1:
            # The matrix is singular: the solution is unique up to a factor, which the normalisation
            # determines.
            matrix = matrix + 1e-8 * sparse.identity(matrix.shape[0])
        self._factors = splu(sparse.csc_array(matrix))

    def solve(self, right: np.ndarray, solution: np.ndarray) -> np.ndarray:
        """Correction of a solution with the residual ``right``."""
        return np.asarray(self._factors.solve(right))


class IterativeSolver:
    """Corrections by BiCGSTAB, with corrections on aggregates if ``coarse``.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        The matrix I - beta P', with sorted rows.
    residual : float
        Residual of a solution that is accurate enough, in absolute sums relative to that of the solution.
    coarse : bool
        Whether to correct on aggregates, too. If that fails, the solver continues without.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, matrix: sparse.csr_array, residual: float, coarse: bool) -> None:
        self.residual = residual
        self._matrix, self._coarse = matrix, coarse
        self._level: ChainLevel | None = None

    def solve(self, right: np.ndarray, solution: np.ndarray) -> np.ndarray:
        """Correction of a solution with the residual ``right``."""
        reduction = REDUCTION
        if self._level is None:
            reduction = FIRST_REDUCTION if self._coarse else REDUCTION
            estimate = self._steps(solution, N_STEPS) if self._coarse else None
            self._level = ChainLevel(self._matrix, estimate)
        elif self._coarse:
            # Aggregates in the proportions of a better estimate save half of the steps.
            self._level.update(self._steps(np.maximum(solution, 0.0), N_REPAIR_STEPS))
            self._coarse = False
        tolerance = max(
            reduction * np.abs(right).sum(), 0.5 * self.residual * np.abs(solution).sum()
        )
        correction = bicgstab(self._level, right, tolerance, MAX_ITER)[0]
        remaining = np.abs(right - self._matrix @ correction).sum()
        # The negation also catches NaN.
        if not remaining < np.abs(right).sum() and self._level.has_aggregates:
            self._level, self._coarse = ChainLevel(self._matrix, None), False
            correction = bicgstab(self._level, right, tolerance, MAX_ITER)[0]
        return correction

    def _steps(self, estimate: np.ndarray, n_steps: int) -> np.ndarray:
        """Distribution after some steps of the chain; it becomes positive where it was 0."""
        for _ in range(n_steps):
            estimate = estimate - MOVE * (self._matrix @ estimate)
        return estimate


def bicgstab(
    level: ChainLevel, b: np.ndarray, tolerance: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """Solve A x = b from x = 0 until |b - A x|_1 is small; returns x and the number of steps.

    Stops early on a breakdown; the caller restarts from the residual.

    Parameters
    ----------
    level : ChainLevel
        The matrix A and its preconditioner.
    b : ndarray of shape (n,)
        Right-hand side.
    tolerance : float
        Largest absolute sum of the residual.
    max_iter : int
        Maximum number of steps.
    """
    from vicinal.operators._stationary_kernels import advance, multiply, search_direction

    n, matrix = len(b), level.arrays

    def in_blocks(kernel: Callable[..., tuple[float, float]], *arrays: object) -> tuple[float, ...]:
        sums = map_threads(lambda span: kernel(*arrays, *span), level.spans)
        return tuple(sum(parts) for parts in zip(*sums, strict=True)) if sums[0] else ()

    x, p, v = np.zeros(n), np.zeros(n), np.zeros(n)
    y, t, r, shadow = np.empty(n), np.empty(n), b.copy(), b.copy()
    alpha = omega = previous = 1.0
    size, rho = in_blocks(advance, x, x, r, v, shadow, 0.0)
    for step in range(max_iter):
        if size <= tolerance or rho == 0.0 or omega == 0.0:
            return x, step
        in_blocks(search_direction, r, v, p, rho / previous * alpha / omega, omega)
        level.solve(p, y)
        slope, _ = in_blocks(multiply, matrix, y, shadow, v)
        if slope == 0.0:
            return x, step
        previous, alpha = rho, rho / slope
        in_blocks(advance, x, y, r, v, shadow, alpha)
        level.solve(r, y)
        product, square = in_blocks(multiply, matrix, y, r, t)
        if square == 0.0:
            return x, step + 1
        omega = product / square
        size, rho = in_blocks(advance, x, y, r, t, shadow, omega)
    return x, max_iter
