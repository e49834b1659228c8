"""Spanning tree with a root per component, for the path between two points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from vicinal.exceptions import InvalidValueError


class RootedTree(NamedTuple):
    """Parent (-1 for roots) and depth of each point."""

    parents: np.ndarray
    depths: np.ndarray

    @classmethod
    def build(cls, edges: np.ndarray, roots: np.ndarray, n: int) -> RootedTree:
        """Direct the edges of a forest towards its roots, one per component."""
        adjacency = sparse.csr_array((np.ones(len(edges)), edges.T), shape=(n, n))
        parents, depths = np.full(n, -1), np.zeros(n, np.int64)
        for root in roots:
            order, predecessors = breadth_first_order(adjacency, root, directed=False)
            parents[order[1:]] = predecessors[order[1:]]
            for node in order[1:]:
                depths[node] = depths[parents[node]] + 1
        return cls(parents, depths)

    def path(self, i: int, j: int) -> np.ndarray:
        """Points of the path from i to j, including both."""
        ends = [i], [j]
        while i != j:
            side = int(self.depths[i] < self.depths[j])
            node = int(self.parents[j if side else i])
            if node < 0:
                raise InvalidValueError(
                    f"there is no path from {ends[0][0]} to {ends[1][0]}: they are in different "
                    "components."
                )
            ends[side].append(node)
            i, j = (i, node) if side else (node, j)
        return np.array(ends[0][:-1] + ends[1][::-1])
