"""Spanning trees with duplicates: a tree of the distinct rows, to which the duplicates are added.

Duplicates have the same distances to all other rows, so the first one represents them. The edges that the
others add follow from its own edges, with ties in the order of row numbers.
"""

from __future__ import annotations

import numpy as np

from vicinal.graphs._build.duplicates import Duplicates
from vicinal.graphs._build.kruskal import spanning_subset

Edges = tuple[np.ndarray, np.ndarray]


def join_duplicates(
    edges: np.ndarray, costs: np.ndarray, rows: Duplicates, between_duplicates: np.ndarray
) -> Edges:
    """Spanning tree of all rows, from that of the representatives.

    A duplicate is added by its cheapest edge: to the target of the cheapest edge of its representative, or
    to the representative itself at the cost ``between_duplicates`` of its group. All its other edges are
    the most expensive ones of a cycle.
    """
    first, group = rows
    nodes = np.arange(len(first))
    # The cheapest edge of a point is in the tree.
    source, target = np.concatenate([edges, edges[:, ::-1], np.stack([nodes, nodes], axis=1)]).T
    cost = np.concatenate([costs, costs, between_duplicates])
    order = np.lexsort((target, cost, source))
    cheapest = order[np.searchsorted(source[order], nodes)]
    duplicates = np.setdiff1d(np.arange(len(group)), first, assume_unique=True)
    ends = np.stack([first[target[cheapest]][group[duplicates]], duplicates], axis=1)
    return (
        np.concatenate([first[edges], np.sort(ends, axis=1)]),
        np.concatenate([costs, cost[cheapest][group[duplicates]]]),
    )


def join_components(rows: Duplicates, components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of length 0 that connect components with equal rows, and the resulting component of each row."""
    first = rows.representative[rows.group]
    # Edges (representative, row) in lexicographic order.
    order = np.lexsort((np.arange(len(first)), first))
    edges = np.stack([first[order], order], axis=1)
    needed, joined = spanning_subset(components[edges], int(components.max()) + 1)
    return edges[needed], joined[components]
