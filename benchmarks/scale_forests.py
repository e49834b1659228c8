"""Disjoint trees of points in cells: rounds of searches, compared with forests that are merged.

The first t forests of a union of edge sets are those of the union of their first t forests. So disjoint trees
can be merged from those of all pairs of cells; a pair that is farther apart than the longest edge may be
skipped. That edge is taken from the result here, which no method would know beforehand.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np

N_TREES, N_CELLS = 4, 10


def compare_forests(points: np.ndarray) -> dict[str, float]:
    """CPU seconds in memory, by rounds on cells, and of the forests of pairs of cells before merging."""
    import dask.array as da

    from vicinal import graphs, scale
    from vicinal.scale.stored_points import store_points

    def trees(X: Any) -> Any:
        return graphs.disjoint_mst(X, N_TREES, n_jobs=1)

    n = len(points)
    few = points[: n // 10]
    with scale.config(cell_size=len(few) // N_CELLS):  # load the compiled code first
        trees(few), trees(da.from_array(few, chunks=(n // 20, -1)))
    with scale.config(cell_size=-(-n // N_CELLS)):
        X = da.from_array(points, chunks=(n // 4, -1))
        known, in_memory = _timed(trees, points)
        found, by_rounds = _timed(trees, X)
        cells = store_points(X).cells
    rows = [np.array(cells.rows(cell)) for cell in range(len(cells))]
    low, high = cells.index.low / cells.factor, cells.index.high / cells.factor
    edges, by_forests, n_pairs = [], 0.0, 0
    for a, b in combinations(range(len(rows)), 2):
        gap = np.maximum(np.maximum(low[a] - high[b], low[b] - high[a]), 0.0)
        if np.linalg.norm(gap) > known.lengths.max():
            continue
        both = np.sort(np.concatenate([rows[a], rows[b]]))
        forest, seconds = _timed(trees, points[both])
        edges.append(both[forest.edges()])
        by_forests, n_pairs = by_forests + seconds, n_pairs + 1
    candidates = np.unique(np.concatenate(edges), axis=0)
    merged = candidates[np.sort(_first_forests(n, candidates, points))]
    same = found == known and np.array_equal(merged, known.edges())
    return {
        "seconds in memory": in_memory,
        "seconds, rounds": by_rounds,
        "seconds, forests": by_forests,
        "pairs": float(n_pairs),
        "same bits": float(same),
    }


def _timed(function: Any, X: Any) -> tuple[Any, float]:
    start = time.process_time()
    return function(X), time.process_time() - start


def _first_forests(n: int, edges: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Positions of the edges of the first disjoint spanning forests, by Kruskal's algorithm."""
    squares = np.square(points[edges[:, 0]].astype(float) - points[edges[:, 1]]).sum(axis=1)
    left: list[int] = np.lexsort((edges[:, 1], edges[:, 0], squares)).tolist()
    kept: list[int] = []
    for _ in range(N_TREES):
        parent: list[int] = list(range(n))
        rest: list[int] = []
        for e in left:
            a, b = (_root(parent, int(node)) for node in edges[e])
            (kept if a != b else rest).append(e)
            parent[a] = b
        left = rest
    return np.array(kept)


def _root(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
