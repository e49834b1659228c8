"""An order of the nodes of a sparse matrix in which nodes that are linked are close to each other.

Products of pruned powers read the rows of hundreds of linked nodes for each node. In an order without
relation to the links, every row comes from main memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

# Powers of fewer nodes fit into the cache in any order.
MIN_NODES = 4096


class NodeOrder(NamedTuple):
    """``ids`` are the nodes in their new order, ``positions`` the place of each node in it."""

    ids: np.ndarray
    positions: np.ndarray


def local_order(matrix: sparse.csr_array) -> NodeOrder:
    """Order of the nodes by reverse Cuthill-McKee; the given one for few nodes."""
    n = matrix.shape[0]
    ids = np.arange(n)
    # The ordering uses 32-bit indices.
    if n < MIN_NODES or matrix.nnz >= 2**31:
        return NodeOrder(ids, ids)
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    ids = reverse_cuthill_mckee(sparse.csr_matrix(matrix)).astype(np.int64)
    positions = np.empty(n, np.int64)
    positions[ids] = np.arange(n)
    return NodeOrder(ids, positions)


def reordered(matrix: sparse.csr_array, order: NodeOrder) -> sparse.csr_array:
    """The matrix with rows and columns in another order."""
    if order.ids is order.positions:
        return matrix
    permuted = matrix[order.ids][:, order.ids]
    permuted.sort_indices()
    return permuted
