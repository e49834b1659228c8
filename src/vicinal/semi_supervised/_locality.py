"""Similarities of all pairs, as far as labels may spread along them.

Labels spread along the links of near items. In a full matrix the many small similarities of unlike items
outweigh the few large ones, every label reaches everything in one step, and the most frequent class wins.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks
from vicinal.exceptions import VicinalWarning

# As many as `knn` connects by default.
NEIGHBORS = 10
# A matrix is full if it stores more than this fraction of all pairs.
FULL = 0.5
ENTRIES_PER_BLOCK = 1 << 22


def keep_local(affinity: sparse.csr_array, n_classes: int) -> sparse.csr_array:
    """The affinity as it is, or of a full one without focus the most similar items of each item.

    It has no focus if the weight of a typical item is spread over more than half as many items as a class
    has. The number of items that a weight is spread over is its participation ratio.
    """
    n = affinity.shape[0]
    if affinity.nnz <= FULL * n * n or n <= NEIGHBORS + 1:
        return affinity
    spread = _spread(affinity)
    if spread <= 0.5 * n / n_classes:
        return affinity
    warnings.warn(
        f"X is a full similarity matrix in which the weight of a typical item is spread over {spread:.0f} of "
        f"{n} items, so that labels would reach everything at once: only the {NEIGHBORS} most similar items "
        "of each are used. To choose another number, give a sparse matrix that holds no others.",
        category=VicinalWarning,
        stacklevel=3,
    )
    return most_similar(affinity, NEIGHBORS)


def most_similar(affinity: sparse.csr_array, k: int) -> sparse.csr_array:
    """The entries that are among the k largest of their row or column, and all that equal the last one."""
    n = affinity.shape[0]
    parts = []
    for a, b in blocks(n, max(1, ENTRIES_PER_BLOCK // n)):
        rows = affinity[a:b].toarray()
        rows[np.arange(b - a), np.arange(a, b)] = 0.0
        least = np.partition(rows, n - k, axis=1)[:, n - k, None]
        parts.append(sparse.csr_array(np.where(rows >= least, rows, 0.0)))
    kept = sparse.csr_array(sparse.vstack(parts))
    return sparse.csr_array(kept.maximum(kept.T))


def _spread(affinity: sparse.csr_array) -> float:
    """Number of items that the weight of a typical item is spread over."""
    own = affinity.diagonal()
    # Relative to the largest, so that squares neither overflow nor vanish.
    largest = affinity.max()
    if largest == 0:
        return 0.0
    scaled = affinity / largest
    own = own / largest
    total = np.asarray(scaled.sum(axis=1)).ravel() - own
    squares = np.asarray(scaled.power(2).sum(axis=1)).ravel() - own**2
    ratio = np.divide(total**2, squares, out=np.zeros(len(own)), where=squares > 0)
    return float(np.median(ratio))
