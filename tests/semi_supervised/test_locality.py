"""Full similarity matrices: labels spread along the most similar items only."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from vicinal import (
    GraphClassifier,
    GraphRegressor,
    LabelPropagation,
    SelfSmoothing,
    SimilarityVoteClassifier,
)
from vicinal.semi_supervised import prior_values
from vicinal.semi_supervised._transductive import keep_local, most_similar


def fused_wine():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    views = [np.linalg.norm(V[:, None] - V, axis=2) for V in (X[:, :6], X[:, 6:])]
    S = SelfSmoothing(metric="precomputed", random_state=0).fuse(views).similarity_
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.1, y, -1)
    return (S + S.T) / 2, y, known


@pytest.mark.parametrize("classifier", [GraphClassifier, LabelPropagation])
def test_a_fused_similarity_classifies_as_well_as_a_vote_of_neighbours(classifier):
    W, y, known = fused_wine()
    hidden = known < 0
    with pytest.warns(UserWarning, match="full similarity matrix"):
        model = classifier(graph="precomputed").fit(W, known)
    vote = SimilarityVoteClassifier(5, similarity="precomputed").fit(W, known).predict(W)
    right = (model.transduction_ == y)[hidden].mean()
    assert right >= (vote == y)[hidden].mean() - 0.02
    assert right > 0.85


def test_a_constant_added_to_all_pairs_does_not_change_the_result():
    W, _, known = fused_wine()
    local = most_similar(sparse.csr_array(W), 10)
    with pytest.warns(UserWarning, match="full similarity matrix"):
        model = GraphClassifier(graph="precomputed").fit(W + 0.5, known)
    np.testing.assert_array_equal(model.affinity_.toarray() > 0, local.toarray() > 0)


def test_a_regressor_on_a_full_matrix_uses_the_most_similar_items():
    rng = np.random.default_rng(0)
    X = rng.random((120, 1))
    W = 0.2 + np.exp(-((X - X.T) ** 2) / 0.02)
    y = np.where(np.arange(120) % 6 == 0, X[:, 0], np.nan)
    with pytest.warns(UserWarning, match="Only the 10 most similar items"):
        model = GraphRegressor(graph="precomputed").fit(W, y)
    expected = GraphRegressor(graph="precomputed").fit(most_similar(sparse.csr_array(W), 10), y)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    assert np.abs(model.transduction_ - X[:, 0]).mean() < 0.05
    with np.errstate(all="ignore"):
        everything = prior_values(W, y).values
    assert np.abs(everything - X[:, 0]).mean() > 0.1


def test_most_similar_items_follow_the_literal_definition_with_ties():
    rng = np.random.default_rng(0)
    W = rng.integers(1, 6, (30, 30)).astype(float)
    W = np.maximum(W, W.T)
    expected = np.zeros_like(W)
    for i in range(30):
        others = np.delete(np.arange(30), i)
        least = np.sort(W[i, others])[-4]
        for j in others[W[i, others] >= least]:
            expected[i, j] = expected[j, i] = W[i, j]
    np.testing.assert_array_equal(most_similar(sparse.csr_array(W), 4).toarray(), expected)


@pytest.mark.filterwarnings("error")
def test_sparse_local_and_small_affinities_are_not_changed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    focused = np.exp(-(np.linalg.norm(X[:, None] - X, axis=2) ** 2) * 20) + 1e-9
    thin = sparse.random_array((60, 60), density=0.2, random_state=rng)
    for W in (focused, thin + thin.T, np.ones((8, 8)), np.zeros((60, 60))):
        matrix = sparse.csr_array(W)
        assert keep_local(matrix, 2) is matrix


def test_equal_similarities_stay_equal():
    matrix = sparse.csr_array(np.ones((40, 40)))
    with pytest.warns(UserWarning, match="39 of 40"):
        kept = keep_local(matrix, 2)
    np.testing.assert_array_equal(kept.toarray(), 1.0 - np.eye(40))
