"""k-means on the rows of eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from vicinal._base import row_assignment
from vicinal._base.row_assignment import (
    kmeans,
    kmeans_runs,
    number_by_first_occurrence,
    unit_rows,
)
from vicinal._core.parallel import one_openmp_thread
from with_threads import with_threads


def test_unit_rows_are_clustered_as_by_scikit_learn():
    for n, d, k, seed in ((300, 2, 2, 0), (400, 5, 5, 1), (700, 8, 12, 2), (50, 3, 20, 3)):
        X, _ = make_blobs(n, n_features=d, centers=k, cluster_std=4.0, random_state=seed)
        rows = unit_rows(X)
        labels, centers = kmeans(rows, k, seed)
        with one_openmp_thread():
            expected = KMeans(k, n_init=row_assignment.N_INIT, random_state=seed).fit(rows)
        np.testing.assert_array_equal(labels, expected.labels_)
        np.testing.assert_allclose(centers, expected.cluster_centers_, atol=1e-12)


def test_a_sample_initialises_all_rows_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr(row_assignment, "KMEANS_SAMPLE_SIZE", 100)
    X, _ = make_blobs(1000, n_features=3, centers=4, cluster_std=2.0, random_state=0)
    chosen = np.sort(np.random.default_rng(5).choice(1000, 100, replace=False))
    start = KMeans(4, n_init=row_assignment.N_INIT, random_state=5).fit(X[chosen])
    expected = KMeans(4, init=start.cluster_centers_, n_init=1).fit(X)
    labels, centers = kmeans(X, 4, 5)
    np.testing.assert_array_equal(labels, expected.labels_)
    np.testing.assert_allclose(centers, expected.cluster_centers_, atol=1e-10)


@pytest.mark.parametrize("n_distinct", [1, 2, 3])
def test_fewer_distinct_rows_than_clusters_leave_clusters_empty(n_distinct):
    rows = np.repeat(np.eye(3)[:n_distinct], 5, axis=0)
    labels = kmeans(rows, 4, 0).labels
    np.testing.assert_array_equal(
        number_by_first_occurrence(labels), np.repeat(np.arange(n_distinct), 5)
    )


def test_any_number_of_threads_gives_the_same_bits():
    rows = unit_rows(np.random.default_rng(0).standard_normal((500, 6)))
    one, two = (with_threads(k, kmeans, rows, 6, 1) for k in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_as_many_clusters_as_rows():
    rows = np.random.default_rng(0).standard_normal((7, 2))
    assert len(set(kmeans(rows, 7, 0).labels.tolist())) == 7


def test_rows_at_their_centres_need_one_run_and_give_the_same_clusters():
    points = np.random.default_rng(0).normal(size=(4, 3))
    rows = points[np.random.default_rng(1).integers(4, size=200)]
    runs = kmeans_runs(rows, 4, 0, 10, until_perfect=True)
    assert len(runs) == 1
    assert len(kmeans_runs(rows, 4, 0, 10)) == 10
    assert len(kmeans_runs(rows, 3, 0, 10, until_perfect=True)) == 10
    labels = kmeans(rows, 4, 0).labels
    assert all(len(np.unique(rows[labels == c], axis=0)) == 1 for c in range(4))
