"""Retrieval measures against their definitions, from similarities and from lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from vicinal.metrics import bulls_eye, mean_average_precision, retrieval_rate


def example(seed, n=12, classes=3):
    rng = np.random.default_rng(seed)
    return rng.random((n, n)), rng.integers(classes, size=n)


def order_of(similarity, i):
    others = sorted((j for j in range(len(similarity)) if j != i), key=lambda j: -similarity[i, j])
    return [i, *others]


def lists_of(similarity):
    return np.array([order_of(similarity, i)[1:] for i in range(len(similarity))])


def literal_recall(similarity, labels, window):
    shares = []
    for i in range(len(labels)):
        size = int((labels == labels[i]).sum())
        first = order_of(similarity, i)[: window or 2 * size]
        shares.append(sum(labels[j] == labels[i] for j in first) / size)
    return np.mean(shares)


@given(seed=st.integers(0, 10_000), window=st.integers(1, 12))
def test_recalls_follow_the_definition(seed, window):
    similarity, labels = example(seed)
    assert bulls_eye(similarity, labels) == pytest.approx(literal_recall(similarity, labels, None))
    assert retrieval_rate(similarity, labels, window) == pytest.approx(
        literal_recall(similarity, labels, window)
    )


@given(seed=st.integers(0, 10_000))
def test_average_precision_agrees_with_scikit_learn(seed):
    similarity, labels = example(seed)
    expected = []
    for i in range(len(labels)):
        rest = np.arange(len(labels)) != i
        same = (labels == labels[i])[rest]
        if same.any():
            expected.append(average_precision_score(same, similarity[i, rest]))
    assert mean_average_precision(similarity, labels) == pytest.approx(np.mean(expected))


@given(seed=st.integers(0, 10_000), with_self=st.booleans())
def test_lists_and_similarities_give_equal_scores(seed, with_self):
    similarity, labels = example(seed)
    lists = lists_of(similarity)
    if with_self:
        lists = np.insert(lists, 0, np.arange(12), axis=1)
    assert bulls_eye(lists, labels) == pytest.approx(bulls_eye(similarity, labels))
    assert retrieval_rate(lists[:, :5], labels, 5) == pytest.approx(
        retrieval_rate(similarity, labels, 5)
    )
    assert mean_average_precision(lists, labels) == pytest.approx(
        mean_average_precision(similarity, labels)
    )


def test_too_short_lists_are_rejected():
    similarity, labels = example(5)
    lists, most = lists_of(similarity), 2 * np.bincount(labels).max()
    needed = min(most, 12) - 1
    assert bulls_eye(lists[:, :needed], labels) == bulls_eye(similarity, labels)
    with pytest.raises(ValueError, match=f"contains {needed - 1} .* {needed} are needed"):
        bulls_eye(lists[:, : needed - 1], labels)
    assert retrieval_rate(lists[:, :4], labels, 5) == retrieval_rate(similarity, labels, 5)
    with pytest.raises(ValueError, match=r"contains 3 .* 4 are needed"):
        retrieval_rate(lists[:, :3], labels, 5)
    # The query itself does not count as a result.
    with_self = np.insert(lists, 0, np.arange(12), axis=1)
    with pytest.raises(ValueError, match=r"contains 3 .* 4 are needed"):
        retrieval_rate(with_self[:, :4], labels, 5)
    assert 0 <= mean_average_precision(lists[:, :2], labels) <= 1


def test_the_query_comes_first_even_if_others_are_equally_similar():
    assert retrieval_rate(np.ones((4, 4)), [0, 1, 2, 3], window=1) == 1.0


def test_equal_similarities_are_ordered_by_index():
    # Each query retrieves itself and item 0 (item 1 for query 0).
    assert retrieval_rate(np.ones((4, 4)), [0, 0, 1, 1], window=2) == pytest.approx(
        (1 + 1 + 0.5 + 0.5) / 4
    )


def test_labels_may_be_strings_and_threads_do_not_matter():
    similarity, labels = example(3, n=2500)
    names = np.array(["a", "b", "c"])[labels]
    assert bulls_eye(similarity, names, n_jobs=1) == bulls_eye(similarity, labels, n_jobs=2)


@pytest.mark.parametrize(
    ("ranking", "labels", "words"),
    [
        (np.ones((3, 2)), [0, 1, 0], "ranking has shape"),
        (np.ones((2, 2)), [0, 1, 0], "ranking has shape"),
        ([[1, 7], [0, 2], [0, 1]], [0, 1, 0], "item 7"),
        ([[1, 1], [0, 2], [0, 1]], [0, 1, 0], "twice"),
        ([[1.0, np.nan], [0.5, 1.0]], [0, 1], "NaN"),
        (np.ones((2, 2)), [[0, 1]], "labels has shape"),
    ],
)
def test_errors_name_the_invalid_input(ranking, labels, words):
    with pytest.raises(ValueError, match=words):
        bulls_eye(ranking, labels)


def test_invalid_windows_and_classes_of_one_item_are_rejected():
    with pytest.raises(ValueError, match="window=0"):
        retrieval_rate(np.eye(3), [0, 0, 1], window=0)
    with pytest.raises(ValueError, match="nothing to retrieve"):
        mean_average_precision(np.eye(3), [0, 1, 2])
