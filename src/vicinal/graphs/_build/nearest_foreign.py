"""Three ways to the nearest point outside a component: a k-d tree, matrix products, rows of costs.

Each knows short neighbour lists, which settle most points, and a search for the points they do not
settle. Costs are squared distances (Euclidean, cosine) or distances (all others); with offsets they are
``scale * d^2 + b_i + b_j``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.rescale import binary_exponent, max_magnitude, safe_factor
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest
from vicinal.graphs._build._nearest_foreign_kernels import (
    mark_pure,
    open_points,
    search_leaves,
    search_products,
    search_rows,
)
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._brute_kernels import measure_lists, smallest
from vicinal.neighbors._exact import Points
from vicinal.neighbors._kdtree import kernel_kind, nearest_in_tree_order, tree_offsets
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, KDTree, Offsets
from vicinal.neighbors._pairwise import PairwisePoints
from vicinal.neighbors.metric import Metric

# Rows that a task works on at once, and costs that it may hold.
BLOCK_ROWS, BLOCK_COSTS = 256, 2_000_000
# Rows of a product, and numbers that it may hold with its factors: few, for they are most of the memory
# that a tree of few points takes.
PRODUCT_ROWS, PRODUCT_NUMBERS = 128, 2**16
# Up to here, neighbour lists would save products fractions of a second, and take more memory than the rest.
FEW = 30_000
# Costs are kept below this power of two, and so are their inverses.
LARGEST_POWER = 900


class ForeignNeighborTree:
    """Search in a k-d tree; points are numbered by tree position."""

    def __init__(
        self,
        tree: KDTree,
        k: int,
        *,
        p: int = 2,
        offsets: Offsets = NO_OFFSETS,
        n_jobs: int | None = -1,
    ) -> None:
        n = len(tree.points)
        self.tree, self.offsets, self.n_jobs = tree, offsets, n_jobs
        self.kind = kernel_kind(tree, p, offsets)
        self.order = tree.order
        index = np.int32 if n < 2**31 else np.int64
        self.lists, self.costs = np.empty((n, k), index), np.empty((n, k))
        if k:
            nearest_in_tree_order(tree, self.lists, self.costs, p=p, offsets=offsets, n_jobs=n_jobs)
        self.pure = np.empty(len(tree.bounds), np.int64)

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Size of the largest component that searches: the largest of all lets itself be found."""
        return int(sizes.max()) - int(sizes.min() < sizes.max())

    def find(self, forest: Forest, forbidden: ExcludedEdges, limit: int) -> None:
        """Find the nearest outside point wherever a component's best edge may depend on it."""
        mark_pure(self.tree, forest.component, self.pure)

        def search(span: tuple[int, int]) -> None:
            search_leaves(
                self.tree, self.kind, self.offsets, self.pure, forest, forbidden, limit, *span
            )

        leaves = self.tree.n_leaves
        map_threads(search, blocks(leaves, max(128, leaves // 32)), self.n_jobs)


class OutsideInRows:
    """Search in rows of costs, computed a few at a time; points keep their numbers."""

    def __init__(
        self, rows: Callable[[np.ndarray], np.ndarray], n: int, k: int, n_jobs: int | None = -1
    ) -> None:
        self.rows, self.n_jobs = rows, n_jobs
        self.block = max(1, min(BLOCK_ROWS, BLOCK_COSTS // n))
        self.order = np.arange(n)
        self.lists, self.costs = np.empty((n, k), np.int64), np.empty((n, k))

        def fill(span: tuple[int, int]) -> None:
            a, b = span
            smallest(rows(self.order[a:b]), self.order[a:b], self.lists[a:b], self.costs[a:b])

        if k:
            map_threads(fill, blocks(n, self.block), n_jobs)

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Size of the largest component that searches: a search costs a row a point, so the large wait."""
        return max(1, int(np.median(sizes)))

    def find(self, forest: Forest, forbidden: ExcludedEdges, limit: int) -> None:
        """Find the nearest outside point wherever a component's best edge may depend on it."""
        asking = open_points(forest, limit)

        def search(span: tuple[int, int]) -> None:
            chosen = asking[span[0] : span[1]]
            search_rows(self.rows(chosen), chosen, forest, forbidden)

        map_threads(search, blocks(len(asking), self.block), self.n_jobs)


class OutsideByProducts(OutsideInRows):
    """Search by matrix products in single precision whose doubtful entries are measured."""

    def __init__(
        self,
        X: np.ndarray,
        k: int,
        *,
        offsets: Offsets = NO_OFFSETS,
        n_jobs: int | None = -1,
        progress: str | None = None,
    ) -> None:
        n = len(X)
        self.X, self.offsets, self.n_jobs = X, offsets, n_jobs
        self.order = np.arange(n)
        self.frame = brute.find_frame(X)
        self.half = np.empty(n)
        self.columns = max(1, PRODUCT_NUMBERS // (2 * X.shape[1] + PRODUCT_ROWS))
        for a, b in blocks(n, self.columns):
            self.half[a:b] = brute.half_squares(self.frame.place(X[a:b], np.float32))
        self.lists, self.costs = np.empty((n, 0), np.int64), np.empty((n, 0))
        if k and not len(offsets.points):
            self.lists, self.costs = brute.nearest_others(X, k, n_jobs=n_jobs, progress=progress)
            # The squares themselves decide, not their rounded roots.

            def measure(span: tuple[int, int]) -> None:
                a, b = span
                measure_lists(X, X, a, self.lists[a:b], self.costs[a:b])

            map_threads(measure, blocks(n, 4096), n_jobs)

    def find(self, forest: Forest, forbidden: ExcludedEdges, limit: int) -> None:
        """Find the nearest outside point wherever a component's best edge may depend on it."""
        asking = open_points(forest, limit)
        forest.floor[asking] = np.inf

        def search(span: tuple[int, int]) -> None:
            rows = asking[span[0] : span[1]]
            mine = self.frame.place(self.X[rows], np.float32)
            for a, b in blocks(len(self.X), self.columns):
                products = mine @ self.frame.place(self.X[a:b], np.float32).T
                search_products(
                    products, a, self.X, rows, self.half, self.half[a:b].astype(np.float32),
                    self.frame.scale, self.offsets, forest, forbidden,
                )  # fmt: skip

        with one_blas_thread():
            map_threads(search, blocks(len(asking), PRODUCT_ROWS), self.n_jobs)


class Measured(NamedTuple):
    """A search, and what turns its costs into lengths."""

    search: ForeignNeighborTree | OutsideInRows
    lengths: Callable[[np.ndarray], np.ndarray]


def foreign_neighbor_search(
    X: np.ndarray,
    metric: Metric,
    k: int,
    n_jobs: int | None = -1,
    progress: str | None = None,
    *,
    several: bool = False,
) -> Measured:
    """The fastest exact search for checked points or distances.

    It has lists of k neighbours where they pay, as they do the more if ``several`` trees are to be found.
    """
    if metric.is_precomputed:
        return Measured(OutsideInRows(X.__getitem__, len(X), k, n_jobs), np.copy)
    if metric.is_compiled:
        points = Points(X, metric, n_jobs)
        if points.tree_pays(k=max(k, 1)):
            tree_search = ForeignNeighborTree(points.tree, k, p=points.p, n_jobs=n_jobs)
            return Measured(tree_search, lambda costs: _lengths(points, costs))
        if metric.power == 2:
            k = k if several or len(X) > FEW else 0
            products = OutsideByProducts(points.X, k, n_jobs=n_jobs, progress=progress)
            return Measured(products, lambda costs: _lengths(points, costs))
    other = PairwisePoints(X, metric, n_jobs)
    rows = OutsideInRows(lambda chosen: other.distances(other.X[chosen]), len(X), k, n_jobs)
    return Measured(rows, np.copy)


def in_common_unit(X: np.ndarray, scale: float, offsets: np.ndarray) -> tuple[float, np.ndarray]:
    """Scale of squared distances in their safe unit, and offsets, so that their sums are numbers."""
    factor = safe_factor(X)
    mantissa, exponent = np.frexp(scale)
    exponent = int(exponent) - 2 * (binary_exponent(factor) - 1)
    # Powers of two that bound squares and offsets; of a zero there is none.
    sizes = [max_magnitude(X) * factor, max_magnitude(offsets)]
    powers = [binary_exponent(size) if size else -LARGEST_POWER for size in sizes]
    largest = max(2 * powers[0] + exponent, powers[1])
    if max(abs(exponent), abs(largest)) < LARGEST_POWER:
        return float(np.ldexp(mantissa, exponent)), offsets
    return (
        float(np.ldexp(mantissa, max(exponent - largest, -LARGEST_POWER))),
        np.ldexp(offsets, -largest),
    )


def offset_search(
    X: np.ndarray,
    metric: Metric,
    scale: float,
    offsets: np.ndarray,
    k: int,
    n_jobs: int | None = -1,
) -> ForeignNeighborTree | OutsideInRows:
    """The same for costs ``scale * d^2 + b_i + b_j``, Euclidean or precomputed, d in a safe unit."""
    if metric.is_precomputed:
        factor = safe_factor(X)

        def rows(chosen: np.ndarray) -> np.ndarray:
            return scale * (X[chosen] * factor) ** 2 + (offsets[chosen, None] + offsets)

        return OutsideInRows(rows, len(X), k, n_jobs)
    points = Points(X, metric, n_jobs)
    if points.tree_pays(k=max(k, 1)):
        in_tree = tree_offsets(points.tree, scale, offsets)
        return ForeignNeighborTree(points.tree, k, offsets=in_tree, n_jobs=n_jobs)
    least = Offsets(scale, offsets, np.array([offsets.min()]))
    return OutsideByProducts(points.X, k, offsets=least, n_jobs=n_jobs)


def _lengths(points: Points, costs: np.ndarray) -> np.ndarray:
    return points.in_metric(costs if points.p == 1 else np.sqrt(costs))
