"""Rows that many others equal: trees are built without the copies, which then join them.

All copies of a row are as far from any third row as it is. So the first of them stands for all, and which
edges the others add to a tree follows from its own, edges of the same cost in the order of row numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.graphs.kruskal import needed_links

# A sample of rows tells whether there are copies: at least so many rows, and one of so many.
SAMPLE, STRIDE = 1000, 64
# With a larger share of distinct rows, copies take less time than finding them.
MOSTLY_DISTINCT = 0.9

Edges = tuple[np.ndarray, np.ndarray]


class EqualRows(NamedTuple):
    """The first of each set of equal rows, in ascending order, and the number of every row's set."""

    first: np.ndarray
    group: np.ndarray

    def place(self) -> np.ndarray:
        """How many equal rows come before each row."""
        order = np.argsort(self.group, kind="stable")
        start = np.cumsum(np.bincount(self.group)) - np.bincount(self.group)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - start[self.group[order]]
        return place


def equal_rows(*columns: np.ndarray) -> EqualRows | None:
    """Sets of rows that are equal in all columns; None where most rows have no copy."""
    step = max(1, min(STRIDE, len(columns[0]) // SAMPLE))
    # Adding 0 makes negative zeros positive, so that equal rows have equal bytes.
    sample = np.column_stack([some[::step] for some in columns]) + 0.0
    if len({row.tobytes() for row in sample}) > MOSTLY_DISTINCT * len(sample):
        return None
    return sets_of_equal_rows(np.column_stack(columns))


def sets_of_equal_rows(X: np.ndarray) -> EqualRows:
    """All sets of equal rows, in the order of their first rows."""
    first, group = distinct(X)
    order = np.argsort(first)
    return EqualRows(first[order], np.argsort(order)[group])


def distinct(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of every distinct point, and the number of the distinct point of every row."""
    order = np.lexsort(X.T)
    new = np.ones(len(X), dtype=bool)
    new[1:] = (X[order[1:]] != X[order[:-1]]).any(axis=1)
    group = np.empty(len(X), np.int64)
    group[order] = np.cumsum(new) - 1
    return order[new], group


def join_copies(
    edges: np.ndarray, costs: np.ndarray, rows: EqualRows, between_copies: np.ndarray
) -> Edges:
    """Spanning tree of all rows, from that of the first ones.

    A copy joins by its cheapest edge, which leads where the cheapest edge of its first row leads, or to that
    row itself, at the cost ``between_copies`` of its set. All its other edges are the last of a circle.
    """
    first, group = rows
    numbers = np.arange(len(first))
    # The cheapest edge of a point is in the tree.
    source, target = np.concatenate([edges, edges[:, ::-1], np.stack([numbers, numbers], axis=1)]).T
    cost = np.concatenate([costs, costs, between_copies])
    order = np.lexsort((target, cost, source))
    cheapest = order[np.searchsorted(source[order], numbers)]
    copies = np.setdiff1d(np.arange(len(group)), first, assume_unique=True)
    ends = np.stack([first[target[cheapest]][group[copies]], copies], axis=1)
    return (
        np.concatenate([first[edges], np.sort(ends, axis=1)]),
        np.concatenate([costs, cost[cheapest][group[copies]]]),
    )


def join_components(rows: EqualRows, components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of length 0 that join components with equal rows, and the component of every row then."""
    first = rows.first[rows.group]
    # Edges (first row, copy) in the order of their row numbers.
    copies = np.lexsort((np.arange(len(first)), first))
    edges = np.stack([first[copies], copies], axis=1)
    needed, joined = needed_links(components[edges], int(components.max()) + 1)
    return edges[needed], joined[components]
