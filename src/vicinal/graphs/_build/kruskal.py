"""Kruskal's method over links between components, for links that are few and come in order."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree


def spanning_subset(ends: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of the links (m, 2) between components join what no earlier link joins.

    Returns
    -------
    needed : ndarray of int
        Places of these links, ascending.
    joined : ndarray of int (n_components,)
        Component that each one is then part of.
    """
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, first = np.unique(low * n_components + high, return_index=True)
    first = first[low[first] != high[first]]
    # Counted from 1, because scipy takes 0 for no link.
    # Before scipy 1.17 `minimum_spanning_tree` takes indices of 32 bits only.
    pairs = low[first].astype(np.int32), high[first].astype(np.int32)
    links = sparse.csr_array((first + 1.0, pairs), shape=(n_components, n_components))
    tree = minimum_spanning_tree(links)
    needed = np.sort(tree.data.astype(np.int64)) - 1
    return needed, connected_components(tree, directed=False)[1]
