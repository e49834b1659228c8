import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score, rand_score

from vicinal.metrics import clustering_accuracy, normalized_mutual_info, rand_index

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


def accuracy_by_all_matchings(truth, found):
    classes, clusters = sorted(set(truth)), sorted(set(found))
    size = max(len(classes), len(clusters))
    classes += [None] * (size - len(classes))
    return max(
        sum(
            dict(zip(names, classes, strict=False)).get(f) == t
            for t, f in zip(truth, found, strict=True)
        )
        for names in itertools.permutations(
            clusters + [object() for _ in range(size - len(clusters))]
        )
    ) / len(truth)


def rand_by_pairs(truth, found):
    pairs = list(itertools.combinations(range(len(truth)), 2))
    agree = sum((truth[i] == truth[j]) == (found[i] == found[j]) for i, j in pairs)
    return agree / len(pairs) if pairs else 1.0


@given(labels)
def test_accuracy_is_the_best_of_all_matchings(pairs):
    truth, result = map(list, zip(*pairs, strict=True))
    assert clustering_accuracy(truth, result) == accuracy_by_all_matchings(truth, result)


@given(labels)
def test_rand_index_counts_agreeing_pairs(pairs):
    truth, result = map(list, zip(*pairs, strict=True))
    assert rand_index(truth, result) == rand_by_pairs(truth, result)
    assert rand_index(truth, result) == pytest.approx(rand_score(truth, result))


@given(labels)
def test_mutual_information_agrees_with_scikit_learn(pairs):
    truth, result = map(list, zip(*pairs, strict=True))
    expected = normalized_mutual_info_score(truth, result, average_method="arithmetic")
    assert normalized_mutual_info(truth, result) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", [clustering_accuracy, normalized_mutual_info, rand_index])
def test_names_and_order_do_not_matter(measure):
    rng = np.random.default_rng(0)
    truth, result = rng.integers(0, 5, 200), rng.integers(0, 7, 200)
    order = rng.permutation(200)
    names = np.array(list("gfedcba"))
    assert measure(truth, result) == pytest.approx(measure(result, truth), abs=1e-15)
    assert measure(truth[order] * 1e9, names[result[order]]) == pytest.approx(
        measure(truth, result)
    )
    assert measure(truth, truth + 3) == 1.0


def test_pandas_na_is_a_missing_label():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="missing label"):
        clustering_accuracy(pandas.Series(["a", None], dtype="string"), [0, 1])


def test_pairs_of_a_million_points_are_counted_exactly():
    n = 3_000_000
    halves = np.repeat([0, 1], n // 2)
    moved = halves.copy()
    moved[0] = 1
    wrong = n - 1  # the moved point with every other one
    assert rand_index(halves, moved) == 1 - 2 * wrong / (n * (n - 1))


def test_one_label_per_point_needs_no_dense_table():
    n = 300_000
    assert rand_index(np.arange(n), np.arange(n)) == 1.0
    assert normalized_mutual_info(np.arange(n), np.arange(n)) == 1.0
    with pytest.raises(MemoryError, match="rand_index"):
        clustering_accuracy(np.arange(n), np.arange(n))


@pytest.mark.parametrize("measure", [clustering_accuracy, normalized_mutual_info, rand_index])
@pytest.mark.parametrize(
    ("truth", "found", "words"),
    [
        ([], [], r"labels_true has shape \(0,\)"),
        ([0, 1], [0], "2 entries and labels_pred 1"),
        ([0, 1], [[0], [1]], r"labels_pred has shape \(2, 1\).*ravel"),
        ([0.0, np.nan], [0, 1], "labels_true contains NaN"),
        (["a", None], [0, 1], r"labels_true contains 1 missing label\(s\), the first at \[1\]"),
        ([0, 1], ["a", np.nan], "labels_pred contains 1 missing"),
        (["a", 1, 2], [0, 1, 1], "labels_true contains labels of different types, such as 'a'"),
    ],
)
def test_errors_name_the_remedy(measure, truth, found, words):
    with pytest.raises(ValueError, match=words):
        measure(truth, found)
