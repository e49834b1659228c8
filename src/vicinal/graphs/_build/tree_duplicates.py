"""Spanning trees with duplicates: a tree of the distinct rows, which their duplicates then join.

All duplicates of a row are as far from any third row as it is. So the first of them stands for all, and which
edges the others add to a tree follows from its own, edges of the same cost in the order of row numbers.
"""

from __future__ import annotations

import numpy as np

from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs._build.kruskal import spanning_subset

Edges = tuple[np.ndarray, np.ndarray]


def join_duplicates(
    edges: np.ndarray, costs: np.ndarray, rows: Duplicates, between_duplicates: np.ndarray
) -> Edges:
    """Spanning tree of all rows, from that of the first ones.

    A copy joins by its cheapest edge, which leads where the cheapest edge of its first row leads, or to that
    row itself, at the cost ``between_duplicates`` of its set. All its other edges are the last of a circle.
    """
    first, group = rows
    numbers = np.arange(len(first))
    # The cheapest edge of a point is in the tree.
    source, target = np.concatenate([edges, edges[:, ::-1], np.stack([numbers, numbers], axis=1)]).T
    cost = np.concatenate([costs, costs, between_duplicates])
    order = np.lexsort((target, cost, source))
    cheapest = order[np.searchsorted(source[order], numbers)]
    copies = np.setdiff1d(np.arange(len(group)), first, assume_unique=True)
    ends = np.stack([first[target[cheapest]][group[copies]], copies], axis=1)
    return (
        np.concatenate([first[edges], np.sort(ends, axis=1)]),
        np.concatenate([costs, cost[cheapest][group[copies]]]),
    )


def join_components(rows: Duplicates, components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of length 0 that join components with equal rows, and the component of every row then."""
    first = rows.representative[rows.group]
    # Edges (first row, copy) in the order of their row numbers.
    copies = np.lexsort((np.arange(len(first)), first))
    edges = np.stack([first[copies], copies], axis=1)
    needed, joined = spanning_subset(components[edges], int(components.max()) + 1)
    return edges[needed], joined[components]
