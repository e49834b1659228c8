"""Searches for the nearest point outside a component: a k-d tree, matrix products, rows of costs.

Each has short neighbour lists, which suffice for most points, and a search for the rest. Costs are squared
distances (Euclidean, cosine) or distances (all others); with offsets they are
``scale * d^2 + b_i + b_j``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.rescale import binary_exponent, max_magnitude, safe_factor
from vicinal._core.warn import LongWork
from vicinal.graphs._build._boruvka_kernels import ExcludedEdges, Forest
from vicinal.graphs._build._nearest_foreign_kernels import (
    mark_uniform_nodes,
    points_to_search,
    search_leaves,
    search_products,
    search_rows,
)
from vicinal.graphs._build.separation import distances_to_others
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._brute_kernels import measure_lists, smallest
from vicinal.neighbors._exact import Points
from vicinal.neighbors._kdtree import kernel_kind, nearest_in_tree_order, tree_offsets
from vicinal.neighbors._kdtree_kernels import NO_OFFSETS, KDTree, Offsets
from vicinal.neighbors._pairwise import PairwisePoints
from vicinal.neighbors._sparse_points import SparsePoints
from vicinal.neighbors.metric import Metric

# Rows per task, and the number of costs a task may hold.
BLOCK_ROWS, BLOCK_COSTS = 256, 2_000_000
# Rows of a matrix product, and the number of values it may hold with its factors. Kept small: with few
# points they are most of the memory of a tree.
PRODUCT_ROWS, PRODUCT_VALUES = 128, 2**16
# Up to this size neighbour lists save fractions of a second, but need more memory than everything else.
MAX_POINTS_WITHOUT_LISTS = 30_000
# Up to this number of points, the matrix of all costs takes no longer than a search in a tree, whose kernels
# take seconds to compile. A few components are connected in few rounds, and among more points.
MAX_POINTS_OF_MATRIX, MAX_POINTS_TO_CONNECT = 256, 1024
# Rows of the matrix that are computed at a time, so that they stay in the cache.
MATRIX_ROWS = 32
# Lower bounds by components are computed if there are at least this many queries per component. Then the
# first points of each component search, and the others in stages.
QUERIES_PER_COMPONENT, SCOUTS, STAGE_ROWS = 64, 32, 2048
# Costs and their inverses stay below 2**MAX_EXPONENT.
MAX_EXPONENT = 900
SLOW_TREE = LongWork(
    "the spanning tree", "knn(X), fewer columns (for instance by PCA) or fewer points are faster"
)


class ForeignNeighborTree:
    """Search in a k-d tree; points are numbered by their position in the tree."""

    def __init__(
        self,
        tree: KDTree,
        k: int,
        *,
        p: int = 2,
        offsets: Offsets = NO_OFFSETS,
    ) -> None:
        n = len(tree.points)
        self.tree, self.offsets = tree, offsets
        self.kind = kernel_kind(tree, p, offsets)
        self.order = tree.order
        index = np.int32 if n < 2**31 else np.int64
        self.lists, self.costs = np.empty((n, k), index), np.empty((n, k))
        if k:
            nearest_in_tree_order(tree, self.lists, self.costs, p=p, offsets=offsets)
        self.uniform_component = np.empty(len(tree.bounds), np.int64)

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Largest size of a component that searches; the largest component waits to be found."""
        return int(sizes.max()) - int(sizes.min() < sizes.max())

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        mark_uniform_nodes(self.tree, forest.component, self.uniform_component)

        def search(span: tuple[int, int]) -> None:
            search_leaves(
                self.tree,
                self.kind,
                self.offsets,
                self.uniform_component,
                forest,
                excluded,
                limit,
                *span,
            )

        leaves = self.tree.n_leaves
        spans = blocks(leaves, max(128, leaves // 32))
        map_threads(search, spans, long_work=SLOW_TREE)


class ForeignNeighborRows:
    """Search in rows of costs, computed in blocks; points keep their row numbers."""

    def __init__(self, rows: Callable[[np.ndarray], np.ndarray], n: int, k: int) -> None:
        self.rows = rows
        self.block = max(1, min(BLOCK_ROWS, BLOCK_COSTS // n))
        self.order = np.arange(n)
        self.lists, self.costs = np.empty((n, k), np.int64), np.empty((n, k))

        def fill(span: tuple[int, int]) -> None:
            a, b = span
            smallest(rows(self.order[a:b]), self.order[a:b], self.lists[a:b], self.costs[a:b])

        if k:
            map_threads(fill, blocks(n, self.block), long_work=SLOW_TREE)

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Largest size of a component that searches; each point costs a row, so large ones wait."""
        return max(1, int(np.median(sizes)))

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        queries = points_to_search(forest, limit)

        def search(span: tuple[int, int]) -> None:
            rows = queries[span[0] : span[1]]
            search_rows(self.rows(rows), rows, forest, excluded)

        spans = blocks(len(queries), self.block)
        map_threads(search, spans, long_work=SLOW_TREE)


class ForeignNeighborMatrix(ForeignNeighborRows):
    """Search in the matrix of all costs, for few points."""

    def __init__(self, X: np.ndarray, p: int, offsets: Offsets = NO_OFFSETS) -> None:
        n = len(X)
        columns, costs = np.ascontiguousarray(X.T, dtype=np.float64), np.zeros((n, n))
        for a, b in blocks(n, MATRIX_ROWS):
            # Summed in the order of features, as in the other searches.
            for column in columns:
                gaps = np.subtract.outer(column[a:b], column)
                costs[a:b] += np.abs(gaps) if p == 1 else np.multiply(gaps, gaps, out=gaps)
        if len(offsets.points):
            costs = offsets.scale * costs + (offsets.points[:, None] + offsets.points)
        super().__init__(costs.__getitem__, n, 0)

    def max_component_size_to_search(self, sizes: np.ndarray) -> int:
        """Largest size of a component that searches; the largest component waits to be found."""
        return int(sizes.max()) - int(sizes.min() < sizes.max())


class ForeignNeighborProducts(ForeignNeighborRows):
    """Search by matrix products in single precision; entries they cannot rule out are recomputed."""

    def __init__(
        self,
        X: np.ndarray,
        k: int,
        *,
        offsets: Offsets = NO_OFFSETS,
        lists: np.ndarray | None = None,
    ) -> None:
        n = len(X)
        self.X, self.offsets = X, offsets
        self.order = np.arange(n)
        self.rescaling = brute.fit_rescaling(X)
        self.half = np.empty(n)
        self.columns = max(1, PRODUCT_VALUES // (2 * X.shape[1] + PRODUCT_ROWS))
        for a, b in blocks(n, self.columns):
            self.half[a:b] = brute.half_squares(self.rescaling.transform(X[a:b], np.float32))
        self.cells: tuple[np.ndarray, np.ndarray] | None = None
        self.lists, self.costs = np.empty((n, 0), np.int64), np.empty((n, 0))
        if k and not len(offsets.points):
            if lists is None:
                lists = brute.nearest_others(X, k)[0]
            self.lists, self.costs = np.ascontiguousarray(lists), np.empty(lists.shape)
            # Compare exact squares, not their rounded roots.

            def measure(span: tuple[int, int]) -> None:
                a, b = span
                measure_lists(X, X, a, self.lists[a:b], self.costs[a:b])

            map_threads(measure, blocks(n, 4096))

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        queries = points_to_search(forest, limit)
        if QUERIES_PER_COMPONENT * len(np.unique(forest.component)) > len(queries):
            self._search(queries, forest, excluded)
            return
        self._raise_lower_bounds(queries, forest)
        queries = queries[np.argsort(forest.lower_bound[queries], kind="stable")]
        # The points that face other components come first: their edges rule out most of the others.
        stage = first_of_each(forest.component[queries], SCOUTS)
        while len(queries):
            self._search(queries[stage], forest, excluded)
            found = queries[stage][forest.nearest[queries[stage]] >= 0]
            np.minimum.at(forest.best, forest.component[found], forest.lower_bound[found])
            queries = np.delete(queries, stage)
            may_be_better = forest.lower_bound[queries] <= forest.best[forest.component[queries]]
            queries = queries[may_be_better]
            stage = np.arange(min(len(queries), STAGE_ROWS))

    def _raise_lower_bounds(self, queries: np.ndarray, forest: Forest) -> None:
        """Raise the bounds of points that are far from all other components."""
        first, cell = self._cells(forest.component)
        bounds = distances_to_others(self.X, self.rescaling, cell, forest.component[first])[queries]
        # In the unit of the points, less their rounding errors.
        costs = np.square(bounds / self.rescaling.scale) * (1.0 - 1e-12)
        if len(self.offsets.points):
            least = self.offsets.points[queries] + self.offsets.nodes[0]
            costs = self.offsets.scale * costs + least - 1e-14 * np.abs(least)
        forest.lower_bound[queries] = np.maximum(forest.lower_bound[queries], costs)

    def _cells(self, component: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First point of each cell, and the cell of each point; cells are former components.

        Those of the first call are kept while they are inside components, because smaller cells give better
        bounds.
        """
        if self.cells is None or (component[self.cells[0]][self.cells[1]] != component).any():
            _, *cells = np.unique(component, return_index=True, return_inverse=True)
            self.cells = cells[0], cells[1]
        return self.cells

    def _search(self, queries: np.ndarray, forest: Forest, excluded: ExcludedEdges) -> None:
        forest.lower_bound[queries] = np.inf
        self.search_among(len(self.X), queries, forest, excluded)

    def search_among(
        self, n_candidates: int, queries: np.ndarray, forest: Forest, excluded: ExcludedEdges
    ) -> None:
        """Find foreign points below the lower bounds of queries, among the first points only."""

        def search(span: tuple[int, int]) -> None:
            rows = queries[span[0] : span[1]]
            scaled = self.rescaling.transform(self.X[rows], np.float32)
            for a, b in blocks(n_candidates, self.columns):
                products = scaled @ self.rescaling.transform(self.X[a:b], np.float32).T
                search_products(
                    products, a, self.X, rows, self.half, self.half[a:b].astype(np.float32),
                    self.rescaling.scale, self.offsets, forest, excluded,
                )  # fmt: skip

        with one_blas_thread():
            spans = blocks(len(queries), PRODUCT_ROWS)
            map_threads(search, spans, long_work=SLOW_TREE)


def first_of_each(groups: np.ndarray, count: int) -> np.ndarray:
    """Positions of the first ``count`` members of each group."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    return np.sort(order[np.arange(len(groups)) - starts < count])


class SearchWithLengths(NamedTuple):
    """A search, and the function that turns its costs into lengths."""

    search: ForeignNeighborTree | ForeignNeighborRows
    lengths: Callable[[np.ndarray], np.ndarray]


def foreign_neighbor_search(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    k: int,
    *,
    many_trees: bool = False,
    few_components: bool = False,
    prepared: Points | None = None,
    lists: np.ndarray | None = None,
) -> SearchWithLengths:
    """Fastest exact search for checked points or distances.

    It builds lists of k neighbours where they save time, which is more often with ``many_trees``.
    ``prepared`` holds the same points, whose k-d tree is then shared. ``lists`` are nearest neighbours that
    are known already, without the points themselves.
    """
    if metric.is_precomputed:
        return SearchWithLengths(ForeignNeighborRows(X.__getitem__, len(X), k), np.copy)
    if sparse.issparse(X):
        # Imported here, because the class is derived from one above.

        rows = SparsePoints(X, metric)
        among_rows = ForeignNeighborSparse(rows, k)
        return SearchWithLengths(among_rows, rows.in_metric)
    if metric.is_compiled:
        compiled = prepared or Points(X, metric)
        if len(compiled) <= (MAX_POINTS_TO_CONNECT if few_components else MAX_POINTS_OF_MATRIX):
            matrix = ForeignNeighborMatrix(compiled.X, compiled.p)
            return SearchWithLengths(matrix, lambda costs: lengths_of_costs(compiled, costs))
        if compiled.tree_is_faster(k=max(k, 1), foreign=True):
            tree_search = ForeignNeighborTree(compiled.tree, k, p=compiled.p)
            return SearchWithLengths(tree_search, lambda costs: lengths_of_costs(compiled, costs))
        if metric.power == 2:
            k = k if many_trees or len(X) > MAX_POINTS_WITHOUT_LISTS else 0
            products = ForeignNeighborProducts(compiled.X, k, lists=lists)
            return SearchWithLengths(products, lambda costs: lengths_of_costs(compiled, costs))
    points = PairwisePoints(X, metric)
    search = ForeignNeighborRows(lambda rows: points.distances(points.X[rows]), len(X), k)
    return SearchWithLengths(search, np.copy)


def in_common_unit(
    X: np.ndarray | sparse.csr_array, scale: float, offsets: np.ndarray
) -> tuple[float, np.ndarray]:
    """Scale of squared distances in their safe unit, and offsets, such that their sums are finite."""
    values = X if isinstance(X, np.ndarray) else X.data
    factor = safe_factor(values)
    mantissa, exponent = np.frexp(scale)
    exponent = int(exponent) - 2 * (binary_exponent(factor) - 1)
    # Powers of two that bound squares and offsets; zero has none.
    sizes = [max_magnitude(values) * factor, max_magnitude(offsets)]
    powers = [binary_exponent(size) if size else -MAX_EXPONENT for size in sizes]
    largest = max(2 * powers[0] + exponent, powers[1])
    if max(abs(exponent), abs(largest)) < MAX_EXPONENT:
        return float(np.ldexp(mantissa, exponent)), offsets
    return (
        float(np.ldexp(mantissa, max(exponent - largest, -MAX_EXPONENT))),
        np.ldexp(offsets, -largest),
    )


def offset_search(
    X: np.ndarray | sparse.csr_array,
    metric: Metric,
    scale: float,
    offsets: np.ndarray,
    k: int,
    prepared: Points | None = None,
) -> ForeignNeighborTree | ForeignNeighborRows:
    """`foreign_neighbor_search` for costs ``scale * d^2 + b_i + b_j``, with d in a safe unit."""
    if metric.is_precomputed:
        factor = safe_factor(X)

        def costs(rows: np.ndarray) -> np.ndarray:
            return scale * (X[rows] * factor) ** 2 + (offsets[rows, None] + offsets)

        return ForeignNeighborRows(costs, len(X), k)
    if sparse.issparse(X):
        rows_of_points = SparsePoints(X, metric)
        return ForeignNeighborSparse(rows_of_points, 0, scale=scale, offsets=offsets)
    points = prepared or Points(X, metric)
    if len(points) <= MAX_POINTS_OF_MATRIX:
        return ForeignNeighborMatrix(points.X, 2, Offsets(scale, offsets, offsets))
    if points.tree_is_faster(k=max(k, 1), foreign=True):
        in_tree = tree_offsets(points.tree, scale, offsets)
        return ForeignNeighborTree(points.tree, k, offsets=in_tree)
    with_minimum = Offsets(scale, offsets, np.array([offsets.min()]))
    return ForeignNeighborProducts(points.X, k, offsets=with_minimum)


def lengths_of_costs(points: Points, costs: np.ndarray) -> np.ndarray:
    """Lengths in the metric of compiled points."""
    return points.in_metric(costs if points.p == 1 else np.sqrt(costs))


class ForeignNeighborSparse(ForeignNeighborRows):
    """Search among sparse points; with offsets b, costs are ``scale * d^2 + b_i + b_j``.

    Neighbour lists of length k are built only without offsets.
    """

    def __init__(
        self,
        points: SparsePoints,
        k: int,
        *,
        scale: float = 1.0,
        offsets: np.ndarray | None = None,
    ) -> None:
        n = len(points)
        self.points, self.scale, self.offsets = points, scale, offsets
        self.order = np.arange(n)
        self.lists, self.costs = np.empty((n, 0), np.int64), np.empty((n, 0))
        if k and offsets is None:
            self.lists = points.nearest_others(k)[0]
            pairs = np.repeat(self.order, k), self.lists.ravel()
            self.costs = points.pair_squares(points.X, *pairs).reshape(n, k)

    def find(self, forest: Forest, excluded: ExcludedEdges, limit: int) -> None:
        """Find the nearest foreign point wherever a component's best edge may depend on it."""
        queries = points_to_search(forest, limit)

        def search(span: tuple[int, int]) -> None:
            rows = queries[slice(*span)]
            costs, tolerance = self._approximate_costs(rows)
            costs[forest.component[rows][:, None] == forest.component] = np.inf
            for row, i in enumerate(rows if len(excluded.indptr) else ()):
                costs[row, excluded.indices[excluded.indptr[i] : excluded.indptr[i + 1]]] = np.inf
            nearest = costs.min(axis=1, keepdims=True)
            at, others = np.nonzero((costs <= nearest + 2.0 * tolerance) & np.isfinite(costs))
            costs[:] = np.inf
            costs[at, others] = self._exact_costs(rows[at], others)
            search_rows(costs, rows, forest, excluded)

        spans = blocks(len(queries), self.points.size)
        map_threads(search, spans, long_work=SLOW_TREE)

    def _approximate_costs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of rows to all points, and a bound on their rounding error in each row."""
        costs, tolerance = self.points.approximate_squares(self.points.X[rows])
        if self.offsets is not None:
            costs *= self.scale
            costs += self.offsets[rows, None] + self.offsets
            largest = np.abs(costs).max(axis=1, keepdims=True) + np.abs(self.offsets).max()
            tolerance = self.scale * tolerance + 1e-15 * largest
        return costs, tolerance

    def _exact_costs(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        squares = self.points.pair_squares(self.points.X, rows, others)
        if self.offsets is None:
            return squares
        return self.scale * squares + (self.offsets[rows] + self.offsets[others])
