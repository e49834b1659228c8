"""Exact search among points: Euclidean, Manhattan and cosine distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from vicinal._core.array_checks import FEW_VALUES, check_extent
from vicinal._core.parallel import blocks
from vicinal._core.rescale import SAFE_RANGE, max_magnitude, safe_factor
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import _brute as brute
from vicinal.neighbors import _kdtree as kdtree
from vicinal.neighbors._brute_kernels import manhattan_rows, smallest
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors._pairwise import Table
from vicinal.neighbors._quantized import (
    MAX_FEATURES,
    QuantizedPoints,
    can_quantize,
    nearest_to_few,
    quantize_points,
)
from vicinal.neighbors._radius import Rows, within_products, within_tree
from vicinal.neighbors._radius_kernels import points_to_visit
from vicinal.neighbors._zero_vectors import largest_magnitudes
from vicinal.neighbors.metric import Metric, as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike
    from vicinal.neighbors.search import NeighborSearch

# Up to this dimension and number of neighbours, a tree is always faster; beyond, a sample decides.
TREE_MAX_FEATURES, TREE_MAX_NEIGHBORS, N_SAMPLES = 3, 200, 64
# A search for a point of another component visits this many times the points of a search for neighbours.
FOREIGN_VISITS = 2.0
# A copy of the points in single precision, or in 8 bits, is kept for later queries if it is not larger.
MAX_KEPT_BYTES = 2**28
# Up to this number of queries, time is spent on reading points, and codes of 8 bits are faster; but not with
# so few coordinates that the cache of the processor holds them.
FEW_QUERIES, MIN_QUANTIZED_SIZE = 8, 2**20
# Size of the subset that is tried first if there are many more points, and the step between the points of a
# second one.
PILOT_SIZE, PILOT_STEP = 500, 16


class Points:
    """Points searched with a k-d tree, or by brute force in blocks.

    Both give bit-identical results, so the choice between them only affects speed. It is made by counting the
    points that the tree would visit for a sample of queries.
    """

    # Whether unit vectors of points in single precision keep it, which halves their memory.
    _single_units = False

    def __init__(self, X: np.ndarray, metric: MetricLike | Metric) -> None:
        metric, factor = as_metric(metric), 1.0
        if not metric.is_cosine:
            factor = safe_factor(X)
            check_extent(X, "X")
        self._set_up(metric, factor)
        self.X = self._prepare(X, "X")

    @classmethod
    def prepared(cls, X: np.ndarray, metric: Metric, factor: float) -> Self:
        """Points that are part of a larger set, whose ``factor`` they have been multiplied by already."""
        points = cls.__new__(cls)
        points._set_up(metric, factor)
        points.X = X
        return points

    def _set_up(self, metric: Metric, factor: float) -> None:
        self.metric, self.factor = metric, factor
        self.p = metric.power
        self.method: str | None = None
        self._tree: KDTree | None = None
        self._rescaled: brute.PreparedPoints | None = None
        self._quantized: QuantizedPoints | None = None
        self._decided: dict[tuple[int | None, float | None, bool], bool] = {}

    def __len__(self) -> int:
        return len(self.X)

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point."""
        indices, distances = self.prepared_others(k)
        return indices, self.in_metric(distances, out=distances)

    def nearest_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query."""
        indices, distances = self.prepared_to(self._prepare(queries, "queries"), k)
        return indices, self.in_metric(distances)

    def prepared_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """`nearest_others`, with distances between prepared points."""
        if self.tree_is_faster(k):
            return kdtree.nearest_others(self.tree, k, p=self.p)
        if self.p == 1:
            return self._table(self.X).nearest(k, exclude_self=True)
        return brute.nearest_others(self.X, k)

    def prepared_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """`nearest_to` for prepared queries, with distances between prepared points."""
        if self.tree_is_faster(k):
            queries = queries.astype(np.float64, copy=False)
            return kdtree.nearest_to(self.tree, queries, k, p=self.p)
        if self.p == 1:
            return self._table(queries).nearest(k, exclude_self=False)
        X, queries = self._same_dtype(queries)
        codes = self._quantized_points() if len(queries) <= FEW_QUERIES else None
        if codes is not None and can_quantize(queries, codes):
            return nearest_to_few(self.X, codes, queries, k)
        return brute.nearest_to(
            X,
            queries,
            k,
            prepared=self._prepared_points() if X is self.X else None,
        )

    def _prepared_points(self) -> brute.PreparedPoints | None:
        """Rescaled points, which are kept after the first search for queries unless they are large."""
        if self._rescaled is None and 4 * self.X.size <= MAX_KEPT_BYTES:
            self._rescaled = brute.prepare(self.X)
        return self._rescaled

    def _quantized_points(self) -> QuantizedPoints | None:
        """Points in 8 bits, which are kept after the first search for few queries unless they are large."""
        large = MIN_QUANTIZED_SIZE <= self.X.size <= MAX_KEPT_BYTES
        if self._quantized is None and large and self.X.shape[1] <= MAX_FEATURES:
            self._quantized = quantize_points(self.X)
        return self._quantized

    def release_copies(self) -> None:
        """Free copies of the points, which later searches compute again."""
        self._rescaled = self._quantized = None

    def within(self, radius: float, queries: np.ndarray | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        exclude_self = queries is None
        targets = self.X if queries is None else self._prepare(queries, "queries")
        cosine = self.metric.is_cosine
        # Slightly wider; the cosine distance itself decides below.
        reach = np.sqrt(2 * radius) * (1 + 2.0**-50) if cosine else radius * self.factor
        if self.tree_is_faster(radius=reach):
            targets = targets.astype(np.float64, copy=False)
            lists = within_tree(self.tree, targets, reach, p=self.p, exclude_self=exclude_self)
        elif self.p == 1:
            lists = self._table(targets).within(reach, exclude_self=exclude_self)
        else:
            X, targets = self._same_dtype(targets)
            lists = within_products(
                X,
                targets,
                reach,
                exclude_self=exclude_self,
                prepared=self._rescaled if X is self.X else None,
            )
        indptr, indices, distances = lists[0], lists[1], self.in_metric(lists[2])
        if cosine:
            near = distances <= radius
            indptr = np.concatenate([[0], np.cumsum(near)])[indptr]
            indices, distances = indices[near], distances[near]
        return indptr, indices, distances

    @property
    def tree(self) -> KDTree:
        """The k-d tree, built when it is first needed."""
        if self._tree is None:
            self._tree = kdtree.build_kdtree(self.X)
        return self._tree

    def _prepare(self, X: np.ndarray, name: str) -> np.ndarray:
        if self.metric.is_cosine:
            single = self._single_units and X.dtype == np.float32
            return unit_vectors(X, name, np.float32 if single else np.float64)
        if max_magnitude(X) * self.factor > SAFE_RANGE[1]:
            raise InvalidValueError(
                f"{name} contains values up to {max_magnitude(X):g}, so far from X that squared "
                "distances overflow; rescale both."
            )
        return X if self.factor == 1.0 else np.multiply(X, self.factor, dtype=np.float64)

    def is_ordinary_point(self, X: Any) -> bool:
        """Whether X is one query that needs no preparation, checked in a fraction of the time of a search."""
        if (
            type(X) is not np.ndarray
            or X.shape != (1, self.X.shape[1])
            or X.dtype != np.float64
            or X.size > FEW_VALUES
            or self.metric.is_cosine
            or self.factor != 1.0
            or not X.flags.c_contiguous
        ):
            return False
        limit = SAFE_RANGE[1]
        return all(-limit <= value <= limit for value in X[0].tolist())

    def _same_dtype(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dtype = np.result_type(self.X, queries)
        return self.X.astype(dtype, copy=False), queries.astype(dtype, copy=False)

    def _table(self, queries: np.ndarray) -> Table:
        X = np.ascontiguousarray(self.X.T, dtype=np.float64)
        queries = queries.astype(np.float64, copy=False)

        def rows(a: int, b: int) -> np.ndarray:
            out = np.empty((b - a, X.shape[1]))
            manhattan_rows(queries, X, a, out)
            return out

        return Table(rows, len(queries), X.shape[1])

    def in_metric(self, distances: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Distances in the metric, from distances between prepared points."""
        if self.metric.is_cosine:
            return np.divide(np.square(distances, out=out), 2.0, out=out)
        return distances if self.factor == 1.0 else np.divide(distances, self.factor, out=out)

    def tree_is_faster(
        self, k: int | None = None, radius: float | None = None, *, foreign: bool = False
    ) -> bool:
        """Whether the tree is faster for k neighbours, for a radius, or for points of other components."""
        question = k, radius, foreign
        if question not in self._decided:
            low = self.X.shape[1] <= TREE_MAX_FEATURES and (k or 1) <= TREE_MAX_NEIGHBORS
            self._decided[question] = low or self._tree_is_cheaper(*question)
            if not self._decided[question]:
                self._tree = None  # frees as much memory as the points take
        use_tree = self._decided[question]
        brute_force = "direct" if self.p == 1 else "blocked"
        self.method = "kdtree" if use_tree else brute_force
        return use_tree

    def _tree_is_cheaper(self, k: int | None, radius: float | None, foreign: bool) -> bool:
        cost = self._visit_cost * (FOREIGN_VISITS if foreign else 1.0)
        n = len(self.X)
        # A smaller tree visits fewer points. If even that is too slow, the full tree is not built.
        for size in (PILOT_SIZE, n // PILOT_STEP):
            if max(8 * PILOT_SIZE, 8 * size) < n and size >= PILOT_SIZE:
                pilot = Points.prepared(self.X[:: n // size].copy(), self.metric, self.factor)
                if pilot._visits(k, radius) * cost > self._pairs_cost(k or 1):
                    return False
        return self._visits(k, radius) * cost < self._pairs_cost(k or 1)

    def tree_is_faster_among(self, n: int, k: int) -> bool:
        """Whether trees are faster for k neighbours among n points, of which these are a part."""
        if self.p == 1 or self.X.shape[1] <= TREE_MAX_FEATURES:
            return True
        return self._visits(k, None) * self._visit_cost < n / len(self) * self._pairs_cost(k)

    def seconds_per_pair(self, k: int) -> float:
        """Measured CPU time to compare a point with each of the others, by the faster search."""
        if self.tree_is_faster(k):
            return 1e-9 * self._visits(k, None) * self._visit_cost / len(self)
        return 1e-9 * self._pairs_cost(k) / len(self)

    @property
    def _visit_cost(self) -> float:
        """Measured cost of a visited point, in nanoseconds."""
        return max(12.0, 0.8 * self.X.shape[1])

    def _pairs_cost(self, k: int) -> float:
        """Measured cost of comparing a point with all others, in ns, minus that of its list in a tree."""
        n, d = self.X.shape
        pair_cost = 0.1 + 0.15 * d if self.p == 1 else 0.5 + 0.012 * d
        list_cost = 130.0 * (k + max(8, k // 4)) * (1 + np.log(n / k))
        return n * pair_cost + list_cost - 0.8 * k**2

    def _visits(self, k: int | None, radius: float | None) -> float:
        """Mean number of points that a tree search visits."""
        n = len(self.X)
        rows = np.linspace(0, n - 1, min(n, N_SAMPLES)).astype(np.int64)
        sample = self.X[rows].astype(np.float64, copy=False)
        if radius is not None:
            reach = np.full(len(rows), radius)
        elif self.p == 1:
            ids, keys = np.empty((len(rows), k or 1), np.int64), np.empty((len(rows), k or 1))
            table = self._table(sample)
            smallest(table.rows(0, len(rows)), rows, ids, keys)
            reach = keys[:, -1]
        else:
            X, targets = self._same_dtype(self.X[rows])
            reach = brute.nearest_to(X, targets, min((k or 1) + 1, n))[1][:, -1]
        kind = kdtree.kernel_kind(self.tree, self.p)
        reach = np.minimum(reach, 1e150) ** self.p
        return float(points_to_visit(self.tree, kind, sample, reach) / len(rows))


def prepared_points(search: NeighborSearch) -> Points | None:
    """The points of a search with their k-d tree, to be shared; None if it has another backend."""
    backend = search._backend
    return backend if isinstance(backend, Points) else None


def nearest_to_new(search: NeighborSearch, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """`NeighborSearch.nearest` for new points; the checks of one point would take as long as its search."""
    searched = prepared_points(search)
    if searched is not None and searched.is_ordinary_point(X):
        return searched.prepared_to(X, k)
    return search.nearest(k, queries=X)


def prepare_for_few(search: NeighborSearch, k: int) -> None:
    """Quantise the points of a large search now instead of in the first search for few queries."""
    points = prepared_points(search)
    if points is not None and points.X.size >= MIN_QUANTIZED_SIZE:
        points.prepared_to(points.X[:1], k)


def release_copies(search: NeighborSearch) -> None:
    """Free copies of the points that are kept for later searches, which compute them again."""
    points = prepared_points(search)
    if points is not None:
        points.release_copies()


def unit_vectors(X: np.ndarray, name: str, dtype: type = np.float64) -> np.ndarray:
    """Normalise rows to length 1; they are rescaled first, so that squares stay in range."""
    largest = largest_magnitudes(X, name)[:, None]
    unit: np.ndarray = np.empty(X.shape, dtype)
    for a, b in blocks(len(X), max(1, 2**15 // X.shape[1])):
        scaled = X[a:b] / largest[a:b]
        unit[a:b] = scaled / np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return unit
