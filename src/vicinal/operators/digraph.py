"""Laplacian of a digraph, from the stationary distribution of its random walk (formula 10).

With teleport the matrix is dense, but it is the sum of a sparse matrix and a symmetric one of rank 2, and is
stored and applied as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import walk_matrix
from vicinal.operators.stationary import TELEPORT, edge_weights, stationary_distribution

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs
    from vicinal.graphs.graph import Graph


class SymmetricWalk(LinearOperator):
    """Theta = (F^1/2 P F^-1/2 + F^-1/2 P' F^1/2) / 2, with F the stationary distribution on the diagonal.

    P is the random walk with teleport. Theta is symmetric, its eigenvalues are in [-1, 1], and the square
    roots of the stationary distribution are an eigenvector with eigenvalue 1.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths.
    beta : float, default=0.99999
        Probability of following an edge, see `stationary_distribution`. With 1, every node must be reachable
        from every other node.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Attributes
    ----------
    stationary : ndarray (n,)
        Stationary distribution.
    trivial_vector : ndarray (n,)
        Its square roots: an eigenvector with eigenvalue 1.
    sparse_part : csr_array (n, n)
        Theta = sparse_part + (left right' + right left') / 2.
    left, right : ndarray (n,)
        Factors of the part of rank 2.
    """

    def __init__(self, digraph: Any, beta: float = TELEPORT) -> None:
        weights = edge_weights(digraph)
        n = weights.shape[0]
        super().__init__(np.float64, (n, n))
        self.stationary = stationary_distribution(weights, beta)
        if not (self.stationary > 0).all():
            raise InvalidValueError(
                f"beta={beta}, but {int((self.stationary == 0).sum())} node(s) are never visited by the "
                "walk, so the Laplacian is not defined there; use beta < 1."
            )
        walk, dangling = walk_matrix(weights)
        self.trivial_vector = np.sqrt(self.stationary)
        values = (
            np.repeat(self.trivial_vector, np.diff(walk.indptr)) / self.trivial_vector[walk.indices]
        )
        values *= 0.5 * beta * walk.data
        half = sparse.csr_array((values, walk.indices, walk.indptr), shape=(n, n))
        self.sparse_part = sparse.csr_array(half + half.T)
        self.left = self.trivial_vector * (1.0 - beta + beta * dangling)
        self.right = 1.0 / (n * self.trivial_vector)
        self._product = ThreadedSparseOperator(self.sparse_part)

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        flow = self._product @ x
        flow += self.left * (0.5 * (self.right @ x))
        flow += self.right * (0.5 * (self.left @ x))
        return flow

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        flow = self._product @ X
        flow += np.outer(self.left, 0.5 * (self.right @ X))
        flow += np.outer(self.right, 0.5 * (self.left @ X))
        return flow

    def _adjoint(self) -> SymmetricWalk:
        return self

    def toarray(self) -> np.ndarray:
        """Return the dense matrix."""
        require_square(self.shape[0])
        matrix = np.outer(0.5 * self.left, self.right)
        matrix = matrix + matrix.T
        matrix += self.sparse_part.toarray()
        return matrix


def require_square(n: int) -> None:
    """Raise an error if a dense matrix of n nodes does not fit into memory."""
    # The matrix and its two terms.
    require_memory(16.0 * n * n, f"The matrix of {n:,} nodes", "Use the operator instead.")


@entry
def digraph_laplacian(
    digraph: Graph | MatrixLike,
    beta: float = TELEPORT,
    *,
    as_matrix: bool = False,
    n_jobs: NJobs = -1,
) -> LinearOperator | np.ndarray:
    """Compute the Laplacian I - Theta of a digraph (formula 10 of [1]_).

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths. Any digraph is accepted:
        contextual distances, links, citations.
    beta : float, default=0.99999
        Probability of following an edge, see `stationary_distribution`.
    as_matrix : bool, default=False
        Return the dense matrix instead of an operator.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Returns
    -------
    LinearOperator or ndarray of shape (n, n)
        Symmetric and positive semidefinite.

    References
    ----------
    .. [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.
    .. [2] Chung, "Laplacians and the Cheeger inequality for directed graphs", Annals of Combinatorics 2005.

    Examples
    --------
    >>> from vicinal.operators import digraph_laplacian
    >>> digraph_laplacian([[0, 1, 0], [0, 0, 1], [1, 0, 0]], beta=1, as_matrix=True)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    beta = check_real(beta, "beta", low=0.0, high=1.0)
    weights = edge_weights(digraph)
    n = weights.shape[0]
    if as_matrix:
        # Checked before the stationary distribution, which is slow for many nodes.
        require_square(n)
    walk = SymmetricWalk(weights, beta)
    if as_matrix:
        matrix = walk.toarray()
        np.subtract(0.0, matrix, out=matrix)
        matrix[np.diag_indices(n)] += 1.0
        return matrix
    return LinearOperator(
        (n, n),
        matvec=lambda x: x - walk @ x,
        rmatvec=lambda x: x - walk @ x,
        matmat=lambda X: X - walk @ X,
        dtype=np.float64,
    )
