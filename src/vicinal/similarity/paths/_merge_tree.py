"""`MergeTree`: in which order, and at which height, points and clusters are joined along edges.

The tree of single linkage tells for every pair the smallest height at which they are connected: that of their
lowest common ancestor. With leaves from left to right it is the largest gap between the two, where a gap
is the height at which neighbouring leaves meet; so n - 1 numbers describe all pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from vicinal._core.parallel import blocks, map_threads
from vicinal.similarity.paths._merge_kernels import (
    climb,
    fill_parents,
    fill_rows,
    join_in_order,
    largest_between,
    lay_out,
)

# Gaps in a block; the table of largest gaps holds one number for each block and power of two.
BLOCK = 32
PAIRS_PER_TASK, ENTRIES_PER_TASK = 1 << 16, 1 << 20


class MergeTree:
    """Single linkage along weighted edges.

    Parameters
    ----------
    n : int
        Number of points.
    edges : ndarray of int (m, 2)
        Pairs of points; more than a spanning tree is allowed.
    heights : ndarray (m,)
        Height of each edge, by which edges are taken; ties in the order of the edges.

    Attributes
    ----------
    leaves, places : ndarray of int (n,)
        Points from left to right, and the place of each point among them.
    first, split, stop : ndarray of int (n - 1,)
        Range of leaves below each node, and where its right child begins; nodes in preorder.
    heights : ndarray (n - 1,)
        Height of each node; infinite where pieces meet that no edge joins.
    used : ndarray of int
        Edges that joined, a spanning forest, lowest first.
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
        joins = np.full(n - 1, np.inf)
        joins[: len(self.used)] = heights[self.used]
        self._children, self._sizes = children, np.empty(n - 1, np.int64)
        self._join_heights = joins
        origin = np.empty(n - 1, index)
        if n > 1:
            lay_out(children, self._sizes, self.leaves, self.first, self.split, self.stop, origin)
        self.heights = joins[origin]
        self.places = np.empty(n, index)
        self.places[self.leaves] = np.arange(n)

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
        """Parents of the nodes (-1 for the root), and of the leaves (by place)."""
        nodes, leaves = np.full(len(self.heights), -1), np.full(self.n_points, -1)
        if self.n_points > 1:
            fill_parents(self.first, self.split, self.stop, nodes, leaves)
        return nodes, leaves

    @cached_property
    def _table(self) -> np.ndarray:
        n_blocks = len(self.gaps) // BLOCK
        levels = max(1, n_blocks.bit_length())
        table = np.full((levels, max(1, n_blocks)), -np.inf)
        if n_blocks:
            table[0] = self.gaps[: n_blocks * BLOCK].reshape(n_blocks, BLOCK).max(axis=1)
        for k in range(1, levels):
            reach = 1 << (k - 1)
            table[k] = table[k - 1]
            np.maximum(table[k - 1, :-reach], table[k - 1, reach:], out=table[k, :-reach])
        return table

    def between(self, i: np.ndarray, j: np.ndarray, n_jobs: int | None = -1) -> np.ndarray:
        """Height at which i and j meet, pair by pair; -inf where they are the same point."""
        a, b = self.places[i], self.places[j]
        low, high = np.minimum(a, b), np.maximum(a, b)
        found, table = np.empty(len(low)), self._table

        def task(span: tuple[int, int]) -> None:
            here = slice(*span)
            largest_between(self.gaps, table, BLOCK, low[here], high[here], found[here])

        map_threads(task, blocks(len(low), PAIRS_PER_TASK), n_jobs)
        return found

    def rows(self, items: np.ndarray, own: float, n_jobs: int | None = -1) -> np.ndarray:
        """Heights at which each item meets all points, and ``own`` for itself."""
        rows = np.empty((len(items), self.n_points))

        def task(span: tuple[int, int]) -> None:
            here = slice(*span)
            fill_rows(self.gaps, self.leaves, self.places, items[here], rows[here], own)

        map_threads(task, blocks(len(items), max(1, ENTRIES_PER_TASK // self.n_points)), n_jobs)
        return rows

    def highest_below(self, points: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """The highest node above each point whose height is at most a limit; -1 if there is none."""
        found = np.empty(len(points), np.int64)
        climb(self.heights, *self.parents, self.places[points], limits, found)
        return found

    def clusters(self, height: float) -> np.ndarray:
        """Labels of the clusters at a height: points that meet at or below it; by their first points."""
        starts = np.concatenate([[False], self.gaps > height])
        labels = np.empty(self.n_points, np.int64)
        labels[self.leaves] = np.cumsum(starts)
        _, first, which = np.unique(labels, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[which]

    def to_linkage(self) -> np.ndarray:
        """The joins as rows (cluster, cluster, height, size), as in `scipy.cluster.hierarchy`."""
        return np.column_stack([self._children, self._join_heights, self._sizes]).astype(float)
