"""Consensus of the communities of many random halves of a graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.cluster._communities import louvain, weights_between

N_HALVES = 20
# Communities are merged if this fraction of the halves keeps the edges between them together. Modularity
# joins small communities too easily: those with less than this fraction of all edges are only merged if they
# share the same fraction of their own edges.
MAJORITY, SMALL = 0.5, 0.05


class Consensus(NamedTuple):
    """Nested partitions from fine to coarse, and how often halves join what they separate.

    ``joined`` is the fraction of halves that have both ends of an edge between communities in one community,
    on average over these edges, before communities are merged by majority.
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
    # Measured before merging, which leaves the boundaries that halves join least.
    between = _total_between(weights, levels[-1])
    joined = _total_between(consensus, levels[-1]) / between if between > 0 else 0.0
    merged = _merge_by_majority(levels[-1], weights, consensus)
    if merged.max() < levels[-1].max():
        levels = (*levels, merged)
    return Consensus(levels, joined)


def _total_between(weights: sparse.csr_array, labels: np.ndarray) -> float:
    groups = weights_between(weights, labels)
    return float(groups.sum() - groups.diagonal().sum())


def _merge_by_majority(
    labels: np.ndarray, weights: sparse.csr_array, agreed: sparse.csr_array
) -> np.ndarray:
    """Merge pairs of communities that most halves keep together, the clearest first, down to two.

    Only linked pairs are merged. Their common edges are a larger fraction of those of the smaller community
    than in pairs on average, or than `SMALL` if one of them is small. There are also more of them than an
    average node has, because a single node may lie between two communities.
    """
    size = int(labels.max()) + 1
    between = weights_between(weights, labels).toarray()
    together = weights_between(agreed, labels).toarray()
    np.fill_diagonal(together, 0.0)
    degrees = between.sum(axis=0)
    mean_degree = degrees.sum() / len(labels)
    target = np.arange(size)
    for n_left in range(size, 2, -1):
        smaller = np.minimum.outer(degrees, degrees)
        relative = np.divide(between, smaller, out=np.zeros_like(between), where=smaller > 0)
        mean = (relative.sum() - np.trace(relative)) / (n_left * (n_left - 1))
        is_small = degrees < SMALL * degrees.sum()
        required = np.where(is_small[:, None] | is_small, SMALL, mean)
        linked = (between > mean_degree) & (relative > required)
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
