"""`TreeMatrix`: a matrix of similarities whose entries are read off a merge tree."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from vicinal._core.array_checks import real_array
from vicinal._core.memory import require_memory
from vicinal._core.pickles import Stamped
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._checks import check_range
from vicinal.operators.ultrametric import Ultrametric
from vicinal.similarity.paths._merge_tree import MergeTree

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike


class TreeMatrix(Stamped):
    """Similarities s_ij = exp(-height), with the height at which a merge tree joins i and j.

    A pair costs at most O(log n), a product with ``@`` O(n) per column. The diagonal is the largest
    similarity of two points.
    """

    def __init__(self, tree: MergeTree, edges: np.ndarray) -> None:
        n = tree.n_points
        self.shape = (n, n)
        self.tree = tree
        self.relative = Ultrametric(tree)
        self.log_largest = -self.relative.lowest
        self._edges = edges[tree.used]

    def __len__(self) -> int:
        return self.shape[0]

    def pairs(self, i: ArrayLike, j: ArrayLike, *, log: bool = False) -> float | np.ndarray:
        """Similarities of pairs of points.

        Parameters
        ----------
        i : int or array of int
            First point of each pair.
        j : int or array of int
            Second point of each pair; the two arrays are broadcast against each other.
        log : bool, default=False
            Whether to return logarithms, which do not underflow if sigma is small; -inf without a path.

        Returns
        -------
        float or ndarray
            A float if i and j are integers.
        """
        first, second = np.broadcast_arrays(self._items(i, "i"), self._items(j, "j"))
        logs = -self.tree.between(first.ravel(), second.ravel())
        # A point meets itself at height -inf; its similarity to itself is the largest similarity.
        logs = np.minimum(logs, self.log_largest).reshape(first.shape)
        values = logs if log else _exp(logs)
        return values if first.ndim else float(values)

    def rows(self, items: ArrayLike, *, log: bool = False) -> np.ndarray:
        """Rows of the matrix.

        Parameters
        ----------
        items : int or array of int
            Points.
        log : bool, default=False
            Whether to return logarithms.

        Returns
        -------
        ndarray of shape (len(items), n)
            Similarities of each item to all points.
        """
        points = np.atleast_1d(self._items(items, "items"))
        n = self.shape[0]
        require_memory(
            16.0 * len(points) * n, f"{len(points):,} rows of {n:,}", "Request fewer rows."
        )
        logs = -self.tree.rows(points, -self.log_largest)
        return logs if log else _exp(logs)

    def toarray(self) -> np.ndarray:
        """The full matrix, if it fits into memory.

        Returns
        -------
        ndarray of shape (n, n)
            All similarities.
        """
        self._require_square()
        return self.rows(np.arange(self.shape[0]))

    def dissimilarity(self) -> np.ndarray:
        """The matrix s_ii - 2 s_ij + s_jj, formula (5): squared distances in the feature space of the kernel.

        Returns
        -------
        ndarray of shape (n, n)
            Squared distances.
        """
        self._require_square()
        logs = self.rows(np.arange(self.shape[0]), log=True)
        logs -= self.log_largest
        return (-2.0 * float(_exp(self.log_largest))) * np.expm1(logs, out=logs)

    def __matmul__(self, other: ArrayLike) -> np.ndarray:
        """Product with a vector (n,) or a matrix (n, q), in O(n) per column."""
        columns = np.asarray(real_array(other, "other"), dtype=np.float64)
        return float(_exp(self.log_largest)) * (self.relative @ columns)

    def clusters(
        self, threshold: float | None = None, *, n_clusters: int | None = None
    ) -> np.ndarray:
        """Cut the merge tree at a similarity, or into a number of clusters.

        Parameters
        ----------
        threshold : float, optional
            Similarity in (0, 1]. Points connected by a path of at least this similarity share a cluster.
        n_clusters : int, optional
            Number of clusters, instead of a threshold: the tree is cut at its highest merges. Merges of
            equal height are cut together, so there may be more clusters.

        Returns
        -------
        ndarray of int of shape (n,)
            Cluster of each point, numbered by first occurrence.
        """
        if (threshold is None) == (n_clusters is None):
            raise InvalidTypeError(
                f"threshold={threshold!r} and n_clusters={n_clusters!r}, but exactly one is needed."
            )
        if threshold is not None:
            threshold = check_real(threshold, "threshold", low=0.0, high=1.0, open_low=True)
            return self.tree.clusters(-np.log(threshold))
        n = self.shape[0]
        count = check_count(n_clusters, "n_clusters", high=n, remedy=f"There are {n} points.")
        if count == 1:
            return np.zeros(n, np.int64)
        lowest_cut = np.partition(self.tree.heights, n - count)[n - count]
        return self.tree.clusters(np.nextafter(lowest_cut, -np.inf))

    def to_linkage(self) -> np.ndarray:
        """Single-linkage matrix of -log s, for `scipy.cluster.hierarchy`.

        Returns
        -------
        ndarray of shape (n - 1, 4)
            Merged clusters, height and size of each merge; the height is infinite without a path.
        """
        return self.tree.to_linkage()

    def path(self, i: int, j: int) -> np.ndarray:
        """The best path between two points: its worst step has similarity s_ij.

        Each part of the path is a best path, too.

        Parameters
        ----------
        i : int
            First point.
        j : int
            Last point.

        Returns
        -------
        ndarray of int
            Points of the path, including i and j.
        """
        i, j = int(self._items(i, "i")), int(self._items(j, "j"))
        return self._rooted_tree.path(i, j)

    @cached_property
    def _rooted_tree(self) -> RootedTree:
        labels = self.tree.clusters(np.finfo(np.float64).max)
        return RootedTree.build(self._edges, np.unique(labels, return_index=True)[1], len(self))

    def _items(self, items: ArrayLike, name: str) -> np.ndarray:
        array = np.asarray(items)
        if array.dtype.kind not in "iu":
            raise InvalidTypeError(
                f"{name} has dtype {array.dtype}, but integer row numbers are needed."
            )
        check_range(array, self.shape[0], name)
        return array

    def _require_square(self) -> None:
        n = self.shape[0]
        require_memory(
            16.0 * n * n,
            f"A matrix of {n:,} by {n:,} similarities",
            "Use pairs(i, j), rows(items) or products with @.",
        )


def _exp(logs: Any) -> Any:
    with np.errstate(under="ignore"):
        return np.exp(logs)


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
