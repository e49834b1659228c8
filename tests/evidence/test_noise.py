"""Background noise by density: the mixture of clusters and noise, and when it is significant."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.datasets import make_blobs
from sklearn.metrics import f1_score

from vicinal import PerceptualClustering
from vicinal.cluster import estimate_clusters
from vicinal.evidence import noise as noise_module
from vicinal.evidence.constants import MAX_TAIL, SAMPLING_ERRORS
from vicinal.evidence.mixture import (
    DensityMixture,
    NoiseLevel,
    _expected_excess,
    _log_member,
    _log_tails,
    fit_mixture,
)
from vicinal.evidence.noise import MIN_NEIGHBORHOODS, find_noise
from vicinal.neighbors import NeighborSearch


def sparsities(n_members, n_noise, seed=0, centers=(0.0, 3.0)):
    """Draws from the mixture: exponential tails of 0.5, noise at 5 above the centers."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_members + n_noise) % len(centers)
    values = np.array(centers)[labels] + 0.6 * rng.normal(size=len(labels))
    values[:n_members] += rng.exponential(0.5, n_members)
    values[n_members:] += 5.0
    return values, labels


def as_distances(values):
    """Distances to 8 neighbours in one dimension with these mean log volumes."""
    return np.repeat(np.exp(values)[:, None], 8, axis=1)


@pytest.mark.parametrize(("spread", "tail"), [(0.5, 0.8), (1.5, 0.1), (0.5, 0.05)])
def test_members_are_a_normal_plus_an_exponential_variable(spread, tail):
    x = np.linspace(-3, 6, 19)
    expected = stats.exponnorm.logpdf(x, tail / spread, scale=spread)
    np.testing.assert_allclose(_log_member(x, spread, tail), expected, rtol=1e-6, atol=1e-6)


def test_expected_excess_is_the_integral_over_the_exponential_part():
    spread, tail = 0.7, 0.4
    sums = np.array([-1.0, 0.5, 3.0])
    mean, variance = _expected_excess(sums, spread, tail, _log_tails(sums, spread, tail))
    for x, first, second in zip(sums, mean, variance, strict=True):

        def density(e, power, x=x):
            return e**power * stats.norm.pdf(x - e, scale=spread) * np.exp(-e / tail)

        moments = [integrate.quad(density, 0, 12, args=(p,))[0] for p in range(3)]
        assert first == pytest.approx(moments[1] / moments[0], rel=1e-6)
        assert second == pytest.approx(moments[2] / moments[0] - first**2, rel=1e-5)


def test_the_parameters_of_a_mixture_are_recovered():
    values, labels = sparsities(6000, 1500)
    fit = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, True)
    np.testing.assert_allclose(fit.centers, [0, 3], atol=0.1)
    assert fit.tail == pytest.approx(0.5, abs=0.1)
    assert fit.spread == pytest.approx(0.6, abs=0.05)
    assert fit.noise.level == pytest.approx(5.0, abs=0.1)
    assert fit.noise.fraction == pytest.approx(0.2, abs=0.01)


def test_noise_needs_evidence():
    values, labels = sparsities(1000, 0)
    clean = find_noise(as_distances(values), 1.0, labels)
    assert not clean.is_noise.any()
    assert clean.threshold == pytest.approx(np.log(1000 / 0.01), abs=1e-6)
    assert clean.gain < 3
    values, labels = sparsities(1000, 50)
    noisy = find_noise(as_distances(values), 1.0, labels)
    assert noisy.gain > 50
    assert f1_score(np.arange(1050) >= 1000, noisy.is_noise) > 0.95


def test_a_single_point_that_is_too_sparse_for_any_cluster_is_an_outlier():
    values, labels = sparsities(1000, 0)
    values[3] = 20.0
    result = find_noise(as_distances(values), 1.0, labels)
    assert result.gain < 3
    np.testing.assert_array_equal(np.flatnonzero(result.is_noise), [3])


@pytest.mark.parametrize(("k", "error"), SAMPLING_ERRORS.items())
def test_the_sampling_error_is_that_of_volumes_in_a_constant_density(k, error):
    # The volumes of balls that reach the neighbours grow by exponential increments.
    volumes = np.random.default_rng(0).exponential(size=(100_000, k)).cumsum(axis=1)
    assert np.log(volumes).mean(axis=1).std() == pytest.approx(error, abs=0.003)


def test_few_outliers_of_a_small_set_are_found_without_evidence_of_noise():
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-1, 1, (150, 2)), [[3, 3], [-3, 2], [0, -4], [4, -2]]]
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    found = find_noise(distances, 2.0, np.zeros(154, dtype=int)).is_noise
    np.testing.assert_array_equal(np.flatnonzero(found), [150, 151, 152, 153])


def test_one_background_around_clusters_of_different_density_is_found():
    # Noise has one density; relative to their clusters, the noise points differ by 4.
    values, labels = sparsities(1000, 0, centers=(0.0, 4.0))
    rng = np.random.default_rng(1)
    values = np.append(values, 8.0 + 0.5 * rng.normal(size=500))
    labels = np.append(labels, np.arange(500) % 2)
    noise = np.arange(1500) >= 1000
    result = find_noise(as_distances(values), 1.0, labels)
    assert f1_score(noise, result.is_noise) > 0.98
    fit = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, True, is_absolute=True)
    assert fit.noise.level == pytest.approx(8.0, abs=0.1)
    assert fit.noise.fraction == pytest.approx(1 / 3, abs=0.02)
    relative = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, True)
    assert fit.log_likelihood > relative.log_likelihood + 50


def test_a_group_sparser_than_the_background_is_part_of_it_and_one_as_sparse_has_no_noise():
    noise = NoiseLevel(5.0, 0.5, 0.2, is_absolute=True)
    mixture = DensityMixture(np.array([0.0, 4.5, 5.5]), 0.5, 0.3, noise, 0.0)
    far = np.array([5.0])
    assert mixture.log_odds(far, 0) > 0
    assert mixture.log_odds(far, 1) == -np.inf
    assert mixture.log_odds(far, 2) == np.inf


def test_half_of_the_points_in_a_heavy_tail_are_not_noise():
    rng = np.random.default_rng(0)
    values = 0.5 * rng.normal(size=2000) + rng.exponential(2.5, 2000)
    result = find_noise(as_distances(values), 1.0, np.zeros(2000, dtype=int))
    assert result.is_noise.mean() < 0.1


def test_the_score_is_a_half_at_the_threshold_and_increases_with_sparsity():
    values, labels = sparsities(1000, 100)
    values[-1] += 50.0
    result = find_noise(as_distances(values), 1.0, labels)
    for cluster in (labels == 0, labels == 1):
        order = np.argsort(result.sparsity[cluster])
        assert (np.diff(result.score[cluster][order]) >= 0).all()
    largest = labels == 0
    is_sparse = result.sparsity[largest] > result.threshold
    assert (result.is_noise[largest] == is_sparse).all()
    assert result.score[-1] == result.score.max() > 0.99
    assert np.interp(result.threshold, *result.curve.T) == pytest.approx(0.5)


def test_clusters_of_a_few_neighbourhoods_have_no_noise():
    values, labels = sparsities(600, 100)
    small = np.arange(len(labels)) < MIN_NEIGHBORHOODS * min(SAMPLING_ERRORS) - 1
    labels[small], values[:8] = 2, values[:8] + 9.0
    result = find_noise(as_distances(values), 1.0, labels)
    assert result.is_noise[~small].any()
    assert not result.is_noise[small].any()
    assert not find_noise(as_distances(values[small]), 1.0, labels[small] - 2).is_noise.any()


def test_a_sample_of_many_points_gives_nearly_the_same_threshold(monkeypatch):
    values, labels = sparsities(5000, 500)
    whole = find_noise(as_distances(values), 1.0, labels)
    monkeypatch.setattr(noise_module, "MAX_FITTED", 1000)
    assert find_noise(as_distances(values), 1.0, labels).threshold == pytest.approx(
        whole.threshold, abs=0.3
    )


@pytest.mark.parametrize("dim", [2, 5, 30])
@pytest.mark.parametrize("n", [200, 2000])
def test_normal_clusters_have_no_noise(dim, n):
    X = np.random.default_rng(dim).normal(size=(n, dim))
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    assert not find_noise(distances, dim, np.zeros(n, dtype=int)).is_noise.any()


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


def sparse_clusters_around_a_dense_one():
    rng = np.random.default_rng(0)
    sparse = [rng.normal([x, 0], 1.0, (150, 2)) for x in (9, -9)]
    return np.concatenate([0.1 * rng.normal(size=(200, 2)), *sparse])


def a_sparse_cluster_beside_dense_ones():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [4, 0], [20, 0]])
    spread = np.repeat([0.2, 0.2, 2.0], 200)[:, None]
    return np.repeat(centers, 200, axis=0) + spread * rng.normal(size=(600, 2))


@pytest.mark.parametrize(
    "make", [sparse_clusters_around_a_dense_one, a_sparse_cluster_beside_dense_ones]
)
def test_sparse_clusters_are_not_noise(make):
    X = make()
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    assert find_noise(distances, 2.0, np.zeros(len(X), dtype=int)).is_noise.mean() > 0.3
    assert estimate_clusters(X).noise.is_noise.mean() < 0.1


def test_noise_that_communities_divide_is_noise():
    rng = np.random.default_rng(41)
    angles = rng.uniform(0, np.pi, 800)
    moons = np.zeros((800, 10))
    moons[:, :2] = np.c_[np.cos(angles), np.sin(angles)]
    moons[400:, :2] = [1.0, 0.5] - moons[400:, :2]
    moons += 0.04 * rng.normal(size=moons.shape)
    noise = rng.uniform(moons.min(axis=0) - 0.2, moons.max(axis=0) + 0.2, (800, 10))
    found = estimate_clusters(np.concatenate([moons, noise])).noise.is_noise
    assert f1_score(np.arange(1600) >= 800, found) > 0.9
