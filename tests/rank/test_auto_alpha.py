"""The automatic alpha of `PerceptualRanking`."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import pairwise_distances

from vicinal import PerceptualRanking
from vicinal.datasets import make_half_cylinders
from vicinal.graphs import contextual
from vicinal.metrics import mean_average_precision
from vicinal.rank._auto_alpha import GRID, _halves, reliability


def small_classes(n_classes=40, size=10, n_features=20):
    """Classes of few points, as many as faces have, in a cloud."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_classes), size)
    centers = rng.normal(size=(n_classes, n_features))
    return centers[labels] + 0.7 * rng.normal(size=(len(labels), n_features)), labels


def precisions(X, labels, **params):
    ranking = PerceptualRanking(**params).fit(X).scores(np.arange(len(X)))
    euclidean = -pairwise_distances(X)
    return mean_average_precision(ranking, labels), mean_average_precision(euclidean, labels)


def test_the_default_ranks_small_classes_better_than_distances_do():
    X, labels = small_classes()
    ours, euclidean = precisions(X, labels)
    assert ours > euclidean
    # A reach of 1000 points is too far for classes of 10.
    assert ours > precisions(X, labels, alpha=0.999)[0] + 0.1


def test_the_default_reaches_farther_along_large_structures_than_in_small_classes():
    X, _ = make_half_cylinders(400, 200, random_state=0)
    far = PerceptualRanking().fit(X)
    near = PerceptualRanking().fit(small_classes()[0])
    assert far.alpha_ >= 0.98 > 0.9 >= near.alpha_


def test_the_curve_is_stored_and_the_best_of_it_is_taken():
    X, _ = small_classes(10)
    model = PerceptualRanking().fit(X)
    alphas, values = model.alpha_curve_.T
    # All values, as a curve may have two maxima.
    assert tuple(alphas) == GRID
    assert model.alpha_ == alphas[np.argmax(values)]
    assert (values <= 1).all()
    given = PerceptualRanking(alpha=0.8).fit(X)
    assert given.alpha_ == 0.8
    assert given.alpha_curve_ is None


def test_an_automatic_alpha_gives_the_scores_of_the_same_alpha_given():
    X, _ = small_classes(10)
    model = PerceptualRanking().fit(X)
    same = PerceptualRanking(alpha=model.alpha_).fit(X)
    assert (model.scores([0, 1]) == same.scores([0, 1])).all()


def test_reliability_is_the_agreement_of_a_query_beyond_that_of_others():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(6, 30))
    first, second = (common + 0.5 * rng.normal(size=(6, 30)) for _ in range(2))
    table = np.array([[spearmanr(a, b)[0] for b in second] for a in first])
    within, between = np.diag(table).mean(), table[~np.eye(6, dtype=bool)].mean()
    assert reliability(first, second) == pytest.approx((within - between) / (1 - between))
    assert reliability(first, first) == pytest.approx(1.0)
    # One ranking for all queries says nothing about any of them.
    assert reliability(first[[0] * 6], first[[0] * 6]) == 0.0
    assert reliability(np.ones((6, 30)), np.ones((6, 30))) == 0.0


def test_halves_share_no_edge_and_have_all_edges_together():
    graph = contextual(small_classes(5)[0], 7)
    first, second = ({(int(i), int(j)) for i, j in half.edges()} for half in _halves(graph))
    assert not first & second
    assert first | second == {(int(i), int(j)) for i, j in graph.edges()}
    assert abs(len(first) - len(second)) == graph.n_nodes


@pytest.mark.parametrize("laplacian", ["global", "aligned"])
def test_the_order_of_rows_the_threads_and_duplicates_do_not_matter(laplacian):
    X, _ = small_classes(8)
    order = np.random.default_rng(1).permutation(len(X))
    model = PerceptualRanking(laplacian=laplacian, n_jobs=1).fit(X)
    for other in (X[order], np.repeat(X, 2, axis=0)):
        again = PerceptualRanking(laplacian=laplacian).fit(other)
        assert again.alpha_ == model.alpha_
        np.testing.assert_allclose(again.alpha_curve_, model.alpha_curve_, rtol=1e-6)


def test_few_points_have_the_papers_alpha_and_no_curve():
    model = PerceptualRanking(2).fit(np.random.default_rng(0).random((9, 2)))
    assert model.alpha_ == 0.9
    assert model.alpha_curve_.shape == (0, 2)


@pytest.mark.slow
@pytest.mark.skipif("VICINAL_DATA" not in os.environ, reason="needs the real sets")
@pytest.mark.parametrize("file", ["orl_faces.npz", "mpeg7_shapes.npz"])
def test_faces_and_shapes_are_retrieved_better_than_by_distances(file):
    with np.load(Path(os.environ["VICINAL_DATA"]) / file) as stored:
        key, labels = ("X", "y") if file.startswith("orl") else ("contours", "labels")
        X, y = stored[key].reshape(len(stored[labels]), -1).astype(float), stored[labels]
    ours, euclidean = precisions(X, y)
    assert ours > euclidean
