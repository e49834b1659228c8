"""The methods of the graph classifier: dense closed forms, and documented results of degenerate labels."""

import numpy as np
import pytest

from vicinal import Graph, GraphClassifier, LabelPropagation
from vicinal.semi_supervised._methods import METHODS
from vicinal.semi_supervised._poisson import poisson_potentials, refine_by_volumes

PRECOMPUTED = {"graph": "precomputed"}


def problem(n=30, n_classes=3, seed=0):
    """Weights of a connected graph, and labels of a third of its nodes."""
    rng = np.random.default_rng(seed)
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    for i in range(1, n):
        weights[i, rng.integers(i)] = 0.1 + rng.random()
    codes = np.full(n, -1)
    codes[rng.permutation(n)[: n // 3]] = np.arange(n // 3) % n_classes
    return weights + weights.T, codes


def laplacian(weights):
    return np.diag(weights.sum(axis=1)) - weights


def dense_harmonic(weights, codes):
    L, known = laplacian(weights), codes >= 0
    values = (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
    values[~known] = np.linalg.solve(L[~known][:, ~known], -L[~known][:, known] @ values[known])
    return values


def dense_poisson(weights, codes):
    known = codes >= 0
    sources = np.zeros((len(codes), codes.max() + 1))
    indicators = np.eye(codes.max() + 1)[codes[known]]
    sources[known] = indicators - indicators.mean(axis=0)
    potentials = np.linalg.pinv(laplacian(weights)) @ sources
    degrees = weights.sum(axis=1)
    return potentials - degrees @ potentials / degrees.sum()


def softmax(scores):
    values = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values / values.sum(axis=1, keepdims=True)


def fitted(method, weights, codes, **options):
    return GraphClassifier(method, **PRECOMPUTED, **options).fit(weights, codes)


@pytest.mark.parametrize("seed", range(5))
def test_harmonic_equals_its_closed_form_and_label_propagation(seed):
    weights, codes = problem(seed=seed)
    expected = dense_harmonic(weights, codes)
    plain = fitted("harmonic", weights, codes, class_prior=None)
    assert plain.label_distributions_ == pytest.approx(expected, abs=1e-8)
    other = LabelPropagation(**PRECOMPUTED).fit(weights, codes)
    assert plain.label_distributions_ == pytest.approx(other.label_distributions_)
    # Class mass normalisation, then a power.
    unlabelled = codes < 0
    expected = expected[unlabelled] * [0.2, 0.3, 0.5] / expected.sum(axis=0)
    model = fitted("harmonic", weights, codes, class_prior=[2, 3, 5])
    expected = (expected / expected.sum(axis=1, keepdims=True)) ** model.calibration_.power
    assert model.label_distributions_[unlabelled] == pytest.approx(
        expected / expected.sum(axis=1, keepdims=True), abs=1e-8
    )


@pytest.mark.parametrize("seed", range(5))
def test_laplace_equals_the_softmax_of_standardised_harmonic_functions(seed):
    weights, codes = problem(seed=seed)
    values = dense_harmonic(weights, codes)[codes < 0]
    expected = softmax((values - values.mean(axis=0)) / values.std(axis=0))
    model = fitted("laplace", weights, codes, class_prior=None)
    assert model.label_distributions_[codes < 0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_poisson_equals_the_pseudoinverse(seed):
    weights, codes = problem(seed=seed)
    potentials = dense_poisson(weights, codes)
    plain = fitted("poisson", weights, codes, class_prior=None)
    expected = softmax(2 * potentials / potentials.std())
    assert plain.label_distributions_ == pytest.approx(expected, abs=1e-7)
    # The class weights of the paper: proportions over frequencies of the labels.
    prior = np.array([0.2, 0.3, 0.5])
    ratios = prior / (np.bincount(codes[codes >= 0]) / (codes >= 0).sum())
    model = fitted("poisson", weights, codes, class_prior=prior)
    assert (model.transduction_ == (potentials * ratios).argmax(axis=1)).all()


def test_poisson_mbo_equals_the_literal_steps_and_keeps_volumes():
    weights, codes = problem(60, seed=1)
    prior = np.array([0.3, 0.3, 0.4])
    start = dense_poisson(weights, codes).argmax(axis=1)
    step = 1.0 / weights.sum(axis=1).max()
    known = codes >= 0
    sources = np.zeros((60, 3))
    sources[known] = np.eye(3)[codes[known]] - np.eye(3)[codes[known]].mean(axis=0)
    heat = np.eye(3)[start]
    for _ in range(40):
        heat = heat - step * laplacian(weights) @ heat + step * sources
    from scipy import sparse

    from vicinal.semi_supervised import _poisson

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_poisson, "MAX_CHOICES", 1)
        one = refine_by_volumes(
            sparse.csr_array(weights), codes, np.zeros(60, dtype=int), start, prior
        )
    ratio = one / heat
    assert ratio == pytest.approx(np.tile(ratio[0], (60, 1)))
    model = fitted("poisson_mbo", weights, codes, class_prior=prior)
    assert np.bincount(model.transduction_, minlength=3) / 60 == pytest.approx(prior, abs=0.1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("prior", [None, "labels", "estimate"])
def test_rows_sum_to_one_and_renumbering_nodes_renumbers_rows(method, prior):
    weights, codes = problem()
    model = fitted(method, weights, codes, class_prior=prior)
    assert model.label_distributions_.sum(axis=1) == pytest.approx(np.ones(30))
    assert (model.label_distributions_ >= 0).all()
    order = np.random.default_rng(0).permutation(30)
    moved = fitted(method, weights[order][:, order], codes[order], class_prior=prior)
    assert moved.label_distributions_ == pytest.approx(model.label_distributions_[order], abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_components_without_labels_are_unknown_and_others_have_only_their_classes(method):
    edges = [[0, 1], [1, 2], [3, 4], [5, 6], [6, 7]]
    graph = Graph.from_edges(8, edges, np.ones(5))
    y = [0, -1, 1, 2, -1, -1, -1, -1]
    with pytest.warns(UserWarning, match="no label reaches 3 of 8"):
        model = fitted(method, graph, y)
    assert model.transduction_[3:].tolist() == [2, 2, -1, -1, -1]
    assert model.label_distributions_[:3, 2].max() == pytest.approx(0.0, abs=1e-9)
    assert model.label_distributions_[3:5] == pytest.approx(
        np.array([[0.0, 0.0, 1.0]] * 2), abs=1e-9
    )
    assert model.label_distributions_[5:] == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize("method", METHODS)
def test_one_class_is_the_class_of_all_points(method):
    X = np.arange(12.0)[:, None]
    model = GraphClassifier(method).fit(X, [-1] * 11 + [4])
    assert model.transduction_.tolist() == [4] * 12
    assert model.label_distributions_ == pytest.approx(np.ones((12, 1)))


@pytest.mark.parametrize("method", METHODS)
def test_only_labelled_classes_are_predicted(method):
    """Of ten classes of the data, three have labels: the others cannot be predicted."""
    X = np.repeat(np.arange(10.0), 10)[:, None] + np.random.default_rng(0).random((100, 1)) / 2
    y = np.full(100, -1)
    y[[0, 50, 99]] = [0, 5, 9]
    model = GraphClassifier(method, graph="mst").fit(X, y)
    assert set(model.transduction_.tolist()) <= {0, 5, 9}
    assert model.classes_.tolist() == [0, 5, 9]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "poisson_mbo"])
def test_contradictory_duplicates_share_their_classes_with_equal_neighbours(method):
    """Two equal points with different labels: an equal unlabelled point is undecided.

    PoissonMBO decides for one class at every node.
    """
    X = np.r_[np.zeros((3, 1)), np.arange(1.0, 10.0)[:, None], -np.arange(1.0, 10.0)[:, None]]
    y = np.full(21, -1)
    y[0], y[1] = 0, 1
    model = GraphClassifier(method, class_prior=None, graph_params={"n_neighbors": 4}).fit(X, y)
    assert model.label_distributions_[2] == pytest.approx([0.5, 0.5], abs=0.01)


def test_potentials_have_mean_zero_by_degree_in_every_component():
    graph = Graph.from_edges(6, [[0, 1], [1, 2], [3, 4], [4, 5]], np.ones(4))
    weights = graph.affinity()
    components = np.array([0, 0, 0, 1, 1, 1])
    potentials = poisson_potentials(weights, np.array([0, -1, 1, 1, -1, 0]), components)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    for part in (slice(0, 3), slice(3, 6)):
        assert degrees[part] @ potentials[part] == pytest.approx(np.zeros(2), abs=1e-12)
    assert potentials[0, 0] > potentials[1, 0] > potentials[2, 0]


def test_unknown_methods_raise():
    with pytest.raises(ValueError, match="method='magic', but one of 'harmonic'"):
        GraphClassifier("magic").fit(np.arange(4.0)[:, None], [0, 1, -1, -1])
