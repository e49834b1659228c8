"""Every strategy takes exactly t steps: W_t has t + 1 factors, compared with literal matrix powers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import spearmanr

from vicinal.similarity import SelfSmoothing
from vicinal.similarity.smoothing import _auto_t
from vicinal.similarity.smoothing._auto_t import SampledReturns
from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity
from vicinal.similarity.smoothing._locality import local_order
from vicinal.similarity.smoothing._spectral import all_pairs
from vicinal.similarity.smoothing._walks import SparseWalk


def line_similarity(n=120, width=0.05, cutoff=1e-3, seed=0):
    """Gaussian similarities of points on a line whose density varies."""
    x = np.random.default_rng(seed).random(n) ** 2
    W = np.exp(-np.square((x[:, None] - x) / width) / 2)
    W[cutoff > W] = 0.0
    return W


def transition_matrix(W):
    return W / W.sum(axis=1, keepdims=True)


def return_probabilities(W, t):
    return np.diagonal(np.linalg.matrix_power(transition_matrix(W), int(t) + 1))


@pytest.mark.parametrize("t", [1, 2, 7])
def test_spectrum_has_t_plus_one_factors(t):
    W = line_similarity(40)
    roots = np.sqrt(W.sum(axis=1))
    spectrum = all_pairs(W / np.outer(roots, roots), roots)
    expected = W @ np.linalg.matrix_power(transition_matrix(W), t)
    np.testing.assert_allclose(spectrum.matrix(t), expected, atol=1e-12)
    np.testing.assert_allclose(spectrum.diagonal(t), np.diagonal(expected), atol=1e-12)


@pytest.mark.parametrize("t", [1, 30, 3000])
def test_distributions_after_t_steps_are_those_of_matrix_powers(t):
    W = line_similarity(40)
    roots = np.sqrt(W.sum(axis=1))
    spectrum = all_pairs(W / np.outer(roots, roots), roots)
    rows = np.random.default_rng(0).dirichlet(np.ones(40), 5)
    expected = rows @ np.linalg.matrix_power(transition_matrix(W), t)
    np.testing.assert_allclose(spectrum.spread(rows, t), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("t", [1, 2, 7, 30])
def test_sampled_return_probabilities_have_t_plus_one_factors(t):
    W = line_similarity()
    items = np.array([0, 3, 50])
    returns = SampledReturns(SparseWalk(sparse.csr_array(W), True, 1).operator, items)
    np.testing.assert_allclose(returns(t), return_probabilities(W, t)[items], atol=1e-7)


@pytest.mark.parametrize("strategy", ["pruned powers", "leading eigenpairs", "full power"])
@pytest.mark.parametrize("t", [3, 8])
def test_neighbors_of_every_strategy_have_t_plus_one_factors(strategy, t, monkeypatch):
    W = line_similarity(width=0.1)
    similarity = SmoothedSimilarity(SparseWalk(sparse.csr_array(W), True, 1), t)
    # A small matrix would be solved row by row: make that look expensive.
    monkeypatch.setattr(SmoothedSimilarity, "_rows_cost", lambda self: 1e12)
    if strategy == "pruned powers":
        order = local_order(similarity._walk.weights)
        values, items = similarity._by_powers(5, len(W), order, None)
    elif strategy == "leading eigenpairs":
        monkeypatch.setattr(SmoothedSimilarity, "_dense_power_cost", lambda self: 1e12)
        values, items = similarity._by_eigenpairs(np.arange(len(W)), 5, None)
    else:
        values, items = similarity._by_dense_power(5)
    assert similarity.method == strategy

    def literal(n_steps):
        smoothed = W @ np.linalg.matrix_power(transition_matrix(W), n_steps)
        normalized = np.minimum(smoothed / np.diagonal(smoothed)[:, None], 1.0)
        return np.take_along_axis(normalized, items, axis=1)

    np.testing.assert_allclose(np.minimum(values, 1.0), literal(t), atol=1e-4)
    # One step more or less changes the similarities by far more than the tolerance.
    assert np.abs(literal(t - 1) - literal(t)).max() > 1e-3
    assert np.abs(literal(t + 1) - literal(t)).max() > 1e-3


GRID = np.unique(np.round(2.0 ** np.arange(0, 15.5, 0.5)))


def literal_crossing(values, level):
    """Where values at the steps of the grid first reach a level."""
    after = int(np.argmax(np.array(values) >= level))
    assert after > 0
    # Linear in the logarithm of the number of factors, t + 1.
    logs = np.log(GRID[[after - 1, after]] + 1)
    return round(np.exp(np.interp(level, values[after - 1 : after + 1], logs)) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_automatic_t_is_the_literal_zero_of_the_correlation(seed, monkeypatch):
    monkeypatch.setattr(_auto_t, "MAX_LIMIT_FRACTION", np.inf)
    W = line_similarity(80, seed=seed)
    sums = W.sum(axis=1)
    correlations = [spearmanr(sums, return_probabilities(W, t))[0] for t in GRID]
    expected = literal_crossing(correlations, 0.0)
    assert SelfSmoothing(metric="similarity").fit(W).t_ == expected


@pytest.mark.parametrize("seed", range(4))
def test_automatic_t_is_at_most_where_half_of_the_return_probability_is_the_limit(seed):
    W = line_similarity(80, seed=seed)
    sums = W.sum(axis=1)
    limits = sums / sums.sum()
    correlations = [spearmanr(sums, return_probabilities(W, t))[0] for t in GRID]
    fractions = [np.mean(np.minimum(limits / return_probabilities(W, t), 1)) for t in GRID]
    expected = min(literal_crossing(correlations, 0.0), literal_crossing(fractions, 0.5))
    assert SelfSmoothing(metric="similarity").fit(W).t_ == expected
