"""The automatic threshold: near the best in hindsight on sets with planted copies, 0 on sets without."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.feature_extraction.text import TfidfVectorizer

from studies.loaders import load_orl_faces
from vicinal import near_duplicates
from vicinal.duplicates._threshold import groups_are_small
from vicinal.neighbors import NeighborSearch


def planted(rows, change, rng, fraction=0.1, max_copies=3):
    """Rows and changed copies of some of them, with the source of each."""
    rows, source = list(rows), list(range(len(rows)))
    for row in rng.choice(len(rows), int(fraction * len(rows)), replace=False):
        for _ in range(rng.integers(1, max_copies + 1)):
            rows.append(change(rows[row], rng))
            source.append(row)
    order = rng.permutation(len(rows))
    return [rows[i] for i in order], np.array(source)[order]


def relative_f1(X, source, metric="euclidean"):
    """F1 score of the pairs at the automatic threshold, relative to the best threshold in hindsight."""
    distances = pdist(X, metric)
    i, j = np.triu_indices(len(X), 1)
    true = source[i] == source[j]
    order = np.argsort(distances, kind="stable")
    hits, n_pairs = np.cumsum(true[order]), np.arange(1, len(order) + 1)
    last = np.append(np.diff(distances[order]) > 0, True)
    best = (2 * hits / (n_pairs + true.sum()))[last].max()
    pairs = near_duplicates(X, metric=metric).pairs
    n_hits = (source[pairs[:, 0]] == source[pairs[:, 1]]).sum()
    return 2 * n_hits / (len(pairs) + true.sum()) / best


def noise(image, rng):
    return image + rng.normal(0, 0.05 * image.std(), image.shape)


def brightness(image, rng):
    return image * (1 + rng.uniform(-0.1, 0.1))


def shift(image, rng):
    return ndimage.shift(image, rng.uniform(-0.3, 0.3, 2), order=1, mode="nearest")


def all_changes(image, rng):
    return noise(brightness(shift(image, rng), rng), rng)


@pytest.mark.parametrize("fraction", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("change", [noise, brightness])
def test_copies_of_digits_are_separated_almost_as_well_as_in_hindsight(change, fraction):
    images, source = planted(load_digits().images, change, np.random.default_rng(1), fraction)
    assert relative_f1(np.reshape(images, (len(images), -1)), source) >= 0.95


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_copies_of_faces_are_separated_almost_as_well_as_in_hindsight(fraction):
    try:
        images = np.asarray(load_orl_faces()[0], float).reshape(-1, 112, 92)[:, ::2, ::2]
    except FileNotFoundError:
        pytest.skip("the faces are not installed")
    images, source = planted(images, all_changes, np.random.default_rng(1), fraction)
    assert relative_f1(np.reshape(images, (len(images), -1)), source) >= 0.95


def made_texts(rng, n, n_words=1500, n_topics=12):
    """Texts as arrays of words: frequent words of the language and words of a topic."""
    weights = 1 / np.arange(1, n_words + 1)
    topics = [rng.permutation(n_words) for _ in range(n_topics)]
    texts = []
    for _ in range(n):
        words = rng.choice(n_words, rng.integers(20, 60), p=weights / weights.sum())
        of_topic = rng.random(len(words)) < 0.5
        words[of_topic] = topics[rng.integers(n_topics)][words[of_topic]]
        texts.append(words)
    return texts


def edit(words, rng):
    words = words.copy()
    at = rng.choice(len(words), max(1, len(words) // 10), replace=False)
    words[at] = rng.integers(0, 1500, len(at))
    return np.delete(words, rng.integers(len(words)))


@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
def test_edited_texts_are_separated_almost_as_well_as_in_hindsight(analyzer):
    rng = np.random.default_rng(2)
    texts, source = planted(made_texts(rng, 400), edit, rng)
    documents = [" ".join(f"w{word}" for word in words) for words in texts]
    vectors = TfidfVectorizer(
        analyzer=analyzer, ngram_range=(1, 1 + (analyzer != "word"))
    ).fit_transform(documents)
    assert relative_f1(vectors.toarray(), source, "cosine") >= 0.95


@pytest.mark.parametrize("group_size", [6, 12])
def test_large_groups_are_found(group_size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    for start in range(0, 5 * group_size, group_size):
        X[start : start + group_size] = X[start] + 0.02 * rng.normal(size=(group_size, 10))
    groups = near_duplicates(X).groups
    assert [len(group) for group in groups] == [group_size] * 5


def test_a_single_pair_is_found():
    X = np.random.default_rng(0).normal(size=(500, 10))
    X[7] = X[300] + 0.01
    assert near_duplicates(X).pairs.tolist() == [[7, 300]]


@pytest.mark.parametrize(
    "X",
    [
        load_digits().data,
        load_iris().data,
        load_wine().data,
        load_breast_cancer().data,
        np.random.default_rng(0).random((1000, 2)),
        np.random.default_rng(0).normal(size=(1000, 30)),
        np.random.default_rng(0).standard_t(2, (1000, 5)),
        make_blobs(
            1000, 4, centers=8, cluster_std=[0.1, 0.2, 0.4, 0.8, 1, 2, 3, 4], random_state=0
        )[0],
        np.random.default_rng(0).integers(0, 50, (800, 3)).astype(float),
        np.arange(500.0)[:, None],
    ],
    ids=[
        "digits",
        "iris",
        "wine",
        "cancer",
        "uniform",
        "normal",
        "heavy",
        "blobs",
        "lattice",
        "line",
    ],
)
def test_only_equal_rows_are_duplicates_where_there_are_no_others(X):
    result = near_duplicates(X)
    assert result.threshold == 0.0
    assert result.n_pairs == len(X) - len(np.unique(X, axis=0))


def test_the_expected_number_of_ordinary_pairs_is_that_of_a_uniform_distribution():
    X = np.random.default_rng(0).random((4000, 3))
    curve = near_duplicates(X).curve
    enough = curve[:, 1] >= 100
    ratio = curve[enough, 1] / curve[enough, 2]
    assert 0.7 < ratio.min() <= ratio.max() < 1.3


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_much_changed_copies_of_digits_are_separated(fraction):
    images, source = planted(load_digits().images, all_changes, np.random.default_rng(1), fraction)
    assert relative_f1(np.reshape(images, (len(images), -1)), source) >= 0.9


def test_few_much_changed_copies_of_digits_are_found():
    images, source = planted(load_digits().images, all_changes, np.random.default_rng(2), 0.02)
    assert relative_f1(np.reshape(images, (len(images), -1)), source) >= 0.5


@pytest.mark.parametrize("n", [11, 14, 20])
@pytest.mark.parametrize("n_features", [1, 5])
def test_a_few_random_rows_have_no_near_duplicates(n, n_features):
    for seed in range(60):
        rng = np.random.default_rng(seed * 1000 + n * 10 + n_features)
        X = rng.normal(size=(n, n_features)) if seed % 2 else rng.random((n, n_features)) ** 2
        assert near_duplicates(X, n_jobs=1).n_pairs == 0


def test_large_groups_without_a_gap_to_ordinary_rows_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 12))
    rows, source = planted(
        X, lambda row, rng: row + rng.uniform(0.01, 0.5) * rng.normal(size=12), rng, max_copies=8
    )
    assert relative_f1(np.array(rows), source) >= 0.9


def test_a_large_dense_group_is_a_cluster():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[:30] = 0.01 * rng.normal(size=(30, 5))
    X[40:44] = X[50:54] + 0.001
    indices, distances = (found[:, 1:] for found in NeighborSearch(X).nearest(20))
    assert groups_are_small(indices, distances, 0.003, max_group=20)
    assert not groups_are_small(indices, distances, 0.1, max_group=20)
