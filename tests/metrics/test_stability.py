"""Stability of clusters on subsets."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from vicinal import SpectralClustering
from vicinal.metrics import stability


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 30, axis=0) + rng.normal(size=(90, 2))


def test_the_right_number_of_clusters_is_the_most_stable(blobs):
    model = KMeans(n_init=3, random_state=0)
    result = stability(model, blobs, "n_clusters", [1, 2, 3, 6], n_subsets=4, random_state=0)
    assert result.best == 3
    assert result.mean[2] == 1.0
    assert result.n_clusters.tolist() == [1, 2, 3, 6]
    assert "n_clusters=8" in repr(model) or model.n_clusters == 8  # unchanged


@pytest.mark.filterwarnings("ignore:the graph is not fully connected")
def test_nested_parameters_and_seeds(blobs):
    model = SpectralClustering(3, random_state=0)
    results = [
        stability(model, blobs, "graph_params__n_neighbors", [5, 9], n_subsets=2, random_state=1)
        for _ in range(2)
    ]
    assert np.array_equal(results[0].mean, results[1].mean)
    assert results[0].values == [5, 9]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": 3}, "a clusterer"),
        ({"parameter": "clusters"}, "SpectralClustering has assign"),
        ({"values": []}, "a list of values"),
        ({"values": "auto"}, "a list of values"),
        ({"fraction": 0.0}, "fraction"),
        ({"X": [[0.0]]}, "at least 2"),
    ],
)
def test_bad_arguments_are_explained(arguments, message, blobs):
    given = {
        "estimator": SpectralClustering(),
        "X": blobs,
        "parameter": "n_clusters",
        "values": [2],
    }
    with pytest.raises((ValueError, TypeError), match=message):
        stability(**(given | arguments))
