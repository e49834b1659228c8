"""Digraph Laplacian aligned from the Laplacians of all local patches (formulas 4 to 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.stationary import TELEPORT, edge_weights

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs
    from vicinal.graphs.graph import Graph

PATCHES_PER_TASK = 1 << 13


@entry
def aligned_digraph_laplacian(
    digraph: Graph | MatrixLike, beta: float = TELEPORT, *, n_jobs: NJobs = -1
) -> sparse.csr_array:
    """Compute the Laplacian of a digraph that is aligned from its local patches.

    The patch of a node consists of the node and its successors. Its local Laplacian is
    L_i = F_i - (F_i P_i + P_i' F_i) / 2, where P_i is the random walk inside the patch and F_i its stationary
    distribution. With L the sum of all L_i and F the sum of all F_i, the result is F^-1/2 L F^-1/2.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths.
    beta : float, default=0.99999
        Probability of following an edge inside a patch, < 1. Otherwise, and from nodes without an edge inside
        the patch, the walk continues at a random node of the patch.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semidefinite; its null space is spanned by the square roots of the diagonal of
        F in each component.

    References
    ----------
    .. [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> from vicinal.operators import aligned_digraph_laplacian
    >>> aligned_digraph_laplacian([[0, 1], [1, 0]]).toarray().round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _align(digraph, beta)[0]


class AlignedWalk(ThreadedSparseOperator):
    """I minus the aligned Laplacian: symmetric, with eigenvalues up to 1.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a graph, its strengths.
    beta : float, default=0.99999
        Probability of following an edge inside a patch, < 1.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.

    Attributes
    ----------
    stationary : ndarray (n,)
        Mean stationary distribution of the patches: the diagonal of F, normalised to sum 1.
    trivial_vector : ndarray (n,)
        Its square roots: an eigenvector with eigenvalue 1.
    sparse_part : csr_array (n, n)
        Matrix of the operator.
    """

    def __init__(self, digraph: Any, beta: float = TELEPORT) -> None:
        laplacian, mass = _align(digraph, beta)
        walk = sparse.csr_array(sparse.identity(len(mass)) - laplacian)
        super().__init__(walk)
        self.stationary = mass / mass.sum()
        self.trivial_vector = np.sqrt(self.stationary)
        self.sparse_part = walk


def _align(digraph: Any, beta: float) -> tuple[sparse.csr_array, np.ndarray]:
    """Compute the aligned Laplacian and the diagonal of F."""
    beta = check_real(beta, "beta", low=0.0, high=1.0)
    if beta == 1:
        raise InvalidValueError(
            "beta=1, but a walk inside a patch may be unable to return; use beta < 1."
        )
    weights = edge_weights(digraph)
    weights = sparse.csr_array(weights - sparse.diags_array(weights.diagonal()))
    weights.eliminate_zeros()
    n = weights.shape[0]
    sizes = 1 + np.diff(weights.indptr).astype(np.int64)
    n_entries = int((sizes + sizes**2).sum())
    require_memory(
        60.0 * n_entries,
        f"Aligning {n:,} patches of up to {sizes.max()} nodes",
        "Use fewer neighbours, or the global Laplacian.",
    )
    offsets = np.concatenate([[0], np.cumsum(sizes + sizes**2)])
    rows, columns = np.empty(n_entries, dtype=np.int64), np.empty(n_entries, dtype=np.int64)
    values = np.empty(n_entries)

    from vicinal.operators._alignment_kernels import local_laplacians

    map_threads(
        lambda span: local_laplacians(
            weights.indptr,
            weights.indices,
            weights.data,
            beta,
            *span,
            offsets,
            rows,
            columns,
            values,
        ),
        blocks(n, PATCHES_PER_TASK),
    )
    # The first entries of each patch are its stationary distribution.
    is_mass = np.zeros(n_entries, dtype=bool)
    is_mass[np.repeat(offsets[:-1], sizes) + _concatenated_ranges(sizes)] = True
    mass = np.bincount(rows[is_mass], weights=values[is_mass], minlength=n)
    inverse = 1.0 / np.sqrt(mass)
    rows, columns, values = rows[~is_mass], columns[~is_mass], values[~is_mass]
    values *= inverse[rows] * inverse[columns]
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n, n))), mass


def _concatenated_ranges(sizes: np.ndarray) -> np.ndarray:
    """Concatenated ranges from 0 to size - 1, for each size."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
