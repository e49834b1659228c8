"""Clusters of nodes that the walk on a digraph almost never visits, by where their own steps lead."""

from __future__ import annotations

import numpy as np
from scipy import sparse

# A node is rarely visited if its stationary probability is below this fraction of the mean of its cluster.
MAX_FRACTION_OF_MEAN = 0.001
# It moves to another cluster if a walk from it enters that cluster first with at least this probability.
# Between overlapping clusters, the nodes that lead to it say as much as those it leads to.
MIN_PROBABILITY = 0.9
# Steps of the walk after which most of it has left the rarely visited nodes; cycles among them are short.
MAX_STEPS = 100
TOLERANCE = 1e-9


def follow_steps(steps: sparse.csr_array, masses: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Assign rarely visited nodes to the cluster that a walk from them almost certainly enters first.

    Eigenvectors of the symmetrised walk weigh the steps into a node by the masses where they start, so a node
    with hardly any mass is placed with those few nodes that lead to it, even if it leads elsewhere itself.

    Parameters
    ----------
    steps : csr_array (n, n)
        Nonnegative weights of the edges i -> j.
    masses : ndarray (n,)
        Stationary distribution of the walk.
    labels : ndarray of int (n,)
        Cluster of each node; -1 for noise, which stays noise and is not entered.

    Returns
    -------
    ndarray of int (n,)
        Labels. A cluster never loses its last node.
    """
    kept = labels >= 0
    n_clusters = int(labels.max(initial=-1)) + 1
    if n_clusters < 2:
        return labels
    sizes = np.bincount(labels[kept], minlength=n_clusters)
    means = np.bincount(labels[kept], masses[kept], n_clusters) / np.maximum(sizes, 1)
    rare = np.flatnonzero(kept & (masses < MAX_FRACTION_OF_MEAN * means[labels]))
    if not len(rare):
        return labels
    known = kept.copy()
    known[rare] = False
    indicator = sparse.csr_array(
        (np.ones(int(known.sum())), (np.flatnonzero(known), labels[known])),
        shape=(len(labels), n_clusters),
    )
    rows = sparse.csr_array(steps)[rare]
    entered, within = (rows @ indicator).toarray(), sparse.csr_array(rows[:, rare])
    total = entered.sum(axis=1) + within.sum(axis=1)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)[:, None]
    entered, within = entered * scale, sparse.csr_array(within.multiply(scale))
    reached = entered
    for _ in range(MAX_STEPS):
        previous, reached = reached, entered + within @ reached
        if np.abs(reached - previous).max() <= TOLERANCE:
            break
    moves = reached.max(axis=1) >= MIN_PROBABILITY
    result = labels.copy()
    result[rare[moves]] = reached[moves].argmax(axis=1)
    return result
