"""Inverted file index: points are clustered by k-means, and each query searches its nearest clusters.

Clusters are processed one by one, each with one matrix product for all queries of a block that search it.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._brute import Rescaling
from vicinal.neighbors._brute_kernels import measure_best, push_candidates

KMEANS_MAX_ITER, SAMPLES_PER_CLUSTER = 6, 32
# The nearest clusters of a point are selected among this many times as many neighbours of its own cluster.
CANDIDATE_FACTOR = 4
# Clusters that are searched before all others, which reduces the reach of a query early.
N_SEARCHED_FIRST = 4
# Queries per task, of which enough search the same cluster for an efficient product, and points per product.
QUERIES_PER_TASK, POINTS_PER_PRODUCT = 16384, 4096


class ClusterIndex:
    """Points clustered by k-means, after projection to the leading principal axes if these are given."""

    def __init__(
        self,
        rescaling: Rescaling,
        half_norms: np.ndarray,
        axes: np.ndarray | None,
        projected: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self.rescaling, self.half_norms, self.axes = rescaling, half_norms, axes
        self.points = projected
        n_clusters = int(2.5 * np.sqrt(len(self.points)))
        self.centers = find_centers(self.points, n_clusters, rng)
        self.labels = nearest_center(self.points, self.centers)
        self.order = np.argsort(self.labels, kind="stable")
        self.sizes = np.bincount(self.labels, minlength=n_clusters)
        self.ends = np.cumsum(self.sizes)
        self.half = brute.half_squares(self.centers).astype(np.float32)
        self.nearest_clusters = np.argsort(
            self.half - self.centers @ self.centers.T, axis=1, kind="stable"
        )

    def project(self, points: np.ndarray) -> np.ndarray:
        """Project rescaled points to the axes."""
        return points if self.axes is None else points @ self.axes.T

    def candidate_clusters(
        self, points: np.ndarray, labels: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """The ``n_clusters`` clusters whose centres are nearest to each point, the nearest few first.

        Only neighbours of the point's own cluster are considered. Points must be sorted by ``labels``.
        """
        n_nearby = min(CANDIDATE_FACTOR * n_clusters + 16, len(self.centers))
        probed = np.empty((len(points), n_clusters), np.uint16)
        partition_at = sorted({min(N_SEARCHED_FIRST, n_clusters) - 1, n_clusters - 1})
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        for a, b in zip(starts, [*starts[1:], len(labels)], strict=True):
            near = self.nearest_clusters[labels[a], :n_nearby]
            keys = self.half[near] - points[a:b] @ self.centers[near].T
            probed[a:b] = near[np.argpartition(keys, partition_at, axis=1)[:, :n_clusters]]
        return probed

    def search(
        self,
        queries: np.ndarray,
        X: np.ndarray,
        targets: np.ndarray,
        labels: np.ndarray,
        k: int,
        n_clusters: int,
        *,
        exclude_self: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find neighbours of queries in X, given the projected queries ``targets`` and their clusters."""
        n, order = len(queries), np.argsort(labels, kind="stable")
        indices, squares = np.empty((n, k), np.int64), np.empty((n, k))

        def search_block(span: tuple[int, int]) -> None:
            rows = order[span[0] : span[1]]
            points = targets[rows]
            probed = self.candidate_clusters(points, labels[rows], n_clusters)
            reach, keys, ids = _empty_lists(len(rows), list_length(k))
            self_ids = rows if exclude_self else np.full(len(rows), -1)
            for part in (probed[:, :N_SEARCHED_FIRST], probed[:, N_SEARCHED_FIRST:]):
                self._search_clusters(points, part, self_ids, reach, keys, ids)
            measure_best(queries, X, rows, ids, indices, squares)
            incomplete = rows[indices[rows, -1] < 0]
            # Products that are exact among the points may not be exact with other queries.
            rescaling = self.rescaling if exclude_self else self.rescaling._replace(exact=())
            brute.search_exhaustively(
                queries, X, rescaling, incomplete, indices, squares, exclude_self
            )

        with one_blas_thread():
            spans = blocks(n, min(QUERIES_PER_TASK, max(1024, n // 8)))
            map_threads(search_block, spans, title="neighbours")
        return indices, np.sqrt(squares, out=squares)

    def _search_clusters(
        self,
        points: np.ndarray,
        probed: np.ndarray,
        self_ids: np.ndarray,
        reach: np.ndarray,
        keys: np.ndarray,
        ids: np.ndarray,
    ) -> None:
        """Push the members of the probed clusters into the list of each point."""
        # numpy sorts 16-bit integers by radix.
        probing = np.argsort(probed, axis=None, kind="stable") // max(1, probed.shape[1])
        ends = np.cumsum(np.bincount(probed.ravel(), minlength=len(self.sizes)))
        for cluster in np.unique(probed):
            at = probing[ends[cluster - 1] if cluster else 0 : ends[cluster]]
            first, last = self.ends[cluster] - self.sizes[cluster], self.ends[cluster]
            for c in range(first, last, POINTS_PER_PRODUCT):
                near = self.order[c : min(c + POINTS_PER_PRODUCT, last)]
                members, point_ids = self.points[near].T, near.astype(np.int32)
                half = self.half_norms[near].astype(np.float32)
                for a, b in blocks(len(at), brute.QUERIES_PER_TASK):
                    products = points[at[a:b]] @ members
                    push_candidates(products, at[a:b], half, point_ids, self_ids, reach, keys, ids)


def list_length(k: int) -> int:
    """Number of candidates to measure for k neighbours; more than k, as projected products are not exact."""
    return k + max(8, k // 4)


def _empty_lists(n: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Empty candidate lists: their reach, keys and point ids."""
    return (
        np.full(n, np.inf, np.float32),
        np.full((n, length), np.inf, np.float32),
        np.full((n, length), -1, np.int32),
    )


def load_kernels(X: np.ndarray) -> None:
    """Compile the kernels of `ClusterIndex.search`, or load them from the cache."""
    rows, (reach, keys, ids) = np.zeros(1, np.int64), _empty_lists(1, 1)
    push_candidates(keys, rows, reach, ids[0], rows, reach, keys, ids)
    measure_best(X[:1], X[:1], rows, ids, ids.astype(np.int64), keys.astype(np.float64))


def find_centers(points: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Find cluster centres by a few iterations of k-means on a sample."""
    size = min(len(points), SAMPLES_PER_CLUSTER * n_clusters)
    sample = points[np.sort(rng.choice(len(points), size, replace=False))]
    centers = sample[rng.choice(size, n_clusters, replace=False)]
    for _ in range(KMEANS_MAX_ITER):
        labels = nearest_center(sample, centers)
        order = np.argsort(labels, kind="stable")
        filled, starts = np.unique(labels[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        # A cluster without points keeps its centre.
        centers[filled] = sums / np.diff(np.append(starts, size))[:, None]
    return centers


def nearest_center(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Index of the centre nearest to each point."""
    half = brute.half_squares(centers).astype(np.float32)
    labels = np.empty(len(points), np.int64)

    def assign(span: tuple[int, int]) -> None:
        a, b = span
        products = points[a:b] @ centers.T
        products -= half
        labels[a:b] = products.argmax(axis=1)

    with one_blas_thread():
        # Large blocks, because a thread may wait for the compiling thread between two of them.
        map_threads(assign, blocks(len(points), 4096))
    return labels
