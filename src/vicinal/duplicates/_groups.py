"""Groups of near-duplicates: connected components, or groups in which every pair is a near-duplicate."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def connected_groups(n: int, pairs: np.ndarray) -> np.ndarray:
    """Label of each of n nodes: its connected component."""
    ones = np.ones(len(pairs), np.int8)
    links = sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    labels: np.ndarray = connected_components(links, directed=False)[1]
    return labels.astype(np.int64)


def complete_groups(n: int, pairs: np.ndarray) -> np.ndarray:
    """Label of each of n nodes: its cluster by complete linkage, given the near pairs, nearest first.

    Two clusters merge at the last pair between them, so counting their pairs is enough. Those with a missing
    pair never merge.
    """
    members: dict[int, list[int]] = {}
    cluster = np.arange(n)
    n_pairs: dict[int, dict[int, int]] = {}
    for i, j in pairs.tolist():
        a, b = int(cluster[i]), int(cluster[j])
        if a == b:
            continue
        between = n_pairs.setdefault(a, {})
        between[b] = n_pairs.setdefault(b, {})[a] = between.get(b, 0) + 1
        first, second = members.get(a, [a]), members.get(b, [b])
        if between[b] < len(first) * len(second):
            continue
        cluster[second] = a
        members[a] = first + second
        del n_pairs[a][b]
        for other, count in n_pairs.pop(b).items():
            if other != a:
                total = n_pairs[a].get(other, 0) + count
                n_pairs[a][other] = n_pairs[other][a] = total
                del n_pairs[other][b]
    return cluster
