"""Graph priors attain their minimum on every graph, and mark points that no label reaches."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import Graph, GraphRegressor, graphs
from vicinal.semi_supervised import prior_values


def dense_minimum(weights, y, ridge, smoothness):
    """(S + lambda I + mu L) f = S y, literally."""
    weights = np.asarray(weights)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    labelled = ~np.isnan(y.reshape(len(y), -1)).any(axis=1)
    system = np.diag(labelled + ridge) + smoothness * laplacian
    return np.linalg.solve(system, np.where(np.isnan(y), 0.0, y))


def partly_known(rng, n, n_columns=None):
    y = rng.normal(size=n if n_columns is None else (n, n_columns))
    hidden = rng.random(n) < 0.7
    hidden[rng.integers(n)] = False
    y[hidden] = np.nan
    return y


@st.composite
def connected_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 15))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    for i in range(1, n):
        weights[i, rng.integers(i)] = 0.1 + rng.random()
    weights = weights + weights.T
    np.fill_diagonal(weights, draw(st.sampled_from([0.0, 2.5])))
    return weights, partly_known(rng, n, draw(st.sampled_from([None, 3])))


PENALTIES = st.sampled_from(
    [(0.0, 1.0), (0.0, 1e-4), (0.0, 1e3), (0.1, 1.0), (1e-6, 10.0), (5.0, 0.1)]
)


@settings(max_examples=60)
@given(connected_problems(), PENALTIES)
def test_equals_the_closed_form(problem, penalties):
    weights, y = problem
    result = prior_values(weights, y, ridge=penalties[0], smoothness=penalties[1])
    assert result.values == pytest.approx(dense_minimum(weights, y, *penalties), abs=1e-8)


@settings(max_examples=40)
@given(connected_problems(), PENALTIES, st.randoms(use_true_random=False))
def test_renumbering_nodes_renumbers_the_values(problem, penalties, random):
    weights, y = problem
    order = np.array(random.sample(range(len(y)), len(y)))
    ridge, smoothness = penalties
    plain = prior_values(weights, y, ridge=ridge, smoothness=smoothness).values
    moved = prior_values(weights[order][:, order], y[order], ridge=ridge, smoothness=smoothness)
    assert moved.values == pytest.approx(plain[order], abs=1e-9)


@settings(max_examples=40)
@given(connected_problems(), PENALTIES)
def test_linear_in_the_labels(problem, penalties):
    weights, y = problem
    ridge, smoothness = penalties
    other = np.where(np.isnan(y), np.nan, np.arange(y.size).reshape(y.shape) % 5)

    def values(z):
        return prior_values(weights, z, ridge=ridge, smoothness=smoothness).values

    mixed = values(2.0 * y - 3.0 * other)
    assert mixed == pytest.approx(2.0 * values(y) - 3.0 * values(other), abs=1e-7)


@settings(max_examples=40)
@given(connected_problems(), st.sampled_from([1e-9, 0.1, 1.0, 1e6]))
def test_without_ridge_values_stay_within_the_range_of_the_labels(problem, smoothness):
    weights, y = problem
    values = prior_values(weights, y, smoothness=smoothness).values
    assert (values >= np.nanmin(y, axis=0)).all()
    assert (values <= np.nanmax(y, axis=0)).all()


def test_small_smoothness_keeps_the_labels_and_large_gives_each_component_its_mean():
    weights = np.zeros((7, 7))
    for i, j in [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)]:
        weights[i, j] = weights[j, i] = 1.0 + i
    y = np.array([0.0, np.nan, 1.0, 5.0, np.nan, np.nan, 6.0])
    close = prior_values(weights, y, smoothness=1e-10).values
    assert close[[0, 2, 3, 6]] == pytest.approx([0, 1, 5, 6], abs=1e-8)
    flat = prior_values(weights, y, smoothness=1e8).values
    assert flat == pytest.approx([0.5] * 3 + [5.5] * 4, abs=1e-6)


def test_a_component_without_labels_gets_the_mean_and_is_marked_or_zero_with_a_ridge():
    graph = Graph.from_edges(6, [[0, 1], [1, 2], [3, 4]], np.ones(3))
    y = [1.0, np.nan, 4.0, np.nan, np.nan, np.nan]
    result = prior_values(graph, y)
    assert result.reached.tolist() == [True] * 3 + [False] * 3
    assert (result.values[3:] == 2.5).all()
    literal = prior_values(graph, y, ridge=0.2)
    assert literal.reached.tolist() == [True] * 3 + [False] * 3
    expected = dense_minimum(graph.affinity().toarray(), np.array(y), 0.2, 0.01)
    assert literal.values == pytest.approx(expected, abs=1e-10)


def test_a_group_on_an_edge_too_weak_for_doubles_is_marked_and_the_rest_is_correct():
    weights = np.zeros((6, 6))
    for i, j, w in [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1e-30), (3, 4, 1.0), (4, 5, 1.0)]:
        weights[i, j] = weights[j, i] = w
    result = prior_values(weights, [0.0, np.nan, 2.0, np.nan, np.nan, np.nan], smoothness=1e-9)
    assert result.reached.tolist() == [True] * 3 + [False] * 3
    assert result.values == pytest.approx([0, 1, 2, 1, 1, 1], abs=1e-7)


def test_a_distant_node_gets_the_value_of_its_neighbour():
    weights = np.zeros((4, 4))
    for i, j, w in [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1e-30)]:
        weights[i, j] = weights[j, i] = w
    result = prior_values(weights, [0.0, np.nan, 2.0, np.nan], smoothness=1e-9)
    assert result.reached.all()
    assert result.values[3] == pytest.approx(2.0, abs=1e-7)


@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e9, 1e200])
def test_the_unit_of_the_labels_does_not_matter(unit):
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = partly_known(np.random.default_rng(1), 80)
    plain = prior_values(graphs.knn(X), y).values
    assert prior_values(graphs.knn(X), y * unit).values == pytest.approx(plain * unit)
    assert prior_values(graphs.knn(X * unit), y).values == pytest.approx(plain)


def test_values_stay_in_the_range_of_heavy_tailed_labels():
    X = np.random.default_rng(2).standard_cauchy(size=(1500, 2))
    y = np.full(1500, np.nan)
    y[::100] = np.arange(15.0)
    for build in (graphs.knn, graphs.delaunay, graphs.disjoint_mst):
        graph = prior_values(build(X), y)
        assert np.isfinite(graph.values).all()
        assert graph.values.min() >= 0
        assert graph.values.max() <= 14


def test_same_bits_for_any_number_of_threads():
    X = np.random.default_rng(3).normal(size=(400, 3))
    y = partly_known(np.random.default_rng(4), 400, 9)
    one = GraphRegressor(n_jobs=1).fit(X, y)
    many = GraphRegressor(n_jobs=4).fit(X, y)
    assert (one.transduction_ == many.transduction_).all()
    assert (one.predict(X + 0.01) == many.predict(X + 0.01)).all()


def test_all_input_types_work_and_are_not_changed():
    X = np.random.default_rng(5).normal(size=(60, 3))
    y = partly_known(np.random.default_rng(6), 60)
    expected = GraphRegressor().fit(X, y).transduction_
    frozen, known = np.asfortranarray(X), y.copy()
    frozen.flags.writeable = known.flags.writeable = False
    assert (GraphRegressor().fit(frozen, known).transduction_ == expected).all()
    graph = graphs.knn(X)
    for given_graph in (graph, graph.affinity(), graph.affinity().toarray()):
        model = GraphRegressor(graph="precomputed").fit(given_graph, list(y))
        assert model.transduction_ == pytest.approx(expected)
    known = np.nan_to_num(y)
    assert GraphRegressor().fit(X.tolist(), known.astype(int)).transduction_.shape == (60,)


def test_duplicates_and_two_points_work():
    X = np.zeros((30, 2))
    y = np.full(30, np.nan)
    y[:2] = 1.0, 3.0
    assert GraphRegressor().fit(X, y).transduction_ == pytest.approx(np.full(30, 2.0), abs=1.0)
    pair = GraphRegressor().fit([[0.0], [1.0]], [7.0, np.nan])
    assert pair.transduction_ == pytest.approx([7.0, 7.0])
    assert pair.predict([[1.5]]) == pytest.approx([7.0])


def test_training_points_keep_their_value_and_outliers_get_a_finite_one():
    X = np.random.default_rng(7).normal(size=(100, 2))
    model = GraphRegressor().fit(X, partly_known(np.random.default_rng(8), 100, 2))
    assert model.predict(X) == pytest.approx(model.transduction_)
    outlying = model.predict([[4.0, -4.0]])
    assert outlying.shape == (1, 2)
    assert np.isfinite(outlying).all()


def test_few_labels_on_a_swiss_roll_beat_the_nearest_labels():
    from sklearn.datasets import make_swiss_roll
    from sklearn.neighbors import KNeighborsRegressor

    X, position = make_swiss_roll(1500, random_state=0)
    known = np.random.default_rng(0).random(1500) < 0.02
    result = GraphRegressor().fit(X, np.where(known, position, np.nan)).transduction_
    nearest = KNeighborsRegressor(3).fit(X[known], position[known]).predict(X)
    assert np.corrcoef(result, position)[0, 1] > 0.98 > np.corrcoef(nearest, position)[0, 1]


def test_works_as_a_scikit_learn_estimator():
    X = np.random.default_rng(9).normal(size=(80, 3))
    y = X[:, 0] + 2.0
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GraphRegressor()),
        {"graphregressor__smoothness": [0.01, 100.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"graphregressor__smoothness": 0.01}
    model = clone(search.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(20, np.nan), "no point is labelled"),
        (np.ones(19), r"y has 19 value\(s\), but X has 20"),
        (np.r_[np.inf, np.ones(19)], "infinity"),
        (["a"] * 20, "GraphClassifier"),
        (np.ones((20, 2, 2)), r"y has shape \(20, 2, 2\)"),
        (np.c_[np.ones(20), np.r_[np.nan, np.ones(19)]], r"y\[0\] is NaN in some columns"),
        (None, "y is None"),
    ],
)
def test_invalid_labels_raise(y, message):
    with pytest.raises(ValueError, match=message):
        GraphRegressor().fit(np.random.default_rng(0).normal(size=(20, 2)), y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0.0, -1.0], [-1.0, 0.0]], "negative"),
        ([[0.0, 1.0], [0.5, 0.0]], "not symmetric"),
        ([[0.0, np.nan], [np.nan, 0.0]], "NaN"),
        (np.ones((2, 3)), "shape"),
    ],
)
def test_invalid_affinities_raise(weights, message):
    for matrix in (np.array(weights), sparse.csr_array(np.array(weights))):
        with pytest.raises(ValueError, match=message):
            prior_values(matrix, [1.0, np.nan])
        with pytest.raises(ValueError, match=message):
            GraphRegressor(graph="precomputed").fit(matrix, [1.0, np.nan])


@pytest.mark.parametrize(
    ("name", "value"),
    [("ridge", -1.0), ("ridge", np.nan), ("smoothness", 0.0), ("smoothness", np.inf)],
)
def test_invalid_penalties_raise_before_the_graph_is_built(name, value):
    def never(X):
        raise AssertionError("the graph was built")

    with pytest.raises(ValueError, match=f"{name}="):
        GraphRegressor(graph=never, **{name: value}).fit(np.ones((5, 1)), np.ones(5))


def test_a_directed_graph_raises():
    arrow = Graph.from_edges(2, [[0, 1]], [1.0], directed=True)
    with pytest.raises(ValueError, match="directed"):
        prior_values(arrow, [1.0, np.nan])


def test_the_value_of_an_outlying_point_depends_on_all_its_neighbors():
    X = np.random.default_rng(0).normal(size=(300, 2))
    outlying = np.array([[8.0, 0.0]])
    nearest = np.argsort(np.linalg.norm(X - outlying, axis=1))[:10]
    model = GraphRegressor(smoothness=1e-6).fit(X, X[:, 1])
    values = model.predict(X[nearest])
    assert np.ptp(values) > 1
    assert abs(model.predict(outlying)[0] - values.mean()) < 0.3 * values.std()
    # At a fixed scale far below the distance, only the nearest point has weight.
    fixed = GraphRegressor(smoothness=1e-6, scale=model.scale_ / 100).fit(X, X[:, 1])
    assert fixed.predict(outlying)[0] == pytest.approx(fixed.predict(X[nearest[:1]])[0], abs=1e-6)
