"""Stationary distribution of the random walk on a digraph.

With teleport, the stationary distribution solves a sparse linear system, (I - beta P') pi = (1 - beta) / n e
(formula 12 of the paper). Beta should be close to 1, where power iteration needs 1 / (1 - beta) steps or
more. BiCGSTAB with incomplete LU factors, of the chain and of its aggregates, solves the system in tens of
steps, followed by iterative refinement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from vicinal._core.matrix_checks import check_affinity
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError, NotConvergedError
from vicinal.operators._chain_levels import chain_levels
from vicinal.operators.laplacians import walk_matrix

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike
    from vicinal.graphs.graph import Graph

TELEPORT = 0.99999
# Up to this number of nodes, systems are solved by a sparse LU factorisation.
DIRECT_MAX_NODES = 2000
# Up to this number of nodes, chains without teleport are solved by dense elimination.
ELIMINATION_MAX_NODES = 500
MAX_REFINEMENTS = 8
MAX_ITER = 2000
# Smaller errors cannot be reached because of rounding.
MIN_TOLERANCE = 1e-15


def stationary_distribution(
    digraph: Graph | MatrixLike, beta: float = TELEPORT, *, tolerance: float = 1e-10
) -> np.ndarray:
    """Compute the stationary distribution of the random walk on a digraph, with teleport.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths. From a node without edges, the
        walk continues at a random node.
    beta : float, default=0.99999
        Probability of following an edge, in [0, 1]; otherwise the walk continues at a random node. With 1,
        the limit, the walk must end in a single closed class of nodes; all others have probability 0.
    tolerance : float, default=1e-10
        Largest sum of the absolute errors of all entries.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities that sum to 1.

    Examples
    --------
    >>> from vicinal.operators import stationary_distribution
    >>> stationary_distribution([[0, 1, 0], [0, 0, 1], [1, 1, 0]], beta=1).round(6)
    array([0.2, 0.4, 0.4])
    """
    beta = check_real(beta, "beta", low=0.0, high=1.0)
    tolerance = check_real(tolerance, "tolerance", low=MIN_TOLERANCE)
    weights = edge_weights(digraph)
    walk, dangling = walk_matrix(weights)
    if beta < 1:
        return solve_teleport(walk, dangling, beta, tolerance)
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
    if n <= DIRECT_MAX_NODES:
        solve = _direct(matrix, beta)
    else:
        # Coarse corrections reach all nodes, also those that cannot be reached from the landing; with
        # beta = 1, their matrix is singular.
        solve = _iterative(matrix, coarse=landing is None and beta < 1)
    # Start from the landing distribution: nodes that cannot be reached from it stay at 0.
    solution = np.full(n, 1.0 / n) if landing is None else landing[order]
    right = (1.0 - beta) * solution
    closed = not dangling.any()
    for _ in range(MAX_REFINEMENTS):
        refined = solution + solve(right - matrix @ solution)
        if closed:
            # The sum must be 1; its error is the component that converges most slowly.
            refined /= refined.sum()
        change = np.abs(refined - solution).sum()
        solution = refined
        if change <= tolerance * np.abs(solution).sum():
            break
    else:
        raise NotConvergedError(
            f"the stationary distribution did not reach an error of {tolerance:g}, the last correction "
            f"was {change:.1e}; use a beta below {beta} or a larger tolerance."
        )
    result = np.empty(n)
    result[order] = np.maximum(solution, right if closed else 0.0)
    return result / result.sum()


def _direct(matrix: sparse.csr_array, beta: float) -> Any:
    if beta == 1:
        # The matrix is singular: the solution is unique up to a factor, which the normalisation determines.
        matrix = matrix + 1e-8 * sparse.identity(matrix.shape[0])
    return splu(sparse.csc_array(matrix)).solve


def _iterative(matrix: sparse.csr_array, *, coarse: bool) -> Any:
    """Solver by BiCGSTAB, with corrections on aggregates if ``coarse``."""
    from vicinal.operators._stationary_kernels import bicgstab

    n = matrix.shape[0]
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    levels = tuple(chain_levels(matrix, coarse=coarse))

    def solve(right: np.ndarray) -> np.ndarray:
        solution = np.empty(n)
        # Each refinement adds some digits; a smaller tolerance would be lost in rounding.
        tolerance = 1e-6 * np.abs(right).sum()
        bicgstab(indptr, indices, matrix.data, levels, right, tolerance, MAX_ITER, solution)
        return solution

    return solve
