"""Prim's algorithm for the components of few points, without kernels, which would take seconds to compile."""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks
from vicinal.graphs._build.boruvka import SpanningEdges

# Up to this number of points, and with components of at least this mean size, no search is faster.
MAX_POINTS, MIN_MEAN_SIZE = 1024, 20
# Rows of costs that are computed at a time, so that they stay in the cache.
COST_ROWS = 32


def is_fastest(labels: np.ndarray) -> bool:
    """Whether no search connects the components in less time."""
    return len(labels) <= MAX_POINTS and len(labels) >= MIN_MEAN_SIZE * len(np.unique(labels))


def connecting_edges(X: np.ndarray, p: int, labels: np.ndarray) -> SpanningEdges:
    """Cheapest edges that connect the components of points, as `spanning_edges` finds them.

    Costs are squared Euclidean (p = 2) or Manhattan distances (p = 1). Edges are compared by (cost, smaller
    row, larger row), so they are unique.
    """
    n, columns = len(X), np.ascontiguousarray(X.T, dtype=np.float64)
    is_new = labels == labels[0]
    outside = np.flatnonzero(~is_new)
    cost, source = np.full(n, np.inf), np.full(n, n)
    edges, lengths = [], []
    while len(outside):
        new = np.flatnonzero(is_new)
        for a, b in blocks(len(new), COST_ROWS):
            _update(columns, p, new[a:b], outside, cost, source)
        ends = outside[cost[outside] == cost[outside].min()]
        pairs = np.sort(np.stack([source[ends], ends], axis=1), axis=1)
        first = int(np.lexsort(pairs.T[::-1])[0])
        edges.append(pairs[first])
        lengths.append(cost[ends[first]])
        is_new = labels == labels[ends[first]]
        outside = outside[~is_new[outside]]
    return SpanningEdges(np.array(edges, np.int64).reshape(-1, 2), np.array(lengths, np.float64))


def _update(
    columns: np.ndarray,
    p: int,
    rows: np.ndarray,
    outside: np.ndarray,
    cost: np.ndarray,
    source: np.ndarray,
) -> None:
    """Update the nearest connected point of each point outside, after ``rows`` have been connected."""
    costs = np.zeros((len(rows), len(outside)))
    # Summed in the order of features, as in the searches.
    for column in columns:
        gaps = np.subtract.outer(column[rows], column[outside])
        costs += np.abs(gaps, out=gaps) if p == 1 else np.multiply(gaps, gaps, out=gaps)
    lowest = costs.min(axis=0)
    near = np.flatnonzero(lowest <= cost[outside])
    # Rows ascend, so that the first of equal costs is the smallest row.
    sources, targets = rows[costs[:, near].argmin(axis=0)], outside[near]
    is_better = (lowest[near] < cost[targets]) | (sources < source[targets])
    targets = targets[is_better]
    cost[targets], source[targets] = lowest[near][is_better], sources[is_better]
