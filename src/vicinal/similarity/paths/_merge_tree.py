"""`MergeTree`: the order and heights at which points and clusters are merged along edges.

In a single-linkage tree, the smallest height at which two points are connected is that of their lowest
common ancestor. With leaves from left to right, it is the largest gap between the two points, where a gap is
the height at which neighbouring leaves meet. So n - 1 numbers describe all pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.paths._merge_kernels import (
    fill_parents,
    fill_rows,
    join_in_order,
    largest_between,
    lay_out,
)

# Gaps per block; the table of largest gaps has one entry per block and power of two.
GAPS_PER_BLOCK = 32
PAIRS_PER_TASK, ENTRIES_PER_TASK = 1 << 16, 1 << 20


class MergeTree:
    """Single linkage along weighted edges.

    Parameters
    ----------
    n : int
        Number of points.
    edges : ndarray of int (m, 2)
        Pairs of points; may contain more than a spanning tree.
    heights : ndarray (m,)
        Height of each edge. Lower edges merge first; ties are merged in the order of the edges.

    Attributes
    ----------
    leaves, positions : ndarray of int (n,)
        Points from left to right, and the position of each point among them.
    first, split, stop : ndarray of int (n - 1,)
        Range of leaves below each node, and where its right child begins; nodes in preorder.
    heights : ndarray (n - 1,)
        Height of each node; infinite where components meet that no edge connects.
    used : ndarray of int
        Edges that merged clusters, a spanning forest, lowest first.
    merge_heights : ndarray (n - 1,)
        Heights of these edges, then infinity.
    """

    def __init__(self, n: int, edges: np.ndarray, heights: np.ndarray) -> None:
        index = np.int32 if n < 2**30 else np.int64
        order = np.argsort(heights, kind="stable")
        children, used = np.empty((n - 1, 2), np.int64), np.empty(n - 1, np.int64)
        join_in_order(edges.astype(np.int64, copy=False), order, children, used)
        self.used = used[used >= 0]
        self.leaves = np.zeros(n, index)
        self.first: np.ndarray = np.empty(n - 1, index)
        self.split, self.stop = np.empty_like(self.first), np.empty_like(self.first)
        merge_heights = np.full(n - 1, np.inf)
        merge_heights[: len(self.used)] = heights[self.used]
        self._children, self._sizes = children, np.empty(n - 1, np.int64)
        self.merge_heights = merge_heights
        origin = np.empty(n - 1, index)
        if n > 1:
            lay_out(children, self._sizes, self.leaves, self.first, self.split, self.stop, origin)
        self.heights = merge_heights[origin]
        self.positions = np.empty(n, index)
        self.positions[self.leaves] = np.arange(n)

    @property
    def n_points(self) -> int:
        return len(self.leaves)

    @property
    def n_pairs(self) -> np.ndarray:
        """Number of pairs of points that meet at each node."""
        return np.multiply(self.split - self.first, self.stop - self.split, dtype=np.float64)

    @cached_property
    def gaps(self) -> np.ndarray:
        """Heights at which neighbouring leaves meet."""
        gaps = np.empty(len(self.heights))
        gaps[self.split - 1] = self.heights
        return gaps

    @cached_property
    def parents(self) -> tuple[np.ndarray, np.ndarray]:
        """Parents of the nodes (-1 for the root) and of the leaves (by position)."""
        nodes, leaves = np.full(len(self.heights), -1), np.full(self.n_points, -1)
        if self.n_points > 1:
            fill_parents(self.first, self.split, self.stop, nodes, leaves)
        return nodes, leaves

    @cached_property
    def _table(self) -> np.ndarray:
        n_blocks = len(self.gaps) // GAPS_PER_BLOCK
        levels = max(1, n_blocks.bit_length())
        table = np.full((levels, max(1, n_blocks)), -np.inf)
        if n_blocks:
            table[0] = (
                self.gaps[: n_blocks * GAPS_PER_BLOCK].reshape(n_blocks, GAPS_PER_BLOCK).max(axis=1)
            )
        for k in range(1, levels):
            width = 1 << (k - 1)
            table[k] = table[k - 1]
            np.maximum(table[k - 1, :-width], table[k - 1, width:], out=table[k, :-width])
        return table

    def between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Height at which i and j meet, for each pair; -inf where they are the same point."""
        a, b = self.positions[i], self.positions[j]
        low, high = np.minimum(a, b), np.maximum(a, b)
        heights, table = np.empty(len(low)), self._table

        def task(span: tuple[int, int]) -> None:
            here = slice(*span)
            largest_between(self.gaps, table, GAPS_PER_BLOCK, low[here], high[here], heights[here])

        map_threads(task, blocks(len(low), PAIRS_PER_TASK))
        return heights

    def rows(self, items: np.ndarray, diagonal: float) -> np.ndarray:
        """Heights at which each item meets all points, with ``diagonal`` for the item itself."""
        rows = np.empty((len(items), self.n_points))

        def task(span: tuple[int, int]) -> None:
            here = slice(*span)
            fill_rows(self.gaps, self.leaves, self.positions, items[here], rows[here], diagonal)

        map_threads(task, blocks(len(items), max(1, ENTRIES_PER_TASK // self.n_points)))
        return rows

    def clusters(self, height: float) -> np.ndarray:
        """Cluster labels of points that meet at or below a height, numbered by first point."""
        starts = np.concatenate([[False], self.gaps > height])
        labels = np.empty(self.n_points, np.int64)
        labels[self.leaves] = np.cumsum(starts)
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    def to_linkage(self) -> np.ndarray:
        """The merges as rows (cluster, cluster, height, size), as in `scipy.cluster.hierarchy`."""
        return np.column_stack([self._children, self.merge_heights, self._sizes]).astype(float)
