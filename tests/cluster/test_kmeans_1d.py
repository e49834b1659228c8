import numpy as np
import pytest

from vicinal._base.row_assignment import kmeans_runs
from vicinal.cluster._normal_mixture import kmeans_labels


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["normal", "two groups", "few values", "one value"])
def test_labels_are_those_of_the_kernels(n_clusters, kind):
    rng = np.random.default_rng(n_clusters)
    values = {
        "normal": rng.normal(size=300),
        "two groups": np.sort(rng.normal(size=301) + np.repeat([0.0, 5.0], [100, 201])),
        # With fewer distinct values than clusters, some clusters are empty.
        "few values": rng.integers(4, size=60).astype(float),
        "one value": np.full(20, 3.0),
    }[kind]
    runs = kmeans_runs(values[:, None], n_clusters, 0, 5)
    for (_, run), labels in zip(runs, kmeans_labels(values, n_clusters, 0, 5), strict=True):
        np.testing.assert_array_equal(labels, run.labels)
