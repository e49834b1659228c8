"""Where a random walk on a digraph spends its time.

With teleport beta the stationary distribution solves a sparse linear system, (I - beta P') pi =
(1 - beta) / n e (formula 12 of [1]). Beta close to 1 is what keeps the structure, and there
power iteration needs 1 / (1 - beta) steps and more; the system is solved by BiCGSTAB with an incomplete
LU factor in a few hundred, and what rounding leaves over is solved for again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from vicinal._core.matrix_checks import check_affinity
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError, NotConvergedError
from vicinal.operators.laplacians import walk_matrix

TELEPORT = 0.99999
DIRECT = 2000
EXACT = 500
MAX_REFINEMENTS = 8
MAX_STEPS = 2000
# Errors below the rounding of numbers cannot be reached.
LEAST_TOLERANCE = 1e-15


def stationary_distribution(
    digraph: Any, beta: float = TELEPORT, *, tolerance: float = 1e-10
) -> np.ndarray:
    """Stationary distribution of the random walk on a digraph, with teleport.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; of a graph its strengths. A node without any edge goes on
        to any node with the same probability.
    beta : float, default=0.99999
        Probability to follow an edge, in [0, 1]; else the walk goes on anywhere. With 1, the limit, the
        walk must end in one closed class of nodes; those outside have probability 0.
    tolerance : float, default=1e-10
        Sum of the errors of all entries.

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
    tolerance = check_real(tolerance, "tolerance", low=LEAST_TOLERANCE)
    weights = edge_weights(digraph)
    walk, dangling = walk_matrix(weights)
    if beta < 1:
        return solve_teleport(walk, dangling, beta, tolerance)
    if dangling.any():
        raise InvalidValueError(
            f"beta=1, but {int(dangling.sum())} node(s) have no edge to follow, the first is "
            f"{int(np.argmax(dangling))}; give beta below 1 (0.99999 is close to the limit)."
        )
    closed = closed_class(walk)
    probabilities = np.zeros(walk.shape[0])
    inside = walk[closed][:, closed]
    if len(closed) <= EXACT:
        probabilities[closed] = _eliminated(inside)
    else:
        probabilities[closed] = solve_teleport(
            inside, np.zeros(len(closed), dtype=bool), 1.0, tolerance
        )
    return probabilities


def edge_weights(digraph: Any) -> sparse.csr_array:
    """Weights of a digraph's edges: the strengths of a graph, or a checked matrix."""
    from vicinal.graphs.graph import Graph

    if isinstance(digraph, Graph):
        if digraph.n_nodes == 0:
            raise InvalidValueError("digraph has no nodes, but a walk needs at least one.")
        return sparse.csr_array(digraph.to_scipy("strengths"))
    return check_affinity(digraph, name="digraph", symmetric=False)


def closed_class(walk: sparse.csr_array) -> np.ndarray:
    """Nodes that the walk, once there, never leaves; an error if there are several such classes."""
    n_classes, labels = connected_components(walk, connection="strong")
    rows = np.repeat(np.arange(walk.shape[0]), np.diff(walk.indptr))
    leaving = labels[rows] != labels[walk.indices]
    is_open = np.zeros(n_classes, dtype=bool)
    is_open[labels[rows[leaving]]] = True
    closed = np.flatnonzero(~is_open)
    if len(closed) > 1:
        raise InvalidValueError(
            f"beta=1, but the digraph has {len(closed)} closed classes of nodes that a walk cannot leave, "
            "so where it ends depends on where it starts; give beta below 1 (0.99999 is close to "
            "the limit), or take one class by Graph.subgraph."
        )
    return np.flatnonzero(labels == closed[0])


def _eliminated(walk: sparse.csr_array) -> np.ndarray:
    """Distribution of a small chain: exact however weakly its parts hang together."""
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
    """Distribution of the walk with teleport, which lands anywhere if not told where.

    Dangling nodes teleport always; that only changes the sum, hence the division.
    """
    n = walk.shape[0]
    if n == 1:
        return np.ones(1)
    matrix = sparse.csr_array(sparse.identity(n) - beta * walk.T)
    order = reverse_cuthill_mckee(matrix, symmetric_mode=False)
    matrix = matrix[order][:, order]
    matrix.sort_indices()
    solve = _direct(matrix, beta) if n <= DIRECT else _iterative(matrix)
    # From here on: what the walk cannot reach from there stays at 0.
    found = np.full(n, 1.0 / n) if landing is None else landing[order]
    right = (1.0 - beta) * found
    closed = not dangling.any()
    for _ in range(MAX_REFINEMENTS):
        better = found + solve(right - matrix @ found)
        if closed:
            # The sum is known to be 1: what is wrong with it is the part hardest to solve for.
            better /= better.sum()
        change = np.abs(better - found).sum()
        found = better
        if change <= tolerance * np.abs(found).sum():
            break
    else:
        raise NotConvergedError(
            f"the stationary distribution did not reach an error of {tolerance:g}, the last correction "
            f"was {change:.1e}; give a smaller beta than {beta} or a larger tolerance."
        )
    result = np.empty(n)
    result[order] = np.maximum(found, right if closed else 0.0)
    return result / result.sum()


def _direct(matrix: sparse.csr_array, beta: float) -> Any:
    if beta == 1:
        # Singular; the solution is known up to a multiple of the distribution, which the sum settles.
        matrix = matrix + 1e-8 * sparse.identity(matrix.shape[0])
    return splu(sparse.csc_array(matrix)).solve


def _iterative(matrix: sparse.csr_array) -> Any:
    from vicinal.operators._stationary_kernels import bicgstab, factorize

    n = matrix.shape[0]
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    factor, diagonal = matrix.data.copy(), np.empty(n, dtype=np.int64)
    factorize(indptr, indices, factor, diagonal)

    def solve(right: np.ndarray) -> np.ndarray:
        solution = np.empty(n)
        # Each refinement takes off some digits; more would be lost to rounding anyway.
        tolerance = 1e-6 * np.abs(right).sum()
        bicgstab(
            indptr, indices, matrix.data, factor, diagonal, right, tolerance, MAX_STEPS, solution
        )
        return solution

    return solve
