"""Kruskal's algorithm for a short, sorted list of edges between components."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree


def spanning_subset(ends: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges (m, 2) between components that connect what no earlier edge connects.

    Returns
    -------
    needed : ndarray of int
        Positions of these edges, ascending.
    joined : ndarray of int (n_components,)
        Component of each component after merging.
    """
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, first = np.unique(low * n_components + high, return_index=True)
    first = first[low[first] != high[first]]
    # Counted from 1, because scipy interprets 0 as no edge.
    # Before scipy 1.17, `minimum_spanning_tree` accepts 32-bit indices only.
    pairs = low[first].astype(np.int32), high[first].astype(np.int32)
    graph = sparse.csr_array((first + 1.0, pairs), shape=(n_components, n_components))
    tree = minimum_spanning_tree(graph)
    needed = np.sort(tree.data.astype(np.int64)) - 1
    return needed, connected_components(tree, directed=False)[1]
