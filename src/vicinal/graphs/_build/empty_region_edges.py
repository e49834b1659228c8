"""Pairs of points with an empty region between them, from coordinates or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks, map_threads
from vicinal._core.rescale import safe_factor
from vicinal._core.warn import LongWork
from vicinal.neighbors._exact import Points

if TYPE_CHECKING:
    from vicinal.neighbors._kdtree_kernels import KDTree

# Above this dimension boxes prune little: leaves are large, and neighbours come from matrix products.
MAX_TREE_DIMENSION = 8
N_WITNESSES = 32
POINTS_PER_TASK, ROWS_PER_TASK = 256, 32
# Pairs and lengths, per block and concatenated, or concatenated and as rows of a graph.
BYTES_PER_EDGE = 90.0
# Points whose neighbours are searched at once.
QUERIES_PER_BATCH = 1024
SLOW_GRAPH = LongWork("the graph of empty regions", "knn(X) or fewer points are faster")
Edges = tuple[np.ndarray, np.ndarray]


def point_edges(points: np.ndarray, beta: float) -> Edges:
    """Pairs of distinct points with an empty region, and their distances."""
    from vicinal.graphs._empty_region_kernels import edges_from
    from vicinal.neighbors._kdtree import build_kdtree

    prepared = Points(points, "euclidean")
    n, d = points.shape
    leaf_size = 16 if d <= 4 else 64 if d <= MAX_TREE_DIMENSION else 256
    tree = build_kdtree(prepared.X, leaf_size)
    near = _neighbors(tree, prepared.X, min(4 * d, 64, n - 1))
    columns = np.ascontiguousarray(tree.points.T)
    # A specialised kernel is worth compiling only in two and three dimensions.
    dims = (0,) * d if d in (2, 3) else ()
    edges, squares = _in_blocks(
        lambda span: edges_from(tree, columns, dims, near, *span, beta),
        n,
        POINTS_PER_TASK,
    )
    return tree.order[edges], np.sqrt(squares) / prepared.factor


def matrix_edges(distances: np.ndarray, beta: float) -> Edges:
    """Pairs of rows of a distance matrix with an empty region, and their distances."""
    from vicinal.graphs._distance_region_kernels import edges_of_rows

    n = len(distances)
    near = np.empty((n, min(N_WITNESSES, n)), np.int64)
    factor = safe_factor(distances)

    def search(span: tuple[int, int]) -> Edges:
        rows = slice(*span)
        # The row itself is among them, but blocks nothing.
        near[rows] = np.argpartition(distances[rows], near.shape[1] - 1)[:, : near.shape[1]]
        return edges_of_rows(distances, factor, near, *span, beta)

    return _in_blocks(search, n, ROWS_PER_TASK)


def _neighbors(tree: KDTree, X: np.ndarray, k: int) -> np.ndarray:
    """The k nearest neighbours of every point, as tree positions."""
    from vicinal.neighbors import _brute as brute
    from vicinal.neighbors._kdtree import nearest_in_tree_order

    n, d = X.shape
    near = np.empty((n, k), np.int32 if n < 2**31 else np.int64)
    if k and d <= MAX_TREE_DIMENSION:
        nearest_in_tree_order(tree, near, np.empty((n, k)))
    elif k:
        position = np.argsort(tree.order)
        for a, b in blocks(n, QUERIES_PER_BATCH):
            indices, _ = brute.nearest_to(X, X[tree.order[a:b]], k + 1)
            # The first is the point itself.
            near[a:b] = position[indices[:, 1:]]
    return near


def _in_blocks(
    search: Callable[[tuple[int, int]], Edges],
    n: int,
    size: int,
) -> Edges:
    """Edges of all rows, one search per block; the middle block predicts the memory of all.

    Rows store edges to later rows only, so the first block may have many more than most, the last none.
    """
    spans = blocks(n, size)
    middle = (len(spans) - 1) // 2
    first, last = spans.pop(middle)
    sample = search((first, last))
    n_edges = len(sample[1]) * n // (last - first)
    require_memory(
        BYTES_PER_EDGE * n_edges,
        f"The graph of {n:,} points with about {n_edges:,} edges",
        "In high dimensions nearly all pairs have an empty region: reduce the dimension, or use fewer "
        "points, a larger beta, or knn(X).",
    )
    results = map_threads(search, spans, title="empty regions", long_work=SLOW_GRAPH)
    results.insert(middle, sample)
    return np.concatenate([r[0] for r in results]), np.concatenate([r[1] for r in results])
