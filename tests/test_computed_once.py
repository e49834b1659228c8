"""A fit computes the scales of nodes, the degrees and the components of its affinity once."""

from collections import Counter

import pytest
from sklearn.datasets import make_blobs

from vicinal import LaplacianEigenmaps, SpectralClustering, graphs
from vicinal._base import affinity_operator
from vicinal.embed import DiffusionMaps
from vicinal.graphs import affinities
from vicinal.operators import _components, laplacians

COUNTED = [
    (affinities, "_node_scales"),
    (laplacians, "_row_sums"),
    (_components, "affinity_components"),
    (affinity_operator, "affinity_components"),
]


@pytest.fixture
def calls(monkeypatch):
    calls = Counter()

    def counting(name, function):
        def call(*args, **options):
            calls[name] += 1
            return function(*args, **options)

        return call

    for module, name in COUNTED:
        monkeypatch.setattr(module, name, counting(name, getattr(module, name)))
    return calls


@pytest.mark.parametrize("scale", ["auto", "local"])
@pytest.mark.parametrize("model", [SpectralClustering(3), LaplacianEigenmaps(2)], ids=repr)
def test_a_fit_computes_scales_degrees_and_components_once(calls, model, scale):
    X, _ = make_blobs(200, centers=3, cluster_std=4.0, random_state=0)
    model.set_params(scale=scale).fit(graphs.knn(X, 10))
    assert calls == {"_node_scales": 1, "_row_sums": 1, "affinity_components": 1}


@pytest.mark.parametrize(("alpha", "n_matrices"), [(0.0, 1), (1.0, 2)])
def test_diffusion_maps_compute_degrees_once_per_matrix(calls, alpha, n_matrices):
    X, _ = make_blobs(200, centers=3, cluster_std=4.0, random_state=0)
    W = graphs.knn(X, 10).affinity()
    calls.clear()
    DiffusionMaps(2, alpha=alpha, graph="precomputed").fit(W)
    assert calls == {"_row_sums": n_matrices, "affinity_components": n_matrices}
