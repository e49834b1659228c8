"""The cells around some points of a cell, the nearest first, and what bounds the costs to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.scale._cells import CellIndex, SplitTree, column_range
from vicinal.scale._layout import Cells


class Surroundings(NamedTuple):
    """Cells around some points in the region of a cell.

    Attributes
    ----------
    order : ndarray (m,) of int
        Cells with points, the nearest to the box of the points first.
    bounds : ndarray (m,)
        Least cost of each to this box.
    coords : ndarray (n, depth)
        Coordinates of the points along the directions of the planes above their cell.
    n_shared : ndarray (n_cells,) of int
        Number of these planes that each cell has above it too.
    slack : float
        Bound on the rounding errors of coordinates.
    """

    order: np.ndarray
    bounds: np.ndarray
    coords: np.ndarray
    n_shared: np.ndarray
    slack: float


def surroundings(cells: Cells, points: np.ndarray, home: int) -> Surroundings:
    """Surroundings of some points, at least one, in the region of a cell."""
    index, tree = cells.index, cells.tree
    path = index.paths[home][index.paths[home] >= 0]
    low, high = column_range(points)
    order, bounds = _by_distance(index, low, high, home, cells.power)
    return Surroundings(
        order,
        bounds,
        tree.coordinates(points, path),
        index.n_shared(home),
        _rounding_slack(tree, index, low, high),
    )


def _by_distance(
    index: CellIndex, low: np.ndarray, high: np.ndarray, home: int, p: int
) -> tuple[np.ndarray, np.ndarray]:
    bounds = index.box_costs(low, high, p)
    # Boxes may overlap: among those as near, the ones with nearer centres are more likely to help.
    with np.errstate(invalid="ignore"):
        offsets = np.abs((index.low + index.high) / 2 - (low + high) / 2).sum(axis=1)
    offsets[home] = -1.0
    order = np.lexsort((offsets, bounds))
    order = order[index.sizes[order] > 0]
    return order, bounds[order]


def ranges_beyond(index: CellIndex, home: int, n_shared: np.ndarray) -> np.ndarray:
    """Smallest and largest coordinate of all points beyond each plane above a cell."""
    # Not the planes themselves, because the points of a cell may have been moved.
    beyond = np.empty((int(n_shared[home]), 2))
    for s in range(len(beyond)):
        cells = (n_shared == s + 1) & (index.sizes > 0)
        cells[home] = False
        beyond[s, 0] = index.intervals[cells, s, 0].min(initial=np.inf)
        beyond[s, 1] = index.intervals[cells, s, 1].max(initial=-np.inf)
    return beyond


def _rounding_slack(tree: SplitTree, index: CellIndex, low: np.ndarray, high: np.ndarray) -> float:
    """Bound on the rounding errors of the coordinates of points and cells along a direction."""
    center, full = tree.center, index.sizes > 0
    reach = max(
        np.abs(corners - center).max() for corners in (index.low[full], index.high[full], low, high)
    )
    return float(8 * (len(center) + 4) * 2.0**-52 * np.sqrt(len(center)) * reach)
