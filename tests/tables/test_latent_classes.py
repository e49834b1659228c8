"""Latent classes: a literal oracle, a peer, the number of classes, bad columns."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from vicinal.tables._class_inputs import LevelInput, class_input
from vicinal.tables._class_model import fit_classes
from vicinal.tables._latent_classes import _iterate, _maximize, fit_mixture, make_design


def one_hot(codes, n_categories=None):
    coordinates = np.eye(n_categories or int(max(codes)) + 1)[np.maximum(codes, 0)]
    coordinates[np.asarray(codes) < 0] = np.nan
    return coordinates


def fitted(columns):
    """Classes of columns of codes (-1 where missing) and of numbers."""
    blocks = [one_hot(c) if c.dtype.kind == "i" else c[:, None] for c in columns]
    column_of = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    return fit_classes(
        np.hstack(blocks), column_of, np.array([c.dtype.kind == "i" for c in columns])
    )


def groups_in_categories(n_groups, seed, n=600, n_columns=8, purity=0.8):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % n_groups
    columns = [
        np.where(rng.random(n) < purity, rng.permutation(5)[group], rng.integers(5, size=n))
        for _ in range(n_columns)
    ]
    return columns, group


@pytest.mark.parametrize("n_groups", [2, 3, 4, 5])
def test_there_are_as_many_classes_as_groups(n_groups):
    columns, group = groups_in_categories(n_groups, seed=n_groups)
    model = fitted(columns)
    assert model.n_classes == n_groups
    posterior = model.posterior(np.hstack([one_hot(c) for c in columns]))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    assert adjusted_rand_score(group, posterior.argmax(axis=1)) > 0.95


@pytest.mark.parametrize("seed", range(5))
def test_independent_columns_have_one_class(seed):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(2 + j % 4, size=300) for j in range(8)]
    assert fitted([*columns, rng.normal(size=300)]) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_skewed_column_makes_classes_that_say_nothing_about_others(seed):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(2 + j % 4, size=300) for j in range(8)]
    model = fitted([*columns, rng.exponential(size=300)])
    assert model.correlations()[:-1].max() < 0.25


def literal_step(codes, numbers, memberships, min_variance):
    """One iteration for one column of codes and one of numbers, row by row; also the log-likelihood."""
    n, k = memberships.shape
    n_categories = codes.max() + 1
    known_codes, known_numbers = codes >= 0, ~np.isnan(numbers)
    new, log_likelihood = np.empty((n, k)), 0.0
    parameters = []
    for c in range(k):
        w = memberships[:, c]
        prior = (w.sum() + 1) / (n + k)
        frequencies = [np.mean(codes[known_codes] == v) for v in range(n_categories)]
        counts = [w[codes == v].sum() + frequencies[v] for v in range(n_categories)]
        probabilities = np.array(counts) / np.sum(counts)
        v, x = w[known_numbers], numbers[known_numbers]
        mean = (v @ x) / (v.sum() + 1)
        # The added row: at the mean, with a variance of 1 / k^2.
        variance = (v @ x**2 + mean**2 + 1 / k**2) / (v.sum() + 1) - mean**2
        parameters.append((prior, probabilities, mean, max(variance, min_variance)))
    for i in range(n):
        likelihoods = []
        for prior, probabilities, mean, variance in parameters:
            value = prior
            if known_codes[i]:
                value *= probabilities[codes[i]]
            if known_numbers[i]:
                exponent = -((numbers[i] - mean) ** 2) / (2 * variance)
                value *= np.exp(exponent) / np.sqrt(2 * np.pi * variance)
            likelihoods.append(value)
        new[i] = np.array(likelihoods) / np.sum(likelihoods)
        log_likelihood += np.log(np.sum(likelihoods))
    return new, log_likelihood


def test_iterations_match_a_literal_one():
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(-1, 3, 40), rng.normal(size=40)
    numbers[::7] = np.nan
    memberships = rng.dirichlet(np.ones(3), 40)
    block = np.nan_to_num(one_hot(codes, 3))
    design = make_design([block], numbers[:, None])
    for _ in range(3):
        mixture, ours = _iterate(design, memberships, np.array([1e-3]), 1)
        memberships, log_likelihood = literal_step(codes, numbers, memberships, 1e-3)
        np.testing.assert_allclose(ours, memberships, rtol=1e-9)
        assert mixture.log_likelihood == pytest.approx(log_likelihood)
        np.testing.assert_allclose(mixture.posterior(design.rows), memberships, rtol=1e-9)


def test_classes_of_numbers_are_level_with_a_gaussian_mixture():
    rng = np.random.default_rng(0)
    group = np.arange(600) % 3
    X = rng.normal(size=(600, 2)) + np.array([[0, 0], [4, 1], [1, 5]])[group]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = fit_mixture(make_design([], X), np.zeros(2))
    peers = [
        GaussianMixture(k, covariance_type="diag", n_init=5, random_state=0).fit(X)
        for k in (2, 3, 4)
    ]
    assert len(ours.log_prior) == 3 == 2 + int(np.argmin([peer.bic(X) for peer in peers]))
    # Ours is a little smoother.
    assert ours.log_likelihood == pytest.approx(600 * peers[1].score(X), rel=1e-3)


def test_probabilities_are_never_0_and_variances_never_vanish():
    design = make_design([one_hot([0, 0, 1, 1])], np.array([[1.0], [1.0], [-1.0], [-1.0]]))
    memberships = np.eye(2)[[0, 0, 1, 1]]
    log_prior, coefficients = _maximize(design, memberships, np.zeros(1))
    assert np.isfinite(coefficients).all()
    assert np.exp(coefficients[:2]).min() > 0.1
    assert np.exp(log_prior).sum() == pytest.approx(1.0)


def test_columns_without_groups_have_small_correlations():
    columns, _ = groups_in_categories(3, seed=0)
    rng = np.random.default_rng(1)
    irrelevant = [rng.integers(4, size=600), rng.normal(size=600)]
    correlations = fitted([*columns, *irrelevant]).correlations()
    assert correlations.shape == (10,)
    assert correlations[:8].min() > 0.6
    assert correlations[8:].max() < 0.2


@pytest.mark.parametrize(
    "numbers",
    [
        np.zeros(200),
        np.repeat([0.0, 1.0], 100),
        np.r_[np.zeros(199), 1e150],
        np.round(np.random.default_rng(0).normal(40, 12, 200)),
        np.where(np.arange(200) % 4, np.random.default_rng(1).lognormal(size=200), 0.0),
    ],
)
def test_any_numbers_have_finite_classes(numbers):
    columns, group = groups_in_categories(2, seed=3, n=200)
    model = fitted([*columns, numbers])
    rows = np.column_stack([*[one_hot(c) for c in columns], numbers])
    posterior = model.posterior(rows)
    assert np.isfinite(posterior).all()
    assert np.isfinite(model.correlations()).all()
    assert adjusted_rand_score(group, posterior.argmax(axis=1)) > 0.5


def test_new_numbers_count_as_the_nearest_level():
    column = class_input(np.array([[0.0], [1.0], [3.0]]), is_nominal=False)
    assert isinstance(column, LevelInput)
    new = column.encode(np.array([[-9.0], [0.4], [2.1], [np.nan]]))
    np.testing.assert_array_equal(new, [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]])
