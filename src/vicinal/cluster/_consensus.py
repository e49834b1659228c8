"""Consensus of the communities of many random halves of a graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._communities import louvain, weights_between

N_HALVES = 20
# Communities are merged if this fraction of the halves keeps the edges between them together, and these are
# at least this fraction of the edges of the smaller one: modularity also joins small communities with few
# edges between them.
MAJORITY, MIN_EDGES_BETWEEN = 0.5, 0.05


class Consensus(NamedTuple):
    """Nested partitions from fine to coarse, and how often halves join what the last one separates.

    ``joined`` is the fraction of halves that have both ends of an edge between communities in one community,
    on average over these edges.
    """

    levels: tuple[np.ndarray, ...]
    joined: float

    @property
    def is_reproducible(self) -> bool:
        """Whether most halves separate the same nodes: along a curve, boundaries may be anywhere."""
        return self.joined < MAJORITY


def consensus_communities(weights: sparse.csr_array, order: np.ndarray) -> Consensus:
    """Communities that do not depend on a few edges.

    Greedy communities of a neighbour graph are one of many partitions with almost the same modularity. Here
    random halves of the edges are partitioned, and every edge is weighted by the fraction of halves in which
    both ends are in one community. Communities of the weighted graph are merged while most halves keep the
    edges between them together.

    Parameters
    ----------
    weights : csr_array (n, n)
        Symmetric, nonnegative weights.
    order : ndarray of int (n,)
        Order in which nodes are first visited.

    Returns
    -------
    Consensus
        Nested partitions, and how reproducible the last one is.

    References
    ----------
    Lancichinetti and Fortunato, "Consensus clustering in complex networks", Scientific Reports 2012.
    """
    n = weights.shape[0]
    upper = sparse.coo_array(sparse.triu(weights, 1))
    sources, targets, strengths = upper.row, upper.col, upper.data
    rng = np.random.default_rng(0)
    together = np.zeros(len(sources))
    for _ in range(N_HALVES):
        kept = rng.random(len(sources)) < 0.5
        half = _symmetric(sources[kept], targets[kept], strengths[kept], n)
        labels = louvain(half, order).levels[-1]
        together += labels[sources] == labels[targets]
    linked = together > 0
    agreed = strengths * together / N_HALVES
    consensus = _symmetric(sources[linked], targets[linked], agreed[linked], n)
    levels = louvain(consensus, order).levels
    merged = _merge_by_majority(levels[-1], weights, consensus)
    if merged.max() < levels[-1].max():
        levels = (*levels, merged)
    between = _total_between(weights, levels[-1])
    joined = _total_between(consensus, levels[-1]) / between if between > 0 else 0.0
    return Consensus(levels, joined)


def _total_between(weights: sparse.csr_array, labels: np.ndarray) -> float:
    groups = weights_between(weights, labels)
    return float(groups.sum() - groups.diagonal().sum())


def _merge_by_majority(
    labels: np.ndarray, weights: sparse.csr_array, agreed: sparse.csr_array
) -> np.ndarray:
    """Merge pairs of communities that most halves keep together, the clearest first, down to two."""
    size = int(labels.max()) + 1
    between = weights_between(weights, labels).toarray()
    together = weights_between(agreed, labels).toarray()
    np.fill_diagonal(together, 0.0)
    degrees = between.sum(axis=0)
    target = np.arange(size)
    for _ in range(size - 2):
        linked = between > MIN_EDGES_BETWEEN * np.minimum.outer(degrees, degrees)
        fraction = np.divide(together, between, out=np.zeros_like(together), where=linked)
        a, b = np.unravel_index(np.argmax(fraction), fraction.shape)
        if fraction[a, b] < MAJORITY:
            break
        for sums in (between, together):
            sums[a] += sums[b]
            sums[:, a] += sums[:, b]
            sums[b] = 0.0
            sums[:, b] = 0.0
        together[a, a], degrees[a], degrees[b] = 0.0, degrees[a] + degrees[b], 0.0
        target[target == b] = a
    return np.unique(target[labels], return_inverse=True)[1]


def _symmetric(
    sources: np.ndarray, targets: np.ndarray, weights: np.ndarray, n: int
) -> sparse.csr_array:
    one_way = sparse.csr_array((weights, (sources, targets)), shape=(n, n))
    return sparse.csr_array(one_way + one_way.T)
