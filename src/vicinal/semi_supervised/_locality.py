"""Sparsification of full similarity matrices along which labels would spread everywhere.

Labels should spread between similar items. In a full matrix, the many small similarities outweigh the few
large ones: every label reaches all items in one step, and the most frequent class wins.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks
from vicinal._core.warn import warn_user

# The default of `knn`.
NEIGHBORS = 10
# A matrix is full if it stores more than this fraction of all pairs.
FULL_DENSITY = 0.5
ENTRIES_PER_BLOCK = 1 << 22


def keep_local(affinity: sparse.csr_array, n_groups: int) -> sparse.csr_array:
    """Keep only the most similar items of each item if the affinity is full and not local.

    It is not local if the weight of a typical item is spread over more than half the items of an
    average group. The participation ratio of a row is the number of items its weight is spread over.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        Symmetric and nonnegative.
    n_groups : int
        Number of groups to separate: the classes, or 2 for a value that is not constant.
    """
    n = affinity.shape[0]
    if affinity.nnz <= FULL_DENSITY * n * n or n <= NEIGHBORS + 1:
        return affinity
    spread = _spread(affinity)
    if spread <= 0.5 * n / n_groups:
        return affinity
    warn_user(
        f"X is a full similarity matrix, and the weight of a typical item is spread over {spread:.0f} of "
        f"{n} items, so labels would not stay local. Only the {NEIGHBORS} most similar items of each item "
        "are used; pass a sparse matrix to choose another number.",
    )
    return most_similar(affinity, NEIGHBORS)


def most_similar(affinity: sparse.csr_array, k: int) -> sparse.csr_array:
    """Entries among the k largest of their row or column, and all entries tied with the k-th."""
    n = affinity.shape[0]
    parts = []
    for a, b in blocks(n, max(1, ENTRIES_PER_BLOCK // n)):
        rows = affinity[a:b].toarray()
        rows[np.arange(b - a), np.arange(a, b)] = 0.0
        smallest_kept = np.partition(rows, n - k, axis=1)[:, n - k, None]
        parts.append(sparse.csr_array(np.where(rows >= smallest_kept, rows, 0.0)))
    kept = sparse.csr_array(sparse.vstack(parts))
    return sparse.csr_array(kept.maximum(kept.T))


def _spread(affinity: sparse.csr_array) -> float:
    """Median participation ratio of the rows, without the diagonal."""
    largest = affinity.max()
    if largest == 0:
        return 0.0
    # Relative to the largest, so that squares neither overflow nor underflow.
    scaled = affinity / largest
    diagonal = scaled.diagonal()
    total = np.asarray(scaled.sum(axis=1)).ravel() - diagonal
    squares = np.asarray(scaled.power(2).sum(axis=1)).ravel() - diagonal**2
    ratio = np.divide(total**2, squares, out=np.zeros(len(diagonal)), where=squares > 0)
    return float(np.median(ratio))
