"""What no label reaches is unknown, and class proportions come from the data, not from label counts."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import accuracy_score

from vicinal import Graph, GraphClassifier, GraphRegressor, LabelPropagation, graphs
from vicinal.semi_supervised._class_mass import have_same_proportions, mixture_proportions

TWO_COMPONENTS = Graph.from_edges(5, [[0, 1], [1, 2], [3, 4]], np.ones(3))


@pytest.mark.parametrize("classifier", [GraphClassifier, LabelPropagation])
@pytest.mark.parametrize(
    ("classes", "unknown"),
    [
        (np.array([3, 5]), -1),
        (np.array([3, 5], dtype=np.uint8), -1),
        (np.array([0.5, 1.5]) * 2, -1.0),
        (np.array(["a", "b"]), "-1"),
        (np.array([True, False]), -1),
    ],
)
def test_nodes_that_no_label_reaches_are_unknown_for_every_class_dtype(
    classifier, classes, unknown
):
    y = np.array([classes[0], -1, classes[1], -1, -1], dtype=object)
    if classes.dtype.kind in "iuf":
        y = y.astype(np.float64 if classes.dtype.kind == "f" else np.int64)
    with pytest.warns(
        UserWarning,
        match=r"no label reaches 2 of 5 points \(the first is 3\); they get the class -1",
    ):
        model = classifier(graph="precomputed").fit(TWO_COMPONENTS, y)
    assert (model.transduction_[3:] == unknown).all()
    assert model.transduction_[0] == classes[0]
    assert model.transduction_[2] == classes[1]
    # Scores count the unknown as wrong instead of failing on a mixture of types.
    truth = classes[[0, 0, 1, 1, 1]]
    assert accuracy_score(truth, model.transduction_) <= 0.6


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("columns", [1, 2])
def test_values_that_no_label_reaches_are_nan_and_do_not_spread_to_new_points(ridge, columns):
    X = np.array([0.0, 1.0, 2.0, 50.0, 51.0, 52.0])[:, None]
    y = np.full((6, columns), np.nan)
    y[0], y[2] = 1.0, 3.0
    y = y[:, 0] if columns == 1 else y
    with pytest.warns(UserWarning, match=r"no label reaches 3 of 6 .* they get NaN"):
        model = GraphRegressor(ridge, graph_params={"n_neighbors": 2}).fit(X, y)
    assert np.isnan(model.transduction_[3:]).all()
    assert np.isfinite(model.transduction_[:3]).all()
    with pytest.warns(UserWarning, match=r"the value of 1 of 2 points is unknown \(NaN\)"):
        labels = model.predict([[1.2], [50.4]])
    assert labels.shape == (2, *model.transduction_.shape[1:])
    assert np.isfinite(labels[0]).all()
    assert np.isnan(labels[1]).all()


def test_new_points_among_nodes_that_no_label_reaches_are_unknown():
    X = np.array([0.0, 1.0, 2.0, 50.0, 51.0, 52.0])[:, None]
    with pytest.warns(UserWarning, match="no label reaches 3 of 6"):
        model = GraphClassifier(graph_params={"n_neighbors": 2}).fit(X, [0, -1, 1, -1, -1, -1])
    with pytest.warns(
        UserWarning, match=r"the class of 2 of 3 points is unknown \(-1\), the first is X\[1\]"
    ):
        assert model.predict([[0.1], [50.5], [51.0]]).tolist() == [0, -1, -1]


@pytest.mark.parametrize("classifier", [GraphClassifier, LabelPropagation])
@pytest.mark.parametrize("options", [{}, {"graph": "mst"}, {"scale": "local"}])
def test_distant_points_are_unknown_and_have_uncertain_probabilities(classifier, options):
    X, y = make_blobs(150, n_features=3, centers=3, random_state=0)
    known = np.where(np.arange(150) % 5 == 0, y, -1)
    model = classifier(random_state=0, **options).fit(X, known)
    far = np.full((1, 3), 1e9)
    frequencies = np.bincount(y[::5]) / 30
    assert model.predict_proba(far)[0] == pytest.approx(frequencies)
    with pytest.warns(UserWarning, match="far from all training points"):
        assert model.predict(far).tolist() == [-1]


@pytest.mark.parametrize("options", [{}, {"graph": "mst"}, {"scale": "local"}, {"scale": 1.0}])
@pytest.mark.parametrize("columns", [1, 2])
def test_values_of_distant_points_are_nan_with_a_warning(options, columns):
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = X[:, :columns].squeeze()
    model = GraphRegressor(random_state=0, **options).fit(X, y)
    with pytest.warns(
        UserWarning, match=r"the value of 2 of 4 .* the first is X\[1\]: they are far"
    ):
        values = model.predict([[0.1, 0.0, 0.0], [1e9] * 3, [0.0, 0.2, 0.0], [300.0, 0.0, 0.0]])
    assert values.shape == (4, *y.shape[1:])
    assert np.isnan(values[[1, 3]]).all()
    assert np.isfinite(values[[0, 2]]).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"graph": "mst"}, {"graph": "complete"}])
def test_values_of_new_points_of_the_same_distribution_are_all_known(options):
    X = np.random.default_rng(1).normal(size=(600, 4))
    model = GraphRegressor(**options).fit(X[:300], X[:300, 0])
    assert np.isfinite(model.predict(X[300:])).all()


@pytest.mark.parametrize("options", [{}, {"graph": "mst"}, {"graph": "complete"}])
def test_new_points_of_the_same_distribution_are_all_known(options):
    X, y = make_blobs(600, n_features=4, centers=3, random_state=1)
    model = GraphClassifier(**options).fit(X[:300], np.where(np.arange(300) % 10 == 0, y[:300], -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.predict(X[300:])
    assert (labels == y[300:]).mean() > 0.97


def test_confidence_decreases_with_distance_in_any_unit():
    X, y = make_moons(200, noise=0.05, random_state=0)
    known = np.where(np.arange(200) % 20 == 0, y, -1)
    away = X[y == 1].mean(axis=0) + np.array([[0.0], [2.0], [4.0], [8.0]]) * [0.6, -0.8]
    plain = GraphClassifier().fit(X, known).predict_proba(away)
    assert (np.diff(plain.max(axis=1)) <= 0).all()
    for unit in (1e-100, 1e100):
        other = GraphClassifier().fit(X * unit, known).predict_proba(away * unit)
        assert other == pytest.approx(plain)


def some_labels(y, counts, seed):
    known = np.full(len(y), -1)
    rng = np.random.default_rng(seed)
    for label, count in enumerate(counts):
        known[rng.choice(np.flatnonzero(y == label), count, replace=False)] = label
    return known


def unbalanced_sets():
    X, y = make_moons(600, noise=0.15, random_state=0)
    yield X, y, 0.1
    X, y = make_blobs([570, 30], centers=[[0, 0], [3, 0]], cluster_std=1.2, random_state=0)
    yield X, y, -0.01
    X, y = load_digits(return_X_y=True)
    pair = np.isin(y, [3, 8])
    yield X[pair], (y[pair] == 8).astype(int), 0.4


def test_class_mass_helps_with_sixty_labels_against_three_and_never_hurts():
    for X, y, gain in unbalanced_sets():
        gains = []
        for seed in range(3):
            known = some_labels(y, (60, 3) if (y == 1).sum() > 3 else (60, 1), seed)
            graph = graphs.knn(X, 10)
            plain = GraphClassifier("prior", class_prior=None).fit(graph, known)
            model = GraphClassifier("prior").fit(graph, known)
            right = [(m.transduction_ == y)[known < 0].mean() for m in (model, plain)]
            gains.append(right[0] - right[1])
        assert np.mean(gains) >= gain


def test_a_few_labels_of_many_nodes_do_not_put_all_into_one_class():
    rng, y = np.random.default_rng(0), np.arange(20_000) % 10
    X = 0.85 * rng.standard_normal((10, 16))[y] + rng.standard_normal((len(y), 16))
    right = GraphClassifier().fit(X, some_labels(y, [10] * 10, 3)).transduction_ == y
    assert right.mean() > 0.6


def test_mixture_proportions_are_the_most_likely_with_one_added_to_each_count():
    rng = np.random.default_rng(0)
    densities = rng.random((300, 3)) ** 4 + 1e-9
    result = mixture_proportions(densities)
    assert result.sum() == pytest.approx(1.0)

    def likelihood(proportions):
        return np.log(densities @ proportions).sum() + np.log(proportions).sum()

    for other in rng.dirichlet(result * 500, 200):
        assert likelihood(other) <= likelihood(result) + 1e-6


@pytest.mark.parametrize(
    ("counts", "others", "same"),
    [
        ([60, 3], [950, 50], True),
        ([60, 3], [500, 500], False),
        ([3, 3], [600, 400], True),
        ([3, 3], [1000, 0], False),
        ([3, 1], [0.5, 1.5], True),
        ([3, 0], [90, 10], True),
    ],
)
def test_counts_have_the_same_proportions_unless_a_test_rejects_it(counts, others, same):
    """Verdicts of scipy.stats.chi2_contingency(..., lambda_="log-likelihood", correction=False)."""
    from scipy.stats import chi2_contingency

    table = np.array([counts, others], dtype=float)
    assert have_same_proportions(*table) is same
    p = chi2_contingency(table, lambda_="log-likelihood", correction=False).pvalue
    assert bool(p > 0.05) is same


@pytest.mark.parametrize("estimator", [GraphClassifier, GraphRegressor])
def test_a_scale_that_leaves_no_affinity_is_an_error(estimator):
    X = np.arange(12.0)[:, None]
    y = np.arange(12) % 2
    with pytest.raises(ValueError, match="scale=5e-324 is so small"):
        estimator(scale=5e-324).fit(X, y)
