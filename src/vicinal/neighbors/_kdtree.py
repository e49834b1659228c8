"""A k-d tree that is searched for all points of a leaf at once.

The tree is balanced and stored in arrays: the children of node v are 2v + 1 and 2v + 2, the last level
consists of the leaves, and points are stored in leaf order. Distances to boxes are computed by the same sums
in the same order as distances to points. Rounding is monotone, so a pruned box never contains a neighbour.

Costs are squared Euclidean distances (p = 2) or Manhattan distances (p = 1), optionally with offsets,
``scale * cost + b_i + b_j``, as needed by spanning trees with vertex offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads, n_threads
from vicinal._core.warn import LongWork
from vicinal.neighbors._kdtree_build_kernels import measure_nodes, split
from vicinal.neighbors._kdtree_kernels import (
    NO_OFFSETS,
    JoinScratch,
    KDTree,
    Offsets,
    leaf_join,
    point_search,
)

# Largest number of points of a leaf.
LEAF_SIZE = 24
# Dimensions for which the inner loops are compiled with a fixed length.
MAX_UNROLLED_FEATURES = 4
MAX_LEAVES_PER_TASK = 256
# More than any path from the root with the siblings along it.
MAX_STACK_SIZE = 64
SLOW_SEARCH = LongWork(
    "the exact search for neighbours",
    "an approximate search, fewer columns (for instance by PCA) or fewer points are faster",
)


def build_kdtree(X: np.ndarray, leaf_size: int = LEAF_SIZE) -> KDTree:
    """Build the tree; every leaf contains between ``leaf_size / 2`` and ``leaf_size`` points."""
    tree = _new_tree(np.array(X, dtype=np.float64, order="C"), np.arange(len(X)), leaf_size)
    dims = _unrolled(X.shape[1])
    top = [0]
    while len(top) < min(n_threads(), tree.n_leaves):
        for node in top:
            split(tree, dims, _stack(), node, node + 1)
        top = [child for node in top for child in (2 * node + 1, 2 * node + 2)]
    map_threads(lambda node: split(tree, dims, _stack(), node, len(tree.bounds)), top)
    return tree


def kdtree_from_order(X: np.ndarray, order: np.ndarray) -> KDTree:
    """The tree of `build_kdtree` from its ``order``, which takes a fraction of the time."""
    order = order.astype(np.int64)
    tree = _new_tree(X[order].astype(np.float64, copy=False), order, LEAF_SIZE)
    measure_nodes(tree)
    return tree


def _new_tree(points: np.ndarray, order: np.ndarray, leaf_size: int) -> KDTree:
    """A tree of which only the root has its positions."""
    n, d = points.shape
    n_leaves = 1
    while n > n_leaves * leaf_size:
        n_leaves *= 2
    tree = KDTree(
        points,
        order,
        np.empty((2 * n_leaves - 1, d)),
        np.empty((2 * n_leaves - 1, d)),
        np.empty((2 * n_leaves - 1, 2), dtype=np.int64),
        np.empty(2 * n_leaves - 1, dtype=np.int64),
    )
    tree.bounds[0] = 0, n
    return tree


def nearest_others(tree: KDTree, k: int, *, p: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other points of every point, sorted by (distance, index).

    Returns
    -------
    indices : ndarray (n, k), int64
    distances : ndarray (n, k), float64
    """
    n = len(tree.points)
    indices, costs = np.empty((n, k), np.int64), np.empty((n, k))
    nearest_in_tree_order(tree, indices, costs, p=p, original=True)
    return indices, costs if p == 1 else np.sqrt(costs, out=costs)


def nearest_in_tree_order(
    tree: KDTree,
    indices: np.ndarray,
    costs: np.ndarray,
    *,
    p: int = 2,
    offsets: Offsets = NO_OFFSETS,
    original: bool = False,
) -> None:
    """Fill ``indices`` and ``costs`` with the cheapest neighbours of every point.

    Rows and entries are tree positions, or rows of the original array with ``original``.
    """
    kind = kernel_kind(tree, p, offsets)
    width, k = -(-len(tree.points) // tree.n_leaves), indices.shape[1]

    def search(block: tuple[int, int]) -> None:
        lists = np.empty((width, k)), np.zeros((width, k), np.int64)
        ranked = np.empty(width), np.empty(width, np.int64), np.empty(width)
        scratch = JoinScratch(*lists, _stack(), np.empty(MAX_STACK_SIZE), *ranked)
        leaf_join(tree, kind, offsets, *block, scratch, original, indices, costs)

    # A call of the kernel takes as long as a few leaves, so one thread gets few tasks.
    size = MAX_LEAVES_PER_TASK if n_threads() == 1 else _leaves_per_task(tree)
    map_threads(search, blocks(tree.n_leaves, size), long_work=SLOW_SEARCH)


def nearest_to(
    tree: KDTree, queries: np.ndarray, k: int, *, p: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """The k points of the tree nearest to each query, sorted by (distance, index)."""
    kind = kernel_kind(tree, p)
    indices, costs = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
    if len(queries) == 1:  # threads and warnings about long work would take as long as the search
        point_search(tree, kind, queries, 0, 1, indices, costs)
    else:
        map_threads(
            lambda block: point_search(tree, kind, queries, *block, indices, costs),
            blocks(len(queries), 2048),
            long_work=SLOW_SEARCH,
        )
    return indices, costs if p == 1 else np.sqrt(costs, out=costs)


def tree_offsets(tree: KDTree, scale: float, offsets: np.ndarray) -> Offsets:
    """Convert offsets of the original rows to tree order, with the minimum of each node."""
    points = np.ascontiguousarray(offsets[tree.order], dtype=np.float64)
    nodes = np.empty(len(tree.bounds))
    first = tree.n_leaves - 1
    nodes[first:] = np.minimum.reduceat(points, tree.bounds[first:, 0])
    while first:
        level = slice(first, 2 * first + 1)
        nodes[first // 2 : first] = nodes[level].reshape(-1, 2).min(axis=1)
        first //= 2
    return Offsets(float(scale), points, nodes)


def kernel_kind(tree: KDTree, p: int = 2, offsets: Offsets = NO_OFFSETS) -> tuple[Any, ...]:
    """Key for which a kernel is compiled: dimension, power of the metric, with or without offsets."""
    return _unrolled(tree.points.shape[1]), (0,) * p, (0,) * min(len(offsets.points), 1)


def _unrolled(d: int) -> tuple[int, ...]:
    return (0,) * d if d <= MAX_UNROLLED_FEATURES else ()


def _leaves_per_task(tree: KDTree) -> int:
    return max(1, min(MAX_LEAVES_PER_TASK, tree.n_leaves // 16))


def _stack() -> np.ndarray:
    return np.empty(MAX_STACK_SIZE, np.int64)
