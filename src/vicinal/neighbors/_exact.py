"""Exact search among points: Euclidean, Manhattan and cosine distances."""

from __future__ import annotations

import numpy as np

from vicinal._core.rescale import SAFE_RANGE, max_magnitude, safe_factor
from vicinal._core.validation import check_extent
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import _brute as brute
from vicinal.neighbors import _kdtree as kdtree
from vicinal.neighbors._brute_kernels import manhattan_rows, smallest
from vicinal.neighbors._kdtree_kernels import KDTree
from vicinal.neighbors._pairwise import Table
from vicinal.neighbors._radius import Rows, within_products, within_tree
from vicinal.neighbors._radius_kernels import points_to_visit

# Up to these a tree is faster whatever the data; above, a sample of queries decides.
ALWAYS_TREE, SHORT, N_SAMPLES = 3, 200, 64
# Points that are looked at first, where there are many more.
PILOT = 500


class Points:
    """Points and the roads to their neighbours: a k-d tree, or every pair in blocks.

    Both roads give the same bits, so the choice between them is only one of speed. It is made by
    counting: how many points the tree would have to look at for a sample of queries.
    """

    def __init__(self, X: np.ndarray, metric: str, n_jobs: int | None) -> None:
        self.metric, self.n_jobs = metric, n_jobs
        self.p = 1 if metric == "manhattan" else 2
        self.factor = safe_factor(X) if metric != "cosine" else 1.0
        if metric != "cosine":
            check_extent(X, "X")
        self.X = self._prepare(X, "X")
        self.method: str | None = None
        self._tree: KDTree | None = None
        self._decided: dict[tuple[int | None, float | None], bool] = {}

    def __len__(self) -> int:
        return len(self.X)

    def nearest_others(self, k: int, progress: str | None) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest others of every point."""
        if self.tree_pays(k):
            found = kdtree.nearest_others(self.tree, k, p=self.p, n_jobs=self.n_jobs)
        elif self.p == 1:
            found = self._table(self.X).nearest(k, own=True, progress=progress)
        else:
            found = brute.nearest_others(self.X, k, n_jobs=self.n_jobs, progress=progress)
        return found[0], self.in_metric(found[1])

    def nearest_to(
        self, queries: np.ndarray, k: int, progress: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query."""
        queries = self._prepare(queries, "queries")
        if self.tree_pays(k):
            queries = queries.astype(np.float64, copy=False)
            found = kdtree.nearest_to(self.tree, queries, k, p=self.p, n_jobs=self.n_jobs)
        elif self.p == 1:
            found = self._table(queries).nearest(k, own=False, progress=progress)
        else:
            X, queries = self._alike(queries)
            found = brute.nearest_to(X, queries, k, n_jobs=self.n_jobs, progress=progress)
        return found[0], self.in_metric(found[1])

    def within(self, radius: float, queries: np.ndarray | None, progress: str | None) -> Rows:
        """The points within ``radius`` of each query, or of each point."""
        own = queries is None
        asked = self.X if queries is None else self._prepare(queries, "queries")
        cosine = self.metric == "cosine"
        # A little wider, because the border is decided below, by the cosine distance itself.
        reach = np.sqrt(2 * radius) * (1 + 2.0**-50) if cosine else radius * self.factor
        if self.tree_pays(radius=reach):
            asked = asked.astype(np.float64, copy=False)
            lists = within_tree(self.tree, asked, reach, p=self.p, own=own, n_jobs=self.n_jobs)
        elif self.p == 1:
            lists = self._table(asked).within(reach, own=own, progress=progress)
        else:
            X, asked = self._alike(asked)
            lists = within_products(X, asked, reach, own=own, n_jobs=self.n_jobs, progress=progress)
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
            self._tree = kdtree.build_kdtree(self.X, n_jobs=self.n_jobs)
        return self._tree

    def _prepare(self, X: np.ndarray, name: str) -> np.ndarray:
        if self.metric == "cosine":
            return _unit_vectors(X, name)
        if max_magnitude(X) * self.factor > SAFE_RANGE[1]:
            raise InvalidValueError(
                f"{name} holds values up to {max_magnitude(X):g}, so far from X that squared "
                "distances are no longer numbers; bring both to a common scale."
            )
        return X if self.factor == 1.0 else np.multiply(X, self.factor, dtype=np.float64)

    def _alike(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = np.result_type(self.X, queries)
        return self.X.astype(both, copy=False), queries.astype(both, copy=False)

    def _table(self, queries: np.ndarray) -> Table:
        X = np.ascontiguousarray(self.X.T, dtype=np.float64)
        queries = queries.astype(np.float64, copy=False)

        def rows(a: int, b: int) -> np.ndarray:
            out = np.empty((b - a, X.shape[1]))
            manhattan_rows(queries, X, a, out)
            return out

        return Table(rows, len(queries), X.shape[1], self.n_jobs)

    def in_metric(self, distances: np.ndarray) -> np.ndarray:
        """Distances between the prepared points as distances of the metric between the given ones."""
        if self.metric == "cosine":
            return distances**2 / 2
        return distances if self.factor == 1.0 else distances / self.factor

    def tree_pays(self, k: int | None = None, radius: float | None = None) -> bool:
        """Whether the tree is the faster road to k neighbours, or to those within a radius."""
        if (k, radius) not in self._decided:
            low = self.X.shape[1] <= ALWAYS_TREE and (k or 1) <= SHORT
            self._decided[k, radius] = low or self._tree_is_cheaper(k, radius)
            if not self._decided[k, radius]:
                self._tree = None  # it is as large as the points
        pays = self._decided[k, radius]
        every_pair = "direct" if self.p == 1 else "blocked"
        self.method = "kdtree" if pays else every_pair
        return pays

    def _tree_is_cheaper(self, k: int | None, radius: float | None) -> bool:
        if k is not None and len(self.X) > 8 * PILOT:
            # A search among fewer points visits fewer: if that is too dear, no tree is needed to know.
            pilot = Points(self.X[:: len(self.X) // PILOT].copy(), self.metric, 1)
            if pilot._visits(k, None) * self._visit_cost > self._pairs_cost(k):
                return False
        return self._visits(k, radius) * self._visit_cost < self._pairs_cost(k or 1)

    @property
    def _visit_cost(self) -> float:
        """Nanoseconds that a point in a leaf costs, as measured."""
        return 20.0 + 4.0 * self.X.shape[1]

    def _pairs_cost(self, k: int) -> float:
        """The same for a point's pairs in blocks, beyond what lists of k cost in the tree."""
        n, d = self.X.shape
        pair_cost = 0.1 + 0.15 * d if self.p == 1 else 0.5 + 0.012 * d
        list_cost = 130.0 * (k + max(8, k // 4)) * (1 + np.log(n / k))
        return n * pair_cost + list_cost - 0.8 * k**2

    def _visits(self, k: int | None, radius: float | None) -> float:
        """Points that a search in the tree looks at, on average."""
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
            X, asked = self._alike(self.X[rows])
            reach = brute.nearest_to(X, asked, min((k or 1) + 1, n), n_jobs=1)[1][:, -1]
        kind = kdtree.kernel_kind(self.tree, self.p)
        reach = np.minimum(reach, 1e150) ** self.p
        return float(points_to_visit(self.tree, kind, sample, reach) / len(rows))


def _unit_vectors(X: np.ndarray, name: str) -> np.ndarray:
    """Rows of length one; scaled first, so that squares of extreme entries are numbers."""
    size = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    zero = np.flatnonzero(size == 0)
    if len(zero):
        raise InvalidValueError(
            f"metric='cosine', but {len(zero)} row(s) of {name} are zero vectors, which have no "
            f"direction, the first at {zero[:5].tolist()}; drop these rows or use metric='euclidean'."
        )
    scaled = X / size
    return scaled / np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
