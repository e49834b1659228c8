"""Cells: a binary tree of planes that divides points into balanced groups, and bounds between the groups.

Each plane is orthogonal to the line between the centres of two clusters of a sample, and lies where the
sample is sparse, but near its median. Points on a plane are divided by their row numbers, so that grids and
duplicates give balanced cells too. Neighbours are exact for any division; a good one saves time.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import one_blas_thread
from vicinal.scale._cell_kernels import find_cells, find_range, project

# Sampled points per cell, and bytes of the sample.
SAMPLES_PER_CELL, MAX_SAMPLE_BYTES = 200, 2**28
# A plane leaves at least this fraction of a sample on each side.
MIN_FRACTION = 0.4
# Points of a sample that determine the direction of a plane, and the number of k-means iterations.
MAX_DIRECTION_POINTS, N_ITERATIONS = 4096, 6


class SplitTree(NamedTuple):
    """Planes (nodes) of a binary tree and its cells (leaves).

    Attributes
    ----------
    center : ndarray (D,)
        Origin of the coordinates along directions.
    directions : ndarray (n_nodes, D)
        Unit vectors.
    thresholds : ndarray (n_nodes,)
        Points with a smaller coordinate belong to the first child.
    tied_rows : ndarray (n_nodes,) of int
        So do points on the plane up to this row.
    children : ndarray (n_nodes, 2) of int
        Nodes, or -1 - c for cell c.
    """

    center: np.ndarray
    directions: np.ndarray
    thresholds: np.ndarray
    tied_rows: np.ndarray
    children: np.ndarray

    @property
    def n_cells(self) -> int:
        return len(self.directions) + 1

    def cells_of(self, X: np.ndarray, first_row: int) -> np.ndarray:
        """Cell of each point of a chunk that starts at this row."""
        cells = np.zeros(len(X), np.int64)
        if len(self.directions):
            find_cells(X, first_row, *self, cells)
        return cells

    def paths(self) -> np.ndarray:
        """Nodes above each cell, from the root, as rows (n_cells, depth) that end in -1."""
        above: dict[int, list[int]] = {0: []}
        cells: list[list[int]] = [[] for _ in range(self.n_cells)]
        for node in range(len(self.children)):
            path = [*above[node], node]
            for child in self.children[node].tolist():
                if child >= 0:
                    above[child] = path
                else:
                    cells[-1 - child] = path
        depth = max(map(len, cells))
        return np.array([path + [-1] * (depth - len(path)) for path in cells], np.int64).reshape(
            self.n_cells, depth
        )

    def coordinates(self, X: np.ndarray, path: np.ndarray) -> np.ndarray:
        """Coordinates of points along the directions of the nodes of a path."""
        out = np.empty((len(X), len(path)))
        project(X, self.center, self.directions, path, out)
        return out


def column_range(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column; infinite if there are no rows."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    # Several times as fast as the methods of arrays, which are slow for few columns.
    find_range(X, low, high)
    return low, high


@one_blas_thread()
def build_tree(sample: np.ndarray, rows: np.ndarray, n_cells: int) -> SplitTree:
    """Divide a sample, with its row numbers, into cells; always the largest one next."""
    n, d = sample.shape
    center = np.median(sample, axis=0) if n else np.zeros(d)
    shifted = sample - center
    nodes: list[tuple[np.ndarray, float, int]] = []
    children: list[list[int]] = []
    # Entries are (-size, number of arrival, members, parent, side).
    heap: list[tuple[int, int, np.ndarray, int, int]] = [(-n, 0, np.arange(n), -1, 0)]
    while len(heap) < min(n_cells, n):
        _, _, members, parent, side = heapq.heappop(heap)
        direction = _direction(shifted[members])
        values = _project(shifted[members], direction)
        order = np.lexsort((rows[members], values))
        cut = _sparse_position(values[order])
        threshold, tied_row = _threshold(values[order], rows[members][order], cut)
        if parent >= 0:
            children[parent][side] = len(nodes)
        for s, part in enumerate((order[:cut], order[cut:])):
            entry = (-len(part), 2 * len(nodes) + 1 + s, members[np.sort(part)], len(nodes), s)
            heapq.heappush(heap, entry)
        nodes.append((direction, threshold, tied_row))
        children.append([0, 0])
    for cell, (_, _, _, parent, side) in enumerate(sorted(heap, key=lambda entry: entry[1])):
        if parent >= 0:
            children[parent][side] = -1 - cell
    return SplitTree(
        center,
        np.array([node[0] for node in nodes]).reshape(-1, d),
        np.array([node[1] for node in nodes], np.float64),
        np.array([node[2] for node in nodes], np.int64),
        np.array(children, np.int64).reshape(-1, 2),
    )


def _direction(points: np.ndarray) -> np.ndarray:
    """Unit vector between the centres of two clusters, found by k-means from the principal axis."""
    points = points[:: max(1, len(points) // MAX_DIRECTION_POINTS)]
    # The largest coordinate is below 1, so that squares neither overflow nor underflow.
    largest = float(np.abs(points - points[0]).max(initial=0.0))
    unit = np.zeros(points.shape[1])
    unit[0] = 1.0
    if largest == 0.0:
        return unit
    points = (points - points[0]) / largest
    points = points - points.mean(axis=0)
    # A few steps of the power method are enough to start from.
    axis = points[np.argmax(np.einsum("ij,ij->i", points, points))]
    for _ in range(N_ITERATIONS):
        axis = points.T @ (points @ (axis / np.linalg.norm(axis)))
        if not axis.any():
            return unit
    values = points @ axis
    upper = values > np.median(values)
    for _ in range(N_ITERATIONS):
        if upper.all() or not upper.any():
            break
        first, second = points[~upper].mean(axis=0), points[upper].mean(axis=0)
        axis = second - first
        upper = points @ axis > (first + second) @ axis / 2
    length = np.linalg.norm(axis)
    return axis / length if length > 0 else unit


def _project(shifted: np.ndarray, direction: np.ndarray) -> np.ndarray:
    out = np.empty((len(shifted), 1))
    project(shifted, np.zeros(len(direction)), direction[None], np.zeros(1, np.int64), out)
    return out[:, 0]


def _sparse_position(values: np.ndarray) -> int:
    """Position near the middle of sorted values where they are sparse."""
    n = len(values)
    reach = max(1, n // 50)
    low = max(1, int(MIN_FRACTION * n))
    positions = np.arange(low, max(n - low, low) + 1)
    positions = positions[(positions > 0) & (positions < n)]
    widths = (
        values[np.minimum(positions + reach - 1, n - 1)] - values[np.maximum(positions - reach, 0)]
    )
    best = positions[widths == widths.max()]
    return int(best[np.argmin(np.abs(2 * best - n))])


def _threshold(values: np.ndarray, rows: np.ndarray, cut: int) -> tuple[float, int]:
    """Plane between positions ``cut - 1`` and ``cut``, and the last row on it that belongs below."""
    below, above = float(values[cut - 1]), float(values[cut])
    middle = below + (above - below) / 2
    if below < middle:
        return middle, -1
    if below < above:
        return above, -1
    return above, int(rows[cut - 1])


class CellIndex(NamedTuple):
    """What tasks know of all cells.

    Attributes
    ----------
    sizes, first_rows : ndarray (n_cells,) of int
        Number of points, and smallest row; the largest int64 for an empty cell.
    low, high : ndarray (n_cells, D)
        Bounding boxes; of an empty cell infinitely far from everything.
    paths : ndarray (n_cells, depth) of int
        Nodes above each cell.
    intervals : ndarray (n_cells, depth, 2)
        Smallest and largest coordinate along the direction of each of these nodes.
    """

    sizes: np.ndarray
    first_rows: np.ndarray
    low: np.ndarray
    high: np.ndarray
    paths: np.ndarray
    intervals: np.ndarray

    def n_shared(self, cell: int) -> np.ndarray:
        """Number of leading nodes that the path of a cell shares with that of each cell."""
        same = (self.paths == self.paths[cell]) & (self.paths >= 0)
        return np.cumprod(same, axis=1).sum(axis=1)

    def box_costs(self, low: np.ndarray, high: np.ndarray, p: int) -> np.ndarray:
        """Lower bounds of the costs between points in a box and each cell, summed as costs are."""
        costs = np.zeros(len(self.sizes))
        for c in range(len(low)):
            gap = np.maximum(np.maximum(self.low[:, c] - high[c], low[c] - self.high[:, c]), 0.0)
            costs += gap if p == 1 else gap * gap
        return costs
