"""New leaves of an ultrametric tree: products of their rows with known vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal.operators._ultrametric_kernels import add_down, attach, sum_nodes


class AttachedLeaves:
    """Products of vectors with the rows of new leaves, each attached to a point at a given height.

    The common ancestor of a new leaf and its point has this height, also for leaves that the point joins
    below it; for all others, the ancestor is that of the point.

    Parameters
    ----------
    operator : Ultrametric
        The matrix of the known points.
    vectors : ndarray (n, q)
        Vectors.
    """

    def __init__(self, operator: Any, vectors: np.ndarray) -> None:
        self.vectors, self._operator = vectors, operator
        tree = operator.tree
        columns = np.ones((len(vectors), vectors.shape[1] + 1))
        columns[:, :-1] = vectors
        self._columns = columns[tree.leaves]
        self._sums = np.empty((len(vectors) - 1, columns.shape[1]))
        self._added = np.empty_like(self._sums)
        if len(vectors) > 1:
            structure = tree.first, tree.split, tree.stop
            sum_nodes(*structure, self._columns, self._sums)
            add_down(*structure, operator.drops, self._sums, self._added)

    def products(self, points: np.ndarray, heights: np.ndarray) -> np.ndarray:
        """Products (m, q + 1) with the vectors and, last, with ones.

        Parameters
        ----------
        points : ndarray of int (m,)
            Point that each new leaf is attached to.
        heights : ndarray (m,)
            Height of each new leaf, relative to the lowest height of the tree.
        """
        operator, tree = self._operator, self._operator.tree
        products = np.empty((len(points), self._columns.shape[1]))
        attach(
            operator.heights,
            operator.lowest,
            *tree.parents,
            tree.positions[points],
            heights,
            self._columns,
            self._sums,
            self._added,
            products,
        )
        return products
