"""Background noise by density: the mixture of clusters and noise, and when it is significant."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import f1_score

from vicinal import PerceptualClustering
from vicinal.cluster import _background, _noise_evidence, estimate_clusters
from vicinal.cluster._background import (
    MIN_NEIGHBORHOODS,
    SAMPLING_ERRORS,
    background_noise,
    no_noise,
)
from vicinal.cluster._density_mixture import (
    DensityMixture,
    NoiseLevel,
    _expected_excess,
    _log_member,
    _log_tails,
    fit_mixture,
)
from vicinal.cluster._density_views import MIN_POINTS, count_modes
from vicinal.cluster._evidence_result import one_cluster
from vicinal.cluster._noise import _is_noise_by_norms
from vicinal.cluster._noise_evidence import MAX_TAIL, fit_candidates
from vicinal.cluster._noise_structure import (
    _is_background,
    _thinned_to_noise,
    noise_across_communities,
    noise_without_clusters,
)
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
    fit = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, 0.1)
    np.testing.assert_allclose(fit.centers, [0, 3], atol=0.1)
    assert fit.tail == pytest.approx(0.5, abs=0.1)
    assert fit.spread == pytest.approx(0.6, abs=0.05)
    assert fit.noise.level == pytest.approx(5.0, abs=0.1)
    np.testing.assert_allclose(fit.noise.fractions, 0.2, atol=0.01)


def test_noise_needs_evidence():
    values, labels = sparsities(1000, 0)
    clean = background_noise(as_distances(values), 1.0, labels)
    assert not clean.is_noise.any()
    assert clean.threshold == pytest.approx(np.log(1000 / 0.01), abs=1e-6)
    assert clean.gain < 3
    values, labels = sparsities(1000, 50)
    noisy = background_noise(as_distances(values), 1.0, labels)
    assert noisy.gain > 50
    assert f1_score(np.arange(1050) >= 1000, noisy.is_noise) > 0.95


def test_a_single_point_that_is_too_sparse_for_any_cluster_is_an_outlier():
    values, labels = sparsities(1000, 0)
    values[3] = 20.0
    result = background_noise(as_distances(values), 1.0, labels)
    assert result.gain < 3
    np.testing.assert_array_equal(np.flatnonzero(result.is_noise), [3])


@pytest.mark.parametrize(("k", "error"), SAMPLING_ERRORS.items())
def test_the_sampling_error_is_that_of_volumes_in_a_constant_density(k, error):
    # The volumes of balls that reach the neighbours grow by exponential increments.
    volumes = np.random.default_rng(0).exponential(size=(100_000, k)).cumsum(axis=1)
    assert np.log(volumes).mean(axis=1).std() == pytest.approx(error, abs=0.003)


def test_the_outlier_level_is_the_lowest_with_few_members_expected():
    relative = np.random.default_rng(0).exponential(size=300)
    relative[:6] += 7.0
    middle, upper = np.quantile(relative, (0.5, 0.8))
    scale = (upper - middle) / np.log(2.5)
    levels = [
        x
        for x in relative[relative > middle]
        if 150 * np.exp((middle - x) / scale) <= 0.4 * (relative >= x).sum()
    ]
    level = _background._outlier_level(relative, 0.1)
    assert min(levels) > level > relative[relative < min(levels)].max()
    assert _background._outlier_level(np.linspace(0, 1, 300), 0.1) == np.inf


def test_few_outliers_of_a_small_set_are_found_without_evidence_of_noise():
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-1, 1, (150, 2)), [[3, 3], [-3, 2], [0, -4], [4, -2]]]
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    found = background_noise(distances, 2.0, np.zeros(154, dtype=int)).is_noise
    np.testing.assert_array_equal(np.flatnonzero(found), [150, 151, 152, 153])


def test_a_wide_component_behind_the_longest_tail_is_a_heavy_tail_and_not_noise():
    def is_significant(tail, level, width):
        noise = NoiseLevel(level, width, np.array([0.2]))
        mixture = DensityMixture(np.zeros(1), 0.6, tail, noise, 0.0)
        return _noise_evidence._is_significant(1000.0, mixture, np.array([1000]))

    assert not is_significant(MAX_TAIL, 3.0, 2.0)
    assert is_significant(MAX_TAIL, 3.0, 1.0)
    assert is_significant(0.3, 3.0, 2.0)
    assert not is_significant(MAX_TAIL, 1.5, 0.5)


def test_one_background_around_clusters_of_different_density_is_found():
    # Noise has one density; relative to their clusters, the noise points differ by 4.
    values, labels = sparsities(1000, 0, centers=(0.0, 4.0))
    rng = np.random.default_rng(1)
    values = np.append(values, 8.0 + 0.5 * rng.normal(size=500))
    labels = np.append(labels, np.arange(500) % 2)
    noise = np.arange(1500) >= 1000
    result = background_noise(as_distances(values), 1.0, labels)
    assert f1_score(noise, result.is_noise) > 0.98
    fit = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, 0.35, is_absolute=True)
    assert fit.noise.level == pytest.approx(8.0, abs=0.1)
    np.testing.assert_allclose(fit.noise.fractions, 1 / 3, atol=0.02)
    relative = fit_mixture(values, labels, SAMPLING_ERRORS[8], MAX_TAIL, 0.35)
    assert fit.log_likelihood > relative.log_likelihood + 50


def test_a_cluster_as_sparse_as_the_background_has_no_noise():
    noise = NoiseLevel(5.0, 0.5, np.array([0.2, 0.7]), is_absolute=True)
    mixture = DensityMixture(np.array([0.0, 4.5]), 0.5, 0.3, noise, 0.0)
    far = np.array([5.0])
    assert mixture.log_odds(far, 0) > 0
    assert mixture.log_odds(far, 1) == -np.inf
    sizes = np.array([600, 400])
    assert _noise_evidence._noise_fraction(mixture, sizes) == pytest.approx(0.2 * 0.6)


def in_one_background(fractions, n=1000, seed=0):
    """Clusters with centers 0, 2, ... in a background at 7, and a fraction of noise of its own in each."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(fractions)), n)
    noise = rng.random(len(labels)) < np.repeat(fractions, n)
    values = 2.0 * labels + rng.exponential(0.5, len(labels))
    return np.where(noise, 7.0, values) + 0.6 * rng.normal(size=len(labels)), labels, noise


def test_clusters_contain_different_fractions_of_one_background():
    values, labels, noise = in_one_background([0.05, 0.7])
    found = fit_candidates(values, labels, SAMPLING_ERRORS[8]).mixtures
    np.testing.assert_allclose(found[0].mixture.noise.fractions, [0.05, 0.7], atol=0.03)
    shared = [c for c in found if c.has_one_fraction]
    assert all(np.ptp(c.mixture.noise.fractions) == 0 for c in shared)
    assert found[0].gain > shared[0].gain + 50
    result = background_noise(as_distances(values), 1.0, labels)
    assert f1_score(noise, result.is_noise) > 0.95


def test_a_background_without_points_in_some_cluster_is_not_one():
    values, labels, _ = in_one_background([0.0, 0.5, 0.0])
    found = fit_candidates(values, labels, SAMPLING_ERRORS[8])
    assert found.with_one_fraction().mixtures == found.mixtures


def test_one_background_that_fills_gaps_needs_half_of_the_gain():
    noise = NoiseLevel(5.0, 0.5, np.array([0.4, 0.4]), is_absolute=True)
    mixture = DensityMixture(np.zeros(2), 0.5, 0.3, noise, 0.0)
    sizes = np.array([500, 500])
    required = _noise_evidence.MIN_GAIN_PER_NOISE_POINT[1] * 400
    for fills_gaps, factor in ((False, 1.0), (True, 0.5)):
        for gain in (0.99, 1.01):
            is_enough = _noise_evidence._is_significant(
                gain * factor * required, mixture, sizes, fills_gaps
            )
            assert is_enough == (gain > 1)


def test_half_of_the_points_in_a_heavy_tail_are_not_noise():
    rng = np.random.default_rng(0)
    values = 0.5 * rng.normal(size=2000) + rng.exponential(2.5, 2000)
    result = background_noise(as_distances(values), 1.0, np.zeros(2000, dtype=int))
    assert result.is_noise.mean() < 0.1


def test_sparse_clusters_around_a_dense_one_are_not_noise():
    rng = np.random.default_rng(0)
    X = np.r_[
        0.1 * rng.normal(size=(200, 2)),
        rng.normal([9, 0], 1.0, (150, 2)),
        rng.normal([-9, 0], 1.0, (150, 2)),
    ]
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    labels = np.zeros(500, dtype=int)
    assert background_noise(distances, 2.0, labels).is_noise.mean() > 0.5
    assert noise_without_clusters(X, distances, 2.0, -1, labels).is_noise.mean() < 0.1


@pytest.mark.parametrize("seed", range(3))
def test_noise_on_both_sides_of_a_wall_is_noise(seed):
    rng = np.random.default_rng(seed)
    wall = np.c_[rng.normal(0.0, 0.15, 800), rng.uniform(-1, 1, 800)]
    X = np.r_[wall, rng.uniform([-2, -1], [2, 1], (400, 2))]
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    labels = np.zeros(1200, dtype=int)
    # Alone, the noise has two modes, because the wall leaves a hole.
    assert count_modes(X[background_noise(distances, 2.0, labels).is_noise]) == 2
    found = noise_without_clusters(X, distances, 2.0, -1, labels).is_noise
    assert f1_score(np.arange(1200) >= 800, found) > 0.8


@pytest.mark.parametrize("n_columns", [3, 8])
def test_a_sparse_sphere_around_a_dense_one_is_not_noise(n_columns):
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(600, 3))
    X = np.zeros((600, n_columns))
    X[:, :3] = directions / np.linalg.norm(directions, axis=1)[:, None]
    X[300:] *= 2.5
    X += 0.03 * rng.normal(size=X.shape)
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    labels = np.zeros(600, dtype=int)
    assert background_noise(distances, 2.0, labels).is_noise.mean() > 0.4
    assert not noise_without_clusters(X, distances, 2.0, -1, labels).is_noise.any()
    noise = rng.uniform(-3.0, 3.0, (300, n_columns))
    X = np.r_[X[:300], noise]
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    found = noise_without_clusters(X, distances, 2.0, -1, labels).is_noise
    assert f1_score(np.arange(600) >= 300, found) > 0.8


def test_points_are_thinned_to_the_density_of_noise():
    X = np.arange(6000.0)[:, None]
    ratios = np.repeat(np.log([1.5, 1.0, 0.25]), 2000)
    kept = _thinned_to_noise(X, no_noise(6000)._replace(log_background=ratios))[:, 0]
    assert (kept[:4000] == np.arange(4000)).all()
    assert len(kept) - 4000 == pytest.approx(500, abs=60)


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_communities_divide_is_noise(seed):
    rng = np.random.default_rng([seed, 41])
    angles = rng.uniform(0, np.pi, 800)
    moons = np.c_[np.cos(angles), np.sin(angles), np.zeros(800)]
    moons[400:] = [1.0, 0.5, 0.0] - moons[400:]
    moons += 0.06 * rng.normal(size=moons.shape)
    X = np.r_[moons, rng.uniform(moons.min(axis=0) - 0.4, moons.max(axis=0) + 0.4, (800, 3))]
    truth = np.arange(1600) >= 800
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    # Like communities, these parts divide the noise as well, so that some consist of it.
    parts = KMeans(16, n_init=1, random_state=0).fit_predict(X)
    within = f1_score(truth, background_noise(distances, 3.0, parts).is_noise)
    across = f1_score(truth, noise_across_communities(X, distances, 3.0, -1).is_noise)
    assert across > max(0.9, within + 0.1)


def test_a_sparse_cluster_beside_dense_ones_is_not_noise_across_communities():
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [4, 0], [20, 0]])
    X = np.repeat(centers, 200, axis=0) + np.repeat([0.2, 0.2, 2.0], 200)[:, None] * rng.normal(
        size=(600, 2)
    )
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    assert background_noise(distances, 2.0, np.zeros(600, dtype=int)).is_noise.mean() > 0.3
    assert noise_across_communities(X, distances, 2.0, -1) is None


def test_noise_as_dense_as_the_edges_of_clusters_fills_the_gaps_between_them():
    centers = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    scores = []
    for seed in range(5):
        rng = np.random.default_rng([seed, 42])
        blobs = np.repeat(centers, 250, axis=0) + rng.normal(size=(1000, 2))
        assert not estimate_clusters(blobs).noise.is_noise.any()
        X = np.r_[blobs, [4, 4] + 6.0 * rng.normal(size=(1000, 2))]
        scores.append(f1_score(np.arange(2000) >= 1000, estimate_clusters(X).noise.is_noise))
    # One of these draws has too little evidence.
    assert np.median(scores) > 0.75
    assert sum(score > 0.7 for score in scores) >= 4


def test_too_few_points_do_not_show_that_noise_has_no_structure():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    is_noise = np.arange(60) < 20
    noise = no_noise(60)._replace(is_noise=is_noise, log_background=np.where(is_noise, 0.0, -9.0))
    assert len(_thinned_to_noise(X, noise)) < MIN_POINTS
    assert not _is_background(X, noise, 1)
    assert _is_background(X, noise._replace(log_background=np.zeros(60)), 1)


def test_the_score_is_a_half_at_the_threshold_and_increases_with_sparsity():
    values, labels = sparsities(1000, 100)
    values[-1] += 50.0
    result = background_noise(as_distances(values), 1.0, labels)
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
    result = background_noise(as_distances(values), 1.0, labels)
    assert result.is_noise[~small].any()
    assert not result.is_noise[small].any()
    assert not background_noise(as_distances(values[small]), 1.0, labels[small] - 2).is_noise.any()


def test_a_sample_of_many_points_gives_nearly_the_same_threshold(monkeypatch):
    values, labels = sparsities(5000, 500)
    whole = background_noise(as_distances(values), 1.0, labels)
    monkeypatch.setattr(_noise_evidence, "MAX_FITTED", 1000)
    assert background_noise(as_distances(values), 1.0, labels).threshold == pytest.approx(
        whole.threshold, abs=0.3
    )


@pytest.mark.parametrize("dim", [2, 5, 30])
@pytest.mark.parametrize("n", [200, 2000])
def test_normal_clusters_have_no_noise(dim, n):
    X = np.random.default_rng(dim).normal(size=(n, dim))
    distances = NeighborSearch(X).nearest(8)[1][:, 1:]
    assert not background_noise(distances, dim, np.zeros(n, dtype=int)).is_noise.any()


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


def rings_in_noise(n_noise, seed=0):
    rng = np.random.default_rng(seed)
    X, _ = make_circles(400, noise=0.04, factor=0.5, random_state=seed)
    return np.r_[X, rng.uniform(-1.3, 1.3, size=(n_noise, 2))]


def test_norms_show_noise_around_thin_rings_that_densities_miss():
    X = rings_in_noise(170)
    model = PerceptualClustering(2, random_state=0, n_jobs=1).fit(X)
    assert not model.cluster_evidence_.noise.is_noise.any()
    assert model.noise_threshold_ > 0
    np.testing.assert_array_equal(model.labels_ == -1, model.norms_ < model.noise_threshold_)
    assert f1_score(np.arange(570) >= 400, model.labels_ == -1) > 0.65
    # New points are compared with the same threshold.
    assert (model.predict([[1.25, 1.25], [0.0, 1.0]]) == -1).tolist() == [True, False]
    clean = PerceptualClustering(2, random_state=0, n_jobs=1).fit(rings_in_noise(0))
    assert (clean.labels_ >= 0).all()


def test_norms_decide_only_for_sparse_points_around_enough_points_of_few_dimensions():
    is_near = np.arange(200) < 40
    sparsity = np.where(is_near, 1.5, 0.0)

    def decides(near=is_near, sparsity=sparsity, dimension=2.0, is_noise=None):
        found = np.zeros(len(near), bool) if is_noise is None else is_noise
        noise = no_noise(len(near))._replace(is_noise=found, sparsity=sparsity)
        evidence = one_cluster(len(near))._replace(dimension=dimension, noise=noise)
        return _is_noise_by_norms(near, evidence)

    assert decides()
    assert not decides(sparsity=0.6 * sparsity)
    assert not decides(dimension=3.0)
    assert not decides(is_noise=np.arange(200) == 3)
    assert not decides(near=np.zeros(200, bool))
    assert not decides(near=np.arange(200) < 150, sparsity=1.5 * (np.arange(200) < 150))
    assert not decides(near=is_near[:100], sparsity=sparsity[:100])
