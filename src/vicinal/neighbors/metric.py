"""`Metric`: the properties of a metric that searches and graphs depend on, in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import check_points
from vicinal._core.matrix_checks import check_distances
from vicinal._core.memory import require_memory

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike

SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


@dataclass(frozen=True)
class Metric:
    """A metric by its canonical name, or as a callable. Use `as_metric` to create one.

    Attributes
    ----------
    name : str or callable
        "euclidean", "manhattan", "cosine", "precomputed", another metric of
        `sklearn.metrics.pairwise_distances`, or a function of two points.
    """

    name: Any

    @property
    def is_precomputed(self) -> bool:
        """Whether X contains distances instead of points."""
        return self._is_one_of("precomputed")

    @property
    def is_gram(self) -> bool:
        """Whether X holds inner products instead of points; only contextual distances accept them."""
        return self._is_one_of("gram")

    @property
    def is_euclidean(self) -> bool:
        return self._is_one_of("euclidean")

    @property
    def is_cosine(self) -> bool:
        """Whether distances are half the squared Euclidean distances between rows of length 1."""
        return self._is_one_of("cosine")

    @property
    def is_compiled(self) -> bool:
        """Whether k-d trees and compiled kernels support it; other metrics are computed by scikit-learn."""
        return self._is_one_of("euclidean", "manhattan", "cosine")

    @property
    def is_minkowski(self) -> bool:
        """Whether it depends on coordinate differences only, so that points can be translated."""
        return self._is_one_of("euclidean", "manhattan")

    @property
    def accepts_sparse(self) -> bool:
        """Whether points may be the rows of a sparse matrix."""
        return self._is_one_of("euclidean", "cosine")

    @property
    def power(self) -> int:
        """The p of the compiled metrics: 1 for Manhattan, 2 for Euclidean and cosine distances."""
        return 1 if self._is_one_of("manhattan") else 2

    def validate(self, X: Any) -> np.ndarray | sparse.csr_array:
        """Validate points, or distances if the metric is precomputed; only distances may be sparse."""
        return check_distances(X) if self.is_precomputed else check_points(X)

    def validate_points(self, X: Any) -> np.ndarray | sparse.csr_array:
        """Like `validate`, but points may be sparse if the metric allows it."""
        if sparse.issparse(X) and self.accepts_sparse:
            from vicinal.neighbors._sparse_points import check_sparse_points

            return check_sparse_points(X)
        return self.validate(X)

    def pair_distances(self, X: np.ndarray | sparse.csr_array, pairs: np.ndarray) -> np.ndarray:
        """Distance between the two rows of each pair: an array (m,) for pairs (m, 2).

        X contains checked points, or distances if the metric is precomputed.
        """
        first, second = pairs[:, 0], pairs[:, 1]
        if self.is_precomputed:
            return X[first, second]
        if sparse.issparse(X):
            from vicinal.neighbors._sparse_points import SparsePoints

            rows = SparsePoints(X, self)
            return rows.in_metric(rows.pair_squares(rows.X, first, second))
        if not self.is_compiled:
            from vicinal.neighbors._pairwise import PairwisePoints

            return PairwisePoints(X, self).lengths_of(first, second[:, None])[:, 0]
        if self.power == 1:
            return np.abs(X[first] - X[second]).sum(axis=1)
        from vicinal.neighbors._brute_kernels import squared_lengths
        from vicinal.neighbors._exact import Points

        points = Points(X, self)
        squares = np.empty(len(pairs))
        squared_lengths(points.X, pairs, squares)
        return points.in_metric(np.sqrt(squares))

    def distance_rows(self, points: Any) -> Callable[[int, int], np.ndarray]:
        """Function ``(first, last)`` that returns these rows of the distance matrix of checked points."""
        if self.is_precomputed:
            return lambda first, last: points[first:last]
        if self.is_minkowski and not sparse.issparse(points):
            return self._compiled_rows(points)
        n = points.shape[0]
        if n == 1:
            return lambda first, last: np.zeros((1, 1))[first:last]
        from vicinal.neighbors.search import NeighborSearch

        search = NeighborSearch(points, metric=self.name)
        indices, distances = search.nearest(n - 1)
        matrix = np.empty((n, n))
        np.put_along_axis(matrix, indices, distances, axis=1)
        # Matrix products may round d(i, j) and d(j, i) differently.
        matrix = np.minimum(matrix, matrix.T)
        return lambda first, last: matrix[first:last]

    def distance_matrix(self, points: np.ndarray | sparse.csr_array) -> np.ndarray:
        """The distance matrix of checked points; the given one if the metric is precomputed."""
        if self.is_precomputed:
            return points
        n = points.shape[0]
        require_memory(
            40.0 * n * n,
            f"The distance matrix of {n:,} points for metric={self.name!r}",
            "Use metric='euclidean', which needs no matrix, or fewer points.",
        )
        return np.ascontiguousarray(self.distance_rows(points)(0, n))

    def _compiled_rows(self, points: np.ndarray) -> Callable[[int, int], np.ndarray]:
        from vicinal.neighbors._brute_kernels import euclidean_rows, manhattan_rows
        from vicinal.neighbors._exact import Points

        prepared = Points(points, self)
        columns = np.ascontiguousarray(prepared.X.T)
        kernel = euclidean_rows if self.is_euclidean else manhattan_rows

        def rows(first: int, last: int) -> np.ndarray:
            out = np.empty((last - first, len(points)))
            kernel(prepared.X, columns, first, out)
            return out / prepared.factor

        return rows

    def _is_one_of(self, *names: str) -> bool:
        return isinstance(self.name, str) and self.name in names


EUCLIDEAN = Metric("euclidean")
PRECOMPUTED = Metric("precomputed")


def as_metric(metric: MetricLike | Metric) -> Metric:
    """Convert the name of a metric, a synonym or a callable to a `Metric`."""
    if isinstance(metric, Metric):
        return metric
    return Metric(SYNONYMS.get(metric, metric) if isinstance(metric, str) else metric)
