"""Lower bounds of the distances between components, from gaps along the lines through their centres.

Components are unions of cells. Projected on the line from the centre of its cell to that of another, a point
is at least as far from the other cell as from its nearest projected point. Between separated clusters, this
rules out nearly all points as ends of the shortest edge, at the cost of one product of points and centres.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors._brute import Rescaling

VALUES_PER_TASK = 2**18


def distances_to_others(
    X: np.ndarray,
    rescaling: Rescaling,
    cell: np.ndarray,
    component: np.ndarray,
) -> np.ndarray:
    """Lower bound of the distance of each point to the other components.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Points.
    rescaling : Rescaling
        Rescales their coordinates to -1 to 1.
    cell : ndarray of int of shape (n,)
        Cell of each point, from 0 to ``n_cells - 1``; no cell is empty.
    component : ndarray of int of shape (n_cells,)
        Component of each cell.

    Returns
    -------
    ndarray of shape (n,)
        In rescaled units, at least 0; rounding errors are subtracted.
    """
    n_cells = len(component)
    spans = blocks(len(X), max(1, VALUES_PER_TASK // max(n_cells, X.shape[1])))
    centers = _centers(X, rescaling, cell, spans)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / np.linalg.norm(centers[:, None] - centers[None], axis=2)
    inverse[np.isinf(inverse)] = 0.0  # cells with the same centre have no line
    is_same = component[:, None] == component

    def margins(a: int, b: int) -> np.ndarray:
        """(c_own - c_other)'x for all points and cells."""
        products = rescaling.transform(X[a:b], np.float64) @ centers.T
        return products[np.arange(b - a), cell[a:b], None] - products

    def smallest_margins(span: tuple[int, int]) -> np.ndarray:
        a, b = span
        order = np.argsort(cell[a:b], kind="stable")
        groups, first = np.unique(cell[a:b][order], return_index=True)
        smallest = np.full((n_cells, n_cells), np.inf)
        smallest[groups] = np.minimum.reduceat(margins(a, b)[order], first, axis=0)
        return smallest

    with one_blas_thread():
        facing = np.minimum.reduce(map_threads(smallest_margins, spans)).T
        # Each sum of products is rounded; coordinates are at most 1.
        facing -= 8.0 * np.finfo(np.float64).eps * X.shape[1] ** 2

        def gaps(span: tuple[int, int]) -> np.ndarray:
            a, b = span
            own = cell[a:b]
            gap = (facing[own] + margins(a, b)) * inverse[own]
            gap[is_same[own]] = np.inf
            return np.maximum(gap.min(axis=1), 0.0)

        return np.concatenate(map_threads(gaps, spans))


def _centers(
    X: np.ndarray, rescaling: Rescaling, cell: np.ndarray, spans: list[tuple[int, int]]
) -> np.ndarray:
    """Mean of the rescaled points of each cell."""
    sizes = np.bincount(cell)
    sums = np.zeros((len(sizes), X.shape[1]))
    for a, b in spans:
        np.add.at(sums, cell[a:b], rescaling.transform(X[a:b], np.float64))
    return sums / sizes[:, None]
