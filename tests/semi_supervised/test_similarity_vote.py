"""The vote of the most similar: literal windows, leave-one-out, the unlabelled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.model_selection import GridSearchCV

from vicinal import SelfSmoothing, SimilarityVoteClassifier


def literal_vote(row, y, k, excluded=None):
    """Majority of the k most similar labelled items, -1 without any; ties go to the first class."""
    order = sorted(
        (i for i in range(len(y)) if i != excluded and y[i] >= 0), key=lambda i: (-row[i], i)
    )
    window = [(place, y[i]) for place, i in enumerate(order[:k]) if row[i] > 0]
    if not window:
        return -1
    classes = sorted({label for _, label in window})
    votes = {c: sum(label == c for _, label in window) for c in classes}
    places = {c: sum(place for place, label in window if label == c) for c in classes}
    return min(classes, key=lambda c: (-votes[c], places[c], c))


@st.composite
def votes(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(3, 15))
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.7)
    y = rng.integers(0, 3, n)
    y[rng.random(n) < draw(st.sampled_from([0.0, 0.4]))] = -1
    y[:2] = [0, 1]
    return W, y, draw(st.integers(1, n + 2))


@pytest.mark.filterwarnings("ignore:the class of:UserWarning")
@settings(max_examples=120)
@given(votes())
def test_votes_equal_those_of_a_literal_window(vote):
    W, y, k = vote
    model = SimilarityVoteClassifier(k, similarity="precomputed").fit(W, y)
    new = np.random.default_rng(len(y)).random((4, len(y)))
    assert model.predict(new).tolist() == [literal_vote(row, y, k) for row in new]
    left = min(k, (y >= 0).sum() - 1)
    expected = [literal_vote(W[i], y, left, excluded=i) for i in range(len(y))]
    assert model.leave_one_out().tolist() == expected
    known = y >= 0
    score = np.mean(np.array(expected)[known] == y[known])
    assert model.leave_one_out_score() == pytest.approx(score)
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:300], y[:300]


def test_smoothing_equals_a_precomputed_smoothed_similarity(digits):
    X, y = digits
    through = SimilarityVoteClassifier(5, similarity=SelfSmoothing(t=3)).fit(X, y)
    given_ = SimilarityVoteClassifier(5, similarity="precomputed")
    given_.fit(SelfSmoothing(t=3).fit(X).similarity_, y)
    assert (through.leave_one_out() == given_.leave_one_out()).mean() > 0.99
    assert through.leave_one_out_score() > 0.95
    assert through.smoothing_.t_ == 3
    new = X[:20] + 0.5
    assert (through.predict(new) == y[:20]).mean() > 0.9


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_unlabelled_items_take_part_in_smoothing_but_do_not_vote(digits, method):
    X, y = digits
    some = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    similarity = SelfSmoothing(t=20, method=method, n_neighbors=15)
    model = SimilarityVoteClassifier(3, similarity=similarity).fit(X, some)
    assert set(model.classes_) == set(range(5))
    assert (model.leave_one_out() == y).mean() > 0.9
    assert (model.predict(X) == y).mean() > 0.9


def test_sparse_similarities_are_smoothed(digits):
    X, y = digits
    W = SelfSmoothing(t=0, method="sparse", n_neighbors=15).fit(X).affinity_
    assert sparse.issparse(W)
    similarity = SelfSmoothing(t=4, metric="similarity", method="sparse")
    model = SimilarityVoteClassifier(5, similarity=similarity).fit(W, y)
    assert model.leave_one_out_score() > 0.95


def test_string_classes_and_grid_search_work():
    X, y = make_blobs(90, centers=3, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    search = GridSearchCV(
        SimilarityVoteClassifier(similarity=SelfSmoothing()),
        {"n_neighbors": [1, 5], "similarity__t": [0, 2]},
        cv=3,
    )
    assert search.fit(X, names).score(X, names) > 0.9


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (np.ones((3, 2)), [0, 1, 0], {"similarity": "precomputed"}, "square"),
        (-np.eye(3), [0, 1, 0], {"similarity": "precomputed"}, "negative"),
        (np.eye(3), [-1, -1, -1], {}, "labelled"),
        (np.eye(3), [0, 1], {}, "y has 2"),
        (np.eye(3), [0, 1, 0], {"n_neighbors": 0}, "n_neighbors=0"),
        (np.eye(3), [0, 1, 0], {"similarity": "rbf"}, "similarity='rbf'"),
    ],
)
def test_invalid_input_is_named_in_the_error(X, y, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        SimilarityVoteClassifier(**options).fit(X, y)


def test_leave_one_out_of_a_single_label_raises():
    model = SimilarityVoteClassifier(similarity="precomputed").fit(np.eye(3), [0, -1, -1])
    with pytest.warns(UserWarning, match=r"2 of 3 points is unknown \(-1\), the first is X\[1\]"):
        assert model.predict(np.eye(3)).tolist() == [0, -1, -1]
    assert model.predict_proba(np.eye(3)).tolist() == [[1.0]] * 3
    with pytest.raises(ValueError, match="only one item"):
        model.leave_one_out()
