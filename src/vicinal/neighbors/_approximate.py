"""Approximate neighbours, with a recall that is estimated before the search.

Points are clustered by k-means, and each query is compared with the members of the clusters whose centres are
nearest, after projection to the leading principal axes. The numbers of axes and clusters are chosen on a
sample of points whose exact neighbours are known: the clusters of these neighbours, and their ranks after the
projection, determine the recall.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np

from vicinal._core.parallel import one_blas_thread
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._exact import MAX_KEPT_BYTES, Points
from vicinal.neighbors._ivf import ClusterIndex, list_length, load_kernels, nearest_center
from vicinal.neighbors._projection import (
    CANDIDATES_PER_ENTRY,
    N_SAMPLES,
    Sample,
    draw_sample,
    fraction_listed,
    leading_axes,
    nearest_keys,
)
from vicinal.neighbors.metric import Metric

# Below this number of points, the exact search is as fast.
MIN_POINTS = 10_000
# Unit vectors of points in single precision are in double precision, unless they take more memory than this.
MAX_DOUBLE_BYTES = 2**30
# Fraction of the allowed misses that may be due to the projection.
PROJECTION_LOSS_FRACTION = 1 / 6
# Cost of a pair within clusters relative to the exact search, which uses each product for two points.
RELATIVE_PAIR_COST = 6.0
# Minimum number of queries per sampled query; with fewer, estimating the recall does not pay.
QUERIES_PER_SAMPLE = 6
# Number of clusters that are tried first for queries.
INITIAL_CLUSTERS = 4
# Beyond this multiple of the extent of the points, single precision cannot distinguish queries.
MAX_QUERY_MAGNITUDE = 100.0


class ClusteredPoints(Points):
    """Points in a cluster index; the exact search is used if it is as fast."""

    def __init__(self, X: np.ndarray, metric: Metric, recall: float, random_state: Any) -> None:
        self._single_units = 8 * X.size > MAX_DOUBLE_BYTES
        super().__init__(X, metric)
        self.target_recall, self.recall = recall, 1.0
        self.rng = np.random.default_rng(random_state)
        self._index: ClusterIndex | None = None

    def nearest_others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k nearest neighbours of every point, approximately."""
        # Products are small here; with more threads, synchronisation would dominate.
        with one_blas_thread():
            index, n_clusters = self._choose_n_clusters(k)
        if index is None:
            return super().nearest_others(k)
        indices, distances = index.search(
            self.X, self.X, index.points, index.labels, k, n_clusters,
            exclude_self=True,
        )  # fmt: skip
        return indices, self.in_metric(distances, out=distances)

    def nearest_to(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k points nearest to each query, approximately."""
        targets, result = self._prepare(queries, "queries"), None
        if len(queries) > QUERIES_PER_SAMPLE * N_SAMPLES and self._may_be_faster(k):
            with one_blas_thread():
                index = self._index or self._sampled_points(k)[0]
                result = self._search_index(index, *self._same_dtype(targets), k)
        if result is None:
            self.recall = 1.0
            return super().nearest_to(queries, k)
        return result[0], self.in_metric(result[1])

    def release_copies(self) -> None:
        """Free copies of the points and their index, which later searches compute again."""
        super().release_copies()
        self._index = None

    def _prepared_points(self) -> brute.PreparedPoints | None:
        """Rescaled points; points with an index are for many queries, so they are kept at any size."""
        if self._rescaled is None and self._index is not None:
            self._rescaled = brute.prepare(self.X)
        return super()._prepared_points()

    def _search_index(
        self, index: ClusterIndex, X: np.ndarray, queries: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Search as many clusters as the recall requires; None if the exact search is as fast."""
        if brute.rescaled_magnitude(queries, index.rescaling) > MAX_QUERY_MAGNITUDE:
            return None
        points = index.project(brute.rescale(queries, index.rescaling).points)
        labels = nearest_center(points, index.centers)
        sample = self.rng.choice(len(queries), N_SAMPLES, replace=False)
        sample = sample[np.argsort(labels[sample], kind="stable")]
        true_distances = brute.nearest_to(X, queries[sample], k)[1]
        n_clusters = INITIAL_CLUSTERS
        while True:
            n_clusters = min(n_clusters, len(index.centers))
            probed = index.candidate_clusters(points[sample], labels[sample], n_clusters)
            if _is_too_slow(index, probed):
                return None
            distances = index.search(
                queries[sample], X, points[sample], labels[sample], k, n_clusters,
                exclude_self=False,
            )[1]  # fmt: skip
            # Compared by distance, so that any of several tied neighbours counts.
            recalls = (distances <= true_distances[:, -1:]).mean(axis=1)
            if self._is_sufficient(recalls):
                break
            n_clusters += n_clusters // 2
        self.method, self.recall = "ivf", float(recalls.mean())
        return index.search(
            queries, X, points, labels, k, n_clusters,
            exclude_self=False,
        )  # fmt: skip

    def _may_be_faster(self, k: int) -> bool:
        return len(self.X) >= MIN_POINTS and k <= len(self.X) // 20

    def _is_sufficient(self, recalls: np.ndarray) -> bool:
        """Whether the recalls of a sample exceed the target by two standard errors."""
        margin = 2 * recalls.std() / np.sqrt(len(recalls))
        return bool(recalls.mean() - margin >= self.target_recall)

    def _choose_n_clusters(self, k: int) -> tuple[ClusterIndex | None, int]:
        """The index, and the number of clusters to search; None if the exact search is as fast."""
        self.recall = 1.0
        if not self._may_be_faster(k):
            return None, 0
        index, sample, listed = self._sampled_points(k)
        # `ClusterIndex.candidate_clusters` needs points that are sorted by cluster.
        labels = index.labels[sample.rows]
        order = np.argsort(labels, kind="stable")
        listed, labels, points = listed[order], labels[order], index.points[sample.rows[order]]
        neighbor_labels = index.labels[sample.near[order, :k]]
        n_clusters, recalls = 0, np.zeros(1)
        while not self._is_sufficient(recalls):
            n_clusters += max(1, n_clusters // 8)
            if n_clusters > len(index.centers):
                return None, 0
            probed = index.candidate_clusters(points, labels, n_clusters)
            in_probed = (neighbor_labels[:, :, None] == probed[:, None, :]).any(axis=2)
            recalls = listed * in_probed.mean(axis=1)
        if _is_too_slow(index, probed):
            return None, 0
        self.method, self.recall = "ivf", float(recalls.mean())
        return index, n_clusters

    def _sampled_points(self, k: int) -> tuple[ClusterIndex, Sample, np.ndarray]:
        """The index, built once, a sample, and the fraction of its k neighbours left by the projection."""
        length = list_length(k)
        prepared = self._rescaled or brute.prepare(self.X)
        if self._index is None:
            # The first time, kernels compile for a second, while numpy works in this thread.
            Thread(target=load_kernels, args=(self.X,)).start()
        points, half_norms = prepared.points
        half = half_norms.astype(np.float32)
        sample = draw_sample(points, half, CANDIDATES_PER_ENTRY * length, self.rng)

        def listed_in(projected: np.ndarray) -> np.ndarray:
            candidates = nearest_keys(projected, half, sample.rows, length)
            return fraction_listed(self.X, sample, candidates, k)

        if self._index is not None:
            return self._index, sample, listed_in(self._index.points)
        max_loss = PROJECTION_LOSS_FRACTION * (1 - self.target_recall)
        axes = leading_axes(points, half, sample, k, length, max_loss, self.rng)
        projected = points if axes is None else points @ axes.T
        listed = listed_in(projected)
        # If the candidates of the sample are all duplicates of one point, any axes seem sufficient.
        if axes is not None and 1 - listed.mean() > 2 * max_loss:
            axes, projected = None, points
            listed = listed_in(projected)
        if axes is None or points.nbytes <= MAX_KEPT_BYTES:
            self._rescaled = prepared  # for queries, and for lists of another length
        self._index = ClusterIndex(prepared.rescaling, half_norms, axes, projected, self.rng)
        return self._index, sample, listed


def _is_too_slow(index: ClusterIndex, probed: np.ndarray) -> bool:
    """Whether the exact search is as fast as a search of the ``probed`` clusters."""
    n_pairs = index.sizes[probed].sum(axis=1).mean()
    return bool(n_pairs * RELATIVE_PAIR_COST > len(index.points))
