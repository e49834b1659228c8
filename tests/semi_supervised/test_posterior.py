"""Standard deviations of the graph regressor: those of the dense posterior, and intervals that cover."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

from vicinal import Graph, GraphRegressor
from vicinal.semi_supervised import _posterior


def problem(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.where(rng.random(n) < 0.3, X[:, 0] + 0.1 * rng.standard_normal(n), np.nan)
    return X, y


def dense_posterior(model, y):
    """Standard deviations and noise from the dense covariance and the restricted likelihood."""
    labelled = ~np.isnan(y)
    weights = model.affinity_.toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    A = np.diag(labelled + model.ridge) + model.smoothness * laplacian
    f = np.linalg.solve(A, np.where(labelled, y, 0.0))
    energy = np.square((y - f)[labelled]).sum() + model.ridge * f @ f
    energy += model.smoothness * f @ laplacian @ f
    noise = energy / (labelled.sum() - (model.ridge == 0))
    return np.sqrt(noise * np.diagonal(np.linalg.inv(A))), np.sqrt(noise)


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_std_equals_the_dense_posterior(ridge):
    X, y = problem()
    model = GraphRegressor(ridge, smoothness=0.3).fit(X, y)
    std, noise = dense_posterior(model, y)
    assert model.noise_std_ == pytest.approx([noise])
    values, result = model.predict(X, return_std=True)
    assert result == pytest.approx(std, rel=1e-6)
    assert values == pytest.approx(model.predict(X))


def test_samples_estimate_the_same_variances(monkeypatch):
    X, y = problem(200)
    model = GraphRegressor(0.05, smoothness=0.3).fit(X, y)
    arguments = (model.affinity_, ~np.isnan(y), 0.05, 0.3, 0)
    exact = _posterior.relative_variances(*arguments)
    monkeypatch.setattr(_posterior, "MAX_EXACT_NODES", 0)
    monkeypatch.setattr(_posterior, "N_SAMPLES", 2000)
    assert _posterior.relative_variances(*arguments) == pytest.approx(exact, rel=0.15)


def test_intervals_of_a_swiss_roll_cover_the_truth_and_grow_away_from_labels():
    X, position = make_swiss_roll(1000, random_state=0)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1000) < 0.1, position + 0.3 * rng.standard_normal(1000), np.nan)
    model = GraphRegressor(random_state=0).fit(X, y)
    values, std = model.predict(X, return_std=True)
    hidden = np.isnan(y)
    covered = np.abs(values - position)[hidden] <= 2 * std[hidden]
    assert 0.9 <= covered.mean() <= 1.0
    assert std[hidden].mean() > std[~hidden].mean()


def test_every_output_has_its_own_noise():
    X, y = problem()
    both = np.column_stack([y, 10 * y])
    model = GraphRegressor(0.05).fit(X, both)
    assert model.noise_std_[1] == pytest.approx(10 * model.noise_std_[0])
    values, std = model.predict(X[:5], return_std=True)
    assert values.shape == std.shape == (5, 2)
    assert std[:, 1] == pytest.approx(10 * std[:, 0])


def test_a_new_point_between_two_values_has_the_std_of_their_mixture():
    X = np.array([[0.0], [2.0], [4.0], [6.0]])
    y = np.array([0.0, 0.0, 8.0, 8.0])
    model = GraphRegressor(0.01, graph_params={"n_neighbors": 2}).fit(X, y)
    _, at_points = model.predict(X, return_std=True)
    value, between = model.predict([[3.0]], return_std=True)
    left, right = model.transduction_[1:3]
    assert value == pytest.approx([(left + right) / 2])
    expected = np.square(at_points[1:3]).mean() + np.square((right - left) / 2)
    assert between == pytest.approx([np.sqrt(expected)])


def test_one_label_gives_no_noise_and_std_is_nan_with_a_warning():
    X = np.arange(5.0)[:, None]
    model = GraphRegressor().fit(X, [1.0, *[np.nan] * 4])
    assert np.isnan(model.noise_std_).all()
    with pytest.warns(UserWarning, match="noise of the labels is unknown"):
        values, std = model.predict(X, return_std=True)
    assert values == pytest.approx(np.ones(5))
    assert np.isnan(std).all()


def test_std_is_nan_where_no_label_reaches():
    X = np.array([0.0, 1.0, 2.0, 50.0, 51.0, 52.0])[:, None]
    y = [1.0, np.nan, 3.0, np.nan, np.nan, np.nan]
    with pytest.warns(UserWarning, match="no label reaches 3 of 6"):
        model = GraphRegressor(graph_params={"n_neighbors": 2}).fit(X, y)
    with pytest.warns(UserWarning, match="unknown"):
        std = model.predict(X, return_std=True)[1]
    assert np.isfinite(std[:3]).all()
    assert np.isnan(std[3:]).all()


def test_std_is_repeatable_for_a_seed_and_any_number_of_threads():
    X, y = problem(300)
    first, second = (
        GraphRegressor(random_state=3, n_jobs=jobs).fit(X, y).predict(X, return_std=True)[1]
        for jobs in (1, 2)
    )
    assert (first == second).all()


def test_return_std_must_be_a_bool():
    X, y = problem()
    with pytest.raises(TypeError, match="return_std='yes'"):
        GraphRegressor().fit(X, y).predict(X, return_std="yes")


def test_a_graph_without_points_has_noise():
    path = Graph.from_edges(3, [[0, 1], [1, 2]], np.ones(2))
    model = GraphRegressor(graph="precomputed").fit(path, [0.0, np.nan, 1.0])
    assert model.noise_std_[0] > 0
