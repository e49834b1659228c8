"""The digraph Laplacian that aligns the Laplacians of all local patches (formulas 4 to 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.stationary import TELEPORT, edge_weights

PATCHES_PER_TASK = 1 << 13


@checked
def aligned_digraph_laplacian(
    digraph: Any, beta: float = TELEPORT, *, n_jobs: int | None = -1
) -> sparse.csr_array:
    """Laplacian of a digraph aligned from its local patches.

    The patch of a node is the node and its successors; its local Laplacian is L_i = F_i -
    (F_i P_i + P_i' F_i) / 2, with P_i the walk inside the patch and F_i its stationary distribution. The sum
    of all of them, L, with the sum of the F_i, F, gives F^-1/2 L F^-1/2.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of edges i -> j; of a graph its strengths.
    beta : float, default=0.99999
        Probability to follow an edge inside a patch; else, and at a node without an edge inside the
        patch, the walk goes to any node of the patch. Less than 1.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semidefinite; the roots of the diagonal of F span its kernel in each
        component.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> from vicinal.operators import aligned_digraph_laplacian
    >>> aligned_digraph_laplacian([[0, 1], [1, 0]]).toarray().round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _align(digraph, beta, n_jobs)[0]


class AlignedWalk(ThreadedSparseOperator):
    """I - the aligned Laplacian: symmetric, eigenvalues at most 1, its first eigenvector known.

    Parameters
    ----------
    digraph, beta, n_jobs :
        As for `aligned_digraph_laplacian`.

    Attributes
    ----------
    stationary : ndarray (n,)
        Mean stationary distribution of the patches, the diagonal of F over its sum.
    known : ndarray (n,)
        Its roots: an eigenvector of eigenvalue 1.
    sparse_part : csr_array (n, n)
        The operator itself.
    """

    def __init__(self, digraph: Any, beta: float = TELEPORT, n_jobs: int | None = -1) -> None:
        laplacian, mass = _align(digraph, beta, n_jobs)
        walk = sparse.csr_array(sparse.identity(len(mass)) - laplacian)
        super().__init__(walk, n_jobs)
        self.stationary = mass / mass.sum()
        self.known = np.sqrt(self.stationary)
        self.sparse_part = walk


def _align(digraph: Any, beta: float, n_jobs: int | None) -> tuple[sparse.csr_array, np.ndarray]:
    """The aligned Laplacian, and the diagonal of F."""
    beta = check_real(beta, "beta", low=0.0, high=1.0)
    if beta == 1:
        raise InvalidValueError(
            "beta=1, but a walk inside a patch may be unable to return; give beta below 1."
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
        n_jobs,
    )
    # The first entries of each patch are its stationary distribution.
    is_mass = np.zeros(n_entries, dtype=bool)
    is_mass[np.repeat(offsets[:-1], sizes) + _count_up(sizes)] = True
    mass = np.bincount(rows[is_mass], weights=values[is_mass], minlength=n)
    inverse = 1.0 / np.sqrt(mass)
    rows, columns, values = rows[~is_mass], columns[~is_mass], values[~is_mass]
    values *= inverse[rows] * inverse[columns]
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n, n))), mass


def _count_up(sizes: np.ndarray) -> np.ndarray:
    """0 to size - 1 for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
