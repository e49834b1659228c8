"""Separated blobs: where k-means finds all clusters, every estimator with the same number does."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from vicinal import (
    DiffusionMaps,
    KernelKMeans,
    LaplacianEigenmaps,
    PerceptualClustering,
    PerceptualEmbedding,
    SpectralClustering,
)
from vicinal.operators._eigen.solvers import FALLBACK_MAX_NODES

RIGHT = 0.99
CLUSTERINGS = {
    "perceptual": lambda c, s: PerceptualClustering(c, random_state=s),
    "perceptual, k-means": lambda c, s: PerceptualClustering(c, assign="kmeans", random_state=s),
    "perceptual, discretize": lambda c, s: PerceptualClustering(
        c, assign="discretize", random_state=s
    ),
    "perceptual, aligned": lambda c, s: PerceptualClustering(
        c, laplacian="aligned", random_state=s
    ),
    "spectral": lambda c, s: SpectralClustering(c, random_state=s),
    "spectral, ncut": lambda c, s: SpectralClustering(c, method="ncut", random_state=s),
    "spectral, disjoint trees": lambda c, s: SpectralClustering(
        c, graph="disjoint_mst", random_state=s
    ),
}
EMBEDDINGS = {
    "perceptual": lambda s: PerceptualEmbedding(2, random_state=s),
    "perceptual, aligned": lambda s: PerceptualEmbedding(5, laplacian="aligned", random_state=s),
    "eigenmaps": lambda s: LaplacianEigenmaps(2, random_state=s),
    "diffusion": lambda s: DiffusionMaps(2, random_state=s),
}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def blobs(n, d, c, seed):
    """Blobs that k-means gets right; None if it does not."""
    X, y = make_blobs(n, n_features=d, centers=c, random_state=seed)
    labels = KMeans(c, n_init=10, random_state=0).fit(X).labels_
    return (X, y) if adjusted_rand_score(y, labels) == 1 else None


def scores(X, y, c, seed):
    result = {
        name: adjusted_rand_score(y, make(c, seed).fit(X).labels_)
        for name, make in CLUSTERINGS.items()
    }
    if len(X) <= 2000:
        model = KernelKMeans(c, random_state=seed)
        result["kernel k-means"] = adjusted_rand_score(y, model.fit(X).labels_)
    return result


@pytest.mark.parametrize(
    ("n", "d", "c", "seed"),
    [
        (3000, 6, 7, 3),
        (1500, 10, 10, 0),
        (1000, 31, 16, 2),
        (900, 50, 30, 0),
        (600, 5, 2, 0),
        (1000, 12, 15, 7),
        # The walk enters two rows from another blob than the one it goes on to.
        (300, 6, 4, 14),
    ],
)
def test_separated_blobs_are_recovered_when_the_number_is_given(n, d, c, seed):
    X, y = blobs(n, d, c, seed)
    assert {name: s for name, s in scores(X, y, c, seed).items() if s < RIGHT} == {}


@pytest.mark.parametrize("seed", range(6))
def test_no_seed_of_the_estimator_loses_a_blob(seed):
    X, y = blobs(700, 8, 12, 1)
    model = PerceptualClustering(12, random_state=seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_embeddings_of_many_separated_blobs_converge():
    X, _ = make_blobs(
        FALLBACK_MAX_NODES + 1000, n_features=10, centers=12, cluster_std=2, random_state=2
    )
    for make in EMBEDDINGS.values():
        assert np.isfinite(make(0).fit(X).embedding_).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [300, 1000, 3000, 10_000, 50_000])
def test_the_grid_of_blobs_is_recovered_and_embedded(n, seed):
    rng = np.random.default_rng([n, seed])
    c, d = int(rng.integers(2, min(31, n // 25))), int(rng.integers(2, 51))
    data = blobs(n, d, c, seed)
    if data is None:
        pytest.skip("k-means does not recover these")
    assert {name: s for name, s in scores(*data, c, seed).items() if s < RIGHT} == {}
    for make in EMBEDDINGS.values():
        assert np.isfinite(make(seed).fit(data[0]).embedding_).all()


@pytest.mark.parametrize(
    ("n", "d", "c", "seed"), [(300, 34, 2, 0), (300, 22, 7, 4), (1000, 27, 7, 0)]
)
def test_clean_blobs_in_many_dimensions_have_no_noise_when_the_number_is_given(n, d, c, seed):
    X, _ = blobs(n, d, c, seed)
    for laplacian in ("global", "aligned"):
        labels = PerceptualClustering(c, laplacian=laplacian, random_state=seed).fit(X).labels_
        assert labels.min() == 0
