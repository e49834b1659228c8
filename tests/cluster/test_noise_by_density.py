"""Noise by embedding norms and densities: when they agree, and when densities decide alone."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import f1_score

from vicinal import PerceptualClustering
from vicinal.cluster._background import BackgroundNoise
from vicinal.cluster._noise import NoiseSplit, combine_with_density

SPLIT = NoiseSplit(threshold=0.5, gain=0.3, lower_fraction=0.2)


def density(n, n_sparse, depth=0.0):
    sparsity = np.linspace(3.0, 0.0, n)
    is_noise = np.arange(n) < n_sparse
    return BackgroundNoise(is_noise, sparsity, sparsity, 1.0, np.array([[1.0, depth]]))


def test_either_counts_if_norms_and_densities_agree():
    near = np.arange(1000) < 80
    split, is_noise = combine_with_density(SPLIT, near, density(1000, 100))
    assert split.threshold == 0.5
    assert is_noise.sum() == 100


def test_norms_alone_are_not_noise_and_neither_are_the_tails_of_clusters():
    near = np.arange(1000) >= 900
    split, is_noise = combine_with_density(SPLIT, near, density(1000, 20))
    assert split.threshold == 0
    assert not is_noise.any()


def test_densities_decide_alone_with_many_sparse_points_or_a_deep_valley():
    none = np.zeros(1000, dtype=bool)
    assert combine_with_density(SPLIT, none, density(1000, 60))[1].sum() == 60
    assert combine_with_density(SPLIT, none, density(1000, 10, depth=6.0))[1].sum() == 10


def test_uniform_noise_around_blobs_is_found_and_predicted():
    X, _ = make_blobs(600, centers=[[0, 0], [8, 0], [0, 8]], cluster_std=0.5, random_state=0)
    rng = np.random.default_rng(0)
    noise = rng.uniform(-4, 12, (150, 2))
    model = PerceptualClustering(3, random_state=0).fit(np.concatenate([X, noise]))
    assert f1_score(np.arange(750) >= 600, model.labels_ < 0) > 0.8
    far = rng.uniform(4, 12, (50, 2))
    far = far[np.linalg.norm(far - [8, 0], axis=1) > 4]
    assert np.mean(model.predict(far) < 0) > 0.7
    assert np.mean(model.predict(X + 1e-3) >= 0) > 0.9
