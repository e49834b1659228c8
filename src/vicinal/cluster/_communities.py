"""Communities: groups of nodes with more edges between them than their degrees explain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._community_kernels import move_nodes

MAX_PASSES, MAX_LEVELS = 50, 30


class Communities(NamedTuple):
    """Nested partitions from fine to coarse, and the modularity of each."""

    levels: tuple[np.ndarray, ...]
    modularity: tuple[float, ...]


def louvain(affinity: sparse.csr_array, order: np.ndarray | None = None) -> Communities:
    """Maximise modularity greedily: move nodes, merge communities into nodes, and repeat.

    Parameters
    ----------
    affinity : csr_array (n, n)
        Symmetric, nonnegative weights.
    order : ndarray of int (n,), optional
        Order in which nodes are first visited. If it follows from the data, the result does not depend on the
        order of the rows.

    Returns
    -------
    Communities
        Nested partitions with their modularity.

    References
    ----------
    Blondel, Guillaume, Lambiotte and Lefebvre, "Fast unfolding of communities in large networks", 2008.
    """
    level = affinity
    n = level.shape[0]
    labels = np.arange(n)
    levels, modularity = [], []
    visit = np.arange(n) if order is None else np.array(order, dtype=np.int64)
    for _ in range(MAX_LEVELS if affinity.sum() > 0 else 0):
        size = level.shape[0]
        community = np.arange(size)
        degrees = np.asarray(level.sum(axis=1)).ravel().astype(np.float64)
        weights = level.data.astype(np.float64)
        scratch = *np.empty((2, size)), np.empty(size, np.int64), np.empty(size, bool)
        arrays = level.indptr, level.indices, weights, degrees
        moves = move_nodes(*arrays, community, visit, scratch, MAX_PASSES)
        if moves == 0:
            break
        community = np.unique(community, return_inverse=True)[1]
        labels = community[labels]
        levels.append(labels)
        level = weights_between(level, community)
        modularity.append(_modularity_of_groups(level))
        visit = np.argsort(-np.asarray(level.sum(axis=1)).ravel(), kind="stable")
    if not levels:
        return Communities((labels,), (_modularity_of_groups(affinity),))
    return Communities(tuple(levels), tuple(modularity))


def modularity(weights: sparse.csr_array, labels: np.ndarray) -> float:
    """Fraction of the weights within groups, less what the degrees explain."""
    return _modularity_of_groups(weights_between(weights, labels))


def weights_between(weights: sparse.csr_array, labels: np.ndarray) -> sparse.csr_array:
    """Sums of the weights within (on the diagonal) and between groups."""
    n, rows = len(labels), np.arange(len(labels))
    groups = sparse.csr_array((np.ones(n), (rows, labels)), shape=(n, int(labels.max()) + 1))
    return sparse.csr_array(groups.T @ weights @ groups)


def _modularity_of_groups(weights: sparse.csr_array) -> float:
    """Modularity of a partition, given the weights between its groups."""
    total = float(weights.sum())
    if total == 0:
        return 0.0
    degrees = np.asarray(weights.sum(axis=1)).ravel() / total
    return float(weights.diagonal().sum() / total - degrees @ degrees)
